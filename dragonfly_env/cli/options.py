"""Options that several commands share, each declared once: its flags, its meaning, and how its text becomes a value.

A command is a function whose parameters have these types::

    def bounds(topology: Topology = None, traffic: Traffic = None, seeds: Seeds = None) -> None:

The text is only translated here. The settings classes check the values and name the field that is wrong; `guard` names
the option. So a parameter has the name of the field that it sets. Two rules hold everywhere: an option that may be
repeated takes several items separated by commas, and a time may have a unit.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import check_integer, config_error, parse_assignment, parse_assignments
from dragonfly_env.cli.console import note
from dragonfly_env.config.groups import Grid
from dragonfly_env.config.systems import PRESETS, is_xc
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.policy import Policy
from dragonfly_env.sweeps.scenario import DEFAULT_TOPOLOGY, parse_policy_choice, split_policies

SYSTEM, LOAD, TIME, MACHINE = "The system", "The traffic", "What is measured", "How it is done"
UNBOUNDED = "unbounded"

Item = TypeVar("Item")

# Texts.

_NS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SETTING = re.compile(r"[^:=,]+=")


def split_items(text: str) -> list[str]:
    """Split ``"uniform,hotspot:hosts=4"`` at its commas; NAME=VALUE behind an item with a colon belongs to it."""
    items: list[str] = []
    for part in text.split(","):
        if items and ":" in items[-1] and _SETTING.match(part):
            items[-1] += f",{part}"
        elif part.strip():
            items.append(part.strip())
    return items


def split_settings(text: str) -> list[str]:
    """Split ``"hidden_units=64,64,gamma=0.9"`` into its settings. A value without a name continues a list."""
    settings: list[str] = []
    for part in text.split(","):
        if settings and "=" not in part:
            settings[-1] += f",{part}"
        else:
            settings.append(part)
    return settings


def split_numbers(text: str) -> list[int]:
    """Split ``"1,2,3"`` into whole numbers."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise typer.BadParameter("must be whole numbers such as 1,2,3") from None


def parse_time(text: str) -> float:
    """A time in ns: ``"10us"``, ``"300 ns"``, ``"0.1ms"``; ns without a unit."""
    number, unit = re.fullmatch(r"\s*(.*?)\s*([a-zµμ]*)\s*", text, re.DOTALL).groups()  # type: ignore[union-attr]
    try:
        return float(Decimal(number) * _NS[unit])
    except (InvalidOperation, KeyError):
        raise typer.BadParameter("must be a time such as 10us; units: ns, us, µs, ms, s") from None


def joined(items: list[list[Item]] | None) -> list[Item] | None:
    """The items of an option that was repeated, in one list."""
    return [item for some in items for item in some] if items else None


def option(flags: str, text: str, panel: str | None = None, *, default: object = None, **more: Any) -> Any:
    """An option; ``flags`` are separated by spaces. ``default`` describes what holds if the option is left out."""
    if default is not None:
        text = f"{text} [dim]\\[default: {default}][/dim]"
    return typer.Option(*flags.split(), help=text, rich_help_panel=panel, **more)


def items(flags: str, text: str, panel: str | None = None, *, split: Any = split_items, **more: Any) -> Any:
    """An option that may be repeated, and takes several items separated by commas."""
    return option(flags, text, panel, parser=split, callback=joined, **more)


def time(flags: str, text: str, panel: str = TIME, **more: Any) -> Any:
    """An option that is a time."""
    return option(flags, text, panel, parser=parse_time, metavar="TIME", **more)


# The system.


def topology_option(default: str) -> Any:
    """The option ``--topology`` of a command with this default."""
    return option(
        "--topology -t", "A system, e.g. 72, theta or p=4,a=8,h=4.", SYSTEM, default=default, metavar="NAME"
    )


