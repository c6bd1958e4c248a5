"""Options that several commands share, each in one place: its type, its help, and what it sets.

A command takes a list of them as one argument::

    @options.taking(options.COMPARE)
    def sweep(scenario: Path, given: options.Given) -> None:
        settings = scenario_settings(read_toml(scenario), given)

and whatever is in the list is an option of the command. Below them: what they amount to, the settings of a scenario, a
topology, the place of runs.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import (
    check_integer,
    config_error,
    parse_assignment,
    parse_assignments,
    parse_value,
)
from dragonfly_env.cli.console import note
from dragonfly_env.config.groups import Grid
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.network_presets import MEANINGS
from dragonfly_env.config.rows import describe
from dragonfly_env.config.systems import PRESETS, is_xc
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs.workload import parse_jobs
from dragonfly_env.policies import Policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.scenario import (
    DEFAULT_TOPOLOGY,
    parse_loads,
    parse_policy_choice,
)

UNBOUNDED = "unbounded"
SYSTEM, LOAD, TIME, MACHINE = "The system", "The traffic", "What is measured", "How it is done"

Given: TypeAlias = Mapping[str, Any]
"""What was given for a list of options, by their names."""

_MEANINGS = {row.name: row for row in describe(SimulationConfig)}


Option: TypeAlias = inspect.Parameter
"""One option: the name of its argument, its type with Typer's description, and what it is if not given."""


def option(flags: str, text: str, panel: str | None = None, **more: Any) -> Any:
    """An option of one command; ``flags`` are separated by spaces."""
    return typer.Option(*flags.split(), help=text, rich_help_panel=panel, **more)


def _option(
    name: str, kind: Any, panel: str, text: str, *, flags: str = "", default: Any = None, **more: Any
) -> Option:
    """Define an option, ``--name`` unless ``flags``, separated by spaces, begin with another one."""
    names = flags if flags.startswith("--") else f"--{name.replace('_', '-')} {flags}"
    described = Annotated[kind, option(names, text, panel, **more)]
    return Option(name, Option.KEYWORD_ONLY, default=default, annotation=described)


def _by_default(text: str, default: object) -> str:
    return f"{text} [dim]\\[default: {default}][/dim]"


def _of_simulation(name: str, kind: Any, panel: str, **more: Any) -> Option:
    """An option that is a field of `SimulationConfig`, which has its meaning and default."""
    row = _MEANINGS[name]
    default = "none" if row.default is None else row.default
    unit = f", in {row.unit}" if row.unit else ""
    text = _by_default(row.doc[:-1].replace("``", "") + unit + ".", more.pop("default", default))
    return _option(name, kind | None, panel, text, **more)


def _topology_option(default: str) -> Option:
    text = (
        "A published system by its hosts (72, 342, 1056, 2550, 5256, 16512, 83232, 279040) or its name (theta, "
        "cori, edison, theta-m8, cori-m8), or your own: [bold]p[/bold] hosts per router, [bold]a[/bold] routers "
        "per group, [bold]h[/bold] global ports per router, and if you like [bold]g[/bold] groups and "
        "[bold]trunking[/bold] links per pair of groups; for groups that are grids [bold]rows[/bold], "
        "[bold]columns[/bold] and [bold]column_links[/bold] in the place of a."
    )
    metavar = "NAME|p=..,a=..,h=.."
    return _option("topology", str | None, SYSTEM, _by_default(text, default), flags="-t", metavar=metavar)


def _loads_option(default: str | None = None) -> Option:
    text = "Offered load as a fraction of the host links' bandwidth, or a range with both ends; repeat."
    text = text if default is None else _by_default(text, default)
    metavar = "LOAD|START:STOP:STEP"
    return _option("loads", list[str] | None, LOAD, text, flags="--load -l", metavar=metavar)


def _workers_option() -> Option:
    text = _by_default("Runs at a time, each in its own process.", "one per processor")
    return _option("workers", int | None, MACHINE, text, flags="-j")


def _one_traffic(traffic: str | None, load: float | None) -> tuple[Option, ...]:
    text = "Who sends to whom, e.g. uniform, adv+1, advc; 'dragonfly-env info' lists them."
    loads = "Offered load as a fraction of the host links' bandwidth, above 0 and at most 1."
    if load is None:
        loads = _by_default(loads, 0.5)
    if traffic is None:
        more = "Next to --job: what hosts without one send."
        text = _by_default(f"{text} {more}", "uniform; none next to --job")
    return (
        _option("traffic", str if traffic else str | None, LOAD, text, default=traffic),
        _option("loads", float if load else float | None, LOAD, loads, flags="--load -l", default=load),
    )


