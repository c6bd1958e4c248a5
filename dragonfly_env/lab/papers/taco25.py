"""Benito, Vallejo, Beivide: LIA, TACO 2025. Section 5 gives network, parameters and traffic.

The paper's system has 5,256 hosts (h = 6, 73 groups); a quick run is smaller (1,056 hosts, h = 4, 33 groups), so claims
are made of both, and offsets that depend on h are given for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from dragonfly_env.lab.papers.figures.curves import load_curves
from dragonfly_env.lab.papers.figures.lia import (
    mixture_counters,
    offset_curves,
    saturation_counters,
    speedups,
    switch_loads,
    switch_paths,
)
from dragonfly_env.lab.papers.figures.transients import after_change, quartiles_after_change
from dragonfly_env.lab.papers.paper import Effort, Paper, PublishedSetting, Routing, Setup, Variant
from dragonfly_env.sweeps.run import Point

taco25 = Paper(
    name="taco25",
    reference="Benito, Vallejo, Beivide: LIA, TACO 2025",
    # Section 5.1: round-robin for input and output, which network `lia` has. Trials on a full queue are lost.
    setup=Setup(
        arrangement="palmtree",
        network="lia",
        source_queue_packets=1,
        source_queue_full="lose",
        injection="bernoulli",
    ),
    efforts=(
        Effort(
            name="quick",
            seeds=1,
            decides=False,
            hosts=1056,
            warmup_ns=12_000.0,
            learner_warmup_ns=12_000.0,
            measure_ns=6_000.0,
            transient_ns=1_500.0,
        ),
        # Section 5.1: 60k cycles after 60k cycles, the average of ten simulations (`--seeds 10`).
        Effort(
            name="full",
            seeds=3,
            decides=True,
            hosts=5256,
            warmup_ns=60_000.0,
            learner_warmup_ns=60_000.0,
            measure_ns=60_000.0,
            transient_ns=1_500.0,
        ),
    ),
    published=PublishedSetting(
        hosts=(5256,),
        warmup_ns=60_000.0,
        measure_ns=60_000.0,
        seeds=10,
        seeds_reason="a point at 5,256 hosts takes minutes: `--seeds 10` where an interval reaches over a bound",
    ),
    variants=(
        Variant(name="round-robin", summary="every arbiter takes its inputs in turn, as section 5.1 says."),
        Variant(
            name="transit-first",
            summary="packets in transit come before a router's own, as the authors' simulator has it by default; "
            "among equals in turn.",
            arbitration_prefix="transit-first-",
        ),
    ),
    interpretations=(
        'Network `lia`: `arbitration="round-robin"`, as section 5.1 says, and `decide_at="by-policy"`. The blocked '
        "head of an injection queue decides again between the minimal path and one non-minimal path, as the authors' "
        "simulator has it by default; `lia` draws another non-minimal path each time; `pb-acor` decides once, which "
        "is closest to that simulator. Counters are in packets, queues are those of the router itself (docs/lia.md "
        "says why).",
        "Claims are twice: with 5,256 hosts as published, and with 1,056 (h = 4), where a value that depends on h "
        "follows from the paper's formula.",
        "Saturated throughput is the accepted load at the offered load that the row names. Past saturation (LI11, "
        "LI21) throughput falls if at a load of 1.0 it is more than 2 % below its highest value.",
        "LI13: the remote counter is computed from the accepted load of -G- at an offered load of 0.5: packets of a "
        "router in 200 ns that would share the most loaded type of local link.",
        "LI20: packets by when they were generated; the paper does not state the load, 0.2 was chosen.",
        "Figure 17: after the change to ADVc `ugal-ideal` swings between 700 and 910 ns with a period of some 630 ns, "
        "whatever the arbiter (1,056 hosts). All routers of a group see the same queues of the global ports without "
        "delay, so they leave the minimal paths together and come back together; packets that are on their way to the "
        "port by then keep the swing going. `pb`, `tpr` and `lia`, which go by bits or counters, do not swing.",
        "Savings (LI08, LI09) are 1 minus the ratio of the latencies, speed-ups (LI17, LI18) the ratio of the "
        "makespans minus 1. LI07: half, and at most (1 + the share that MIN carries) / 2, the capacity of the global "
        "links, and 2 %.",
    ),
)

_OBLIVIOUS = (Routing("vlb-lgl", "val-n"), "vlb-lg", "vlb-gl", "vlb-g")
_ADAPTIVE = ("pb", "ugal-ideal", "tpr", "pb-acor")


def _usual_loads(effort: Effort) -> tuple[float, ...]:
    return effort.either(
        (0.1, 0.3, 0.45, 0.5, 0.7, 1.0), (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0)
    )


def _four_patterns(effort: Effort) -> dict[str, tuple[float, ...]]:
    adv_h = effort.either("adv+4", "adv+6")
    return dict.fromkeys(("adv+1", adv_h, "advc", "uniform"), _usual_loads(effort))


@taco25.figure("fig5", "TPR under ADVc with three arbiters", load_curves)
def _arbiters(effort: Effort) -> Iterator[Point]:
    for label, arbitration in (
        ("round-robin", "round-robin"),
        ("lrs", "least-recently-served"),
        ("age", "age"),
    ):
        yield from taco25.points(
            effort,
            {"advc": _usual_loads(effort)},
            [Routing(f"tpr:{label}", "tpr")],
            network={"arbitration": arbitration},
        )


def _by_router(effort: Effort, load: float, policies: tuple[str | Routing, ...]) -> Iterator[Point]:
    """ADVc router by router: every packet is logged, so the window is short."""
    return taco25.points(
        effort, {"advc": [load]}, policies, measure_ns=min(10_000.0, effort.measure_ns), packet_log=True
    )


@taco25.figure("fig6", "Accepted load of the routers of a group under ADVc at 0.45", switch_loads)
def _first_local_hop(effort: Effort) -> Iterator[Point]:
    """With and without the first local hop."""
    return _by_router(effort, 0.45, (_OBLIVIOUS[0], "vlb-gl", "tpr"))


@taco25.figure("fig7", "Throughput under ADV+i at load 0.5", offset_curves)
def _offsets(effort: Effort) -> Iterator[Point]:
    """Every offset up to half of the groups; the others are their mirror images."""
    offsets = range(1, effort.either(16, 36) + 1)
    return taco25.points(effort, {f"adv+{offset}": [0.5] for offset in offsets}, _OBLIVIOUS)


@taco25.figure("fig9", "Counters of what is injected, and extended ones", load_curves)
def _counters(effort: Effort) -> Iterator[Point]:
    """UGAL by traffic counters, which count what was injected and w times what is stored."""
    loads = effort.either((0.45, 0.5, 0.7, 1.0), (0.4, 0.45, 0.5, 0.6, 0.8, 1.0))
    extended = [Routing(f"tpr:w={w:g}", "tpr", (("stored_weight", w),)) for w in (0.1, 0.2, 0.5, 1.0)]
    cases = dict.fromkeys(("adv+1", "advc", "uniform"), loads)
    return taco25.points(effort, cases, [Routing("tpr:injected", "tpr"), *extended])


@taco25.figure("fig10", "The remote counter where non-minimal paths -G- saturate", saturation_counters)
def _knees(effort: Effort) -> Iterator[Point]:
    """The same runs as in figure 7. Below h / 2 half of a local link carries all that the global links bring."""
    patterns = effort.either(("adv+3", "adv+4"), ("adv+4", "adv+5", "adv+6"))
    return taco25.points(effort, dict.fromkeys(patterns, (0.5,)), ["vlb-g"])


@taco25.figure(
    "fig10bc",
    "Remote counters where non-minimal paths -G- saturate under two destinations",
    mixture_counters,
)
def _two_destinations(effort: Effort) -> Iterator[Point]:
    """Two destination groups, half of the packets each; for h = 6 +2 and +4, +3 and +9, +9 and +11, else the offsets
    with the same probabilities of local links: -G- saturates, and -GL does not.
    """
    pairs = effort.either(((1, 3), (2, 6), (6, 7)), ((2, 4), (3, 9), (9, 11)))
    cases = {f"weighted:adv+{one}=0.5,adv+{other}=0.5": [0.5] for one, other in pairs}
    return taco25.points(effort, cases, ["vlb-g", "vlb-gl"])


@taco25.figure("fig11", "Sensitivity of LIA to its parameters under ADVc", load_curves)
def _sensitivity(effort: Effort) -> Iterator[Point]:
    tried = {
        "saturated_groups": (1, 2, 3, 4),
        "saturated_packets": (1, 5, 9),
        "remote_packets": (11, 17, 20, 23),
    }
    policies = [f"lia:{parameter}={value}" for parameter, values in tried.items() for value in values]
    loads = effort.either((0.1, 0.3, 0.45), (0.1, 0.2, 0.3, 0.4, 0.45))
    return taco25.points(effort, {"advc": loads}, policies)


@taco25.figure("fig12", "LIA and oblivious policies", load_curves)
def _oblivious(effort: Effort) -> Iterator[Point]:
    return taco25.points(effort, _four_patterns(effort), ("min", *_OBLIVIOUS, "lia"))


@taco25.figure(
    "fig13",
    "Accepted load of the routers of a group under ADVc at 0.5: oblivious policies",
    switch_loads,
)
def _routers_of_oblivious(effort: Effort) -> Iterator[Point]:
    return _by_router(effort, 0.5, (*_OBLIVIOUS, "lia"))


@taco25.figure("fig14", "LIA and other source-adaptive policies", load_curves)
def _adaptive(effort: Effort) -> Iterator[Point]:
    return taco25.points(effort, _four_patterns(effort), (*_ADAPTIVE, "lia"))


@taco25.figure(
    "fig15", "Accepted load of the routers of a group under ADVc at 0.5: adaptive policies", switch_loads
)
def _routers_of_adaptive(effort: Effort) -> Iterator[Point]:
    return _by_router(effort, 0.5, (*_ADAPTIVE, "lia"))


@taco25.figure("fig16", "Accepted load of the routers of a group under ADVc at 0.5 by path", switch_paths)
def _routers_of_lia(effort: Effort) -> Iterator[Point]:
    """LIA's run of figure 15."""
    return _by_router(effort, 0.5, ("lia",))


