"""``dragonfly-env info``: all names, and the facts of each, as text or as JSON. A topology is text: the routers of a
group that is a grid, and which of its columns lead to which groups.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env import _core
from dragonfly_env.agents.learner import AGENTS, agent_settings
from dragonfly_env.checks.values import reading, unknown_name
from dragonfly_env.cli.commands import Typed, completing, option, rows
from dragonfly_env.cli.console import show, titled
from dragonfly_env.config.groups import Grid, LeafSpine
from dragonfly_env.config.network import NetworkConfig, networks
from dragonfly_env.config.rows import SettingInfo, describe, plain
from dragonfly_env.config.throughput import dark_ports, is_balanced, links_per_pair, throughput
from dragonfly_env.config.topology import Dragonfly, read_topology, topologies
from dragonfly_env.decisions.layout import FEATURE_KNOWLEDGE
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.jobs import BackgroundMix, Goal, Motif, Replay
from dragonfly_env.policy import describe_policy, make_policy, needs_weights, policies
from dragonfly_env.simulation.config import RunSettings, SimulationConfig

_VC_SCHEMES = next(item.allowed for item in describe(NetworkConfig) if item.name == "vc_scheme").split(", ")
Rows: TypeAlias = tuple[tuple[str, ...], Sequence[tuple[Any, ...]]]
"""Columns of a list, and its rows, of which the first cell is the name."""
_LEARNERS = {
    "path-times": "linear regression of the time that a packet takes on each path: a first learner that works",
    "deep-q": "deep Q-learning (the DQN of Stable-Baselines3) from exact transitions of every packet",
    "ppo": "proximal policy optimisation on the time of each packet first, on that of all packets afterwards",
}


def info(
    settings: Annotated[Typed, rows(RunSettings, "topology")],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A topology by its hosts, a routing policy, an agent, a traffic pattern, a program of jobs or a "
            "network; features: what observations can show; or a list: topologies, networks, policies, patterns, "
            "jobs or agents. Without it: all names.",
            show_default=False,
            autocompletion=completing(lambda: _everything()),
        ),
    ] = None,
    as_json: Annotated[bool, option("--json", "Print one JSON object instead.")] = False,
) -> None:
    """List what there is, or say what one thing is and where it comes from.

    [bold]Examples[/bold]
    dragonfly-env info
    dragonfly-env info policies
    dragonfly-env info ugal-n
    dragonfly-env info par -t theta
    dragonfly-env info adv
    dragonfly-env info features
    dragonfly-env info 1056 --arrangement absolute
    dragonfly-env info -t p=4,a=8,h=4,g=20
    """
    with reading("name"):
        topology = settings.over({})
        if name is not None and "=" in name and ":" not in name:
            topology, name = settings.over({"topology": read_topology("topology", name)}), None
        elif name in topologies():
            topology = settings.over({"topology": name})
        made = None if "topology" not in topology else RunSettings.from_dict(topology).topology
    if (
        name is not None
        and name not in (*_everything(), *LISTS)
        and not any(_names_pattern(name, pattern) for pattern in _core.patterns())
    ):
        raise unknown_name("name", name, _everything())
    if as_json:
        kinds = [name] if name in LISTS else [] if name is not None or made is not None else [*LISTS]
        show(json.dumps(_lists_as_data(kinds) or _as_data(name, made), indent=2, allow_nan=False))
        return
    if made is not None:
        show(_topology(made))
    if name is None and made is None:
        show(_short())
    elif name in LISTS:
        show(_listed(name))
    elif name is not None and name not in topologies():
        show(_about(name, made))


def _everything() -> tuple[str, ...]:
    """Everything that has a page."""
    patterns = (row["name"] for row in _core.patterns())
    return (*topologies(), *policies(), *patterns, *Motif.classes, *networks(), *AGENTS, "features")


def _names_pattern(name: str, pattern: _core.PatternInfo) -> bool:
    """Whether a name is that of a pattern, alone or with its argument: adv+4 is adv."""
    rest = name.removeprefix(pattern["name"])
    return name in (pattern["name"], pattern["example"]) or (rest != name and rest[:1] in ("+", "-", ":"))


def _about(name: str, made: Dragonfly | None) -> RenderableType:
    """Everything else that has a name; on a topology, if one is given."""
    parts: list[RenderableType] = []
    if name in policies():
        parts.append(_policy(name, made or Dragonfly.preset("1056")))
    parts += [_pattern(pattern) for pattern in _core.patterns() if _names_pattern(name, pattern)]
    if name in Motif.classes:
        parts.append(_program(name))
    if name in networks():
        parts.append(_network(name))
    if name in AGENTS:
        parts.append(_agent(name))
    if name == "features":
        parts.append(_features(made or Dragonfly.preset("72")))
    return Group(*parts)


FEATURE_COLUMNS = (
    *("feature", "one column per", "shown", "knowledge"),
    *("tracker", "value of x", "meaning of x"),
)


def feature_rows(topology: Dragonfly) -> list[tuple[str, ...]]:
    """Table of the features that observations can show on a topology and the default network (``FEATURE_COLUMNS``)."""
    trackers = {feature: row["name"] for row in _core.trackers() for feature in row["features"]}
    usual = {row["name"]: row["usual"] for row in _core.features()}
    config = SimulationConfig(topology=topology)
    env = BatchedRoutingEnv(config, scope="source", action="path", features=(*usual, *trackers))
    rows: list[tuple[str, ...]] = []
    for name in (*usual, *trackers):
        block = env.layout[name]
        scaled = f"x / (x + {block.half:g})" if block.half > 0 else f"x / {block.unit:g}"
        value = "x" if block.half <= 0 and block.unit == 1 else scaled
        shown = "by default" if usual.get(name) else "if named"
        unit = _unit(name)
        meaning = block.doc if unit in block.doc else f"{block.doc} ({unit})"
        known = FEATURE_KNOWLEDGE[name]
        rows.append((name, block.per, shown, known, trackers.get(name, ""), value, meaning))
    return rows


MESSAGE_COLUMNS = (
    *("tracker", "hosts", "bytes per message", "period (ns)"),
    *("messages per link and period", "Mbit/s per link", "share of the link"),
)


def message_rows(topology: Dragonfly) -> list[tuple[str, ...]]:
    """Table of the messages of delayed features on a topology and the default network (``MESSAGE_COLUMNS``).

    A message goes to each other router of the group once, along a tree of local links: messages per link are the mean
    of all local links. Occupancies are those of the virtual channels that ``ugal-n`` needs.
    """
    network = NetworkConfig()
    _, global_vcs = _core.required_vcs(topology.to_core(), "ugal-n", {}, network.vc_scheme)
    numbers = _core.message_numbers(topology.to_core(), global_vcs)
    groups = topology.group_of_routers()
    ends = topology.links()
    local_links = int((groups[ends[:, 0]] == groups[ends[:, 2]]).sum())
    messages = topology.num_routers * (topology.num_routers // topology.num_groups - 1) / max(local_links, 1)
    rows: list[tuple[str, ...]] = []
    for tracker in _core.trackers():
        if tracker["name"] not in numbers:
            continue
        defaults = {row["name"]: row["default"] for row in tracker["parameters"]}
        bits, period_ns = (float(str(defaults[name])) for name in ("message_bits", "message_period_ns"))
        size = math.ceil(numbers[tracker["name"]] * bits / 8)
        bits_per_ns = 8 * size * messages / period_ns
        share = bits_per_ns / (8 * network.local_bandwidth_gbytes_per_s)
        rows.append(
            (
                *(tracker["name"], f"{topology.num_hosts:,}", str(size), f"{period_ns:g}"),
                *(f"{messages:.3g}", f"{1000 * bits_per_ns:.3g}", f"{100 * share:.2g} %"),
            )
        )
    return rows


def _unit(feature: str) -> str:
    """The unit of a feature's quantity, by its name; empty for numbers and flags."""
    feature = feature.removesuffix("_delayed")
    if feature.endswith("_packets") or feature == "credits_in_use":
        return "packets"
    if feature in ("waiting", "age") or feature.endswith("_age"):
        return "ns"
    if feature.endswith("hops"):
        return "hops"
    return "share" if feature.endswith("_demand") else ""


