"""How the modes of Aries behave on the small Theta: ``python -m benchmarks.aries_modes modes`` (or another table).

Tables in Markdown, as in ``docs/reports/2026-11-25-aries-modes.md``: the share of packets on non-minimal paths, what it
costs in latency and in packets on links between groups, and what the open parameters (levels, ties) change.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import dragonfly_env as dfe

MODES = ("ad0", "ad1", "ad2", "ad3")
RANKS = ("rank-1", "rank-2", "rank-3")
LEVELS: tuple[dict[str, Any], ...] = (
    {},
    {"level_empty": 0},
    {"levels_near": 16, "levels_far": 16, "level_empty": 0},
    {"levels_near": 16, "levels_far": 16},
    {"levels_near": 32, "levels_far": 32},
    {"levels_near": 48, "levels_far": 48},
    {"levels_far": 16},
    {"wire_share": 0},
    {"ties": "random"},
    {"ties": "random", "levels_near": 32, "levels_far": 32},
    {"gateways": "any"},
    {"gateways": "any", "level_empty": 2},
    {"gateways": "any", "ties": "random"},
    {"in_group": False},
    {"in_destination_group": True},
    {"later_nonminimal": "any"},
    {"later_nonminimal": "any", "in_destination_group": True},
    {"decide": "source"},
)
VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"in_destination_group": True},
    {"later_nonminimal": "any", "in_destination_group": True},
    {"in_group": False},
    {"decide": "source"},
    {"levels_near": 32, "levels_far": 32},
    {"levels_near": 16, "levels_far": 16},
    {"ties": "random"},
    {"ties": "random", "levels_near": 32, "levels_far": 32},
)
"""What decides how many packets stay on minimal paths."""
BUFFERS = (32, 8)
"""Packets of a VC on copper: half of a tile (the preset), an eighth; how VCs share it is not public."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """One run: means over all packets."""

    latency_ns: float
    accepted: float
    around: float
    """Share of the packets that were sent off the minimal path, in a group or between groups."""
    rank_3: float
    """Packets on links between groups, per packet delivered."""
    hops: float
    stalls_to_flits: tuple[float, ...]
    """Of the tiles of ranks 1 to 3, and of processor tiles."""


def measure(
    policy: dfe.Policy,
    traffic: str,
    load: float,
    *,
    time_ns: float,
    seed: int,
    buffer_packets: int = BUFFERS[0],
) -> Measured:
    """A run on an eighth of Theta with packets of 64 bytes of payload."""
    network = dfe.NetworkConfig.preset("aries")
    links = network.to_dict()["links"]
    for name in RANKS[:2]:  # a level is a part of the largest buffer, that of rank 3: it stays what it is
        links[name]["buffer_packets"] = buffer_packets
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("theta-m8"),
        network=network.replace(links=links),
        traffic=traffic,
        load=load,
        policy=policy,
        injection="poisson",
        seed=seed,
    )
    metrics = dfe.simulate(config, warmup_ns=time_ns, measure_ns=time_ns)
    return Measured(
        metrics.latency_mean_ns,
        metrics.accepted_load,
        1.0 - metrics.minimal_fraction,
        metrics.link_classes["rank-3"].packets / metrics.packets_delivered,
        metrics.hops_mean,
        tuple(metrics.tiles.kinds[name].stalls_to_flits for name in (*RANKS, "host-in")),
    )


def modes(traffic: str, loads: Iterable[float], **run: Any) -> list[str]:
    """Every mode at every load."""
    lines = [
        "| load | mode | latency (ns) | accepted | sent around | rank-3 packets | hops |",
        "|---|---|---|---|---|---|---|",
    ]
    for load in loads:
        for name in ("min", *MODES):
            m = measure(dfe.make_policy(name), traffic, load, **run)
            lines.append(
                f"| {load:g} | `{name}` | {m.latency_ns:.0f} | {m.accepted:.3f} | {m.around:.0%} | {m.rank_3:.2f} "
                f"| {m.hops:.2f} |"
            )
    return lines


def _named(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "defaults"


def shares(loads: Sequence[float], **run: Any) -> list[str]:
    """Share of minimal packets under uniform traffic, by model variant."""
    lines = [
        f"| parameters | mode | {' | '.join(f'{load:g}' for load in loads)} |",
        f"|---|---|{'---|' * len(loads)}",
    ]
    for parameters in VARIANTS:
        for name in ("ad0", "ad3"):
            policy = dfe.make_policy(name, **parameters)
            found = [measure(policy, "uniform", load, **run) for load in loads]
            values = " | ".join(f"{1.0 - one.around:.2f} ({one.latency_ns:.0f} ns)" for one in found)
            lines.append(f"| {_named(parameters)} | `{name}` | {values} |")
    return lines


def levels(loads: Sequence[float], **run: Any) -> list[str]:
    """AD0 against AD3 under uniform traffic, for other model variants, for what is not public."""
    lines = [
        "| parameters | load | AD0 / AD3 latency (ns) | ratio | AD0 / AD3 sent around | AD0 / AD3 rank-3 packets |",
        "|---|---|---|---|---|---|",
    ]
    for parameters in LEVELS:
        for load in loads:
            zero, three = (
                measure(dfe.make_policy(name, **parameters), "uniform", load, **run)
                for name in ("ad0", "ad3")
            )
            lines.append(
                f"| {_named(parameters)} | {load:g} | {zero.latency_ns:.0f} / {three.latency_ns:.0f} "
                f"| {zero.latency_ns / three.latency_ns:.2f} | {zero.around:.0%} / {three.around:.0%} "
                f"| {zero.rank_3:.2f} / {three.rank_3:.2f} |"
            )
    return lines


def stalls(loads: Sequence[float], **run: Any) -> list[str]:
    """Stalls per flit of AD0 and of AD3 under uniform traffic, for several sizes of buffers."""
    lines = [
        "| packets a VC | load | latency (ns) | stalls per flit, rank 1 | rank 2 | rank 3 | processor tiles |",
        "|---|---|---|---|---|---|---|",
    ]
    for buffer_packets in BUFFERS:
        for load in loads:
            zero, three = (
                measure(dfe.make_policy(name), "uniform", load, buffer_packets=buffer_packets, **run)
                for name in ("ad0", "ad3")
            )
            ratios = " | ".join(
                f"{one:.2f} / {other:.2f}"
                for one, other in zip(zero.stalls_to_flits, three.stalls_to_flits, strict=True)
            )
            lines.append(
                f"| {buffer_packets} | {load:g} | {zero.latency_ns:.0f} / {three.latency_ns:.0f} | {ratios} |"
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("modes", "adversarial", "shares", "levels", "stalls"))
    parser.add_argument("--loads", type=float, nargs="+", help="offered, of the rate of a host's link")
    parser.add_argument(
        "--time-ns", type=float, default=10_000.0, help="of the warm-up, and of the measurement"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    run = {"time_ns": given.time_ns, "seed": given.seed}
    if given.table == "levels":
        lines = levels(given.loads or (0.1, 0.3), **run)
    elif given.table == "shares":
        lines = shares(given.loads or (0.05, 0.15, 0.25, 0.35), **run)
    elif given.table == "stalls":
        lines = stalls(given.loads or (0.1, 0.2, 0.3, 0.4), **run)
    elif given.table == "modes":
        lines = modes("uniform", given.loads or (0.05, 0.1, 0.2, 0.3, 0.4, 0.5), **run)
    else:
        lines = modes("adv+1", given.loads or (0.05, 0.1, 0.2, 0.3), **run)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
