"""What options of commands amount to: the settings of a scenario, a topology."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.cli.console import note
from dragonfly_env.cli.options import DEFAULT_TOPOLOGY, UNBOUNDED, Given
from dragonfly_env.config.groups import Grid
from dragonfly_env.config.systems import PRESETS, is_xc
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs.workload import parse_jobs
from dragonfly_env.sweeps.fields import parse_assignment, parse_loads, parse_value

_MOST_SEEDS = 1000
_MOST_WORKERS = 4096
_OF_TRAINING = ("injection", "source_queue_packets", "source_queue_full", "message_packets")
_TOPOLOGY_AND_NETWORK = ("topology", "arrangement", "network", "network_settings")


def scenario_settings(base: Mapping[str, Any], given: Given, **others: Any) -> dict[str, Any]:
    """Settings for `Scenario.from_dict`: those of ``base``, changed by the options that were given.

    For a machine without a network: a note tells which network it has, and that another one is taken.

    Args:
        base: Settings of a file, or nothing.
        given: What a command took, by the names of the options. Loads and times replace those of each traffic too.
        **others: Further settings by their key; None for not given.

    Raises:
        ConfigError: If an option has the wrong form.
    """
    settings = dict(base)
    jobs = [one.to_dict() for one in parse_jobs(given.get("job") or [])]
    changes = {
        key: value
        for key, value in {**given, "job": None, "jobs": jobs, **others}.items()
        if value is not None and value != [] and key not in _TOPOLOGY_AND_NETWORK
    }
    if (topology := given.get("topology")) is not None:
        settings["topology"] = _topology(topology)
    if (arrangement := given.get("arrangement")) is not None:
        table = _as_table(settings.get("topology", DEFAULT_TOPOLOGY))
        settings["topology"] = {**table, "arrangement": arrangement}
    if (network := given.get("network")) is None and "network" not in base:
        _tell_of_aries(settings.get("topology"))
    if network is not None:
        settings["network"] = {"preset": network}
    if assignments := given.get("network_settings"):
        changed = dict(parse_assignment(text, "--set") for text in assignments)
        settings["network"] = {**_as_table(settings.get("network", "default")), **changed}
    if isinstance(queue := changes.get("source_queue_packets"), str):
        changes["source_queue_packets"] = None if queue.strip() == UNBOUNDED else parse_value(queue)
    if (loads := changes.get("loads")) is not None:
        parse_loads(loads if isinstance(loads, list) else [loads], "--load")
    replaced = changes.keys() & {"warmup_ns", "measure_ns", "loads"}
    if "traffic" not in changes and replaced and isinstance(settings.get("traffic"), list):
        settings["traffic"] = [
            {key: value for key, value in item.items() if key not in replaced}
            if isinstance(item, Mapping)
            else item
            for item in settings["traffic"]
        ]
    if "warmup_ns" in changes:
        settings.pop("learner_warmup_ns", None)
    return {**settings, **changes}


def trained_with(specs: Sequence[str]) -> dict[str, Any]:
    """The settings of the network and traffic that the first saved agent among ``specs`` knows; they may be none."""
    from dragonfly_env.sweeps.choices import PolicyChoice

    for spec in specs:
        source = PolicyChoice.parse(spec).agent
        if source is None or not source.is_file:
            continue
        known = source.metadata().get("configuration")
        if isinstance(known, dict) and {"topology", "network", "traffic", "load"} <= known.keys():
            kept = {name: known[name] for name in _OF_TRAINING if name in known}
            return {
                **kept,
                "topology": known["topology"],
                "network": known["network"],
                "traffic": [known["traffic"]],
                "loads": [known["load"]],
            }
    return {}


def _tell_of_aries(topology: object) -> None:
    """The default network stays the same for every topology, so on a machine of Aries it is hardly what is meant."""
    name = topology.get("preset") if isinstance(topology, Mapping) else topology
    if isinstance(name, str) and is_xc(PRESETS.get(name, {}).get("arrangement")):
        text = f"{name} is an Aries machine; its network is --network aries (or aries-256); running with 'default'"
        note(Text(f"note: {text}", style="yellow"))


def workers_of(given: Mapping[str, Any]) -> int | None:
    """How many runs at a time the options --workers and --jobs, its old name, set.

    Raises:
        ConfigError: If they are both given, or out of range.
    """
    workers, jobs = given["workers"], given["jobs"]
    if workers is not None and jobs is not None:
        raise config_error("--jobs", jobs, "must be left out next to --workers, which means the same")
    count = jobs if workers is None else workers
    return None if count is None else check_integer("--workers", count, 1, _MOST_WORKERS)


def check_suite(given: Given, name: str) -> Path:
    """Check what was given for the options of `options.suite`.

    Args:
        given: What a command took.
        name: Of the results folder, if none was given.

    Returns:
        The results folder.

    Raises:
        ConfigError: If there cannot be so many runs, or the folder cannot be written to.
    """
    if given["seeds"] is not None:
        check_integer("--seeds", given["seeds"], 1, _MOST_SEEDS)
    if given["workers"] is not None:
        check_integer("--workers", given["workers"], 1, _MOST_WORKERS)
    return check_folder("--out", given["out"] or Path("results") / name)


def make_topology(topology: str | None, arrangement: str | None) -> Dragonfly:
    """The topology that these two options describe.

    Raises:
        ConfigError: If there can be none.
    """
    settings = _topology(topology or DEFAULT_TOPOLOGY)
    return Dragonfly.from_dict({**settings, **({} if arrangement is None else {"arrangement": arrangement})})


def _topology(text: str) -> dict[str, Any]:
    if "=" not in text:
        return {"preset": text.strip()}
    given = dict(parse_assignment(part, "--topology") for part in text.split(",") if part.strip())
    of_grid = {field.name: given.pop(field.name) for field in dataclasses.fields(Grid) if field.name in given}
    return {**given, "group": Grid(**of_grid)} if of_grid else given  # type: ignore[arg-type]  # it checks them


def _as_table(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, int)):
        return {"preset": value}
    raise config_error("topology or network", value, "must be a name or a table")