@taco25.figure("fig17", "Latency of the packets generated around a change of the traffic", after_change)
def _changes(effort: Effort) -> Iterator[Point]:
    """A change of the traffic after the warm-up, at a load that the paper does not state, measured until the last
    packets that are shown have been delivered. Panel c shows what was injected 181 to 210 ns after the change, so bins
    have 30 ns.
    """
    for before, after in (("uniform", "advc"), ("advc", "uniform")):
        yield from _change(effort, before, after, since_ns=effort.warmup_ns)


def _change(
    effort: Effort, before: str, after: str, since_ns: float, packet_log: bool = False
) -> Iterator[Point]:
    """Measured from some time before the change on."""
    return taco25.points(
        effort,
        {f"{before}->{after}": [0.2]},
        (*_ADAPTIVE, "lia"),
        steps=[(0.0, before, 0.2), (effort.warmup_ns, after, 0.2)],
        warmup_ns=effort.warmup_ns - since_ns,
        measure_ns=since_ns + 4.0 * effort.transient_ns,
        series_bin_ns=30,
        packet_log=packet_log,
    )


@taco25.figure("fig17c", "Quartiles of latency around the change to ADVc", quartiles_after_change)
def _quartiles(effort: Effort) -> Iterator[Point]:
    """The same change to ADVc, measured from 20 bins before it with a packet log."""
    return _change(effort, "uniform", "advc", since_ns=600.0, packet_log=True)


@taco25.figure("fig18", "Several patterns in one network", load_curves)
def _mixtures(effort: Effort) -> Iterator[Point]:
    cases = dict.fromkeys(("lia-c1", "lia-c2"), _usual_loads(effort))
    return taco25.points(effort, cases, ("min", *_OBLIVIOUS, *_ADAPTIVE, "lia"))


@taco25.figure("fig19", "Speed-up over MIN of workloads that run to their end", speedups)
def _workloads(effort: Effort) -> Iterator[Point]:
    workloads = ("all-to-all", "all-to-all:placement=random", "graph500", "halo3d:placement=random")
    return taco25.points(
        effort,
        dict.fromkeys(workloads, (1.0,)),
        ("min", *_OBLIVIOUS, *_ADAPTIVE, "lia"),
        warmup_ns=0.0,
        measure_ns=20_000_000.0,
    )
