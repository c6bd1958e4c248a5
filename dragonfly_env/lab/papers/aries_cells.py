"""What is simulated for Chunduri et al., IPDPS 2021: sizes, the production mix, controlled ensembles.

An eighth of Theta (``theta-m8``: 576 hosts) has every ratio of bandwidths of the whole; a host stands for eight nodes,
so that 256 nodes are 32 hosts. Seconds become a few iterations: messages are a part of the applications', and computing
times are calibrated to the MPI shares of table I.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dragonfly_env.jobs import BackgroundMix, Job, Motif
from dragonfly_env.jobs.gaps import PAPER_SHARES
from dragonfly_env.lab.papers.cells import Routing
from dragonfly_env.lab.papers.job_cells import JobCell
from dragonfly_env.lab.papers.paper import Effort

APPLICATIONS = ("milc", "milc-reorder", "nek5000", "hacc", "qbox", "rayleigh")
MODES = tuple(Routing(name) for name in ("ad0", "ad1", "ad2", "ad3"))
AD0, AD3 = MODES[0], MODES[3]
BOTH = (AD0, AD3)
NODES_PER_HOST = 8
JOB_HOSTS = 32
"""256 nodes."""

ANYWHERE = ("consecutive", "random-routers", "groups=2", "groups=6")
"""Where production runs find themselves: on one or two groups as well as on many (section IV-A: 1 to 12)."""

_LONGEST = 30.0  # times the time that is watched
_ALONE_SEEDS = 4  # one for each placement
_CONTROLLED_PART = 0.5  # of the watched time: all jobs are watched there
# Milc's messages are so small that all-reduces, first in table I, take a quarter to half of its time in MPI; the
# others' stay large where the paper says so, as far as an iteration fits the run.
_SCALE_OF = {"nek5000": 25.0, "hacc": 2.5, "qbox": 2.0, "rayleigh": 2.5}
# Calibrated as those of the package (`dragonfly-env calibrate milc --hosts 32 --scale 0.02 --stands-for 8 --topology
# theta-m8 --network aries-256 --policy ad0`), by hosts and scale: far from the package's scale a gap in proportion to
# the bytes gives another MPI share than table I has.
_MILC_GAPS_NS = {(32, 0.001): 3718.0, (32, 0.02): 24_287.0, (64, 0.02): 18_834.0}


@dataclass(frozen=True, slots=True)
class Sizing:
    """How large an effort's runs are.

    Attributes:
        scale: Of milc's and the mix's messages, as a part of the applications'.
        watch_ns: About how long a watched job would take if it were alone.
        phase_ns: Jobs of the mix start in this time, the watched ones after it.
    """

    scale: float
    watch_ns: float
    phase_ns: float


SIZES = {
    "quick": Sizing(scale=0.004, watch_ns=100_000.0, phase_ns=16_000.0),
    "full": Sizing(scale=0.004, watch_ns=400_000.0, phase_ns=40_000.0),
}
LARGER, SMALLER = 5.0, 0.25
"""Times as large are messages where stalls are the question: those of the mix and of eight jobs of milc, which at the
usual size hardly congest the machine; and those of milc in such a mix.
"""
WITH_LARGER = ", larger messages"
"""At the end of the names of such runs."""


def watched(name: str, hosts: int, sizing: Sizing, part: float = 1.0) -> Job:
    """An application's job with as many iterations as the sizing has time for, one at least."""
    settings: dict[str, Any] = {"scale": sizing.scale * _SCALE_OF.get(name, 1.0)}
    if name.startswith("milc"):
        settings["stands_for"] = NODES_PER_HOST
    if name == "milc" and (gap_ns := _MILC_GAPS_NS.get((hosts, round(sizing.scale, 6)))):
        settings["gap_ns"] = gap_ns
    if name == "hacc":
        settings["short"] = True
    motif = Motif.classes[name].from_settings(settings)
    iteration_ns = motif.gap(hosts) / (1.0 - PAPER_SHARES[name])
    return Job(motif, hosts, iterations=max(1, round(part * sizing.watch_ns / iteration_ns)))


def _cell(
    effort: Effort,
    traffic: str,
    routing: Routing,
    jobs: Iterable[Job],
    sizing: Sizing | None = None,
    **more: Any,
) -> JobCell:
    size = sizing or SIZES[effort.name]
    system = more.pop("system", "theta-m8")
    return JobCell(
        hosts=1632 if system == "cori-m8" else 576,
        traffic=traffic,
        load=1.0,
        routing=routing,
        warmup_ns=1.2 * size.phase_ns if more.get("mix") else 0.0,
        measure_ns=_LONGEST * size.watch_ns,
        system=system,
        jobs=tuple(jobs),
        **more,
    )


