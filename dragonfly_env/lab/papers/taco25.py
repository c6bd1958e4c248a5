"""Benito, Vallejo, Beivide: LIA, TACO 2025. Section 5 gives network, parameters and traffic.

The paper's system has 5,256 hosts (h = 6, 73 groups); a quick run is smaller (1,056 hosts, h = 4, 33 groups), so claims
are made of both, and offsets that depend on h are given for both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dragonfly_env.lab.papers.claims import (
    LATENCY_TOLERANCE,
    Claim,
    Evidence,
    Measure,
    Measured,
    Place,
    Relation,
    every,
    excluded,
    listed,
    ordering,
    ratio,
    relative_gap,
    saving,
    shows,
    stated,
    value,
)
from dragonfly_env.lab.papers.figures.curves import load_curves
from dragonfly_env.lab.papers.figures.lia import (
    mixture_counters,
    offset_curves,
    saturation_counters,
    speedups,
    switch_loads,
    switch_paths,
    throughput_bars,
)
from dragonfly_env.lab.papers.figures.transients import after_change, quartiles_after_change
from dragonfly_env.lab.papers.findings import FloatArray
from dragonfly_env.lab.papers.paper import Effort, Paper, PublishedSetting, Routing, Setup, Statement, Variant
from dragonfly_env.lab.papers.quantities import (
    AFTER_NS,
    LATENCY_MEAN,
    MAKESPAN,
    THROUGHPUT,
    around_change,
    loads_of_routers,
    offset_of,
    path_loads_of_routers,
    remote_counter,
    remote_counters,
)
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import mean_and_ci95

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
        seeds_reason="a point at 5,256 hosts takes minutes: `--seeds 10` where an interval reaches over a "
        "bound",
    ),
    variants=(
        Variant(name="round-robin", summary="every arbiter serves its inputs in turn, as section 5.1 says."),
        Variant(
            name="transit-first",
            summary="arbiters serve packets in transit before packets of the router's own hosts, as the authors' "
            "simulator does by default; equal packets take turns.",
            arbitration_prefix="transit-first-",
        ),
    ),
    interpretations=(
        'Network `lia`: `arbitration="round-robin"`, as section 5.1 says, and `decide_at="by-policy"`. The blocked '
        "head of an injection queue decides again between the minimal path and one non-minimal path, as the authors' "
        "simulator has it by default; `lia` draws another non-minimal path each time; `pb-acor` decides once, which "
        "is closest to that simulator. Counters are in packets, queues are those of the router itself "
        "(docs/routing/policies/lia.md says why).",
        "Claims are twice: with 5,256 hosts as published, and with 1,056 (h = 4), where a value that depends on h "
        "follows from the paper's formula.",
        "Saturated throughput is the accepted load at the offered load that the row names. Past saturation (LI11, "
        "LI21, LI22, LI39) throughput falls if at a load of 1.0 it is more than 1 % below its highest value, and stays "
        "if it is at most 3 % below: the paper speaks of visible falls. "
        "Congestion under uniform traffic (LI28) is a fall, or less throughput than with w = 0.1.",
        '"Near", "close to" and "very close to" 50 % are 0.475 to 0.525.',
        "LI13: the remote counter is computed from the accepted load of -G- at an offered load of 0.5: packets of a "
        "router in 200 ns that would share the most loaded type of local link.",
        "LI20: packets by when they were generated; the paper does not state the load, 0.2 was chosen.",
        "Figure 17: after the change to ADVc the latency of `ugal-ideal` swings with each arbiter. All "
        "routers of a group see the same queues of the global ports without "
        "delay, so they leave the minimal paths together and come back together; packets that are on their way to the "
        "port by then keep the swing going. `pb`, `tpr` and `lia`, which go by bits or counters, do not "
        "swing.",
        "Savings (LI08, LI09) are 1 minus the ratio of the latencies, speed-ups (LI17, LI18) the ratio of the "
        "makespans minus 1.",
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


_THREE_ARBITERS = tuple(
    (Routing(f"tpr:{label}", "tpr"), {"arbitration": name})
    for label, name in (("round-robin", "round-robin"), ("lrs", "least-recently-served"), ("age", "age"))
)


@taco25.figure("fig5", "TPR under ADVc with three arbiters", load_curves)
def _arbiters(effort: Effort) -> Iterator[Point]:
    for policy, network in _THREE_ARBITERS:
        yield from taco25.points(effort, {"advc": _usual_loads(effort)}, [policy], network=network)


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


_PLAIN = Routing("tpr:injected", "tpr")


def _extended(weight: float) -> Routing:
    """TPR whose counters have this weight for what is stored."""
    return Routing(f"tpr:w={weight:g}", "tpr", (("stored_weight", weight),))


@taco25.figure("fig9", "Counters of what is injected, and extended ones", load_curves)
def _counters(effort: Effort) -> Iterator[Point]:
    """UGAL by traffic counters, which count what was injected and w times what is stored."""
    loads = effort.either((0.45, 0.5, 0.7, 1.0), (0.4, 0.45, 0.5, 0.6, 0.8, 1.0))
    cases = dict.fromkeys(("adv+1", "advc", "uniform"), loads)
    return taco25.points(effort, cases, [_PLAIN, *map(_extended, (0.1, 0.2, 0.5, 1.0))])


@taco25.figure("fig10", "The remote counter where non-minimal paths -G- saturate", saturation_counters)
def _knees(effort: Effort) -> Iterator[Point]:
    """Runs of figure 7 again. Below h / 2 half of a local link carries all that the global links bring."""
    patterns = effort.either(("adv+3", "adv+4"), ("adv+4", "adv+5", "adv+6"))
    return taco25.points(effort, dict.fromkeys(patterns, (0.5,)), ["vlb-g"])


@taco25.figure(
    "fig10bc", "Remote counters where non-minimal paths -G- saturate under two destinations", mixture_counters
)
def _two_destinations(effort: Effort) -> Iterator[Point]:
    """Two destination groups, half of the packets each; for h = 6 +2 and +4, +3 and +9, +9 and +11, else the offsets
    with the same probabilities of local links: -G- saturates, and -GL does not.
    """
    pairs = effort.either(((1, 3), (2, 6), (6, 7)), ((2, 4), (3, 9), (9, 11)))
    cases = {f"weighted:adv+{first}=0.5,adv+{other}=0.5": [0.5] for first, other in pairs}
    return taco25.points(effort, cases, ["vlb-g", "vlb-gl"])


@taco25.figure("fig11", "Sensitivity of LIA to its parameters under ADVc", load_curves)
def _sensitivity(effort: Effort) -> Iterator[Point]:
    tried = {
        "saturated_groups": range(1, 5),
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
    "fig13", "Accepted load of the routers of a group under ADVc at 0.5: oblivious policies", switch_loads
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
    """The change to ADVc again, measured from 20 bins before it with a packet log."""
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


_DEEP = {"output_buffer_packets": 128}
_SIGNALS = "graph500:signals=true"


@taco25.figure("queues", "Output queues of 128 packets, 1,056 hosts", throughput_bars)
def _deep_queues(effort: Effort) -> Iterator[Point]:
    """LI02, LI03a and LI05b with output queues four times as deep: all VCs of a port share them. In a quick run."""
    cases = (("advc", 1.0, "min"), ("adv+1", 0.5, _OBLIVIOUS[0]), ("adv+4", 0.5, _OBLIVIOUS[0]))
    for traffic, load, policy in effort.either(cases, ()):
        yield from taco25.points(effort, {traffic: [load]}, [policy], network=_DEEP)


@taco25.figure("signals", "Graph500 with a signal from each task to every other, 1,056 hosts", speedups)
def _with_signals(effort: Effort) -> Iterator[Point]:
    """The paper does not say how a task learns that a level has ended; FOGSim has signals. In a quick run."""
    policies = ("min", *_OBLIVIOUS, *_ADAPTIVE, "lia")
    return taco25.points(
        effort,
        {_SIGNALS: (1.0,)},
        effort.either(policies, ()),
        warmup_ns=0.0,
        measure_ns=20_000_000.0,
    )


def _as_published(
    effort: Effort, cases: Mapping[str, tuple[float, ...]], policies: Iterable[str | Routing], **fields: Any
) -> Iterator[Point]:
    """1,056 hosts in the windows of section 5.1, in a quick run; all else with 1,056 hosts has shorter windows."""
    length_ns = 60_000.0 * effort.measure_ns / taco25.effort(effort.name).measure_ns
    yield from taco25.points(
        effort,
        effort.either(cases, {}),
        policies,
        hosts=1056,
        warmup_ns=length_ns,
        measure_ns=length_ns,
        **fields,
    )


_ADVERSARIAL = ("adv+1", "adv+4", "advc")
_PAST_SATURATION = (0.5, 1.0)


@taco25.figure("windows", "Past saturation in the windows of the paper, 1,056 hosts", throughput_bars)
def _windows(effort: Effort) -> Iterator[Point]:
    """Runs of figures 12 and 14: whether throughput falls past saturation shows only after tens of microseconds."""
    yield from _as_published(effort, {"adv+1": _PAST_SATURATION}, _OBLIVIOUS)
    yield from _as_published(effort, dict.fromkeys(_ADVERSARIAL, (1.0,)), (*_ADAPTIVE, "lia"))


@taco25.figure("windows5", "TPR with three arbiters in the windows of the paper", throughput_bars)
def _arbiters_as_published(effort: Effort) -> Iterator[Point]:
    for policy, network in _THREE_ARBITERS:
        yield from _as_published(effort, {"advc": _PAST_SATURATION}, [policy], network=network)


@taco25.figure("windows7", "Oblivious policies at half load in the windows of the paper", throughput_bars)
def _offsets_as_published(effort: Effort) -> Iterator[Point]:
    yield from _as_published(effort, {"adv+1": (0.5,)}, _OBLIVIOUS)
    yield from _as_published(effort, {"adv+4": (0.5,)}, _OBLIVIOUS[:1])


@taco25.figure("windows9", "TPR with two counters in the windows of the paper", throughput_bars)
def _counters_as_published(effort: Effort) -> Iterator[Point]:
    cases = dict.fromkeys(("adv+1", "advc"), _PAST_SATURATION)
    yield from _as_published(effort, cases, (_PLAIN, _extended(0.1)))


@taco25.figure("windows14", "TPR and LIA past saturation in the windows of the paper", throughput_bars)
def _peaks_as_published(effort: Effort) -> Iterator[Point]:
    yield from _as_published(effort, dict.fromkeys(_ADVERSARIAL, _PAST_SATURATION), ("tpr", "lia"))


# Claims of the text, in the order of their ids.

_FALLS = 0.99  # share of the highest throughput; less is a fall; runs of one point differ by 0.5 %
_STAYS = 0.97  # more is no fall: "throughput is maintained" in figures whose points are 2 % high
_HALF = (0.475, 0.525)  # "near", "close to" and "very close to" 50 %
_FAIR = 1.05
_EQUAL = 1.03  # makespans, latencies, throughputs
_NOISE = 1.01
_VERY_CLOSE = 1.05
_CLOSE = 1.10
_CLEARLY = 0.8
_MOST = 0.5
_CARRIED = 0.98  # share of the offered load
_BEFORE_NS = (-600.0, 0.0)
_HOSTS = (5256, 1056)


class _Sized(NamedTuple):
    full: Any
    quick: Any


def sized(full: Any, quick: Any) -> Any:
    """The values of a claim with 5,256 hosts, and with 1,056."""
    return _Sized(full, quick)


_ADV_H = sized("adv+6", "adv+4")


def _claim(
    name: str, place: Place, measure: Measure, published: Any = 0.0, *, full_only: bool = False, **more: Any
) -> None:
    """Add a claim for both systems, or for the published one alone."""

    def of(given: Any, hosts: int) -> Any:
        return given[_HOSTS.index(hosts)] if isinstance(given, _Sized) else given

    for hosts in _HOSTS[: 1 if full_only else 2]:
        taco25.claim(
            name if hosts == 5256 else f"{name}-{hosts}",
            Place(*(of(part, hosts) for part in place))._replace(hosts=hosts),
            measure,
            of(published, hosts),
            quick=hosts == 1056,
            **{field: of(given, hosts) for field, given in more.items()},
        )


def _states(
    name: str,
    place: Place,
    note: str,
    policy: str = "",
    reference: str = "",
    *,
    relation: Relation = ordering,
    **more: Any,
) -> Callable[[Statement], Statement]:
    """Add a claim that the function measures."""

    def add(statement: Statement) -> Statement:
        _claim(name, place, shows(statement, policy, reference, relation), note=note, **more)
        return statement

    return add


def _spreads(seen: Evidence, *policies: str) -> dict[str, float]:
    """The highest load of a router over the lowest, of these policies or of all."""
    points = [point for policy in policies or ("",) for point in seen.points(policy, traffic="any")]
    loads = {point.policy_label: loads_of_routers(seen.findings, point) for point in points}
    return {policy: float(np.mean(of.max(axis=1) / of.min(axis=1))) for policy, of in loads.items()}


def _spreads_stated(holds: bool, spreads: dict[str, float]) -> Measured:
    return stated(holds, "max / min of a router: " + listed(spreads, ".3f"), values=spreads)


# Throughput past saturation.


def _falls(
    seen: Evidence, wanted: Mapping[str, bool], adversarial: bool = False, named: bool = True
) -> Measured:
    """Whether the throughput of each policy falls, or does not (``wanted``), from its highest value to that at the
    highest load; ``adversarial``: without uniform traffic; ``named``: the report names the traffic.
    """
    described, clauses = [], []
    for policy, falls in wanted.items():
        for traffic, (peak, last) in _after_peak(seen, policy).items():
            if adversarial and traffic == "uniform":
                continue
            kept, half = mean_and_ci95((last / peak).tolist())
            sure = not abs(kept - (_FALLS if falls else _STAYS)) < half
            clauses.append((kept < _FALLS if falls else kept >= _STAYS, sure))
            described.append(
                f"{policy} {f'{traffic} ' if named else ''}{peak.mean():.3f} to {last.mean():.3f}"
                + ("" if math.isnan(half) else f" ({100.0 * (kept - 1.0):+.1f} ± {100.0 * half:.1f} %)")
            )
    holds, sure = every(clauses)
    return stated(holds, ", ".join(described), sure)


def _after_peak(seen: Evidence, policy: str) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By traffic, seed by seed: throughput at the load at which its mean is highest, and at the highest load."""
    curves: dict[str, dict[float, FloatArray]] = {}
    for point in seen.points(policy):
        values = seen.findings.values(point, "accepted_load")
        curves.setdefault(point.traffic_label, {})[point.load] = values
    return {
        traffic: (max(curve.values(), key=lambda values: float(values.mean())), curve[max(curve)])
        for traffic, curve in curves.items()
    }


