"""Chunduri et al.: routing bias on Aries systems, IPDPS 2021. Sections III to V give the experiments.

Figure 1 is an input (sizes of jobs). Figures 2 to 8 and table II are production runs, 9 to 12 controlled ones, 13 and
14 compare the whole machine before and after its default was changed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dragonfly_env.lab.papers.aries_points import (
    BOTH,
    WITH_LARGER,
    all_alike,
    alone,
    ensemble,
    in_the_mix,
    mix_of_cori,
    with_larger_messages,
)
from dragonfly_env.lab.papers.claims import (
    Clause,
    Evidence,
    Measure,
    Measured,
    Metric,
    Place,
    every,
    excluded,
    given,
    higher,
    listed,
    lower,
    pair_ratio,
    reduction,
    shows,
    spread_ratio,
    stated,
)
from dragonfly_env.lab.papers.figures.jobs import (
    latency_percentiles,
    operation_bars,
    ratios_of_runs,
    reductions,
    run_time_boxes,
    shares,
    tile_bars,
    z_scores,
)
from dragonfly_env.lab.papers.findings import FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import (
    MODES,
    MPI_SHARE,
    MPI_TIME,
    NETWORK_CLASSES,
    NETWORK_FLIT_RATE,
    PERCENTILES,
    RANK_3_PEAK,
    RUN_TIME,
    TIME_IN_ALLREDUCE,
    TIME_IN_WAIT,
    latency_percentile,
    normalised,
    spanned_groups,
    tile_metric,
)
from dragonfly_env.lab.papers.paired import Comparison, reduction_of, tail_ratio_of
from dragonfly_env.lab.papers.paper import Effort, Paper, Setup
from dragonfly_env.sweeps.point import Point

_CONDITIONS = (
    "a seed is a placement with phases and a mix of its own, the same for all modes; jobs run to their end."
)

aries = Paper(
    name="aries",
    reference="Chunduri et al.: routing bias on Aries systems, IPDPS 2021",
    setup=Setup(arrangement="palmtree", network="aries-256"),
    efforts=(
        Effort(name="quick", seeds=4, decides=True, conditions=_CONDITIONS),
        Effort(name="full", seeds=40, decides=True, conditions=_CONDITIONS),
    ),
    # Isolated runs: one for each placement. Of open parameters only milc differs from placement to placement.
    few_seeds={"* alone": 4, "milc on Cori in the mix": 6, "milc, *": 8, "hacc, *": 2, "stalls, *": 2},
    rule="Met: within the bounds that the claims table gives (of MPI times 10 percentage points, as table I and II do "
    "not agree better; of standard deviations half to twice the published change); orderings: the means stand as "
    "published. Uncertain: more runs might turn the verdict.",
    interpretations=(
        "Machines are an eighth of Theta and of Cori with the same ratios of bandwidths (docs/aries.md); a host "
        "stands for eight nodes; packets have 256 bytes of payload.",
        "Messages of milc are 0.4 % of the application's, so that all-reduces take a quarter to half of the time in "
        "MPI (table I has Allreduce first); of nek5000 10 %, of hacc and rayleigh 1 %, of qbox 0.8 %. Computing times "
        "give isolated runs the MPI shares of table I (AR45 to AR50).",
        "Where Aries is not public, every mode has one variant, which was fixed before table II was run, by the ratio "
        "of 1.2 between the latencies of AD0 and AD3 at light load that AWR's authors expect: any gateway of the group "
        "counts as minimal, an empty port has level 2, equal loads go minimal (reports/2026-11-28-aries.md).",
        "In production the watched application alone changes its mode, for point-to-point operations; the mix has AD0. "
        "All-to-all operations keep AD1 in every run (Cray's defaults). Jobs are in turn on one group, by random "
        "routers, on two and on six groups.",
        "Reductions are means over pairs of runs with the same placement, phases and mix.",
        "Stalls and flits are those that the machine's counters count: the time in which the head of an input buffer "
        "found no room to move on to, in times of a flit, and flits received; processor tiles are those that take "
        "what hosts send. Local view: the routers that have hosts of the job.",
        "Claims whose id has -larger repeat one with messages of the mix, or of eight jobs of milc, five times as "
        "large (2 % of the application's) and in the mix those of milc a quarter (0.1 %); -dispersed: with every job "
        "by random routers; -groups: with jobs on two groups; -flits: the clause on flits.",
        "AR08: AD0, AD2, AD3; where AD1 is between them the paper does not say.",
        "AR10, AR44: latency of a packet from its host to its destination, means over a host and 10 us; responses are "
        "not simulated.",
    ),
)

_APPLICATIONS = ("milc", "milc-reorder", "nek5000", "hacc", "qbox", "rayleigh")
_COMPACT_AND_DISPERSED = ("consecutive", "random-routers")


@aries.figure("table1", "MPI shares of isolated runs", shares)
def _isolated(effort: Effort) -> Iterator[Point]:
    """Computing times are calibrated to these."""
    for name in _APPLICATIONS:
        yield from alone(effort, name)


@aries.figure("table2", "What AD3 gains in production", reductions)
def _production(effort: Effort) -> Iterator[Point]:
    for name in _APPLICATIONS:
        yield from in_the_mix(effort, name)


@aries.figure("fig2", "MILC and MILCREORDER in production", run_time_boxes)
def _milc_in_production(effort: Effort) -> Iterator[Point]:
    for name in ("milc", "milc-reorder"):
        yield from in_the_mix(effort, name)


@aries.figure("fig3", "MILC of other sizes in production", run_time_boxes)
def _other_sizes(effort: Effort) -> Iterator[Point]:
    """256, 128 and, in a full run, 512 nodes."""
    for hosts in effort.either((32, 16), (32, 16, 64)):
        yield from in_the_mix(effort, "milc", hosts=hosts)


@aries.figure("fig4", "MILC on Cori in production", run_time_boxes)
def _on_cori(effort: Effort) -> tuple[Point, ...]:
    """Runs for orientation, in a full reproduction only."""
    if effort.name == "quick":
        return ()
    return in_the_mix(effort, "milc", label="milc on Cori in the mix", system="cori-m8")


@aries.figure("fig6", "Tiles of MILC's routers in production", tile_bars, of_job=True)
@aries.figure("fig5", "What MILC spends its time in", operation_bars)
def _milc(effort: Effort) -> tuple[Point, ...]:
    return in_the_mix(effort, "milc")


aries.figure("fig7", "All applications in production", run_time_boxes)(_production)


@aries.figure("fig8", "What HACC spends its time in", operation_bars)
def _hacc(effort: Effort) -> tuple[Point, ...]:
    """Runs of HACC in production, and with its traffic between two groups alone."""
    label = "hacc on two groups in the mix"
    return in_the_mix(effort, "hacc") + in_the_mix(effort, "hacc", label=label, placements=("groups=2",))


@aries.figure("fig9", "Controlled runs of all applications", z_scores)
def _controlled(effort: Effort) -> Iterator[Point]:
    """All modes, compact and dispersed."""
    for name in _APPLICATIONS:
        for placement in _COMPACT_AND_DISPERSED:
            yield from ensemble(effort, name, placement)


@aries.figure("fig10", "Tiles under eight jobs of MILC", tile_bars)
def _eight_jobs(effort: Effort) -> Iterator[Point]:
    """Eight jobs of 512 nodes, compact and dispersed (the paper does not say)."""
    for placement in _COMPACT_AND_DISPERSED:
        yield from ensemble(effort, "milc", placement, modes=BOTH, copies=8, hosts=64)


@aries.figure("fig11", "Production, isolated and controlled runs", ratios_of_runs)
def _three_kinds(effort: Effort) -> Iterator[Point]:
    for placement in _COMPACT_AND_DISPERSED:
        yield from ensemble(effort, "milc", placement, modes=BOTH)
    yield from alone(effort, "milc", BOTH)
    yield from in_the_mix(effort, "milc")


@aries.figure("fig12", "Tiles under sixteen jobs of HACC", tile_bars)
def _sixteen_jobs(effort: Effort) -> Iterator[Point]:
    """Consecutive placement (the paper does not say), and every job on two groups."""
    for placement in ("consecutive", "groups=2"):
        yield from ensemble(effort, "hacc", placement)


aries.figure("fig13", "The machine before and after", tile_bars)(all_alike)
aries.figure("larger", "MILC with larger messages", tile_bars)(with_larger_messages)
aries.figure("fig14", "Latencies of all hosts before and after", latency_percentiles)(mix_of_cori)


# Claims of the text, in the order of their ids.

_STALLS = tuple(tile_metric(kind, "stalls") for kind in ("rank-1", "rank-2", "processor"))
_FLITS = tuple(tile_metric(kind, "flits") for kind in NETWORK_CLASSES)
_OF_JOB = (
    *(tile_metric(kind, "ratio", of_job=True) for kind in NETWORK_CLASSES),
    tile_metric("network", "stalls", of_job=True),
)
_OF_MACHINE = (tile_metric("network", "stalls"), tile_metric("network", "ratio"))
_JOB_RATIO = tile_metric("network", "ratio", of_job=True)
_FASTER = reduction(RUN_TIME, "ad3", "ad0")
_STEADIER = spread_ratio(RUN_TIME, "ad3", "ad0")
_LESS_MPI = reduction(MPI_TIME, "ad3", "ad0")
_LARGER = "messages of the mix five times as large, of milc a quarter"
_COMPACT_GROUPS = 2  # jobs that span so many groups or fewer are compact (section V-A1)
_TAIL = (0.1, 0.4)  # AR10's tolerance, as a reduction


def _all(
    found: dict[str, Comparison], low: float = 0.0, high: float = math.inf, clauses: Iterable[Clause] = ()
) -> Measured:
    """1 if all means are between two numbers, and further clauses hold."""
    return _stated(
        [
            *((low < comparison.mean < high, comparison.sure(low, high)) for comparison in found.values()),
            *clauses,
        ],
        listed(found),
    )


def _stated(clauses: Iterable[Clause], details: str) -> Measured:
    """The measurement of an ordering of several clauses."""
    holds, sure = every(clauses)
    return stated(holds, details, sure)


def _by_spread(seen: Evidence, label: str) -> dict[str, Comparison]:
    times, other = seen.pair(RUN_TIME, label)
    (point,) = seen.points(seen.claim.policy, traffic=label, hosts=0)
    groups = np.array([spanned_groups(row) for row in seen.findings.rows[point]])[: len(times)]
    parts = {"compact": groups <= _COMPACT_GROUPS, "dispersed": groups > _COMPACT_GROUPS}
    if not all(part.any() for part in parts.values()):
        raise NotFoundYetError("its runs are not both compact and dispersed")
    return {name: reduction_of(times[part], other[part]) for name, part in parts.items()}


def _metric(seen: Evidence, metric: Metric, traffic: str, policy: str) -> FloatArray:
    point = seen.points(policy, traffic=traffic, hosts=0)[0]
    return metric.values(seen.findings, point)


def _ratios(seen: Evidence, labels: Iterable[str], policy: str) -> dict[str, FloatArray]:
    return {label: _metric(seen, _JOB_RATIO, label, policy) for label in labels}


COMPACT, DISPERSED = "16 milc, consecutive", "16 milc, random-routers"


def _means(found: dict[str, FloatArray]) -> str:
    return ", ".join(f"{label}: {values.mean():.3f}" for label, values in found.items())


# table1
for name, application, share in (
    ("AR45", "milc", 0.52),
    ("AR46", "milc-reorder", 0.50),
    ("AR47", "nek5000", 0.48),
    ("AR48", "hacc", 0.22),
    ("AR49", "qbox", 0.66),
    ("AR50", "rayleigh", 0.28),
):
    place = Place("III.C table I", "table1", f"{application} alone")
    aries.claim(name, place, given(MPI_SHARE, "ad0"), share, note="calibrates the computing time")
for name, section, share, note in (
    ("AR51", "II.F; fig 1", 0.40, "core-hours of jobs of 128 to 512 nodes: sizes of the mix"),
    ("AR52", "II.F", 0.70, "of these on 5 or more groups: half of the mix is dispersed"),
):
    aries.claim(name, Place(section, "table1"), Measure(given), share, unit="fraction", note=note)


# table2

for section, name, application, gain, met, note in (
    ("IV.A; IV.B table II; fig 2", "AR01", "milc", 0.111, (0.05, 0.20), "542.6 s to 482.5 s of 190 runs"),
    ("IV.B table II; fig 2", "AR02", "milc-reorder", 0.119, (0.05, 0.20), "509.6 s to 448.9 s of 189 runs"),
    ("IV.B table II", "AR03", "nek5000", 0.022, (0.005, 0.07), "467.1 s to 456.7 s of 69 runs"),
    ("IV.B table II; IV.C", "AR04", "hacc", -0.027, (-0.10, -0.005), "442.9 s to 454.9 s of 100 runs"),
    ("IV.B table II", "AR05", "qbox", 0.048, (0.01, 0.12), "677.3 s to 644.7 s of 108 runs"),
    (
        "IV.B table II",
        "AR06",
        "rayleigh",
        0.002,
        (-0.03, 0.03),
        "653.1 s to 651.7 s of 29 runs; no difference within the spread of either mode: the bounds hold no "
        "effect and decide nothing",
    ),
):
    place = Place(section, "table2", f"{application} in the mix")
    aries.claim(name, place, _FASTER, gain, met=met, note=note)

for name, application, less, bounds, note in (
    ("AR11", "milc", 0.167, (0.067, 0.267), ""),
    ("AR12", "milc-reorder", 0.188, (0.088, 0.288), ""),
    ("AR13", "nek5000", 0.055, (0.014, 0.155), ""),
    ("AR14", "hacc", -0.34, (-0.44, -0.24), "contradicts AR04: 0.22 x 0.34 is 0.075"),
    ("AR15", "qbox", 0.057, (0.014, 0.157), ""),
    (
        "AR16",
        "rayleigh",
        0.0,
        (-0.1, 0.1),
        "no difference; as all-to-all operations keep AD1, both runs are the same and decide nothing",
    ),
):
    place = Place("IV.B table II", "table2", f"{application} in the mix")
    aries.claim(name, place, _LESS_MPI, less, met=bounds, note=note)

for name, application, spread, note in (
    ("AR17", "milc", 0.753, "46.5 to 35.0 s"),
    ("AR18", "milc-reorder", 0.832, "40.0 to 33.3 s"),
    ("AR19", "nek5000", 0.758, "21.1 to 16.0 s"),
    ("AR20", "hacc", 1.296, "8.1 to 10.5 s"),
    ("AR21", "qbox", 0.688, "54.5 to 37.5 s"),
    ("AR22", "rayleigh", 0.771, "16.6 to 12.8 s"),
):
    place = Place("IV.B table II; fig 7", "table2", f"{application} in the mix")
    effect = spread - 1.0
    low, high = sorted((1.0 + 0.5 * effect, 1.0 + 2.0 * effect))
    if application == "rayleigh":  # both runs are the same and decide nothing: the bounds hold no effect
        high = 1.0
    aries.claim(name, place, _STEADIER, spread, met=(low, high), note=note)


@aries.states(
    "AR23",
    Place("IV.B table II", "table2"),
    "gain in time: milc-reorder >= milc > qbox > nek5000 > rayleigh ~ 0 > hacc",
    "ad3",
    "ad0",
)
def _(seen: Evidence) -> Measured:
    order = ("milc-reorder", "milc", "qbox", "nek5000", "rayleigh", "hacc")
    found = {name: reduction_of(*seen.pair(RUN_TIME, f"{name} in the mix")) for name in order}
    clauses = [
        (left.mean > right.mean, left.low > right.high or left.high < right.low)
        for left, right in itertools.pairwise(found.values())
    ]
    clauses.append((found["hacc"].mean < 0, found["hacc"].sure(-math.inf, 0.0)))
    return _stated(clauses, listed(found))


NOT_IN_TABLE = "MPI time up to 34 % better on Cori: table II says NA for Cori and -34 for hacc on Theta"
aries.claim("AR27", Place("IV.B", "table2"), Measure(excluded), 0.34, unit="relative", note=NOT_IN_TABLE)


@aries.states(
    "AR29",
    Place("II.F", "table2"),
    "the number of groups does not change which mode is better",
    "ad3",
    "ad0",
    struck="it cannot fail where an interval has zero in it",
)
def _(seen: Evidence) -> Measured:
    """It is sure where both intervals have no zero."""
    clauses: list[Clause] = []
    found: dict[str, Comparison] = {}
    for label in dict.fromkeys(point.traffic_label for point in seen.findings.simulated("table2")):
        compact, dispersed = _by_spread(seen, label).values()
        name = label.split()[0]
        found |= {f"{name} compact": compact, f"{name} dispersed": dispersed}
        both = all(comparison.sure(0.0, math.inf) for comparison in (compact, dispersed))
        clauses.append((compact.mean * dispersed.mean >= 0 or not both, both))  # zero is neither
    return _stated(clauses, listed(found))


@aries.states(
    "AR53",
    Place("IV.A table II", "table2"),
    "milc-reorder is faster than milc under both modes (6.1 % and 7.0 %)",
)
def _(seen: Evidence) -> Measured:
    found = {}
    for mode in ("ad0", "ad3"):
        times, other = (
            seen.pair(RUN_TIME, f"{name} in the mix", (mode, mode))[0] for name in ("milc-reorder", "milc")
        )
        found[mode] = reduction_of(times, other)
    return _all(found)


# fig2


@aries.states(
    "AR30", Place("IV.A; fig 2", "fig2"), "95th percentiles of milc and milc-reorder are lower", "ad3", "ad0"
)
def _(seen: Evidence) -> Measured:
    found = {
        name: tail_ratio_of(*seen.pair(RUN_TIME, f"{name} in the mix")) for name in ("milc", "milc-reorder")
    }
    found_all = _all(found, -math.inf, 1.0)
    return replace(found_all, details=found_all.details.replace("+", ""))


# fig3 and fig4

for name, section, figure, gain, what in (
    ("AR24", "IV.B table II", "fig4", 0.118, "milc of 256 nodes on Cori gains 11.8 %"),
    ("AR25", "IV.A; fig 4", "fig4", 0.06, "milc of 512 nodes on Cori gains 6 %"),
    ("AR26", "IV.A; fig 3", "fig3", -0.03, "milc of 512 nodes loses 3 % in production (opposite to AR32)"),
):
    note = f"{what}: depends on a mix of jobs that is not known"
    aries.claim(name, Place(section, figure), Measure(excluded), gain, unit="relative", note=note)


@aries.states(
    "AR28",
    Place("IV.A; fig 3", "fig3"),
    "milc on 128 and 256 nodes is faster with every number of groups",
    "ad3",
    "ad0",
)
def _(seen: Evidence) -> Measured:
    found: dict[str, Comparison] = {}
    for label in ("milc in the mix", "milc of 16 in the mix"):
        found |= {f"{label.removesuffix(' in the mix')} {where}": comparison
                  for where, comparison in _by_spread(seen, label).items()}  # fmt: skip
    return _all(found)


# fig5

FIG5_MILC = Place("IV.A; fig 5", "fig5", "milc in the mix")
EACH_SHRINKS = "Allreduce and Wait and Isend each shrink; a send takes no time of its own here"
aries.claim("AR31", FIG5_MILC, lower((TIME_IN_ALLREDUCE, TIME_IN_WAIT), "ad3", "ad0"), note=EACH_SHRINKS)


# fig6

moved = higher(tile_metric("processor", "stalls", of_job=True), "ad3", "ad0")
for suffix, figure, mix, notes in (
    ("", "fig6", "", ("routers of the job", "congestion moves to the end points")),
    ("-larger", "larger", WITH_LARGER, (_LARGER, _LARGER)),
):
    place = Place("IV.A; fig 6", figure, f"milc in the mix{mix}")
    aries.claim(f"AR35{suffix}", place, lower(_OF_JOB, "ad3", "ad0"), note=notes[0])
    aries.claim(f"AR36{suffix}", place, moved, note=notes[1])


# fig8

FIG8_TWO_GROUPS = Place("IV.B table II; IV.C", "fig8", "hacc on two groups in the mix")
ON_TWO_GROUPS = "the same with all its traffic between two groups"
aries.claim("AR04-groups", FIG8_TWO_GROUPS, _FASTER, -0.027, met=(-0.10, -0.005), note=ON_TWO_GROUPS)


# fig9


@aries.states(
    "AR09",
    Place("V; fig 9", "fig9"),
    "z-scores of controlled runs: ad3 has the lowest mean and the smallest range; then ad2; ad1 before ad0",
)
def _(seen: Evidence) -> Measured:
    scores = normalised(seen.findings, seen.claim.figure)
    means = {mode: float(np.mean(values)) for mode, values in scores.items()}
    errors = {mode: 1.96 * float(np.std(values)) / math.sqrt(len(values)) for mode, values in scores.items()}
    ranges = {mode: float(np.ptp(values)) for mode, values in scores.items()}
    clauses = [
        (
            means[first] < means[then],
            abs(means[then] - means[first]) > math.hypot(errors[first], errors[then]),
        )
        for then, first in itertools.pairwise(MODES)
    ]
    clauses.append((min(ranges, key=ranges.__getitem__) == "ad3", True))
    details = ", ".join(f"{mode} {means[mode]:+.2f} (range {ranges[mode]:.1f})" for mode in MODES)
    return _stated(clauses, details)


# fig10

for suffix, figure, traffic, note in (
    ("", "fig10", "8 milc of 64, consecutive", ""),
    ("-dispersed", "fig10", "8 milc of 64, random-routers", "every job by random routers"),
    ("-larger", "larger", f"8 milc of 64, consecutive{WITH_LARGER}", "with messages five times as large"),
    (
        "-larger-dispersed",
        "larger",
        f"8 milc of 64, random-routers{WITH_LARGER}",
        "the same, every job by random routers",
    ),
):
    place = Place("V.A; fig 10", figure, traffic)
    halved = note or "stalls per flit: almost halved"
    ratio = pair_ratio(tile_metric("network", "ratio"), "ad3", "ad0")
    aries.claim(f"AR07{suffix}", place, ratio, 0.5, met=(0.35, 0.8), note=halved)
    aries.claim(
        f"AR32{suffix}",
        Place("V.A", figure, traffic),
        lower(RUN_TIME, "ad3", "ad0"),
        note=note or "faster on a full machine",
    )
    aries.claim(f"AR33{suffix}", place, lower(_STALLS, "ad3", "ad0"), note=note)
    aries.claim(f"AR34{suffix}", place, lower(_FLITS, "ad3", "ad0"), note=note)


# fig11


@aries.states(
    "AR40",
    Place("V.A.1; fig 11 left", "fig11"),
    "stalls per flit under ad0: isolated and production runs lie between controlled compact and dispersed "
    "ones",
    "ad0",
    struck="production runs lie at the very end of the range",
)
def _(seen: Evidence) -> Measured:
    found = _ratios(seen, (COMPACT, DISPERSED, "milc alone", "milc in the mix"), "ad0")
    low, high = sorted((found[COMPACT].mean(), found[DISPERSED].mean()))
    clauses: list[Clause] = []
    for label in ("milc alone", "milc in the mix"):
        between = bool(low <= found[label].mean() <= high)
        runs = (low <= found[label]) & (found[label] <= high)
        clauses.append((between, bool((runs == between).all())))
    return _stated(clauses, _means(found))


@aries.states(
    "AR41",
    Place("V.A.1; fig 11 right", "fig11"),
    "stalls per flit under ad3: production among ad0 jobs lies above controlled runs",
    "ad3",
)
def _(seen: Evidence) -> Measured:
    found = _ratios(seen, (COMPACT, DISPERSED, "milc in the mix"), "ad3")
    top = max(found[COMPACT].mean(), found[DISPERSED].mean())
    production = found["milc in the mix"]
    holds = bool(production.mean() > top)
    return stated(holds, _means(found), ((production > top) == holds).all())


# fig12


def rises_with_bias(seen: Evidence) -> Measured:
    times = {mode: _metric(seen, RUN_TIME, seen.claim.traffic, mode) for mode in ("ad0", "ad2", "ad3")}
    steps = {
        f"{left} to {right}": reduction_of(times[left], times[right])
        for left, right in itertools.pairwise(times)
    }
    measured = ", ".join(f"{mode} {values.mean():.1f} us" for mode, values in times.items())
    found_all = _all(steps)
    return replace(found_all, details=f"{measured}; {found_all.details}")


FIG12_CONSECUTIVE = Place("V.B; IV.C; fig 12", "fig12", "16 hacc, consecutive")
RISES_WITH_BIAS = "the time of hacc rises with the bias towards minimal paths"
aries.claim("AR08", FIG12_CONSECUTIVE, shows(rises_with_bias), note=RISES_WITH_BIAS)
STALLS_PEAK = "stalls peak on few links between groups: the highest over the mean"
aries.claim("AR38", FIG12_CONSECUTIVE, higher(RANK_3_PEAK, "ad3", "ad0"), note=STALLS_PEAK)

FIG12_TWO_GROUPS = Place("V.B; IV.C; fig 12", "fig12", "16 hacc, groups=2")
aries.claim(
    "AR08-groups", FIG12_TWO_GROUPS, shows(rises_with_bias), note="the same with every job on two groups"
)

FIG12_TILES = Place("V.B; fig 12", "fig12", "16 hacc, consecutive")
aries.claim("AR39", FIG12_TILES, higher(tile_metric("processor", "stalls"), "ad3", "ad0"))
aries.claim(
    "AR37",
    FIG12_TILES._replace(traffic=""),
    Measure(excluded),
    note="flits of hacc rise on all tiles under ad3: the same work over fewer hops cannot be more flits in "
    "a lossless network",
)


# fig13, and the same with larger messages

LARGER_MILC = Place("IV.A; IV.B table II; fig 2", "larger", f"milc in the mix{WITH_LARGER}")
aries.claim("AR01-larger", LARGER_MILC, _FASTER, 0.111, met=(0.05, 0.20), note=_LARGER)

all_flits = pair_ratio(NETWORK_FLIT_RATE, "ad3", "ad0")
in_line = "flits of the whole machine in a time are roughly in line"
FIG13_ALL_ALIKE = Place("V.C; fig 13", "fig13", "milc in the mix, all alike")
aries.claim(
    "AR42",
    FIG13_ALL_ALIKE,
    lower(_OF_MACHINE, "ad3", "ad0"),
    note="stalls and stalls per flit of the whole machine; a week of the real mix cannot be had",
)
aries.claim("AR42-flits", FIG13_ALL_ALIKE, all_flits, 1, met=(0.85, 1.15), note=in_line)
aries.claim(
    "AR43", FIG13_ALL_ALIKE._replace(section="V.C"), _FASTER, 0.118, met=(0.05, 0.20), note="all jobs changed"
)

LARGER_ALL_ALIKE = Place("V.C; fig 13", "larger", f"milc in the mix, all alike{WITH_LARGER}")
aries.claim("AR42-larger", LARGER_ALL_ALIKE, lower(_OF_MACHINE, "ad3", "ad0"), note=_LARGER)
aries.claim(
    "AR42-flits-larger", LARGER_ALL_ALIKE, all_flits, 1, met=(0.85, 1.15), note=f"{in_line}; {_LARGER}"
)
aries.claim(
    "AR43-larger", LARGER_ALL_ALIKE._replace(section="V.C"), _FASTER, 0.118, met=(0.05, 0.20), note=_LARGER
)


# fig14

FIG14_MIX = Place("V.D; fig 14", "fig14", "mix of Cori")
tail = pair_ratio(latency_percentile(99.99), "ad3", "ad0")
aries.claim("AR10", FIG14_MIX, tail, 0.722, met=(0.6, 0.9), note="918 us to 663 us")


@aries.states(
    "AR44",
    FIG14_MIX,
    "percentiles 5 to 99.99 of latencies are all lower and tails by 20 to 30 % (10 to 40 counts)",
    "ad3",
    "ad0",
)
def _(seen: Evidence) -> Measured:
    found = {f"p{q:g}": reduction_of(*seen.pair(latency_percentile(q))) for q in PERCENTILES}
    tails = [comparison for name, comparison in found.items() if float(name[1:]) >= 99]
    low, mean, high = (
        float(np.mean([getattr(tail, end) for tail in tails])) for end in ("low", "mean", "high")
    )
    tail = Comparison(mean, low, high, tails[0].pairs)  # wide enough, however the three depend on each other
    return _all(found, clauses=[(_TAIL[0] <= mean <= _TAIL[1], tail.sure(*_TAIL))])


aries.explanations = {
    "AR01": "experiment: the size of messages decides: {percent} ({runs} placements) with the usual ones, "
    "{AR01-larger.percent} where those of the mix are larger and those of milc smaller. With the usual ones "
    "all-reduces take {AR31.time_in_allreduce} of the time under ad3, waits {AR31.time_in_wait}",
    "AR01-larger": "open: as AR01: {percent}",
    "AR02": "open: as AR01: {percent} ({runs} placements)",
    "AR03": "open: {percent} ({runs} placements): the spread between placements is larger than the published effect",
    "AR04": "open: {percent} ({runs} placements)",
    "AR04-groups": "open: as AR04: {percent} for hacc on two groups",
    "AR05": "open: {percent} ({runs} placements): all-to-all operations keep AD1, and its other messages take longer "
    "under ad3",
    "AR07": "experiment: the placement decides: x {ratio} where each of eight jobs has groups of its own, "
    "{AR07-dispersed.ratio} by random routers; with larger messages {AR07-larger.ratio} and "
    "{AR07-larger-dispersed.ratio}",
    "AR07-larger": "experiment: as AR07: x {ratio} consecutive, {AR07-larger-dispersed.ratio} by random routers",
    "AR08": "experiment: the placement decides: {details}. With every job on two groups: {AR08-groups.details}",
    "AR09": "open: {details}",
    "AR10": "open: x {ratio} ({runs} runs): the tail scatters between runs more than the published effect",
    "AR11": "open: as AR01: {percent} of the time in MPI",
    "AR12": "open: as AR01: {percent} of the time in MPI",
    "AR13": "open: as AR03: {percent} of the time in MPI",
    "AR14": "open: {percent} of the time in MPI; the published number is more than AR04 and table I allow",
    "AR15": "open: as AR05: {percent} of the time in MPI",
    "AR17": "open: x {ratio}, as the gain of milc is small (AR01)",
    "AR18": "open: x {ratio}, as the gain of milc-reorder is small (AR02)",
    "AR19": "open: x {ratio}",
    "AR20": "open: x {ratio} ({runs} placements)",
    "AR21": "open: x {ratio} ({runs} placements): the spread of qbox follows its placement",
    "AR23": "open: follows from AR01, AR02 and AR05: {details}",
    "AR28": "open: small gains, as AR01: {details}",
    "AR30": "open: as AR01: {details}",
    "AR31": "open: all-reduces take {time_in_allreduce} of the time, waits for the large messages {time_in_wait}: "
    "ad3 keeps them on fewer links. Where all jobs change and the mix has larger messages, milc gains "
    "{AR43-larger.percent}",
    "AR32": "experiment: the placement decides: run time x {run_time} where each of eight jobs has groups of its own, "
    "{AR32-dispersed.run_time} by random routers",
    "AR32-larger": "experiment: as AR32: run time x {run_time} consecutive, {AR32-larger-dispersed.run_time} by "
    "random routers",
    "AR33": "experiment: the placement decides: rank 1 x {rank_1_stalls}, rank 2 x {rank_2_stalls}, processor tiles x "
    "{processor_stalls}; by random routers {AR33-dispersed.rank_1_stalls}, {AR33-dispersed.rank_2_stalls}, "
    "{AR33-dispersed.processor_stalls}. Stalls of processor tiles rise as in figure 6",
    "AR33-dispersed": "experiment: as AR33: rank 1 x {rank_1_stalls}, rank 2 x {rank_2_stalls}, processor tiles x "
    "{processor_stalls}",
    "AR33-larger": "experiment: as AR33: rank 1 x {rank_1_stalls}, rank 2 x {rank_2_stalls}, processor tiles x "
    "{processor_stalls}",
    "AR33-larger-dispersed": "experiment: as AR33: rank 1 x {rank_1_stalls}, rank 2 x {rank_2_stalls}, processor "
    "tiles x {processor_stalls}",
    "AR35": "open: the watched job alone changes, so its routers carry the other jobs' packets as before: rank 1 x "
    "{job_rank_1_ratio}, rank 2 x {job_rank_2_ratio}, rank 3 x {job_rank_3_ratio}",
    "AR35-larger": "open: as AR35: rank 1 x {job_rank_1_ratio}, rank 2 x {job_rank_2_ratio}, rank 3 x "
    "{job_rank_3_ratio}",
    "AR39": "open: processor tiles x {processor_stalls}",
    "AR40": "open: {details}",
    "AR41": "open: {details}. Dispersed jobs of milc alone stall this machine more than the mix does",
    "AR42": "open: stalls x {network_stalls}, per flit x {network_ratio}. With the nearest gateway both fall (report "
    "of 2026-11-28)",
    "AR42-flits": "open: x {ratio}: under ad0 more packets take non-minimal paths than figure 13 has room for",
    "AR42-larger": "open: as AR42: stalls x {network_stalls}, per flit x {network_ratio}",
    "AR42-flits-larger": "open: as AR42-flits: x {ratio}",
    "AR43": "experiment: as AR01: {percent} ({runs} placements) with the usual messages, {AR43-larger.percent} where "
    "those of the mix are larger and those of milc smaller: the mix must congest the machine",
    "AR43-larger": "open: as AR43: {percent}",
    "AR44": "open: {details}",
}