def mix_of(sizing: Sizing, **changes: Any) -> BackgroundMix:
    """The production mix at a scale."""
    settings = {"scale": sizing.scale, "stands_for": NODES_PER_HOST, "phase_ns": sizing.phase_ns}
    return BackgroundMix.from_settings({**settings, **changes})


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
) -> tuple[JobCell, ...]:
    """Production runs: the application alone changes its mode, all others have AD0, with AD1 for all-to-all operations
    (Cray's defaults; section III-A).
    """
    size = sizing or SIZES[effort.name]
    return tuple(
        _cell(
            effort,
            label or f"{name} in the mix",
            mode,
            [watched(name, hosts, size)],
            size,
            **{
                "mix": mix or mix_of(size),
                "others": "ad0",
                "others_all_to_all": "ad1",
                "placements": ANYWHERE,
                "packet_log": name == "milc",
                **more,
            },
        )
        for mode in modes
    )


def alone(effort: Effort, name: str, modes: Iterable[Routing] = (AD0,)) -> tuple[JobCell, ...]:
    """Isolated runs."""
    jobs = [watched(name, JOB_HOSTS, SIZES[effort.name])]
    return tuple(
        _cell(effort, f"{name} alone", mode, jobs, placements=ANYWHERE, most_seeds=_ALONE_SEEDS)
        for mode in modes
    )


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
    most_seeds: int | None = None,
) -> tuple[JobCell, ...]:
    """Controlled runs: jobs of one application that fill a reserved machine, all in one mode, started together
    (section V).
    """
    jobs = [watched(name, hosts, sizing or SIZES[effort.name], _CONTROLLED_PART)] * copies
    return tuple(
        _cell(
            effort,
            label or f"{copies} {name}, {placement}",
            mode,
            jobs,
            sizing,
            placements=(placement,),
            most_seeds=most_seeds,
            packet_log=name in ("milc", "hacc"),
        )
        for mode in modes
    )


def all_alike(effort: Effort, suffix: str = "", **sizes: Any) -> tuple[JobCell, ...]:
    """Before and after the default was changed: the whole mix has the mode of milc (section V-C)."""
    label = f"milc in the mix, all alike{suffix}"
    before = in_the_mix(effort, "milc", modes=(AD0,), label=label, **sizes)
    after = in_the_mix(
        effort,
        "milc",
        modes=(AD3,),
        label=label,
        others="ad3",
        others_all_to_all="ad3",
        **sizes,
    )
    return before + after


def with_larger_messages(effort: Effort) -> tuple[JobCell, ...]:
    """A mix with messages ``LARGER`` times as large, and in it milc with small ones, so that all-reduces take most of
    its time in MPI (table I has them first); the machine before and after; eight jobs of 512 nodes with the larger
    messages, compact and dispersed.
    """
    usual = SIZES[effort.name]
    large = replace(usual, scale=LARGER * usual.scale)
    small = replace(usual, scale=SMALLER * usual.scale)
    cells = in_the_mix(effort, "milc", label=f"milc in the mix{WITH_LARGER}", sizing=small, mix=mix_of(large))
    cells += all_alike(effort, sizing=small, mix=mix_of(large), suffix=WITH_LARGER)
    for placement in ("consecutive", "random-routers"):
        label = f"8 milc of 64, {placement}{WITH_LARGER}"
        cells += ensemble(
            effort, "milc", placement, modes=BOTH, copies=8, hosts=64, label=label, sizing=large
        )
    return cells


def mix_of_cori(effort: Effort) -> tuple[JobCell, ...]:
    """Latencies of all hosts of an eighth of Cori, before and after (section V-D)."""
    quick = SIZES["quick"]
    size = Sizing(quick.scale, 0.5 * quick.watch_ns, quick.phase_ns)
    cells: list[JobCell] = []
    for mode, exchanges in ((AD0, "ad1"), (AD3, "ad3")):
        cells += in_the_mix(
            effort,
            "milc",
            modes=(mode,),
            label="mix of Cori",
            sizing=size,
            system="cori-m8",
            others=mode.label,
            others_all_to_all=exchanges,
        )
    return tuple(cells)