_ARRANGEMENT = _option(
    "arrangement",
    str | None,
    SYSTEM,
    _by_default(
        "Which global port leads to which group: palmtree, palmtree-plus, absolute, relative, circulant or xc.",
        "palmtree",
    ),
)
_PRESETS = "; ".join(f"[bold]{name}[/bold], {MEANINGS[name]}" for name in NetworkConfig.presets())
_NETWORK = (
    _option(
        "network",
        str | None,
        SYSTEM,
        _by_default(f"Links, routers and buffers: {_PRESETS}.", "default"),
        flags="-n",
    ),
    _option(
        "network_settings",
        list[str] | None,
        SYSTEM,
        "A field of the network that differs from the preset, e.g. --set global_latency_ns=200; may be repeated. "
        "'dragonfly-env info q-adaptive' lists them.",
        flags="--set",
        metavar="FIELD=VALUE",
    ),
)
_QUEUE = {"flags": "--source-queue", "metavar": f"PACKETS|{UNBOUNDED}", "default": UNBOUNDED}
_SOURCES = (
    _of_simulation("injection", str, LOAD),
    _of_simulation("source_queue_packets", str, LOAD, **_QUEUE),
    _of_simulation("message_packets", int, LOAD),
)
_WARMUP = "Simulated time before measuring, in ns. Near saturation 300000 is needed."
_TIMES = (
    _option("warmup_ns", float | None, TIME, _by_default(_WARMUP, 100000)),
    _option("measure_ns", float | None, TIME, _by_default("Simulated time that is measured, in ns.", 100000)),
)
_THREADS = _of_simulation("threads", int, MACHINE)
_DRY_RUN = _option(
    "dry_run",
    bool,
    MACHINE,
    "Check every run, say how many there are and how much memory they take, and stop.",
    default=False,
)
_FORCE = _option(
    "force",
    bool,
    MACHINE,
    "Do finished runs again instead of keeping them, and take over a results folder of another scenario.",
    default=False,
)
_PROGRAM = "PROGRAM:hosts=N[,FIELD=..]"
_JOB = _option(
    "job",
    list[str] | None,
    LOAD,
    "A job, e.g. milc:hosts=32,policy=ugal-n,scale=0.25: fields of the job (iterations, placement and so on) and "
    "settings of its program. Jobs that end start after the warm-up. Repeat for several. "
    "'dragonfly-env info' lists programs.",
    metavar=_PROGRAM,
    show_default=False,
)

TOPOLOGY = (_topology_option(DEFAULT_TOPOLOGY), _ARRANGEMENT)
"""Of `info`."""

SIMULATE = (_JOB, *_one_traffic(None, 0.5), *TOPOLOGY, *_NETWORK, *_SOURCES, *_TIMES, _THREADS)
"""Of one run."""

BOUNDS = (
    _one_traffic("uniform", None)[0],
    _loads_option("25, 50, 75 and 90 % of the most load"),
    *TOPOLOGY,
    *_NETWORK,
)
"""Of `bounds`."""

VIEW = (_JOB, *_one_traffic(None, None), *TOPOLOGY, *_NETWORK, *_SOURCES, *_TIMES, _THREADS)
"""Of one run, whose traffic and load may be those of an agent's training."""

MACHINE_ONLY = (*TOPOLOGY, *_NETWORK, _THREADS)
"""Of `calibrate`."""

COMPARE = (
    _option(
        "traffic",
        list[str] | None,
        LOAD,
        "A traffic pattern, e.g. uniform or adv+1; repeat for several. Next to --job: what hosts without one "
        "send; if it is left out, nothing.",
    ),
    _loads_option(),
    _option(
        "seeds",
        list[int] | None,
        TIME,
        _by_default(
            "Seed of the random streams; repeat for several: then means have confidence intervals.", 1
        ),
        flags="--seed -s",
    ),
    *TOPOLOGY,
    *_NETWORK,
    *_SOURCES,
    *_TIMES,
    _of_simulation("series_bin_ns", float, TIME),
    _THREADS,
    _option(
        "arrays",
        bool | None,
        TIME,
        _by_default(
            "Keep results per router, link and time bin, some megabytes per run of a large system. The figures of "
            "fairness, links and series need them.",
            "arrays",
        ),
        flags="--arrays/--no-arrays",
    ),
)
"""Of `sweep` and `evaluate`: what is run."""

COMPARE_WITH_JOBS = (
    _JOB,
    _option(
        "programs",
        list[str] | None,
        LOAD,
        "A job as of --job, of which each run has one, in addition to every --job: repeat to compare programs.",
        flags="--program",
        metavar=_PROGRAM,
    ),
    _option(
        "placements",
        list[str] | None,
        LOAD,
        "Where the jobs of --program are, or those of --job if there are none: consecutive, random, "
        "random-routers, groups=N; each in runs of its own. Repeat for several.",
        flags="--placement",
    ),
    *COMPARE,
)
"""Of `sweep`: jobs are those of every run."""

_PLOTS = "Draw figures and the page at the end."
FOLDER = (
    _workers_option(),
    _DRY_RUN,
    _FORCE,
    _option("plots", bool, MACHINE, _PLOTS, flags="--plots/--no-plots", default=True),
)
"""Of `sweep` and `evaluate`: how it is run."""