def _throughputs(seen: Evidence) -> dict[str, dict[str, FloatArray]]:
    """By adversarial traffic and policy, at the claim's load, seed by seed."""
    found: dict[str, dict[str, FloatArray]] = {}
    for point in seen.points(load=seen.claim.load):
        if point.traffic_label != "uniform" and not point.policy_label.startswith("vlb"):
            values = seen.findings.values(point, "accepted_load")
            found.setdefault(point.traffic_label, {})[point.policy_label] = values
    return found


def _by_traffic(found: Mapping[str, Mapping[str, FloatArray]]) -> str:
    """Means and intervals of throughputs, for the report."""
    described = []
    for traffic, loads in found.items():
        means = {policy: mean_and_ci95(values.tolist()) for policy, values in loads.items()}
        texts = (
            f"{policy} {mean:.3f}" + ("" if math.isnan(half) else f" ± {half:.3f}")
            for policy, (mean, half) in means.items()
        )
        described.append(f"{traffic}: {', '.join(texts)}")
    return "; ".join(described)


# Latencies.


def _latencies(seen: Evidence, load: float | None) -> dict[str, float]:
    """By policy, in us, at one load."""
    return seen.by_policy("latency_mean_ns", load=load, per=1000.0)


def _carried(seen: Evidence) -> list[Point]:
    """The points of the claim's policy that carry what is offered."""
    points = seen.points(seen.claim.policy)
    return [point for point in points if seen.mean(point, "accepted_load") >= _CARRIED * point.load]


