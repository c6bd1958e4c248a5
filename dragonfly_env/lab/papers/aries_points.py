"""Simulations for Chunduri et al., IPDPS 2021: sizes, the production mix, controlled ensembles.

An eighth of Theta (``theta-m8``: 576 hosts) has every ratio of bandwidths of the whole; a host stands for eight nodes,
so that 256 nodes are 32 hosts. Seconds become a few iterations: messages are a part of the applications', and computing
times are calibrated to the MPI shares of table I.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import BackgroundMix, Job, Motif
from dragonfly_env.jobs.program import PAPER_SHARES
from dragonfly_env.lab.papers.paper import Effort, Routing, Settings
from dragonfly_env.policy import make_policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import Point

MODES = tuple(Routing(name) for name in ("ad0", "ad1", "ad2", "ad3"))
AD0, AD3 = MODES[0], MODES[3]
BOTH = (AD0, AD3)
NODES_PER_HOST = 8
JOB_HOSTS = 32
"""256 nodes."""

ANYWHERE = ("consecutive", "random-routers", "groups=2", "groups=6")
"""Placements of production runs: on one or two groups as well as on many (section IV-A: 1 to 12)."""

_LONGEST = 30.0  # times the time that is watched
_CONTROLLED_PART = 0.5  # share of the watched time in which all jobs are watched
# Milc's messages are so small that all-reduces, first in table I, take a quarter to half of its time in MPI; the
# others' stay large where the paper says so, as far as an iteration fits the run.
_SCALE_OF = {"nek5000": 25.0, "hacc": 2.5, "qbox": 2.0, "rayleigh": 2.5}
# Calibrated as those of the package (`examples/calibrate_programs.py milc --hosts 32 --scale 0.02 --stands-for 8
# --topology theta-m8 --network aries-256 --policy ad0`), by hosts and scale: far from the package's scale a gap in
# proportion to the bytes gives another MPI share than table I has.
_MILC_GAPS_NS = {(32, 0.001): 3718.0, (32, 0.02): 24_287.0, (64, 0.02): 18_834.0}


MODE_SETTINGS: Settings = (("gateways", "any"), ("level_empty", 2))
"""Parameters of every mode where Aries is not public. They were fixed before table II was run, by one public figure:
latencies of AD0 are 1.2 times those of AD3 at light load (docs/reports/2026-11-28-aries.md).
"""
_ALL_TO_ALL = "ad1"  # Cray's default for MPI_Alltoall[v], in every run


@dataclass(frozen=True, slots=True)
class Sizing:
    """Sizes of an effort's runs."""

    scale: float  # size of messages of milc and the mix, as a part of the applications'
    watch_ns: float  # about how long a watched job would take if it were alone
    phase_ns: float  # jobs of the mix start in this time, the watched ones after it


SIZES = {
    "quick": Sizing(scale=0.004, watch_ns=100_000.0, phase_ns=16_000.0),
    "full": Sizing(scale=0.004, watch_ns=400_000.0, phase_ns=40_000.0),
}
LARGER, SMALLER = 5.0, 0.25
"""Times as large are messages where stalls are the question: those of the mix and of eight jobs of milc, which at the
usual size hardly congest the machine; and those of milc in such a mix.
"""
WITH_LARGER = ", larger messages"
"""End of the names of runs with larger messages."""


def watched(name: str, hosts: int, sizing: Sizing, part: float = 1.0) -> Job:
    """An application's job with as many iterations as the sizing has time for, one at least."""
    settings: dict[str, Any] = {"scale": sizing.scale * _SCALE_OF.get(name, 1.0)}
    if name.startswith("milc"):
        settings["stands_for"] = NODES_PER_HOST
    if name == "milc" and (gap_ns := _MILC_GAPS_NS.get((hosts, round(sizing.scale, 6)))):
        settings["gap_ns"] = gap_ns
    if name == "hacc":
        settings["short"] = True
    motif = Motif.classes[name].from_dict(settings)
    iteration_ns = motif.gap(hosts) / (1.0 - PAPER_SHARES[name])
    return Job(motif, hosts, iterations=max(1, round(part * sizing.watch_ns / iteration_ns)))


def _point(
    effort: Effort,
    traffic: str,  # label of these runs
    routing: Routing,  # policy of the packets of the watched jobs
    jobs: Iterable[Job],  # watched jobs
    sizing: Sizing | None = None,  # None: that of the effort
    *,
    system: str = "theta-m8",
    # placements of the watched jobs; seed i takes the i-th, in turn
    placements: tuple[str, ...] = ("consecutive",),
    mix: BackgroundMix | None = None,  # fills the rest of the machine; the watched jobs start after it
    others: str = "",  # policy of the mix; empty: that of the watched jobs
    network: Mapping[str, Any] | None = None,  # differences from the network of the paper
    packet_log: bool = False,  # whether latencies of hosts are noted
) -> Point:
    """Jobs on a machine up to the seed, from which placements, phases and the mix follow: two points that differ in
    ``routing`` alone have pairs of runs with all else equal. All-to-all operations have AD1 in every run.
    """
    size = sizing or SIZES[effort.name]
    settings = {**dict(MODE_SETTINGS), **dict(routing.settings)}
    job_policy = make_policy(routing.label, **settings)
    exchanges = make_policy(_ALL_TO_ALL, **settings)
    start_ns = 1.2 * size.phase_ns if mix else 0.0
    placed = {
        "placement": placements[0],
        "policy": job_policy,
        "all_to_all_policy": exchanges,
        "start_ns": start_ns,
    }
    filling = []
    if mix is not None:
        values = {name: value for name, value in mix.to_dict().items() if name != "program"}
        filling = [BackgroundMix.from_dict({**values, "all_to_all_policy": exchanges})]
    return Point(
        config=SimulationConfig(
            topology=Dragonfly.preset(system),
            network=NetworkConfig.preset("aries-256", **(network or {})),
            traffic="none",
            policy=make_policy(others, **settings) if others else job_policy,
            jobs=[*(job.replace(**placed) for job in jobs), *filling],
            seed=1,
            packet_log=packet_log,
        ),
        policy_label=routing.label,
        traffic_label=traffic,
        warmup_ns=start_ns,
        measure_ns=_LONGEST * size.watch_ns,
        placements=placements,
    )