def _features(topology: Dragonfly) -> RenderableType:
    table = _new_table(*FEATURE_COLUMNS)
    for row in feature_rows(topology):
        table.add_row(*row)
    note = Text(
        f"{topology.num_hosts:,} hosts, network default. By default: without features=[...]; if named: features=[NAME] "
        "shows it, and the tracker runs by itself.",
        style="dim",
    )
    messages = _new_table(*MESSAGE_COLUMNS)
    for row in message_rows(topology):
        messages.add_row(*row)
    counted = "The messages of delayed features take no room on simulated links."
    return Group(table, note, titled("Messages of delayed features", messages), Text(counted, style="dim"))


def _topologies() -> Rows:
    columns = ("name", "hosts", "p", "a", "h", "groups", "routers", "ports per router")
    fields = ("num_hosts", "p", "a", "h", "num_groups", "num_routers", "radix")
    return columns, _cells(topologies(), Dragonfly.preset, fields)


def _networks() -> Rows:
    columns = ("name", "packet (bytes)", "links (GB/s)", "local latency (ns)", "global latency (ns)")
    fields = ("packet_bytes", "host_bandwidth_gbytes_per_s", "local_latency_ns", "global_latency_ns")
    return columns, _cells(networks(), NetworkConfig.preset, fields)


