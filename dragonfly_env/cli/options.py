"""Options that several commands share: their types, help texts, and how they become a scenario."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from dragonfly_env._validate import config_error
from dragonfly_env.experiments.fields import parse_assignment, parse_value
from dragonfly_env.groups import Grid
from dragonfly_env.topology import Dragonfly

DEFAULT_TOPOLOGY = "1056"
SYSTEM, LOAD, TIME, MACHINE = "The system", "The traffic", "What is measured", "How it is done"

Topology = Annotated[
    str | None,
    typer.Option(
        "--topology",
        "-t",
        metavar="NAME|p=..,a=..,h=..",
        help="A published system by its hosts (72, 342, 1056, 2550, 5256, 16512, 83232, 279040) or its name (theta, "
        "cori, edison, theta-m8, cori-m8), or your own: "
        "[bold]p[/bold] hosts per router, [bold]a[/bold] routers per group, [bold]h[/bold] global ports per router, "
        "and if you like [bold]g[/bold] groups and [bold]trunking[/bold] links per pair of groups; for groups that are "
        "grids [bold]rows[/bold], [bold]columns[/bold] and [bold]column_links[/bold] in the place of a. "
        "[dim]\\[default: 1056][/dim]",
        rich_help_panel=SYSTEM,
    ),
]
Arrangement = Annotated[
    str | None,
    typer.Option(
        "--arrangement",
        help="Which global port leads to which group: palmtree, palmtree-plus, absolute, relative, circulant or xc. "
        "[dim]\\[default: palmtree][/dim]",
        rich_help_panel=SYSTEM,
    ),
]
Network = Annotated[
    str | None,
    typer.Option(
        "--network",
        "-n",
        help="Links, routers and buffers: 'q-adaptive' (as in the HPDC'21 paper), 'lia' (as in the TACO'25 "
        "paper) or 'default' (as q-adaptive, but with a routing delay as real switches have). "
        "[dim]\\[default: default][/dim]",
        rich_help_panel=SYSTEM,
    ),
]
NetworkSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the network that differs from the preset, e.g. --set global_latency_ns=200; may be repeated. "
        "'dragonfly-env info q-adaptive' lists them.",
        rich_help_panel=SYSTEM,
    ),
]
Injection = Annotated[
    str | None,
    typer.Option(
        "--injection",
        help="When hosts generate messages: 'periodic' (even intervals, all in phase), 'bernoulli' (a trial per flit "
        "time) or 'poisson' (exponential gaps). [dim]\\[default: periodic][/dim]",
        rich_help_panel=LOAD,
    ),
]
SourceQueue = Annotated[
    str | None,
    typer.Option(
        "--source-queue",
        metavar="PACKETS|unbounded",
        help="Room in each host's source queue. At a full queue a periodic generator waits, others lose the message. "
        "[dim]\\[default: unbounded][/dim]",
        rich_help_panel=LOAD,
    ),
]
MessagePackets = Annotated[
    int | None,
    typer.Option(
        "--message-packets", help="Packets per message. [dim]\\[default: 1][/dim]", rich_help_panel=LOAD
    ),
]
Warmup = Annotated[
    float | None,
    typer.Option(
        "--warmup-ns",
        help="Simulated time before measuring, in ns. Near saturation 300000 is needed. [dim]\\[default: 100000][/dim]",
        rich_help_panel=TIME,
    ),
]
Measure = Annotated[
    float | None,
    typer.Option(
        "--measure-ns",
        help="Simulated time that is measured, in ns. [dim]\\[default: 100000][/dim]",
        rich_help_panel=TIME,
    ),
]
SeriesBin = Annotated[
    float | None,
    typer.Option(
        "--series-bin-ns",
        help="Also record a time series in bins of this width, in ns. [dim]\\[default: none][/dim]",
        rich_help_panel=TIME,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        help="Threads of one simulation; pays from about 5,000 hosts. The result is the same for any number. "
        "[dim]\\[default: 1][/dim]",
        rich_help_panel=MACHINE,
    ),
]

OneTraffic = Annotated[
    str,
    typer.Option(
        "--traffic",
        help="Who sends to whom, e.g. uniform, adv+1, advc; 'dragonfly-env info' lists them.",
        rich_help_panel=LOAD,
    ),
]
OneLoad = Annotated[
    float,
    typer.Option(
        "--load",
        "-l",
        help="Offered load as a fraction of the host links' bandwidth, above 0 and at most 1.",
        rich_help_panel=LOAD,
    ),
]

Traffics = Annotated[
    list[str] | None,
    typer.Option(
        "--traffic",
        help="A traffic pattern, e.g. uniform or adv+1; repeat for several.",
        rich_help_panel=LOAD,
    ),
]
Loads = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        "-l",
        metavar="LOAD|START:STOP:STEP",
        help="Offered load as a fraction of the host links' bandwidth, or a range with both ends; repeat.",
        rich_help_panel=LOAD,
    ),
]
Seeds = Annotated[
    list[int] | None,
    typer.Option(
        "--seed",
        "-s",
        help="Seed of the random streams; repeat for several: then means have confidence intervals. "
        "[dim]\\[default: 1][/dim]",
        rich_help_panel=TIME,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        help="Runs at a time, each in its own process. [dim]\\[default: one per processor][/dim]",
        rich_help_panel=MACHINE,
    ),
]
Redo = Annotated[
    bool,
    typer.Option("--redo", help="Do finished runs again instead of keeping them.", rich_help_panel=MACHINE),
]
Arrays = Annotated[
    bool | None,
    typer.Option(
        "--arrays/--no-arrays",
        help="Keep results per router, link and time bin, some megabytes per run of a large system. The figures of "
        "fairness, links and series need them. [dim]\\[default: arrays][/dim]",
        rich_help_panel=TIME,
    ),
]
Plots = Annotated[
    bool,
    typer.Option("--plots/--no-plots", help="Draw figures and the page at the end.", rich_help_panel=MACHINE),
]


def folder(help_text: str) -> Any:
    """The option --out of a command that fills a folder."""
    return typer.Option("--out", "-o", help=help_text, rich_help_panel=MACHINE)


def scenario_settings(
    base: Mapping[str, Any],
    *,
    topology: str | None = None,
    arrangement: str | None = None,
    network: str | None = None,
    network_settings: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    traffic: Sequence[str] | None = None,
    loads: Sequence[str] | None = None,
    source_queue: str | None = None,
    others: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Settings for `Scenario.from_dict`: those of ``base``, changed by the options that were given.

    Args:
        base: Settings of a file, or nothing.
        topology: As the option --topology.
        arrangement: As the option.
        network: As the option.
        network_settings: As the option --set.
        policies: As the option --policy.
        traffic: As the option --traffic.
        loads: As the option --load; they replace the loads of each traffic too.
        source_queue: As the option.
        others: Further settings by their key; None for not given. Times replace those of each traffic too.

    Raises:
        ConfigError: If an option has the wrong form.
    """
    settings = dict(base)
    given = {key: value for key, value in (others or {}).items() if value is not None}
    if topology is not None:
        settings["topology"] = _topology(topology)
    if arrangement is not None:
        settings["topology"] = {
            **_as_table(settings.get("topology", DEFAULT_TOPOLOGY)),
            "arrangement": arrangement,
        }
    if network is not None:
        settings["network"] = {"preset": network}
    if network_settings:
        changes = dict(parse_assignment(text, "--set") for text in network_settings)
        settings["network"] = {**_as_table(settings.get("network", "default")), **changes}
    if policies:
        settings["policies"] = list(policies)
    if traffic:
        settings["traffic"] = list(traffic)
    if loads:
        settings["loads"] = list(loads)
    if source_queue is not None:
        given["source_queue_packets"] = parse_value(source_queue)
    replaced = {key for key in given if key in ("warmup_ns", "measure_ns")} | ({"loads"} if loads else set())
    if replaced and isinstance(settings.get("traffic"), list):
        settings["traffic"] = [
            {key: value for key, value in item.items() if key not in replaced}
            if isinstance(item, Mapping)
            else item
            for item in settings["traffic"]
        ]
    settings.update(given)
    return settings


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