# Makespans.


def _is_valiant(policy: str) -> bool:
    return policy.startswith("vlb")


def _is_adaptive(policy: str) -> bool:
    return not _is_valiant(policy) and policy != "min"


def _only(values: dict[str, float], which: Callable[[str], bool]) -> dict[str, float]:
    return {policy: value for policy, value in values.items() if which(policy)}


def _of_makespans(
    holds: Callable[[Claim, dict[str, float], list[float], list[float]], bool],
) -> Callable[[Evidence], Measured]:
    """Measure an ordering of a claim's makespans: by policy, those of Valiant policies, those of adaptive ones."""

    @functools.wraps(holds)
    def measure(seen: Evidence) -> Measured:
        times = seen.by_policy("makespan_ns")
        groups = (list(_only(times, which).values()) for which in (_is_valiant, _is_adaptive))
        speedups = {policy: times["min"] / time for policy, time in times.items()}
        return stated(holds(seen.claim, times, *groups), "speed-up over min: " + listed(speedups, ".3f"))

    return measure


def _means_around(seen: Evidence, since_ns: tuple[float, float]) -> dict[str, float]:
    return {
        point.policy_label: around_change(seen.findings, point, ("mean",), since_ns)[0]
        for point in seen.points()
    }


def _ranked_after_change(seen: Evidence, first: tuple[str, ...], lowest: bool) -> Measured:
    """1 if these policies have the lowest (or the highest) latencies 181 to 210 ns after the change."""
    latencies = _means_around(seen, AFTER_NS)
    ranked = sorted(latencies, key=lambda policy: latencies[policy] * (1 if lowest else -1))
    holds = set(ranked[: len(first)]) == set(first)
    return stated(holds, listed(latencies, ",.0f", "ns"), values=latencies)


def _all_offsets(seen: Evidence, policy: str) -> tuple[Point, ...]:
    """All offsets of a policy."""
    return seen.findings.select(seen.claim.figure, hosts=seen.claim.hosts, policy=policy)


def _by_offset(seen: Evidence, policy: str) -> tuple[dict[int, float], int]:
    """(accepted load by offset, ascending; h)."""
    points = _all_offsets(seen, policy)
    found = {offset_of(point): seen.mean(point, "accepted_load") for point in points}
    return dict(sorted(found.items())), points[0].config.topology.h


# fig5


def all_fall_past_saturation(seen: Evidence) -> Measured:
    """1 if past saturation the throughput of policy and rivals falls, and that of a reference does not."""
    claim = seen.claim
    falling = dict.fromkeys((claim.policy, *claim.rivals), True)
    return _falls(seen, {**falling, claim.reference: False} if claim.reference else falling)


fall = shows(all_fall_past_saturation, "tpr:round-robin")
WITH_EACH_ARBITER = "the throughput of tpr falls past saturation with each of the three arbiters"
_claim("LI22", Place("3.1", "fig5", "advc"), fall, rivals=("tpr:lrs", "tpr:age"), note=WITH_EACH_ARBITER)


# fig6


def all_accepted(seen: Evidence) -> Measured:
    """The lowest load of a router that the policy accepts, as a fraction of what is offered."""
    (point,) = seen.points(seen.claim.policy)
    loads = loads_of_routers(seen.findings, point).mean(axis=0)
    details = f"routers {loads.min():.4f} to {loads.max():.4f} of {point.load:g}"
    return Measured(float(loads.min() / point.load), details=details)


FIG6_ADVC_45 = Place("3.2.1", "fig6", "advc", 0.45)
for name, policy in (("LI23a", "vlb-gl"), ("LI23b", "vlb-lgl")):
    accepted = shows(all_accepted, policy, relation=value)
    _claim(name, FIG6_ADVC_45, accepted, 1.0, unit="relative", note="all traffic of every router is accepted")
_claim(
    "LI24",
    FIG6_ADVC_45,
    Measure(excluded),
    note="with -GL the router that owns the minimal links injects less than the others: tpr has no setting "
    "for paths without the first local hop",
)


# fig7

FIG7_ADV1_50 = Place("6.2.1", "fig7", "adv+1", 0.5)
near_half: dict[str, Any] = {"published": 0.5, "met": _HALF, "note": "near 50 %"}
_claim("LI03a", FIG7_ADV1_50, value(THROUGHPUT, "vlb-lgl"), **near_half)
_claim("LI03b", FIG7_ADV1_50, value(THROUGHPUT, "vlb-lg"), **near_half)
_claim("LI03c", FIG7_ADV1_50, value(THROUGHPUT, "vlb-gl"), **near_half)
_claim("LI03d", FIG7_ADV1_50, value(THROUGHPUT, "vlb-g"), **near_half)

FIG7_ADV_H_50 = Place("6.2.1", "fig7", _ADV_H, 0.5)
_claim("LI04a", FIG7_ADV_H_50, value(THROUGHPUT, "vlb-g"), sized(0.1667, 0.2500))
_claim("LI04b", FIG7_ADV_H_50, value(THROUGHPUT, "vlb-lg"), sized(0.1667, 0.2500))
_claim("LI05a", FIG7_ADV_H_50, value(THROUGHPUT, "vlb-gl"), **near_half)
_claim("LI05b", FIG7_ADV_H_50, value(THROUGHPUT, "vlb-lgl"), **near_half)

FIG7_50 = Place("3.2.2", "fig7", "any", 0.5)


@_states("LI14", FIG7_50, "throughput of -G- has its minima at multiples of h", "vlb-g", of_named=True)
def _(seen: Evidence) -> Measured:
    """1 if the throughput of -G- has its minima at multiples of h, and only there; at large offsets one next to it, as
    the paper's footnote 1 explains.
    """
    points, h = _by_offset(seen, seen.claim.policy)
    values, offsets = np.array(list(points.values())), np.array(list(points))
    inner = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])) + 1
    minima = offsets[inner]
    beside = np.minimum(minima % h, h - minima % h)
    found = np.unique(np.rint(minima / h).astype(int) * h)
    holds = bool((beside <= 1).all()) and set(np.arange(h, offsets[-1], h)) <= set(found)
    bounds = f"{values.min():.3f} to {values.max():.3f}"
    return stated(holds, f"minima at i = {', '.join(map(str, minima))}; throughput {bounds}")


@_states("LI26", FIG7_50, "throughput is highest at the offset in the middle of two multiples of h", "vlb-g")
def _(seen: Evidence) -> Measured:
    """1 if between two multiples of h the throughput of -G- is highest at the offset in the middle, or, at large
    offsets, next to it, as the paper's footnote 1 explains.
    """
    points, h = _by_offset(seen, seen.claim.policy)
    found, holds = [], True
    for low in range(h, max(points) - h + 1, h):
        between = {offset: points[offset] for offset in range(low, low + h + 1)}
        highest = max(between, key=lambda offset: between[offset])
        holds &= abs(highest - (low + h / 2)) <= 1
        found.append(f"{highest} ({between[highest]:.3f})")
    return stated(holds and bool(found), f"maxima at i = {', '.join(found)}")