def _cells(names: Sequence[str], make: Callable[[str], Any], fields: Sequence[str]) -> list[tuple[Any, ...]]:
    """A row per preset: its name and some of its fields."""
    presets = {name: make(name) for name in names}
    return [(name, *(getattr(preset, field) for field in fields)) for name, preset in presets.items()]


def _jobs() -> Rows:
    closed_loop = (row for row in _core.patterns() if row["closed_loop"])
    return _WHAT, [
        *((motif.name, motif.summary, motif.source) for motif in Motif.classes.values()),
        *((row["name"], row["summary"], row["source"]) for row in closed_loop),
        *((f"{kind.name}:FILE", kind.summary, kind.source) for kind in (Goal, Replay)),
        (BackgroundMix.name, BackgroundMix.summary, BackgroundMix.source),
    ]


_WHAT = ("name", "what it is", "source")
LISTS: dict[str, tuple[str, Callable[[], Rows]]] = {
    "topologies": ("Topologies (--topology)", _topologies),
    "networks": ("Networks (--network)", _networks),
    "policies": (
        "Routing policies (--policy)",
        lambda: (
            ("name", "what it does", "source"),
            [(row["name"], row["summary"], row["source"]) for row in _core.policies()],
        ),
    ),
    "patterns": (
        "Traffic patterns (--traffic)",
        lambda: (
            ("example", *_WHAT[1:]),
            [(row["example"] or row["name"], row["summary"], row["source"]) for row in _core.patterns()],
        ),
    ),
    "jobs": ("Jobs (--job)", _jobs),
    "agents": (
        "Agents (dragonfly-env train)",
        lambda: (_WHAT[:2], [(kind, _LEARNERS.get(kind, kind)) for kind in AGENTS]),
    ),
}
"""The title and the rows of each list."""


def _short() -> RenderableType:
    """The names of all there is."""
    table = _new_table("list", "names")
    for kind, (_, list_rows) in LISTS.items():
        table.add_row(kind, " ".join(str(row[0]) for row in list_rows()[1]))
    hint = Text(
        "More: dragonfly-env info LIST (such as policies), or dragonfly-env info NAME (such as ugal-n)",
        style="dim",
    )
    return Group(table, hint)