Topology = Annotated[str | None, topology_option(DEFAULT_TOPOLOGY)]
Arrangement = Annotated[
    str | None,
    option("--arrangement", "Wiring of the global ports.", SYSTEM, default="palmtree", metavar="NAME"),
]
Network = Annotated[
    str | None,
    option(
        "--network -n", "Preset of links and routers, e.g. lia.", SYSTEM, default="default", metavar="NAME"
    ),
]
NetworkSettings = Annotated[
    list[str] | None,
    items(
        "--set",
        "Fields of the network, e.g. global_latency_ns=200.",
        SYSTEM,
        split=split_settings,
        metavar="FIELD=VALUE",
    ),
]
Policies = Annotated[
    list[str] | None,
    items(
        "--policy -p",
        "Policies or agents, e.g. min,ugal-n:bias_packets=2.",
        SYSTEM,
        split=split_policies,
        metavar="POLICY",
    ),
]

# The traffic.

Traffics = Annotated[
    list[str] | None, items("--traffic", "Traffic patterns, e.g. uniform,adv+1.", LOAD, metavar="PATTERN")
]
Loads = Annotated[
    list[str] | None, items("--load -l", "Load of the host links: 0.3 or 0.1:0.9:0.2.", LOAD, metavar="LOAD")
]
Jobs = Annotated[
    list[str] | None, items("--job", "A job, e.g. milc:hosts=32,scale=0.25.", LOAD, metavar="JOB")
]
Injection = Annotated[
    str | None,
    option("--injection", "periodic, bernoulli or poisson.", LOAD, default="periodic", metavar="NAME"),
]
SourceQueue = Annotated[
    str | None,
    option("--source-queue", "Packets that a source queue holds.", LOAD, default=UNBOUNDED, metavar="N"),
]
MessagePackets = Annotated[
    int | None, option("--message-packets", "Packets per message.", LOAD, default=1, metavar="N")
]

# Measurement.

Seeds = Annotated[
    list[int] | None,
    items(
        "--seed -s",
        "Seeds of the random streams, e.g. 1,2,3.",
        TIME,
        split=split_numbers,
        default=1,
        metavar="N",
    ),
]
Warmup = Annotated[float | None, time("--warmup", "Simulated time before the measurement.", default="100us")]
Measure = Annotated[float | None, time("--measure", "Simulated time that is measured.", default="100us")]
SeriesBin = Annotated[float | None, time("--series-bin", "Bin width of time series.", default="no series")]
Arrays = Annotated[
    bool | None, option("--arrays/--no-arrays", "Results per router and link.", TIME, default="arrays")
]
AsJson = Annotated[bool, option("--json", "Print one JSON object instead of tables.", MACHINE)]

# How it is done.

Threads = Annotated[
    int | None,
    option("--threads", "Threads per run; they change no result.", MACHINE, default=1, metavar="N"),
]
ResultsFolder = Annotated[
    Path | None, option("--out -o", "The results folder.", MACHINE, default="results/SCENARIO")
]
Workers = Annotated[
    int | None, option("--workers -j", "Runs at a time.", MACHINE, default="one per processor", metavar="N")
]
DryRun = Annotated[bool, option("--dry-run", "Check and count the runs; simulate none.", MACHINE)]
Force = Annotated[bool, option("--force", "Repeat finished runs; take over another's folder.", MACHINE)]
Plots = Annotated[bool, option("--plots/--no-plots", "Draw figures, write the page.", MACHINE)]
Share = Annotated[
    str | None,
    option("--share", "Only every N-th run, from the I-th on: job arrays.", MACHINE, metavar="I/N"),
]
Backend = Annotated[str, option("--backend", "loky (this machine), ray or dask.", MACHINE, metavar="NAME")]
Address = Annotated[
    str | None, option("--address", "HOST:PORT (Ray) or tcp://HOST:8786 (Dask).", MACHINE, metavar="URL")
]
Full = Annotated[bool, option("--full/--quick", "As published (hours), or small and short.", TIME)]
SeedCount = Annotated[
    int | None, option("--seeds", "Seeds per run; from 2 on there are intervals.", TIME, metavar="N")
]

# Settings of a scenario.

_FIELDS = (
    *("policies", "policy", "traffic", "loads", "jobs", "programs", "placements"),
    *("injection", "message_packets", "seeds", "seed"),
    *("warmup_ns", "measure_ns", "series_bin_ns", "arrays", "threads"),
)
"""Parameters of commands that are fields of a scenario as they are."""
_OF_TRAINING = ("injection", "source_queue_packets", "source_queue_full", "message_packets")


