"""Claims: statements of a paper in numbers, each with its measurement.

A paper's module says ``hpdc21.claim("QA08", place, ratio(LATENCY_MEAN, "ugal-g", "q-adaptive"), 3.43)``: a name, the
simulations that show it, what is measured, and the published number. What no such comparison says is measured by a
function of its own (`Paper.states`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from dragonfly_env.lab.papers.findings import Findings, FloatArray, NotFoundYetError
from dragonfly_env.lab.papers.paired import Comparison, paired_ratio, reduction_of, spread_ratio_of
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.results import mean_and_ci95

if TYPE_CHECKING:
    from collections.abc import Mapping

THROUGHPUT_TOLERANCE = 0.02
"""Relative, for throughput, hops and their ratios."""
POINTS_TOLERANCE = 0.02
"""Absolute, for what is published as a difference: gaps between throughputs, savings and speed-ups."""
LATENCY_TOLERANCE = 0.08
"""Relative, for latencies, their ratios, and times that a learner takes."""

EXPLANATIONS = ("experiment: ", "public simulator: ", "open: ")
"""First words of an explanation of a deviation."""
NOTHING_TRIED = "open: nothing tried yet"
UNCERTAIN = "uncertain: the 95 % interval reaches over the bound"
TOO_FEW = "uncertain: too few runs for an interval"


Clause: TypeAlias = tuple[bool, bool]
"""Whether a clause of a sentence holds, and whether its interval is on one side of its bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A quantity of one point."""

    name: str
    values: Callable[[Findings, Point], FloatArray]  # a value per seed
    unit: str = ""  # unit of the values
    tolerance: float = THROUGHPUT_TOLERANCE  # relative deviation up to which a number is met
    more_is_better: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A statement on a quantity of a policy, or on it and the same quantity of a reference."""

    name: str
    text: str  # the claim in a line for people
    # policy and reference, seed by seed
    compare: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    # policy and reference in pairs of runs that differ in the policy alone
    pairs: Callable[[FloatArray, FloatArray], Comparison] | None = None
    neutral: float | None = None  # the value if policy and reference are alike; None: nothing is compared
    in_points: bool = False  # whether deviations are absolute
    unit: str = ""  # empty: that of the quantity
    is_ordering: bool = False  # whether it says who is better, not by how much
    at_most: bool = False  # whether the number is only not to be exceeded

    def __call__(self, metrics: Metric | tuple[Metric, ...], policy: str, reference: str = "") -> Measure:
        """The measured quantities; the statement must hold for all of them."""
        return Measure(self, metrics if isinstance(metrics, tuple) else (metrics,), policy, reference)


class Measure(NamedTuple):
    """The measurement of a claim."""

    relation: Relation  # statement on the quantity
    metrics: tuple[Metric, ...] = ()  # the quantity; of several all must be so
    policy: str = ""  # the policy that the claim is about
    reference: str = ""  # the policy that it is compared with
    # measures what no comparison of two policies does
    statement: Callable[[Evidence], Measured] | None = None


_times = functools.partial(Relation, neutral=1.0, unit="x")
_points = functools.partial(Relation, neutral=0.0, in_points=True, unit="relative")

value = Relation("value", "{metric}: {policy}")
at_most = Relation("at-most", "{metric}: {policy}", at_most=True)
ratio = _times("ratio", "{metric}: {policy} / {reference}", lambda measured, other: measured / other)
gap = _points(
    "gap", "{metric}: {reference} - {policy}", lambda measured, other: other - measured, unit="load"
)
relative_gap = _points(
    "relative-gap", "{metric}: {reference} / {policy} - 1", lambda measured, other: other / measured - 1.0
)
saving = _points(
    "saving", "{metric}: 1 - {policy} / {reference}", lambda measured, other: 1.0 - measured / other
)
reduction = _points("reduction", "{metric}: 1 - {policy} / {reference}", pairs=reduction_of)
pair_ratio = _times("paired-ratio", "{metric}: {policy} / {reference}", pairs=paired_ratio)
spread_ratio = _times(
    "spread-ratio", "standard deviation of {metric}: {policy} / {reference}", pairs=spread_ratio_of
)
lower = Relation("lower", "{metric}: {policy} lower than {reference}", pairs=paired_ratio, is_ordering=True)
higher = Relation(
    "higher", "{metric}: {policy} higher than {reference}", pairs=paired_ratio, is_ordering=True
)
ordering = Relation("ordering", "{note}", is_ordering=True)
given = Relation("input", "{given}")
"""An input of the reproduction, or a number that follows without a simulation."""
excluded = Relation("excluded", "{note}")
"""A statement that the reproduction cannot show, for the reason in the claim's note."""