def _listed(kind: str) -> RenderableType:
    title, list_rows = LISTS[kind]
    columns, listed = list_rows()
    table = _new_table(*columns)
    for row in listed:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else _spell(cell) for cell in row))
    return titled(title, table)


def _lists_as_data(kinds: Iterable[str]) -> dict[str, Any]:
    tables = {kind: LISTS[kind][1]() for kind in kinds}
    return {
        kind: [dict(zip(map(_key, columns), row, strict=True)) for row in listed]
        for kind, (columns, listed) in tables.items()
    }


def _key(column: str) -> str:
    """A column's name as a key: ``"links (GB/s)"`` is ``links_gb_s``."""
    return re.sub(r"\W+", "_", column.lower()).strip("_")


def _settings_as_data(settings: Iterable[SettingInfo]) -> list[dict[str, Any]]:
    return [{**dataclasses.asdict(item), "default": plain(item.default)} for item in settings]


def _as_data(name: str | None, made: Dragonfly | None) -> dict[str, Any]:
    """The facts of a name as JSON has them: by the kind of thing that it names."""
    found: dict[str, Any] = {}
    if made is not None:
        numbers = {"hosts": made.num_hosts, "routers": made.num_routers, "ports_per_router": made.radix}
        fewest, most = links_per_pair(made)
        bounds = {} if made.wiring is not None and fewest < most else dataclasses.asdict(throughput(made))
        numbers |= {"fewest_links_of_a_pair": fewest, "most_links_of_a_pair": most}
        found["topology"] = {**made.to_dict(), **numbers, "bounds": bounds}
    for row in _core.policies():
        if row["name"] == name:
            facts = {key: row[key] for key in ("name", "summary", "source", "scope", "action")}
            found["policy"] = {**facts, "parameters": _settings_as_data(describe_policy(name))}
    for pattern in _core.patterns():
        if name is not None and _names_pattern(name, pattern):
            found["pattern"] = dict(pattern)
    if name in Motif.classes:
        motif = Motif.classes[name]
        facts = {"name": motif.name, "summary": motif.summary, "source": motif.source}
        found["program"] = {**facts, "settings": _settings_as_data(describe(motif))}
    if name in networks():
        found["network"] = NetworkConfig.preset(name).to_dict()
    if name in AGENTS:
        found["agent"] = {"name": name, "settings": _settings_as_data(agent_settings(name))}
    if name == "features":
        listed = feature_rows(made or Dragonfly.preset("72"))
        found["features"] = [dict(zip(map(_key, FEATURE_COLUMNS), row, strict=True)) for row in listed]
        sent = message_rows(made or Dragonfly.preset("72"))
        found["messages"] = [dict(zip(map(_key, MESSAGE_COLUMNS), row, strict=True)) for row in sent]
    return found


def _links_of(made: Dragonfly) -> str:
    """Describe the local links of a topology."""
    if made.group == "all-to-all":
        return "both directions counted as one"
    if isinstance(made.group, LeafSpine):
        return f"each leaf is joined with each spine, by {_links(made.group.links)}"
    kinds = [made.port_kind(port) for port in range(made.p, made.p + made.num_local_ports)]
    parts = [
        f"{kinds.count(kind)} of {kind} per router, {made.port_links(made.p + kinds.index(kind))} in one"
        for kind in dict.fromkeys(kinds)
    ]
    return "; ".join(parts)


def _routers(made: Dragonfly) -> list[tuple[str, str, str]]:
    """Describe the hosts, the routers and their ports."""
    hosts = ("hosts", f"{made.num_hosts:,}", f"{made.p} per {{}} (p)")
    routers = ("routers", f"{made.num_routers:,}", f"{made.a} per group (a), {made.group}")
    if not isinstance(made.group, LeafSpine):
        kinds = f"{made.p} hosts + {made.num_local_ports} local + {made.h} global (h)"
        return [
            (*hosts[:2], hosts[2].format("router")),
            routers,
            ("ports per router", f"{made.radix}", kinds),
        ]
    leaves, spines = made.group.leaves, made.group.spines
    return [
        (*hosts[:2], hosts[2].format("leaf")),
        routers,
        (
            "leaves",
            f"{made.num_groups * leaves:,}",
            f"{leaves} per group; {made.p} hosts + {spines} local ports",
        ),
        (
            "spines",
            f"{made.num_groups * spines:,}",
            f"{spines} per group; {leaves} local + {made.h} global ports (h)",
        ),
    ]