WHERE = (
    _option(
        "share",
        str | None,
        MACHINE,
        "Do every N-th run, beginning with the I-th: N processes, such as the tasks of a job array, share one results "
        "folder. The last one draws the figures.",
        metavar="I/N",
    ),
    _option(
        "backend",
        str,
        MACHINE,
        "Where runs are done: loky (processes of this machine), or a cluster, ray or dask. Clusters need an extra of "
        "that name.",
        default="loky",
    ),
    _option(
        "address",
        str | None,
        MACHINE,
        "The cluster: for Ray auto or HOST:PORT, for Dask tcp://HOST:8786.",
    ),
)
"""Options of commands whose runs may be done elsewhere."""


def training(topology: str, traffic: str, load: float) -> tuple[Option, ...]:
    """Options of `train`, with its own defaults."""
    of_topology = _topology_option(topology).replace(default=topology)
    return (of_topology, _ARRANGEMENT, *_NETWORK, *_one_traffic(traffic, load), *_SOURCES, _THREADS)


def suite(*, whole: str, seeds: str, folder: str) -> tuple[Option, ...]:
    """Options of `reproduce` and `benchmark`, whose runs a paper or a suite has laid down."""
    runs = _by_default("Runs of each kind; from 2 on there are confidence intervals.", seeds)
    filled = _by_default("The results folder.", folder)
    return (
        _option("full", bool, TIME, whole, flags="--full/--quick", default=False, show_default="quick"),
        _option("seeds", int | None, TIME, runs, metavar="N"),
        _option("out", Path | None, MACHINE, filled, flags="-o"),
        _workers_option(),
        _FORCE,
        _DRY_RUN,
    )


def with_traffic(given: Given) -> Given:
    """Return the options of `SIMULATE`, with the default traffic of hosts."""
    if given["traffic"] is not None:
        return given
    return {**given, "traffic": "none" if given["job"] else "uniform"}


def taking(**lists: Sequence[Option]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command take lists of options, each as one argument of that name, of type `Given`."""

    def dress(command: Callable[..., None]) -> Callable[..., None]:
        bare = inspect.signature(command, eval_str=True)
        parameters = (one for own in bare.parameters.values() for one in lists.get(own.name, [own]))
        every = [parameter.replace(kind=Option.KEYWORD_ONLY) for parameter in parameters]

        @functools.wraps(command)
        def called(**given: Any) -> None:
            taken = {
                name: {one.name: given.pop(one.name, one.default) for one in wanted}
                for name, wanted in lists.items()
            }
            command(**given, **taken)

        called.__signature__ = bare.replace(parameters=every)  # type: ignore[attr-defined]  # Typer reads it
        called.__annotations__ = {one.name: one.annotation for one in every}
        return called

    return dress


_MOST_SEEDS = 1000
_MOST_WORKERS = 4096
_OF_TRAINING = ("injection", "source_queue_packets", "source_queue_full", "message_packets")
_TOPOLOGY_AND_NETWORK = ("topology", "arrangement", "network", "network_settings")


def scenario_settings(base: Mapping[str, Any], given: Given, **others: Any) -> dict[str, Any]:
    """Settings for `Scenario.from_dict`: those of ``base``, changed by the options that were given.

    For a machine without a network: a note tells which network it has, and that another one is taken.
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
    for spec in specs:
        _, source = parse_policy_choice(spec)
        if isinstance(source, Policy) or not source.is_file:
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


def check_suite(given: Given, name: str) -> Path:
    """Check what was given for the options of `options.suite`.

    Returns:
        The results folder.
    """
    if given["seeds"] is not None:
        check_integer("--seeds", given["seeds"], 1, _MOST_SEEDS)
    if given["workers"] is not None:
        check_integer("--workers", given["workers"], 1, _MOST_WORKERS)
    return check_folder("--out", given["out"] or Path("results") / name)


def make_topology(topology: str | None, arrangement: str | None) -> Dragonfly:
    """The topology that these two options describe."""
    settings = _topology(topology or DEFAULT_TOPOLOGY)
    return Dragonfly.from_dict({**settings, **({} if arrangement is None else {"arrangement": arrangement})})


def _topology(text: str) -> dict[str, Any]:
    if "=" not in text:
        return {"preset": text.strip()}
    given = parse_assignments(text, "--topology")
    of_grid = {field.name: given.pop(field.name) for field in dataclasses.fields(Grid) if field.name in given}
    return {**given, "group": Grid(**of_grid)} if of_grid else given  # type: ignore[arg-type]  # it checks them


def _as_table(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, int)):
        return {"preset": value}
    raise config_error("topology or network", value, "must be a name or a table")


def where_of(given: Given) -> dict[str, Any]:
    """The arguments of `run_all` that the options `WHERE` set.

    Raises:
        ConfigError: If an option has the wrong form, or the backend is not there.
    """
    from dragonfly_env.sweeps.runner import check_backend

    check_backend(given["backend"], given["address"])
    return {"share": _share(given["share"]), "backend": given["backend"], "address": given["address"]}


def _share(text: str | None) -> tuple[int, int]:
    number, _, count = (text or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise config_error("--share", text, "must be I/N with I from 1 to N, such as 3/20")
    return int(number), int(count)