def shows(
    statement: Callable[[Evidence], Measured],
    policy: str = "",
    reference: str = "",
    relation: Relation = ordering,
) -> Measure:
    """The result of a function that measures: whether an ordering holds, or a number."""
    return Measure(relation, (), policy, reference, statement)


class Place(NamedTuple):
    """Section and figure of claims, and the simulations that show them."""

    section: str  # section of the paper that states it
    figure: str  # the figure whose simulations show it
    traffic: str = ""  # label of the figure's cases; ``any``: the worst of them; empty: a claim about several
    # load of the figure's cases; None: the largest value of all loads, or what the metric makes of them
    load: float | None = None
    hosts: int = 0  # size of the system; 0 if it does not matter


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A published number or ordering, where it is stated (`Place`), and how it is measured (`Measure`)."""

    id: str  # Its name, e.g. ``QA01``.
    section: str
    figure: str
    traffic: str
    load: float | None
    hosts: int
    relation: Relation
    metrics: tuple[Metric, ...]
    policy: str
    reference: str
    statement: Callable[[Evidence], Measured] | None
    published: float  # the number; 0 for an ordering
    unit: str
    rivals: tuple[str, ...] = ()  # policies not better than the policy, if the paper ranks it ("second best")
    quick: bool = False  # whether a quick run can decide it
    note: str = ""  # further statement of the paper, briefly
    low: float | None = None  # the smallest value that counts as met, if the claim has bounds of its own
    high: float | None = None  # the largest one
    tolerance: float = THROUGHPUT_TOLERANCE  # the relative deviation up to which a number is met
    of_named: bool = False  # whether a statement looks at the named policies alone
    # names of the model variants that were chosen because they meet this claim: it does not test them
    fitted: tuple[str, ...] = ()
    fitted_by: str = (
        ""  # rule or load that was chosen by this claim and that the paper does not state, for the report
    )
    scatters: str = ""  # reason why nothing is decided while the interval reaches over a bound
    aside: bool = False  # whether it repeats its sentence in a setting that never counts for it
    struck: str = ""  # reason why it does not count although it is met: it would not convince a sceptic
    explanation: str = ""  # reason of the deviation

    @property
    def sentence(self) -> str:
        """The sentence of the paper: the id without what tells apart claims that repeat one in another setting."""
        return self.id.partition("-")[0]

    @property
    def bounds(self) -> tuple[float, float]:
        """``low`` and ``high``, infinite where there is none."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    @property
    def neutral(self) -> float | None:
        """The value of a comparison in which policy and reference are alike; None where nothing is compared."""
        return self.relation.neutral

    @property
    def is_ordering(self) -> bool:
        """Whether it says who is better, not by how much."""
        return self.relation.is_ordering

    @property
    def states_effect(self) -> bool:
        """Whether the paper says that policy and reference differ."""
        return self.neutral is not None and self.published != self.neutral

    @property
    def includes_no_effect(self) -> bool:
        """Whether the paper states an effect and the claim's own bounds hold "no effect" as well: it cannot be met."""
        if not self.states_effect or self.low is None or self.high is None:
            return False
        return self.low <= float(self.neutral or 0.0) <= self.high

    @property
    def accepted(self) -> tuple[float, float]:
        """The values that count as met: the claim's own bounds, or the published number and its tolerance.

        What the paper states with "at most" has one bound, every other number two. Where an effect is stated and there
        are no bounds of its own, the values end at "no effect", which itself does not count.
        """
        if self.low is not None or self.high is not None:
            return self.bounds
        half = POINTS_TOLERANCE if self.relation.in_points else self.tolerance * abs(self.published)
        low, high = self.published - half, self.published + half
        if self.relation.at_most:
            low = -math.inf
        if self.states_effect and self.neutral is not None:
            if self.published > self.neutral:
                low = max(low, self.neutral)
            else:
                high = min(high, self.neutral)
        return low, high

    def needs(self, figure: str, point: Point) -> bool:
        """Whether it cannot be decided without such a simulation. Of most orderings: all of the figure's policies."""
        hosts = point.config.topology.num_hosts
        if self.relation is excluded or figure != self.figure or self.hosts not in (0, hosts):
            return False
        if self.traffic not in ("", "any", point.traffic_label):
            return False
        if not self.policy or (self.is_ordering and not self.of_named):
            return True
        known_load = self.load is None or math.isclose(self.load, point.load, abs_tol=1e-9)
        return known_load and point.policy_label in (self.policy, self.reference, *self.rivals)

    def describe(self) -> str:
        """Describe in one line what is measured, and where."""
        names = [metric.name for metric in self.metrics] or [getattr(self.statement, "__name__", "")]
        metric = " and ".join(name.replace("_", " ") for name in names)
        what = self.relation.text.format(
            metric=metric,
            given=metric or self.note,
            note=self.note,
            policy=self.policy,
            reference=self.reference,
        )
        load = "" if self.load is None else f" {self.load:g}"
        hosts = f", {self.hosts:,} hosts" if self.hosts else ""
        return f"{what}, {self.traffic}{load}{hosts}" if self.traffic else what