def _longest_path(made: Dragonfly) -> int:
    """Hops of the longest minimal path between routers with hosts."""
    if made.failed is not None or made.wiring is not None:
        return made.diameter
    if isinstance(made.group, LeafSpine):
        return 3 if made.num_groups > 1 else 2 * int(made.group.leaves > 1)
    way = (made.diameter - 1) // 2
    return int(made.num_groups > 1) + (1 if made.num_groups == 1 else 2) * way * int(made.a > 1)


def _topology(made: Dragonfly) -> RenderableType:
    groups = made.group_of_routers()[made.links()[:, [0, 2]]]
    cables = np.count_nonzero(groups[:, 0] < groups[:, 1])
    local = len(groups) // 2 - cables
    ports, dark = made.num_groups * made.global_ports_per_group, dark_ports(made)
    fewest, most = links_per_pair(made)
    each = made.links_between_groups // made.trunking
    bundle = f", {each} links in one" if each > 1 else ""
    per_pair = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    without = len(made.relayed_groups())
    relayed = f"; pairs without a link, whose packets pass a third group: {without:,}" if without else ""
    unconnected = (
        f"{dark / ports:.1%} of {ports:,}: nothing is connected to them" if ports else "there are none"
    )
    wiring = f"{made.trunking} per pair of groups, {made.arrangement} arrangement{bundle}"
    most_groups = f"of at most {made.global_ports_per_group // made.trunking + 1:,} (g)"
    if made.wiring is not None:
        wiring, most_groups = f"as listed ({made.wiring})", "(g)"
    rule = "a = 2p = 2h, all-to-all groups, no dark ports (Kim et al., ISCA 2008)"
    facts = [
        *_routers(made),
        (
            "groups",
            f"{made.num_groups:,}",
            most_groups,
        ),
        ("local links", f"{local:,}", _links_of(made)),
        ("global links", f"{cables:,}", wiring),
        ("longest minimal path", f"{_longest_path(made)}", "hops between routers with hosts"),
        ("dark global ports", f"{dark:,}", unconnected),
        ("links per pair of groups", per_pair, f"fewest and most links between two groups{relayed}"),
        ("balanced", "yes" if is_balanced(made) else "no", rule),
        *dead_facts(made),
    ]
    if made.num_groups > 1 and made.h > 0 and made.failed is None and fewest == most:
        facts += _bounds(made)
    table = _new_table("", "", "", header=False)
    for heading, value, remark in facts:
        table.add_row(heading, value, Text(remark, style="dim"))
    table.columns[1].justify = "right"
    facts_of = titled(f"Dragonfly p={made.p}, a={made.a}, h={made.h}, g={made.num_groups}", table)
    drawing = "\n\n".join(filter(None, (draw_group(made), draw_pairs(made))))
    return Group(facts_of, Text(f"\n{drawing}\n")) if drawing else facts_of


def dead_facts(made: Dragonfly) -> list[tuple[str, str, str]]:
    """The rows about failures: heading, value and remark. None for a whole machine."""
    if made.failed is None:
        return []
    dead = made.dead_links()
    crosses = made.group_of_routers()[dead[:, 0]] != made.group_of_routers()[dead[:, 2]]
    between = int(np.count_nonzero(crosses)) // 2
    relayed = made.relayed_groups()
    fewest = f", by at least {min(relays for *_, relays in relayed)} groups" if relayed else ""
    silent = made.num_hosts - len(made.live_hosts())
    return [
        ("dead links", f"{len(dead) // 2:,}", f"{between:,} global, {len(dead) // 2 - between:,} local"),
        ("dead routers", f"{len(made.dead_routers()):,}", f"their {silent:,} hosts send and receive nothing"),
        ("pairs of groups without a link", f"{len(relayed):,}", f"packets pass another group{fewest}"),
        *_degraded_facts(made),
    ]