def mix_of(sizing: Sizing, **changes: Any) -> BackgroundMix:
    """The production mix at a scale."""
    settings = {"scale": sizing.scale, "stands_for": NODES_PER_HOST, "phase_ns": sizing.phase_ns}
    return BackgroundMix.from_dict({**settings, **changes})


def _of(hosts: int) -> str:
    return "" if hosts == JOB_HOSTS else f" of {hosts}"


def in_the_mix(
    effort: Effort,
    name: str,
    *,
    hosts: int = JOB_HOSTS,
    modes: Iterable[Routing] = BOTH,
    label: str = "",
    sizing: Sizing | None = None,
    mix: BackgroundMix | None = None,
    **more: Any,
) -> tuple[Point, ...]:
    """Production runs: the application alone changes its mode, all others have AD0, Cray's default (section III-A)."""
    size = sizing or SIZES[effort.name]
    return tuple(
        _point(
            effort,
            label or f"{name}{_of(hosts)} in the mix",
            mode,
            [watched(name, hosts, size)],
            size,
            **{
                "mix": mix or mix_of(size),
                "others": "ad0",
                "placements": ANYWHERE,
                "packet_log": name == "milc",
                **more,
            },
        )
        for mode in modes
    )


def alone(effort: Effort, name: str, modes: Iterable[Routing] = (AD0,)) -> tuple[Point, ...]:
    """Isolated runs."""
    jobs = [watched(name, JOB_HOSTS, SIZES[effort.name])]
    return tuple(_point(effort, f"{name} alone", mode, jobs, placements=ANYWHERE) for mode in modes)


def ensemble(
    effort: Effort,
    name: str,
    placement: str,
    *,
    modes: Iterable[Routing] = MODES,
    copies: int = 16,
    hosts: int = JOB_HOSTS,
    label: str = "",
    sizing: Sizing | None = None,
    **more: Any,
) -> tuple[Point, ...]:
    """Controlled runs: jobs of one application fill a reserved machine, in one mode, started together (section V)."""
    jobs = [watched(name, hosts, sizing or SIZES[effort.name], _CONTROLLED_PART)] * copies
    return tuple(
        _point(
            effort,
            label or f"{copies} {name}{_of(hosts)}, {placement}",
            mode,
            jobs,
            sizing,
            placements=(placement,),
            packet_log=name in ("milc", "hacc"),
            **more,
        )
        for mode in modes
    )


def all_alike(effort: Effort, label: str = "milc in the mix, all alike", **sizes: Any) -> tuple[Point, ...]:
    """Runs before and after the default was changed: the whole mix has the mode of milc (section V-C)."""
    before, after = (
        in_the_mix(effort, "milc", modes=(mode,), label=label, others=mode.label, **sizes) for mode in BOTH
    )
    return before + after


def with_larger_messages(effort: Effort) -> tuple[Point, ...]:
    """A mix with messages ``LARGER`` times as large, and in it milc with small ones, so that all-reduces take most of
    its time in MPI (table I has them first); the machine before and after; eight jobs of 512 nodes with the larger
    messages, compact and dispersed.
    """
    usual = SIZES[effort.name]
    large = replace(usual, scale=LARGER * usual.scale)
    small = replace(usual, scale=SMALLER * usual.scale)
    points = in_the_mix(
        effort, "milc", label=f"milc in the mix{WITH_LARGER}", sizing=small, mix=mix_of(large)
    )
    alike = f"milc in the mix, all alike{WITH_LARGER}"
    points += all_alike(effort, alike, sizing=small, mix=mix_of(large))
    for placement in ("consecutive", "random-routers"):
        label = f"8 milc of 64, {placement}{WITH_LARGER}"
        points += ensemble(
            effort, "milc", placement, modes=BOTH, copies=8, hosts=64, label=label, sizing=large
        )
    return points


def mix_of_cori(effort: Effort) -> tuple[Point, ...]:
    """Latencies of all hosts of an eighth of Cori, before and after (section V-D)."""
    quick = SIZES["quick"]
    size = Sizing(quick.scale, 0.5 * quick.watch_ns, quick.phase_ns)
    return all_alike(effort, "mix of Cori", sizing=size, system="cori-m8")