def scenario_settings(base: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings for `Scenario.from_dict`: those of ``base``, changed by those options of a command that set one.

    A note tells which network an Aries machine has, if another one is taken for lack of an option.
    """
    settings = dict(base)
    changes = {name: options[name] for name in _FIELDS if options.get(name) is not None}
    topology, arrangement, network = (options.get(name) for name in ("topology", "arrangement", "network"))
    if topology is not None:
        settings["topology"] = _topology(topology)
    if arrangement is not None:
        table = _as_table(settings.get("topology", DEFAULT_TOPOLOGY))
        settings["topology"] = {**table, "arrangement": arrangement}
    if network is not None:
        settings["network"] = {"preset": network}
    elif "network" not in base:
        _note_of_aries(settings.get("topology"))
    if assignments := options.get("network_settings"):
        changed = dict(parse_assignment(text, "--set") for text in assignments)
        settings["network"] = {**_as_table(settings.get("network", "default")), **changed}
    if (queue := options.get("source_queue_packets")) is not None:
        changes["source_queue_packets"] = None if queue == UNBOUNDED else _packets(queue)
    replaced = changes.keys() & {"warmup_ns", "measure_ns", "loads"}
    if "traffic" not in changes and isinstance(settings.get("traffic"), list):
        settings["traffic"] = [
            {key: value for key, value in one.items() if key not in replaced}
            if isinstance(one, Mapping)
            else one
            for one in settings["traffic"]
        ]
    if "warmup_ns" in changes:
        settings.pop("learner_warmup_ns", None)
    return {**settings, **changes}


def trained_with(specs: Sequence[str]) -> dict[str, Any]:
    """The settings of network and traffic that the first saved agent among ``specs`` was trained with, if any."""
    for spec in specs:
        _, source = parse_policy_choice(spec)
        if isinstance(source, Policy) or not source.is_file:
            continue
        known = source.metadata().get("configuration")
        if isinstance(known, dict) and {"topology", "network", "traffic", "load"} <= known.keys():
            kept = {name: known[name] for name in _OF_TRAINING if name in known}
            system = {"topology": known["topology"], "network": known["network"]}
            return {**kept, **system, "traffic": [known["traffic"]], "loads": [known["load"]]}
    return {}


def make_topology(topology: str | None, arrangement: str | None) -> Dragonfly:
    """The topology that these two options describe."""
    settings = _topology(topology or DEFAULT_TOPOLOGY)
    return Dragonfly.from_dict({**settings, **({} if arrangement is None else {"arrangement": arrangement})})


def where(share: str | None, backend: str, address: str | None) -> dict[str, Any]:
    """The arguments of `run_all` that say where runs are done."""
    from dragonfly_env.sweeps.runner import check_backend  # joblib takes a while

    check_backend(backend, address)
    number, _, count = (share or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise config_error("--share", share, "must be I/N with I from 1 to N, such as 3/20")
    return {"share": (int(number), int(count)), "backend": backend, "address": address}


def suite_folder(out: Path | None, name: str, seeds: int | None) -> Path:
    """The results folder of a paper or a suite, whose runs are laid down; checks the number of seeds."""
    if seeds is not None:
        check_integer("seeds", seeds, 1, 1000)
    return check_folder("--out", out or Path("results") / name)


def _topology(text: str) -> dict[str, Any]:
    if "=" not in text:
        return {"preset": text.strip()}
    given = parse_assignments(text, "topology")
    of_grid = {field.name: given.pop(field.name) for field in dataclasses.fields(Grid) if field.name in given}
    return {**given, "group": Grid(**of_grid)} if of_grid else given  # type: ignore[arg-type]  # it checks them


def _as_table(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {"preset": value}


def _packets(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise config_error("--source-queue", text, f"must be a number of packets or {UNBOUNDED}") from None


def _note_of_aries(topology: object) -> None:
    """The default network is the same for every topology, so it is hardly meant for a machine of Aries."""
    name = topology.get("preset") if isinstance(topology, Mapping) else topology
    if isinstance(name, str) and is_xc(PRESETS.get(name, {}).get("arrangement")):
        text = f"note: {name} is an Aries machine, whose network is --network aries; running with 'default'"
        note(Text(text, style="yellow"))