def _degraded_facts(made: Dragonfly) -> list[tuple[str, str, str]]:
    """The row about degraded links; none without such links."""
    rates, links = made.link_rates(), made.links()
    slow = rates[(rates < 1.0) & (links[:, 0] < links[:, 2])]
    if not len(slow):
        return []
    shares, counts = np.unique(slow, return_counts=True)
    at = ", ".join(f"{count:,} at {share:g}" for share, count in zip(shares, counts, strict=True))
    return [("degraded links", f"{len(slow):,}", f"{at} of their rate")]


def _bounds(made: Dragonfly) -> list[tuple[str, str, str]]:
    """The most load that paths of a kind carry (`dragonfly_env.config.throughput` has the formulas)."""
    most = throughput(made)
    links, hosts = made.links_between_groups, made.hosts_per_group
    advc = min(1.0, min(made.h, made.num_groups - 1) * links / hosts)
    in_group = "(leaves p)" if isinstance(made.group, LeafSpine) else "(a p)"  # hosts
    return [
        (
            "uniform, minimal",
            f"{most.uniform_minimal:.4f}",
            f"of the host links, at most: L g / {in_group}, L links per pair of groups, or local links",
        ),
        ("adv+i, minimal", f"{most.adversarial_minimal:.4f}", f"at most: L / {in_group}, the worst case"),
        ("advc, minimal", f"{advc:.4f}", f"at most: h L / {in_group}, h groups share the load"),
        (
            "adv+i, non-minimal",
            f"{most.adversarial_nonminimal:.4f}",
            f"at most: L g / (2 {in_group.strip('()')}), by one intermediate group (links as fast as those of hosts)",
        ),
    ]


def _policy(name: str, made: Dragonfly) -> RenderableType:
    policy = next(item for item in _core.policies() if item["name"] == name)
    decides = {
        "source": "at the source router only",
        "every": "at every router with more than one legal output",
        "progressive": "at every router of the source group while the path is minimal, and on entering a group",
        "progressive-busy": "at the source router, and, where packets wait for the next port, at every router of the "
        "source group while the path is minimal, and on entering a group",
        "all": "at every router",
    }
    head = Text.assemble((name, "bold"), f": {policy['summary']}.\nSource: {policy['source']}.\n")
    head.append(f"Decides {decides.get(policy['scope'], policy['scope'])}; it chooses a {policy['action']}.")
    channels = _channels(name, made)
    settings = describe_policy(name)
    if not settings:
        return Group(head, Text("No parameters.", style="dim"), channels)
    usage = f"Parameters, e.g. --policy {name}:{settings[0].name}={_example(settings[0])}"
    return Group(head, _settings_table(usage, settings), channels)


def _channels(name: str, made: Dragonfly) -> RenderableType:
    """The virtual channels that the paths of a policy need, by the rule that numbers them."""
    if needs_weights(name):
        return Text("How many virtual channels it needs depends on its parameters.", style="dim")
    chosen = make_policy(name).to_core()
    table = _new_table("network.vc_scheme", "local_vcs", "global_vcs")
    for scheme in _VC_SCHEMES:
        needed = _core.required_vcs(made.to_core(), name, chosen["parameters"], scheme)
        table.add_row(scheme, *map(str, needed))
    table.columns[1].justify = table.columns[2].justify = "right"
    where = f"p={made.p}, a={made.a}, h={made.h}, g={made.num_groups}, {made.group}"
    return Group(
        titled(f"Virtual channels that it needs on {made.num_hosts:,} hosts ({where})", table),
        Text("local_vcs=0 and global_vcs=0 of a network mean: as many as are needed.", style="dim"),
    )