@_states("LI27", FIG7_50, "below h part of the traffic needs no local hop which reduces congestion", "vlb-g")
def _(seen: Evidence) -> Measured:
    points, h = _by_offset(seen, seen.claim.policy)
    places = range(1, h // 2 + 1)
    described = ", ".join(f"i = {m}: {points[m]:.3f}, {h + m}: {points[h + m]:.3f}" for m in places)
    return stated(all(points[m] > points[h + m] for m in places), described)


FIG7_2H_LESS_4 = Place("3.2.2", "fig7", sized("adv+8", "adv+5"), 0.5)
SAME_FORMULA = "for h = 4 the same formula: 1 / (h - m)"
_claim("LI25", FIG7_2H_LESS_4, value(THROUGHPUT, "vlb-g"), sized(0.25, 0.3333), note=SAME_FORMULA)


@_states(
    "LI30",
    Place("6.1.2", "fig7", "any", 0.5),
    "-G- saturates at a progressively lower load from offset to offset and -GL always close to 50 %",
    "vlb-g",
    "vlb-gl",
)
def _(seen: Evidence) -> Measured:
    """1 if from i = 1 to h the throughput never rises by more than 1 percent, and from h / 2 on falls with every
    step, while the reference's is always within 5 percent of one half.

    Below h / 2 the busiest type of link carries less than half of a global link's packets, so that -G- reaches
    the limit of one half as well.
    """
    claim = seen.claim
    (throughput, h), (other, _) = _by_offset(seen, claim.policy), _by_offset(seen, claim.reference)
    steps = [(offset, throughput[offset] / throughput[offset - 1]) for offset in range(2, h + 1)]
    holds = all(ratio < (1.0 if offset > h // 2 else 1.01) for offset, ratio in steps)
    holds &= all(_HALF[0] <= other[offset] <= _HALF[1] for offset in range(1, h + 1))
    fell, steady = (
        ", ".join(f"{of[offset]:.3f}" for offset in range(1, h + 1)) for of in (throughput, other)
    )
    return stated(holds, f"i = 1 to {h}: {claim.policy} {fell}; {claim.reference} {steady}")


# fig9


def falls_past_saturation(seen: Evidence) -> Measured:
    """1 if under every adversarial pattern the policy's throughput falls past saturation, the reference's not."""
    return _falls(seen, {seen.claim.policy: True, seen.claim.reference: False}, adversarial=True)


plain_counters_fall = shows(falls_past_saturation, "tpr:injected", "tpr:w=0.1")
PLAIN_COUNTERS_FALL = (
    "past saturation plain counters let throughput fall and extended ones with w = 0.1 do not"
)
_claim("LI21", Place("6.1.1", "fig9", "any"), plain_counters_fall, of_named=True, note=PLAIN_COUNTERS_FALL)


def congested(seen: Evidence) -> Measured:
    """1 if the policy's throughput falls past saturation, or is lower than that of the reference."""
    claim = seen.claim
    ((peak, last),) = (map(np.mean, found) for found in _after_peak(seen, claim.policy).values())
    ((other, _),) = (map(np.mean, found) for found in _after_peak(seen, claim.reference).values())
    details = f"{claim.policy} {peak:.3f} to {last:.3f}, {claim.reference} {other:.3f}"
    return stated(last < _FALLS * peak or peak < _FALLS * other, details)


FIG9_UNIFORM = Place("6.1.1", "fig9", "uniform")
for name, w in (("LI28a", 0.2), ("LI28b", 0.5), ("LI28c", 1.0)):
    note = f"with w = {w:g} congestion appears under uniform traffic"
    _claim(name, FIG9_UNIFORM, shows(congested, f"tpr:w={w:g}", "tpr:w=0.1"), note=note)
both = ratio(THROUGHPUT, "tpr:w=0.1", "tpr:injected")
AS_PLAIN_COUNTERS = "with w = 0.1 uniform throughput is similar to that of plain counters"
_claim("LI29", FIG9_UNIFORM._replace(load=1.0), both, 1.0, unit="relative", note=AS_PLAIN_COUNTERS)


# fig10


@_states(
    "LI13",
    Place("6.1.2", "fig10", "any", 0.5),
    "",
    "vlb-g",
    relation=value,
    published=17,
    tolerance=LATENCY_TOLERANCE,
    unit="packets",
    struck=sized("", "the paper says: similar in all cases, around 17; here offsets differ by a third"),
)
def knee(seen: Evidence) -> Measured:
    """The remote counter at which -G- saturates: the mean over the offsets up to h at which it does."""
    points = _all_offsets(seen, seen.claim.policy)
    counters = {point.traffic_label: float(remote_counter(seen.findings, point).mean()) for point in points}
    details = ", ".join(f"{traffic} {counter:.1f}" for traffic, counter in counters.items())
    return Measured(float(np.mean(list(counters.values()))), details=details)


# fig10bc


def mixture_knee(seen: Evidence) -> Measured:
    """The most loaded remote counter at which -G- saturates under the claim's mixture of two destination groups."""
    (point,) = seen.points(seen.claim.policy)
    found = remote_counters(seen.findings, point)
    counters = {link: float(counter.mean()) for link, counter in sorted(found.items())}
    accepted = seen.mean(point, "accepted_load")
    details = ", ".join(f"R_{link} {counter:.1f}" for link, counter in counters.items())
    return Measured(max(counters.values()), details=f"{details}; accepted load {accepted:.3f}")


SAME_TURNING_POINT = "two destinations: the turning point is the same"
WIDENED = "its tolerance was widened after the first verdict"
for name, mixture in (
    ("LI31a", sized("weighted:adv+2=0.5,adv+4=0.5", "weighted:adv+1=0.5,adv+3=0.5")),
    ("LI31b", sized("weighted:adv+3=0.5,adv+9=0.5", "weighted:adv+2=0.5,adv+6=0.5")),
    ("LI31c", sized("weighted:adv+9=0.5,adv+11=0.5", "weighted:adv+6=0.5,adv+7=0.5")),
):
    place = Place("6.1.2", "fig10bc", mixture, 0.5)
    turns = shows(mixture_knee, "vlb-g", relation=value)
    _claim(
        name,
        place,
        turns,
        17.0,
        tolerance=LATENCY_TOLERANCE,
        unit="packets",
        struck=WIDENED,
        note=SAME_TURNING_POINT,
    )
FIG10BC_9_AND_11 = Place("6.1.2", "fig10bc", "weighted:adv+9=0.5,adv+11=0.5", 0.5)
CROSSES_AT_22 = "R+2 crosses the threshold at around 22 %"
_claim(
    "LI32",
    FIG10BC_9_AND_11,
    value(THROUGHPUT, "vlb-g"),
    0.22,
    full_only=True,
    met=(0.21, 0.23),
    note=CROSSES_AT_22,
)


# fig11


def negligible(seen: Evidence) -> Measured:
    """1 if the latencies of the policy and its rivals differ by at most 3 percent at every load."""
    names, ratios = (seen.claim.policy, *seen.claim.rivals), {}
    for load in sorted(point.load for point in seen.points(seen.claim.policy)):
        latencies = _latencies(seen, load)
        ratios[load] = max(latencies[name] for name in names) / min(latencies[name] for name in names)
    details = "; ".join(f"{load:g}: highest / lowest {ratio:.3f}" for load, ratio in ratios.items())
    return stated(all(ratio <= _EQUAL for ratio in ratios.values()), details)


FIG11_ADVC = Place("6.1.3", "fig11", "advc")
for name, parameter, value_, rivals, what in (
    ("LI33a", "saturated_groups", 2, (3, 4), "saturated global counters"),
    ("LI33b", "saturated_packets", 5, (9,), "saturation threshold"),
):
    others = tuple(f"lia:{parameter}={rival}" for rival in rivals)
    note = f"the impact of the {what} is negligible"
    _claim(name, FIG11_ADVC, shows(negligible, f"lia:{parameter}={value_}"), rivals=others, note=note)


def lowest_latency(seen: Evidence) -> Measured:
    """1 if at the claim's load no policy of the figure has a latency below the policy's, to 1 percent."""
    latencies = _latencies(seen, seen.claim.load)
    holds = latencies[seen.claim.policy] <= _NOISE * min(latencies.values())
    return stated(holds, listed(latencies, ".3f", "us"))


FIG11_ADVC_LOADED = Place("6.1.3", "fig11", "advc", sized(0.4, 0.3))
OPTIMAL_WITH_23 = "latency is optimal with a remote threshold of 23"
_claim("LI34", FIG11_ADVC_LOADED, shows(lowest_latency, "lia:remote_packets=23"), note=OPTIMAL_WITH_23)


# fig12

half: dict[str, Any] = {"published": 0.5, "met": _HALF}
for name, traffic in (("LI07a", "adv+1"), ("LI07b", _ADV_H), ("LI07c", "advc")):
    _claim(
        name,
        Place("6.2.1", "fig12", traffic, 1.0),
        value(THROUGHPUT, "lia"),
        note="very close to 50 %",
        **half,
    )
_claim("LI01", Place("6.2.1", "fig12", "adv+1", 1.0), value(THROUGHPUT, "min"), sized(0.0139, 0.0312))
_claim("LI01b", Place("6.2.1", "fig12", _ADV_H, 1.0), value(THROUGHPUT, "min"), sized(0.0139, 0.0312))

FIG12_ADVC_100 = Place("6.2.1", "fig12", "advc", 1.0)
_claim("LI02", FIG12_ADVC_100, value(THROUGHPUT, "min"), sized(0.0833, 0.1250))
_claim("LI06a", FIG12_ADVC_100, value(THROUGHPUT, "vlb-g"), 0.25, full_only=True)
_claim("LI06b", FIG12_ADVC_100, value(THROUGHPUT, "vlb-lg"), 0.25, full_only=True)
_claim("LI41a", FIG12_ADVC_100, value(THROUGHPUT, "vlb-gl"), note="50 % with the second local hop", **half)
_claim("LI41b", FIG12_ADVC_100, value(THROUGHPUT, "vlb-lgl"), note="50 % with the second local hop", **half)

FIG12_UNIFORM_45 = Place("6.2.1", "fig12", "uniform", 0.45)
_claim(
    "LI10a",
    FIG12_UNIFORM_45,
    ratio(LATENCY_MEAN, "lia", "min"),
    1.0,
    unit="relative",
    note="the same latency",
)

FIG12_UNIFORM_100 = Place("6.2.1", "fig12", "uniform", 1.0)
_claim(
    "LI10b",
    FIG12_UNIFORM_100,
    ratio(THROUGHPUT, "min", "lia"),
    1.0,
    unit="relative",
    note="the same throughput",
)
for name, policy in (("LI35a", "vlb-lgl"), ("LI35b", "vlb-lg"), ("LI35c", "vlb-gl"), ("LI35d", "vlb-g")):
    _claim(name, FIG12_UNIFORM_100, value(THROUGHPUT, policy), note="close to 50 %", **half)


@_states(
    "LI36",
    Place("6.2.1", "fig12", "uniform", sized(0.05, 0.1)),
    "base latency grows with the hops of path A",
    "vlb-g",
)
def _(seen: Evidence) -> Measured:
    latencies = _only(_latencies(seen, seen.claim.load), _is_valiant)
    middle = [latencies["vlb-lg"], latencies["vlb-gl"]]
    holds = latencies["vlb-g"] < min(middle) and max(middle) < latencies["vlb-lgl"]
    return stated(holds, listed(latencies, ".3f", "us"))


OPTIMAL_IS_MIN = "before its low saturation point the optimal latency is that of min"
_claim(
    "LI37",
    Place("6.2.1", "fig12", "advc", sized(0.05, 0.1)),
    shows(lowest_latency, "min"),
    note=OPTIMAL_IS_MIN,
)


def lowest_over_loads(seen: Evidence) -> Measured:
    """1 if at every load that the policy carries no policy of the figure has a latency below its, to 3 percent."""
    described, holds = [], True
    for load in sorted(point.load for point in _carried(seen)):
        latencies = _latencies(seen, load)
        latency, best = latencies[seen.claim.policy], min(latencies, key=latencies.__getitem__)
        holds &= latency <= _EQUAL * latencies[best]
        described.append(f"{load:g}: {latency:.3f}, {best} {latencies[best]:.3f} us")
    return stated(holds and bool(described), "; ".join(described))


for name, traffic in (("LI38a", "adv+1"), ("LI38b", _ADV_H), ("LI38c", "advc")):
    note = "lia has the best latency for the whole range of load"
    _claim(name, Place("6.2.1", "fig12", traffic), shows(lowest_over_loads, "lia"), note=note)


@_states(
    "LI39",
    Place("6.2.1", sized("fig12", "windows"), "adv+1"),
    "past saturation only vlb-lg suffers congestion",
    "vlb-lg",
    rivals=("vlb-lgl", "vlb-gl", "vlb-g"),
)
def _(seen: Evidence) -> Measured:
    claim = seen.claim
    return _falls(seen, {claim.policy: True, **dict.fromkeys(claim.rivals, False)}, named=False)


for name, traffic, load, policy, note in (
    ("LI40a", "adv+1", 0.3, "vlb-g", "the latency of -G-"),
    ("LI40b", _ADV_H, 0.1, "vlb-g", "the latency of -G- up to 1 / h"),
    ("LI40c", _ADV_H, sized(0.4, 0.45), "vlb-gl", "the latency of -GL up to 50 %"),
):
    place = Place("6.2.1", "fig12", traffic, load)
    _claim(name, place, ratio(LATENCY_MEAN, "lia", policy), 1.0, unit="relative", note=note)


# fig13


@_states(
    "LI42",
    Place("6.2.1", "fig13", "advc", 0.5),
    "-G- and LG- serve routers unevenly and -GL and LGL and lia evenly",
    "vlb-g",
    rivals=("vlb-lg",),
)
def _(seen: Evidence) -> Measured:
    """1 if the policy and the rivals serve routers unevenly, and all other policies of the figure evenly.

    Evenly: the highest load of a router is less than 5 percent above the lowest.
    """
    spreads, uneven = _spreads(seen), (seen.claim.policy, *seen.claim.rivals)
    return _spreads_stated(
        all((spread >= _FAIR) == (policy in uneven) for policy, spread in spreads.items()), spreads
    )


# fig14

FIG14_ADV1_10 = Place("6.2.2", "fig14", "adv+1", 0.1)
for name, policy in (("LI08a", "pb"), ("LI08b", "ugal-ideal"), ("LI08c", "tpr")):
    note = "more than 25 %; the abstract: up to 30 %"
    _claim(name, FIG14_ADV1_10, saving(LATENCY_MEAN, "lia", policy), 0.25, met=(0.25, 0.32), note=note)


@_states("LI43", FIG14_ADV1_10, "pb-acor improves latency at low loads", "pb-acor", "pb")
def _(seen: Evidence) -> Measured:
    """1 if at the claim's load the policy's latency is below the reference's by more than 1 percent."""
    latencies = _latencies(seen, seen.claim.load)
    pair = {name: latencies[name] for name in (seen.claim.policy, seen.claim.reference)}
    latency, other = pair.values()
    return stated(_NOISE * latency < other, listed(pair, ".3f", "us"))


_claim("LI09", Place("6.2.2", "fig14", "adv+1", 0.3), saving(LATENCY_MEAN, "lia", "pb-acor"), 0.30)
TPR_FALLS = (
    "past saturation the throughput of tpr falls under every adversarial pattern and that of lia does not"
)
tpr_falls = shows(falls_past_saturation, "tpr", "lia")
_claim("LI11", Place("6.2.2", "fig14", "any"), tpr_falls, of_named=True, note=TPR_FALLS)


def competitive(seen: Evidence) -> Measured:
    """1 if every policy is within 10 percent of the best: in latency, or at a load of 1 in throughput."""
    if seen.claim.load == 1.0:
        loads = seen.by_policy("accepted_load", load=1.0)
        return stated(min(loads.values()) >= max(loads.values()) / _CLOSE, listed(loads, ".3f"))
    latencies = _latencies(seen, seen.claim.load)
    holds = max(latencies.values()) <= _CLOSE * min(latencies.values())
    return stated(holds, listed(latencies, ".3f", "us"))


for name, load, what in (("LI44a", 0.45, "latency"), ("LI44b", 1.0, "throughput")):
    note = f"under uniform traffic all routings are competitive in {what}"
    _claim(name, Place("6.2.2", "fig14", "uniform", load), shows(competitive, "lia"), note=note)


def peak_throughput(seen: Evidence) -> Measured:
    """The highest throughput over loads."""
    ((peak, last),) = _after_peak(seen, seen.claim.policy).values()
    return Measured(*mean_and_ci95(peak.tolist()), details=f"{last.mean():.3f} at the highest load")


for name, traffic in (("LI45a", "adv+1"), ("LI45b", _ADV_H), ("LI45c", "advc")):
    peak = shows(peak_throughput, "tpr", relation=value)
    _claim(name, Place("6.2.2", "fig14", traffic), peak, unit="fraction", note="a peak close to 50 %", **half)

FIG14_100 = Place("6.2.2", "fig14", "any", 1.0)


@_states("LI46", FIG14_100, "past saturation tpr falls down to the result of pb", "tpr", "pb")
def as_low(seen: Evidence) -> Measured:
    """1 if at the claim's load the policy's throughput is that of the reference under every adversarial pattern.

    To 3 percent, either way.
    """
    names = (seen.claim.policy, seen.claim.reference)
    found = {traffic: {name: loads[name] for name in names} for traffic, loads in _throughputs(seen).items()}
    ratios = [mean_and_ci95((loads[names[0]] / loads[names[1]]).tolist()) for loads in found.values()]
    bounds = (1.0 / _EQUAL, _EQUAL)
    holds, sure = every(
        (bounds[0] <= ratio <= bounds[1], not any(abs(ratio - bound) < half for bound in bounds))
        for ratio, half in ratios
    )
    return stated(holds, _by_traffic(found), sure)


@_states("LI47", FIG14_100, "pb has the lowest throughput under adversarial patterns", "pb")
def lowest(seen: Evidence) -> Measured:
    """1 if no other policy accepts less under an adversarial pattern."""
    found, stated_lowest = _throughputs(seen), seen.claim.policy
    gaps = [
        mean_and_ci95((values - loads[stated_lowest]).tolist())
        for loads in found.values()
        for policy, values in loads.items()
        if policy != stated_lowest
    ]
    holds, sure = every((gap > 0.0, not abs(gap) < half) for gap, half in gaps)
    return stated(holds, _by_traffic(found), sure)


for name, traffic in (("LI48a", "adv+1"), ("LI48b", _ADV_H), ("LI48c", "advc")):
    place = Place("6.2.2", "fig14", traffic, 1.0)
    _claim(name, place, value(THROUGHPUT, "pb-acor"), note="stable and very close to 50 %", **half)


# fig15

FIG15_ADVC_50 = Place("6.2.2", "fig15", "advc", 0.5)


@_states(
    "LI12",
    FIG15_ADVC_50,
    "pb serves routers unevenly and tpr and ugal-ideal less so and lia all alike",
    "pb",
    "lia",
    rivals=("tpr", "ugal-ideal"),
    fitted=("transit-first",),
)
def _(seen: Evidence) -> Measured:
    claim = seen.claim
    spreads = _spreads(seen, claim.policy, *claim.rivals, claim.reference)
    between = [spreads[rival] for rival in claim.rivals]
    holds = spreads[claim.policy] > max(between) and min(between) > spreads[claim.reference]
    return _spreads_stated(holds and spreads[claim.reference] < _FAIR, spreads)


@_states("LI49", FIG15_ADVC_50, "pb-acor inherits the unfairness of pb", "pb-acor", "pb")
def _(seen: Evidence) -> Measured:
    spreads = _spreads(seen)
    return _spreads_stated(min(spreads[seen.claim.policy], spreads[seen.claim.reference]) >= _FAIR, spreads)


# fig16


@_states(
    "LI50",
    Place("6.2.3", "fig16", "advc", 0.5),
    "the router that owns the minimal links takes the first local hop and the others do not",
    "lia",
)
def _(seen: Evidence) -> Measured:
    """1 if of the non-minimal paths of the router that owns the minimal links most have the first local hop, and of
    those of every other router most have not.
    """
    (point,) = seen.points(seen.claim.policy)
    loads = path_loads_of_routers(seen.findings, point).mean(axis=0)
    kinds = {name: loads[:, index] for index, name in enumerate(PATH_KINDS)}
    with_hop = kinds["lg"] + kinds["lgl"]
    non_minimal = with_hop + kinds["g"] + kinds["gl"]
    share = np.divide(with_hop, non_minimal, out=np.zeros_like(with_hop), where=non_minimal > 0)
    holds = share[-1] > _MOST and bool((share[:-1] < _MOST).all()) and bool((non_minimal > 0).all())
    split = listed({name: float(of[-1]) for name, of in kinds.items() if of.any()}, ".3f")
    others = listed({name: float(of[:-1].mean()) for name, of in kinds.items() if of.any()}, ".3f")
    return stated(
        bool(holds),
        f"with the first hop {share[-1]:.2f}, others at most {share[:-1].max():.2f}; last router: {split}; "
        f"others: {others}",
    )


# fig17

FIG17_CHANGE = Place("6.3", "fig17", "uniform->advc")


@_states(
    "LI20",
    FIG17_CHANGE,
    "lia and pb-acor have the lowest latencies right after uniform turns into advc",
    "lia",
    "pb-acor",
)
def _(seen: Evidence) -> Measured:
    return _ranked_after_change(seen, (seen.claim.policy, seen.claim.reference), lowest=True)


@_states("LI51", FIG17_CHANGE, "the latency of ugal-ideal and pb grows quickly", "ugal-ideal", "pb")
def _(seen: Evidence) -> Measured:
    return _ranked_after_change(seen, (seen.claim.policy, seen.claim.reference), lowest=False)


@_states(
    "LI52",
    FIG17_CHANGE,
    "before the change tpr and pb-acor and lia send less non-minimally than pb",
    "tpr",
    "pb",
    rivals=("pb-acor", "lia"),
)
def _(seen: Evidence) -> Measured:
    latencies, claim = _means_around(seen, _BEFORE_NS), seen.claim
    holds = all(latencies[name] < latencies[claim.reference] for name in (claim.policy, *claim.rivals))
    return stated(holds, listed(latencies, ",.0f", "ns"))


@_states("LI53", FIG17_CHANGE, "lia offers the best result", "lia")
def _(seen: Evidence) -> Measured:
    return _ranked_after_change(seen, (seen.claim.policy,), lowest=True)


# fig17c


@_states(
    "LI54",
    Place("6.3", "fig17c", "uniform->advc"),
    "the quartiles of tpr and pb-acor and lia lie significantly closer together than those of pb",
    "lia",
    "pb",
    rivals=("tpr", "pb-acor"),
)
def _(seen: Evidence) -> Measured:
    """1 if of the packets generated 181 to 210 ns after the change the latencies of the policy and of every rival lie
    closer together than the reference's, from the first to the third quartile: by more than 20 percent.
    """
    ranges, claim = {}, seen.claim
    for point in seen.points():
        first, third = around_change(seen.findings, point, ("q1", "q3"), AFTER_NS)
        ranges[point.policy_label] = third - first
    holds = all(ranges[name] < _CLEARLY * ranges[claim.reference] for name in (claim.policy, *claim.rivals))
    return stated(holds, "third less first quartile: " + listed(ranges, ",.0f", "ns"), values=ranges)


# fig18


def best_or_close(seen: Evidence) -> Measured:
    """1 if the policy is within 5 percent of the best: latency where it carries the load, last throughput."""
    policy = seen.claim.policy
    described, holds = [], True
    for point in _carried(seen):
        latencies = _latencies(seen, point.load)
        lowest = min(latencies.values())
        holds &= latencies[policy] <= _VERY_CLOSE * lowest
        described.append(f"{point.load:g}: {latencies[policy] / lowest:.3f} of the lowest latency")
    last = max(point.load for point in seen.points(policy))
    loads = seen.by_policy("accepted_load", load=last)
    share = loads[policy] / max(loads.values())
    described.append(f"{share:.3f} of the highest throughput at {last:g}")
    return stated(holds and share >= 1.0 / _VERY_CLOSE, "; ".join(described))


for name, traffic in (("LI55a", "lia-c1"), ("LI55b", "lia-c2")):
    note = "the best or a very competitive performance"
    _claim(name, Place("6.4", "fig18", traffic), shows(best_or_close, "lia"), note=note)


# fig19

FIG19_EXCHANGE = Place("6.5", "fig19", "all-to-all")
_claim("LI15", FIG19_EXCHANGE, value(MAKESPAN, "min"), 350972, full_only=True)


@_states(
    "LI56", FIG19_EXCHANGE, "consecutive placement: all four Valiant variants are faster than min", "vlb-lgl"
)
@_of_makespans
def _(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    return max(valiant) < times["min"]


@_states(
    "LI57",
    FIG19_EXCHANGE,
    "consecutive placement: pb and pb-acor behave similarly and lia is competitive and faster than tpr",
    "lia",
    "tpr",
    rivals=("pb", "pb-acor"),
)
@_of_makespans
def _(claim: Claim, times: dict[str, float], *_: list[float]) -> bool:
    """1 if the rivals complete alike, the policy not later than the faster of them, and before the reference.

    Alike, and not later: to 3 percent.
    """
    rivals = [times[rival] for rival in claim.rivals]
    latest = max(*rivals, times[claim.policy])
    return latest <= _EQUAL * min(rivals) and times[claim.policy] < times[claim.reference]


FIG19_RANDOM = Place("6.5", "fig19", "all-to-all:placement=random")
_claim("LI16a", FIG19_RANDOM, value(MAKESPAN, "min"), 75555, full_only=True)


@_states("LI16b", FIG19_RANDOM, "lia alone completes before min", "lia", "min")
def _(seen: Evidence) -> Measured:
    times = seen.by_policy("makespan_ns")
    faster = {policy for policy, time in times.items() if time < times[seen.claim.reference]}
    faster_ones = " and ".join(f"{policy} ({times[policy]:,.0f} ns)" for policy in sorted(faster))
    quoted = {"faster": faster_ones or "none"}
    return stated(faster == {seen.claim.policy}, listed(times, ",.0f", "ns"), values=quoted)


@_states(
    "LI58", FIG19_RANDOM, "random placement: the randomization of Valiant is counter-productive", "vlb-lgl"
)
@_of_makespans
def _(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    return min(valiant) > times["min"]


FIG19_GRAPH500 = Place("6.5", "fig19", "graph500")
_claim(
    "LI17a", FIG19_GRAPH500, relative_gap(MAKESPAN, "lia", "tpr"), 0.04, met=(0.04, None), note="at least 4 %"
)
_claim(
    "LI17b", FIG19_GRAPH500, relative_gap(MAKESPAN, "lia", "pb"), 0.04, met=(0.04, None), note="at least 4 %"
)
_claim("LI18", FIG19_GRAPH500, relative_gap(MAKESPAN, "lia", "pb-acor"), 0.10)


@_states("LI59", FIG19_GRAPH500, "Valiant is effective and adaptive routings perform even better", "lia")
@_of_makespans
def effective(_: Claim, times: dict[str, float], valiant: list[float], adaptive: list[float]) -> bool:
    return min(valiant) < times["min"] and max(adaptive) < min(valiant)


@_states("LI60", FIG19_GRAPH500, "lia outperforms all other mechanisms", "lia")
@_of_makespans
def outperforms(claim: Claim, times: dict[str, float], *_: list[float]) -> bool:
    return times[claim.policy] < min(_only(times, lambda policy: policy != claim.policy).values())


@_states(
    "LI19",
    Place("6.5", "fig19", "halo3d:placement=random"),
    "lia is as fast as pb and faster than tpr; adaptive before oblivious; Valiant slower than min",
    "lia",
    "pb",
    rivals=("tpr",),
)
def _(seen: Evidence) -> Measured:
    """1 if the policy is as fast as the reference, faster than its rivals, adaptive policies are faster than oblivious
    ones, and every Valiant one is slower than MIN.
    """
    claim, times = seen.claim, seen.by_policy("makespan_ns")
    time, valiant = times[claim.policy], min(_only(times, _is_valiant).values())
    holds = time <= _EQUAL * times[claim.reference] and all(time < times[name] for name in claim.rivals)
    holds &= time < min(valiant, times["min"]) and valiant > times["min"]
    return stated(holds, listed(times, ",.0f", "ns"))


def _place_in_table(claim: Claim) -> tuple[bool, bool, str, bool]:
    """First the claims that were read first, of each part first those of the published system, and of each sentence
    first the claim in the published windows.
    """
    number = claim.id.partition("-")[0]
    return number > "LI21b", claim.quick, number, not claim.figure.startswith("windows")


taco25.order = _place_in_table


# windows: the same sentences; where such a claim was measured, it counts, and not that of a shorter window.

_IN_PUBLISHED_WINDOWS = {
    "windows": ("LI07a", "LI07b", "LI07c", "LI46", "LI47", "LI48a", "LI48b", "LI48c"),
    "windows5": ("LI22",),
    "windows7": ("LI03a", "LI03b", "LI03c", "LI03d", "LI05b"),
    "windows9": ("LI21",),
    "windows14": ("LI11", "LI45a", "LI45b", "LI45c"),
}
for figure, names in _IN_PUBLISHED_WINDOWS.items():
    wanted = {f"{name}-1056" for name in names}
    taco25.stated += [
        replace(claim, id=f"{claim.id}-60us", figure=figure) for claim in taco25.stated if claim.id in wanted
    ]


# queues, signals: the same sentences in another setting; they never count.

for name, traffic, load, policy, published, met in (
    ("LI02", "advc", 1.0, "min", 0.1250, (None, None)),
    ("LI03a", "adv+1", 0.5, "vlb-lgl", 0.5, _HALF),
    ("LI05b", "adv+4", 0.5, "vlb-lgl", 0.5, _HALF),
):
    place = Place("6.2.1", "queues", traffic, load, hosts=1056)
    accepted = value(THROUGHPUT, policy)
    taco25.claim(f"{name}-1056-128", place, accepted, published, met=met, quick=True, aside=True)

SIGNALS = Place("6.5", "signals", _SIGNALS, hosts=1056)
for name, policy, published, bounds in (
    ("LI17a", "tpr", 0.04, (0.04, None)),
    ("LI17b", "pb", 0.04, (0.04, None)),
    ("LI18", "pb-acor", 0.10, (None, None)),
):
    longer = relative_gap(MAKESPAN, "lia", policy)
    taco25.claim(f"{name}-1056-signals", SIGNALS, longer, published, met=bounds, quick=True, aside=True)
for name, holds, note in (
    ("LI59", effective, "Valiant is effective and adaptive routings perform even better"),
    ("LI60", outperforms, "lia outperforms all other mechanisms"),
):
    taco25.claim(f"{name}-1056-signals", SIGNALS, shows(holds, "lia"), quick=True, aside=True, note=note)


# Figures in braces are measurements of the report; figures of FOGSim are in tests/oracle/data/fogsim.csv, and those of
# links follow from tests/analytic/test_nonminimal_loads.py.
_SHARED_QUEUE = (
    "experiment: all VCs of a port share its output queue: with 128 packets in it instead of 32 "
    "{{{}-1056-128.mean:.4f}} (h = 4)"
)
_AS_FOGSIM = (
    "open: {{mean:.3f}}; with h = 2 FOGSim accepts {} with the paper's weights and this simulator as much (page "
    "fogsim)"
)


def _by_arbiter(name: str, what: str) -> str:
    """Quote what a claim measures with each of the two arbiters."""
    return f"{{{name}@round-robin.{what}}} with round-robin and {{{name}@transit-first.{what}}} with transit first"


def _of_both_sizes(text: str, *names: str) -> dict[str, str]:
    return {f"{name}{size}": text for name in names for size in ("", "-1056")}


taco25.explanations = {
    "LI07c-1056": "open: {mean:.3f}: lia also uses the minimal links, which carry one packet in eight here (h = 4) and "
    "one in twelve with h = 6, where the claim is met (page taco25-5256)",
    **{f"{name}-1056": _SHARED_QUEUE.format(name) for name in ("LI02", "LI03a", "LI05b")},
    **dict.fromkeys(
        ("LI02", "LI03a", "LI05b"),
        "experiment: all VCs of a port share its output queue; 1,056 hosts with deeper queues: page taco25",
    ),
    **{
        name: "experiment: arbiters decide it: highest over lowest router under pb "
        + _by_arbiter(name, "pb:.3f")
        for name in ("LI12", "LI12-1056")
    },
    **_of_both_sizes(
        "experiment: it follows from LI04a: the busiest link allows 0.154 (h = 6), which is a counter of 18.5 packets",
        "LI13",
    ),
    **_of_both_sizes("open: {details}; both arbiters and 12 to 30 us tried", "LI21"),
    "LI04a": "public simulator: FOGSim (commit dcdd75f; h = 2; ADV+2) accepts 0.396; the busiest link "
    "allows 1 / (h + 1/2) and not 1 / h",
    "LI04b": "public simulator: FOGSim (commit dcdd75f; h = 2; ADV+2) accepts 0.306; the busiest link "
    "allows 0.333 there and 0.143 for h = 6",
    "LI06b": "public simulator: FOGSim (commit dcdd75f; h = 2; ADV+2) keeps below the busiest link as this "
    "one does; that link allows 0.222 here",
    "LI11": "experiment: tpr falls less in shorter windows than the paper's, 60 us after 60 us: {details}",
    "LI16a": f"experiment: arbiters decide it: {_by_arbiter('LI16a', 'mean:,.0f')}, which is "
    "{LI16a@transit-first.deviation:+.0f} % from the published figure",
    "LI16b": f"open: faster than min: {_by_arbiter('LI16b', 'faster')}",
    "LI17a": f"open: {_by_arbiter('LI17a', 'percent')}",
    "LI18": f"open: {_by_arbiter('LI18', 'percent')}",
    "LI19": "open: lia is faster than pb and not as fast; MIN is the slowest of ten with both arbiters; "
    "every other clause holds: {details}",
    "LI04a-1056": "public simulator: FOGSim (commit dcdd75f) accepts 0.178 here (h = 4) and with h = 2 and "
    "3 0.396 and 0.307; the busiest link allows 1 / (h + 1/2) and not 1 / h",
    "LI04b-1056": "public simulator: FOGSim (commit dcdd75f; h = 2; ADV+2) accepts 0.306; the busiest link "
    "allows 0.333 there and 0.143 for h = 6",
    **{
        name: "experiment: 25 % is published for 5,256 hosts, where the claim is met (page taco25-5256); here "
        + _by_arbiter(name, "mean:.3f")
        for name in ("LI08a-1056", "LI08b-1056")
    },
    "LI09-1056": "public simulator: pb-acor has the latency of FOGSim's pb-acor (h = 4: 914 ns); 0.30 is published for "
    "h = 6",
    "LI11-1056": "open: {details}; the paper: down to PB",
    "LI16b-1056": f"experiment: faster than min: {_by_arbiter('LI16b-1056', 'faster')}",
    "LI17a-1056": "experiment: {LI17a-1056-signals@round-robin.percent} if each task signals the end of a level to "
    f"every other, as in FOGSim; by default {_by_arbiter('LI17a-1056', 'percent')}; both pacing rules tried",
    "LI18-1056": f"open: {_by_arbiter('LI18-1056', 'percent')}; both pacing rules tried; "
    "{LI18-1056-signals@round-robin.percent} with signals as in LI17a",
    "LI19-1056": "open: tpr takes as long as lia with round-robin; a Valiant policy is faster than min with transit "
    "first: {details}",
    "LI39": "open: {details}; with 1,056 hosts it falls in the paper's window (page taco25)",
    "LI44a": "public simulator: it is pb, whose latency is that of FOGSim's PB (h = 3, load 0.3: 617 ns; MIN 508)",
    "LI44b": "public simulator: they are pb and pb-acor, which accept what FOGSim's accept (h = 3: 0.753 "
    "and 0.748)",
    **_of_both_sizes("open: {mean:.3f}; TPR is not public", "LI45a", "LI45b", "LI45c"),
    "LI46": "open: tpr stays above pb under ADV+1 and ADV+h and falls below it under ADVc: {details}",
    "LI47": "public simulator: pb and pb-acor are the lowest under ADV+1 and ADV+h; under ADVc pb accepts "
    "more than tpr, as FOGSim's PB does (h = 3: 0.518): {details}",
    **_of_both_sizes(_AS_FOGSIM.format(0.506), "LI48a"),
    **_of_both_sizes(_AS_FOGSIM.format(0.514), "LI48b"),
    "LI59": "open: Valiant's policies are slower than MIN with both arbiters; over the first two levels "
    "with `signals=true` vlb-g is faster (report of 2026-11-28): {details}",
    "LI59-1056": "open: Valiant's policies are slower than MIN with both arbiters: {details}; with signals as in "
    "LI17a, too: {LI59-1056-signals@round-robin.details}",
    "LI18-1056-signals": "open: {percent}, by default {LI18-1056@round-robin.percent}",
    "LI59-1056-signals": "open: Valiant's policies are slower than MIN: {details}",
    "LI60": "open: lia is not the first to complete: {details}",
    "LI60-1056": "experiment: with signals as in LI17a lia is the first: {LI60-1056-signals@round-robin.details}; by "
    "default {details}",
    "LI22-1056": "open: the fall depends on the arbiter: {details}",
    "LI25-1056": "experiment: as LI04a: packets of other groups on their first and last hops share the "
    "link, which leaves 1 / (h - m + 1/2) = 0.286",
    "LI39-1056": "open: {details}",
    "LI44a-1056": "public simulator: it is pb, whose latency is that of FOGSim's PB (h = 2, load 0.3: 583 ns; MIN 476)",
    "LI44b-1056": "public simulator: it is pb, which accepts what FOGSim's PB accepts (h = 2: 0.750)",
    "LI46-1056": "open: tpr stays above pb under ADV+1 and ADV+h and falls below it under ADVc: {details}",
    "LI47-1056": "public simulator: holds under ADV+1 and ADV+h; under ADVc pb accepts more, as FOGSim's PB "
    "does (h = 2: 0.540): {details}",
    "LI49-1056": "experiment: as LI12: round-robin arbiters serve the routers of pb alike",
    "LI53-1056": "open: pb-acor takes {pb-acor:.0f} ns and lia {lia:.0f}",
    "LI54-1056": "open: pb-acor and lia have ranges of {pb-acor:.0f} and {lia:.0f} ns, tpr {tpr:.0f}, pb "
    "{pb:.0f}",
    "LI57-1056": "open: lia is the fastest and tpr slower, but pb and pb-acor are more than 3 % apart: "
    "{details}",
}
taco25.explanations |= {
    f"{name}-1056-60us": taco25.explanations[f"{name}-1056"]
    for names in _IN_PUBLISHED_WINDOWS.values()
    for name in names
    if f"{name}-1056" in taco25.explanations
} | {
    "LI21-1056-60us": "open: {details}",
    "LI47-1056-60us": "public simulator: pb and pb-acor accept alike under ADV+1 and ADV+h; under ADVc pb accepts "
    "more, as in FOGSim (h = 4: pb 0.505, pb-acor 0.480): {details}",
}