@dataclass(frozen=True, slots=True)
class PaperFindings(Findings):
    """Findings for the figures of a paper, with its claims, whose published numbers they show."""

    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement for a claim."""

    mean: float  # mean over seeds; of an ordering 1 if it holds, else 0
    ci95: float = math.nan  # half the width of its 95 % confidence interval; NaN with one seed
    ordering: str = ""  # ``holds`` or ``reversed``, if the claim says who is better; else empty
    details: str = ""  # more, for the report
    uncertain: bool = False  # whether the interval reaches over a bound: more runs might turn the verdict
    # more numbers that an explanation may quote, by name
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The simulations for a claim. Access to a simulation that is missing raises `NotFoundYetError`."""

    findings: Findings
    claim: Claim

    def points(
        self, policy: str = "", *, traffic: str = "", load: float | None = None, hosts: int | None = None
    ) -> tuple[Point, ...]:
        """The points of the claim's figure, system and traffic, or another one: of a policy, at a load, or all."""
        return self.findings.select(
            self.claim.figure,
            hosts=self.claim.hosts if hosts is None else hosts,
            traffic=traffic or self.claim.traffic or "any",
            load=load,
            policy=policy,
        )

    def point(self, policy: str, *, traffic: str = "", load: float | None = None) -> Point:
        """The only point that fits, at the claim's load unless there is another."""
        points = self.points(policy, traffic=traffic, load=self.claim.load if load is None else load)
        if len(points) != 1:
            raise NotFoundYetError(f"{self.claim.figure} has several simulations of {policy} that fit")
        return points[0]

    def mean(self, point: Point, column: str) -> float:
        """The mean of a column over seeds."""
        return self.findings.mean(point, column)

    def by_policy(self, column: str, *, load: float | None = None, per: float = 1.0) -> dict[str, float]:
        """The means of all policies of the figure."""
        return {point.policy_label: self.mean(point, column) / per for point in self.points(load=load)}

    def pair(
        self, metric: Metric, traffic: str = "", policies: tuple[str, str] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """A metric of the claim's policy and of its reference, or of two others, seed by seed."""
        return of_pair(
            self.findings,
            self.claim.figure,
            traffic or self.claim.traffic,
            metric,
            policies or (self.claim.policy, self.claim.reference),
        )


def of_pair(
    findings: Findings, figure: str, traffic: str, metric: Metric, policies: tuple[str, str]
) -> tuple[FloatArray, FloatArray]:
    """A metric of two policies, seed by seed."""
    first, other = (
        metric.values(findings, findings.select(figure, traffic=traffic, policy=policy)[0])
        for policy in policies
    )
    runs = min(len(first), len(other))
    return first[:runs], other[:runs]


def stated(holds: bool, details: str, sure: bool = True, values: Mapping[str, Any] | None = None) -> Measured:
    """The measurement of an ordering; ``sure``: more runs could not turn it."""
    return Measured(float(holds), math.nan, "holds" if holds else "reversed", details, not sure, values or {})


def every(clauses: Iterable[Clause]) -> tuple[bool, bool]:
    """Whether every clause of a sentence holds, and whether more runs could not turn that: a clause that surely fails
    decides alone.
    """
    known = list(clauses)
    holds = all(clause for clause, _ in known)
    return holds, all(sure for _, sure in known) if holds else any(
        sure and not clause for clause, sure in known
    )


def listed(values: Mapping[str, Any], form: str = "", unit: str = "") -> str:
    """Values by name, for the report."""
    text = ", ".join(f"{name} {measured:{form}}" for name, measured in values.items())
    return f"{text} {unit}" if unit else text


def measure_claim(claim: Claim, findings: Findings) -> Measured:
    """The quantity of a claim, over seeds."""
    if claim.statement is not None:
        measured = claim.statement(Evidence(findings, claim))
        runs = min((len(findings.rows[point]) for point in findings.of(claim.figure)), default=1)
        return replace(measured, values={"runs": runs, **measured.values})
    if claim.relation.pairs is not None:
        return _measure_pairs(claim, findings)
    values = _values(claim, findings, claim.policy)
    quoted: dict[str, Any] = {"runs": len(values), claim.policy: float(np.nanmean(values))}
    if claim.relation.compare is None:
        return Measured(*mean_and_ci95(values.tolist()), values=quoted)
    other = _values(claim, findings, claim.reference)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, half = mean_and_ci95(claim.relation.compare(values, other).tolist())
    quoted[claim.reference] = float(np.nanmean(other))
    for rival in claim.rivals:
        try:
            quoted[rival] = float(np.nanmean(_values(claim, findings, rival)))
        except NotFoundYetError:
            continue
    return Measured(mean, half, _ordering(claim, mean, quoted), values=quoted)


def _measure_pairs(claim: Claim, findings: Findings) -> Measured:
    """Compare pairs of runs. ``lower`` and ``higher`` may have several metrics: all of them must be so, and the number
    is the ratio of the first.
    """
    assert claim.relation.pairs is not None
    found = {
        metric: claim.relation.pairs(*Evidence(findings, claim).pair(metric)) for metric in claim.metrics
    }
    first = next(iter(found.values()))
    low, high = claim.bounds
    if claim.relation.is_ordering:
        low, high = (-math.inf, 1.0) if claim.relation is lower else (1.0, math.inf)
    holds, sure = every(
        (low <= comparison.mean <= high and comparison.mean != 1.0, comparison.sure(low, high))
        for comparison in found.values()
    )
    order, ratios = "", ""
    if claim.relation.is_ordering:
        order = "holds" if holds else "reversed"
        ratios = ", ".join(
            f"{metric.name.replace('_', ' ')} x {str(comparison).replace('+', '')}"
            for metric, comparison in found.items()
        )
    doubt = "" if sure else UNCERTAIN if first.pairs > 1 else TOO_FEW
    details = "; ".join(filter(None, [ratios, doubt]))
    quoted = {metric.name: str(comparison).replace("+", "") for metric, comparison in found.items()}
    return Measured(first.mean, first.half, order, details, not sure, {**quoted, "runs": first.pairs})


def _values(claim: Claim, findings: Findings, policy: str) -> FloatArray:
    """The value of every seed; over several cases the largest: the worst latency or time, or the maximum throughput."""
    points = findings.select(
        claim.figure, hosts=claim.hosts, traffic=claim.traffic, load=claim.load, policy=policy
    )
    (metric,) = claim.metrics
    worst: FloatArray = np.max(np.stack([metric.values(findings, point) for point in points]), axis=0)
    return worst


def _ordering(claim: Claim, mean: float, by_policy: Mapping[str, float]) -> str:
    """Whether policy and reference are in the published order, and no rival between them."""
    assert claim.neutral is not None
    if math.isnan(mean) or not claim.states_effect:
        return ""
    if (mean - claim.neutral) * (claim.published - claim.neutral) <= 0:
        return "reversed"
    sign = -1.0 if claim.metrics[0].more_is_better else 1.0
    rivals = [by_policy[rival] for rival in claim.rivals if rival in by_policy]
    better = any(sign * rival < sign * by_policy[claim.policy] for rival in rivals)
    return "reversed" if better else "holds"