def _pattern(pattern: _core.PatternInfo) -> RenderableType:
    head = Text.assemble(
        (pattern["name"], "bold"), f": {pattern['summary']}.\nSource: {pattern['source']}.\n"
    )
    if pattern["example"]:
        head.append(f"Example: --traffic {pattern['example']}")
    if not pattern["parameters"]:
        return head
    table = _new_table("name", "default", "meaning")
    for parameter in pattern["parameters"]:
        table.add_row(parameter["name"], str(parameter["default"]), parameter["doc"])
    return Group(head, titled("Arguments", table))


def _program(name: str) -> RenderableType:
    motif = Motif.classes[name]
    head = Text.assemble(
        (name, "bold"), f": {motif.summary}.\nSource: {motif.source}.\n\n{inspect.getdoc(motif)}\n"
    )
    return Group(head, _settings_table(f"Settings, e.g. --job {name}:hosts=32,scale=0.25", describe(motif)))


def _network(name: str) -> RenderableType:
    preset = NetworkConfig.preset(name)
    settings = [
        dataclasses.replace(item, default=getattr(preset, item.name)) for item in describe(NetworkConfig)
    ]
    return _settings_table(f"Network '{name}'; change a field with --set FIELD=VALUE", settings, "value")


def _agent(kind: str) -> RenderableType:
    head = Text.assemble((kind, "bold"), f": {_LEARNERS.get(kind, kind)}")
    settings = agent_settings(kind)
    example = f"{settings[0].name}={_spell(settings[0].default)}"
    usage = f"Settings, e.g. dragonfly-env train {kind} --agent-setting {example}"
    return Group(head, _settings_table(usage, settings))


def _settings_table(title: str, settings: Iterable[SettingInfo], column: str = "default") -> RenderableType:
    table = _new_table("field", column, "unit", "allowed", "meaning")
    for item in settings:
        table.add_row(item.name, _spell(item.default), item.unit, item.allowed, item.doc)
    return titled(title, table)


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, (tuple, list)):
        return ",".join(_spell(item) for item in value)
    return "unset" if value is None else str(value)


def _example(setting: SettingInfo) -> str:
    """A value that could be meant, for a usage line."""
    if isinstance(setting.default, (int, float)) and not isinstance(setting.default, bool):
        return "2"
    return "true" if setting.default is None else _spell(setting.default)


def _new_table(*columns: str, header: bool = True) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_header=header)
    for index, column in enumerate(columns):
        table.add_column(column, no_wrap=index == 0)
    return table


_MOST_ROWS, _MOST_COLUMNS = 12, 24  # largest grid that is drawn router by router
_MOST_NAMED = 12


def draw_group(made: Dragonfly) -> str:
    """The first group of a topology of grids or of leaves and spines, as text; empty for other topologies and lists."""
    if made.wiring is not None:
        return ""
    if isinstance(made.group, Grid):
        return "\n".join((*_grid(made, made.group), "", *_wiring(made, made.group)))
    if isinstance(made.group, LeafSpine):
        return "\n".join((*_leaves(made, made.group), "", *_spines(made, made.group)))
    return ""


def draw_pairs(made: Dragonfly) -> str:
    """The number of links of each pair of groups of a machine with a list of links, as text; empty for other topologies
    and for many groups.
    """
    if made.wiring is None or made.num_groups > _MOST_COLUMNS:
        return ""
    links = Counter((link[0], link[3]) for link in made.wiring.links)
    groups = range(made.num_groups)
    rows = [
        "".join(f"{links[min(row, column), max(row, column)] or '.':>4}" for column in groups)
        for row in groups
    ]
    return "\n".join(
        (
            "Links between groups (.: none):",
            "group" + "".join(f"{column:>4}" for column in groups),
            *(f"{row:<5}{numbers}" for row, numbers in enumerate(rows)),
        )
    )


def _leaves(made: Dragonfly, group: LeafSpine) -> list[str]:
    def row(name: str, count: int, first: int) -> str:
        numbers = "".join(f"{first + i:<5}" for i in range(min(count, _MOST_COLUMNS)))
        return f"{name} {numbers}{'' if count <= _MOST_COLUMNS else '..'}".rstrip()

    wide = min(max(group.leaves, group.spines), _MOST_COLUMNS) * 5 - 4
    return [
        row("spines", group.spines, group.leaves),
        f"       {'╳' * wide}",
        row("leaves", group.leaves, 0),
        f"Each leaf has {made.p} host{'s' if made.p != 1 else ''}; ╳: each leaf is joined with each spine, "
        f"by {_links(group.links)}.",
    ]


def _spines(made: Dragonfly, group: LeafSpine) -> list[str]:
    """Table of the groups behind the global ports of each spine of group 0."""
    if made.num_groups == 1:
        return ["No links to other groups."]
    lines = [f"{_links(made.links_between_groups)} to every other group; from group 0 (links in brackets):"]
    for spine in range(group.leaves, group.routers)[:_MOST_ROWS]:
        ends = (made.neighbor(spine, port) for port in range(made.radix - made.h, made.radix))
        ports = Counter(made.group_of(far[0]) for far in ends if far is not None)
        named = [f"{peer} ({number})" for peer, number in sorted(ports.items())]
        rest = f", .. {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        lines.append(f"  spine {spine:<8} groups {', '.join(named[:_MOST_NAMED]) or 'none'}{rest}")
    return [*lines, *(["  .."] if group.spines > _MOST_ROWS else [])]


def _grid(made: Dragonfly, grid: Grid) -> list[str]:
    rows, columns = min(grid.rows, _MOST_ROWS), min(grid.columns, _MOST_COLUMNS)
    more = "" if columns == grid.columns else " .."
    edge = "┄" if columns < grid.columns else ""
    lines = ["column   " + "".join(f"{column:<4}" for column in range(columns)) + more]
    for row in range(rows):
        routers = "───".join("o" for _ in range(columns))
        lines.append(f"row {row:<4} {routers}{edge}")
        if row + 1 < rows:
            lines.append(" " * 9 + "   ".join("║" for _ in range(columns)))
    if rows < grid.rows:
        lines.append(" " * 9 + "..")
    lines += [
        f"o  a router with {made.p} host{'s' if made.p != 1 else ''}; its number in the group is "
        f"row * {grid.columns} + column",
        f"─  rank-1: every two of a row are joined, by {_links(grid.row_links)}",
        f"║  rank-2: every two of a column are joined, by {_links(grid.column_links)}",
    ]
    return lines


def _wiring(made: Dragonfly, grid: Grid) -> list[str]:
    """Table of the groups behind the global ports of group 0, column by column."""
    if made.num_groups == 1:
        return ["No links to other groups."]
    peers: list[dict[int, int]] = []  # [column]: group -> number of ports that lead there
    for column in range(grid.columns):
        ports: dict[int, int] = {}
        for row in range(grid.rows):
            for port in range(made.radix - made.h, made.radix):
                far = made.neighbor(row * grid.columns + column, port)
                if far is not None:
                    group = made.group_of(far[0])
                    ports[group] = ports.get(group, 0) + 1
        peers.append(ports)
    each = made.port_links(made.radix - 1)
    lines = [
        f"rank-3: {_links(made.links_between_groups)} to every other group"
        + (f", {each} of them a port" if each > 1 else "")
        + "; from group 0 (ports of the column in brackets):"
    ]
    for _, same in itertools.groupby(range(grid.columns), key=lambda column: peers[column]):
        block = list(same)
        of = f"column {block[0]}" if len(block) == 1 else f"columns {block[0]}-{block[-1]}"
        named = [f"{group} ({ports})" for group, ports in sorted(peers[block[0]].items())]
        rest = f", .. {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        lines.append(
            f"  {of:<14} groups {', '.join(named[:_MOST_NAMED])}{rest}" if named else f"  {of:<14} none"
        )
    return lines


def _links(number: int) -> str:
    return "one link" if number == 1 else f"{number} links"
