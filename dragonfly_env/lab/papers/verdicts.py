"""Published against measured: is a claim met?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dragonfly_env.lab.papers.claims import Claim, Measured, excluded, given, measure_claim
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError, steps_of
from dragonfly_env.lab.papers.paper import PUBLISHED, USUAL, PublishedSetting
from dragonfly_env.sweeps.point import Point

MET, DEVIATES, NOT_DECIDED, NOT_RUN = "met", "deviates", "not decided", "not run"
INPUT, EXCLUDED = "input", "not reproducible"
FITTED = "fitted"
STRUCK = "struck"
REPEATED = "repeated"
_JUDGED = (MET, DEVIATES, NOT_DECIDED)
_SLACK = 1e-9  # error of decimal numbers in binary
_NO_EFFECT = 'its bounds include "no effect", so being inside them decides nothing'
_IDENTICAL = "the runs of both policies are identical: nothing in them depends on the policy"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim and what became of it."""

    claim: Claim
    # The measurement, or None. There may be a number although the verdict is ``not run``: one that decides nothing.
    measured: Measured | None
    # relative, of gaps, savings and reductions absolute; NaN for orderings and where nothing was measured
    deviation: float
    # ``met``, ``deviates`` or ``not decided`` (the bounds include "no effect", or the runs that are compared are
    # identical or scatter over a bound: `Claim.scatters`); ``not run``; ``input`` of what the reproduction starts from,
    # ``not reproducible`` of what it cannot show
    verdict: str
    reason: str = ""  # reason why it was not run or not decided, or details of the measurement
    fitted: bool = False  # whether the model variant was chosen by this claim, which then tests nothing
    setting: str = ""  # difference from the published setting (system, window)
    repeats: str = ""  # the claim that counts for its sentence; empty: the claim itself
    explanation: str = ""  # reason of the deviation, as far as known (`explanations.explained`)

    @property
    def counts_as(self) -> str:
        """The name under which it is counted: its verdict; ``repeated`` where another claim counts for the sentence;
        ``fitted``; or ``struck``, where it is met and would not convince a sceptic.
        """
        if self.verdict not in _JUDGED:
            return self.verdict
        if self.repeats:
            return REPEATED
        if self.fitted:
            return FITTED
        return STRUCK if self.claim.struck and self.verdict == MET else self.verdict

    @property
    def struck(self) -> str:
        """Reason why the claim does not count although it is met."""
        return self.claim.struck if self.counts_as == STRUCK else ""

    @property
    def fitted_by(self) -> str:
        """The rule or setting that was chosen by this claim, if that is why it does not count."""
        return self.claim.fitted_by if self.counts_as == FITTED else ""

    @property
    def ordering(self) -> str:
        """``holds``, ``reversed``, or nothing: also where nothing is decided."""
        return "" if self.measured is None or self.verdict not in (MET, DEVIATES) else self.measured.ordering

    @property
    def uncertain(self) -> bool:
        """Whether more runs might turn it: the 95 % interval reaches over a bound."""
        if self.measured is None or self.verdict not in (MET, DEVIATES):
            return False
        return reaches_over(self.claim, self.measured)


def reaches_over(claim: Claim, measured: Measured) -> bool:
    """Whether the 95 % interval of a measurement reaches over a bound of the claim."""
    if claim.is_ordering or claim.relation.pairs is not None or math.isnan(measured.ci95):
        return measured.uncertain
    return any(abs(bound - measured.mean) < measured.ci95 for bound in claim.accepted)


def judge(claim: Claim, measured: Measured) -> Verdict:
    """The verdict on one measurement that counts."""
    if math.isnan(measured.mean):
        nothing = (
            "one of its runs has no such value, or there are too few"
            if claim.relation.pairs is not None
            else "no packet was delivered in the window"
        )
        return Verdict(claim, measured, math.nan, NOT_RUN, nothing)
    if claim.is_ordering:
        verdict = MET if measured.ordering == "holds" else DEVIATES
        return Verdict(claim, measured, math.nan, verdict, measured.details)
    verdict, reason = _judge_number(claim, measured)
    return Verdict(claim, measured, _deviation(claim, measured.mean), verdict, reason or measured.details)


def _judge_number(claim: Claim, measured: Measured) -> tuple[str, str]:
    """(verdict, why nothing is decided)."""
    if claim.scatters and reaches_over(claim, measured):
        return NOT_DECIDED, claim.scatters
    low, high = claim.accepted
    if not low - _SLACK <= measured.mean <= high + _SLACK:
        return DEVIATES, ""
    if claim.relation.pairs is not None and measured.mean == claim.neutral and measured.ci95 == 0.0:
        return NOT_DECIDED, _IDENTICAL
    if claim.includes_no_effect:
        return NOT_DECIDED, _NO_EFFECT
    if claim.states_effect and claim.neutral is not None:
        same_side = (measured.mean - claim.neutral) * (claim.published - claim.neutral) > 0
        if not same_side or measured.ordering == "reversed":
            return DEVIATES, ""
    return MET, ""


def _input(claim: Claim, findings: Findings) -> Verdict:
    """The verdict on an input of the reproduction, with its measured value if there is one."""
    try:
        measured = measure_claim(claim, findings) if claim.metrics or claim.statement else None
    except NotFoundYetError as reason:
        return Verdict(claim, None, math.nan, INPUT, str(reason))
    deviation = math.nan if measured is None else _deviation(claim, measured.mean)
    return Verdict(claim, measured, deviation, INPUT, "" if measured is None else measured.details)


def _deviation(claim: Claim, measured: float) -> float:
    if claim.relation.in_points:
        return measured - claim.published
    return measured / claim.published - 1.0 if claim.published else math.nan


def judge_all(
    claims: Sequence[Claim],
    findings: Findings,
    *,
    decides_all: bool,
    variant: str = USUAL.name,
    published: PublishedSetting = PUBLISHED,
) -> tuple[Verdict, ...]:
    """A verdict on every claim. If several say one sentence in other settings, the first that was judged counts."""
    verdicts = (
        replace(_verdict(claim, findings, decides_all), setting=_setting(claim, findings, published))
        for claim in claims
    )
    return counted(verdicts, variant)


def counted(verdicts: Iterable[Verdict], variant: str) -> tuple[Verdict, ...]:
    """The verdicts under a model variant: which were fitted to it, and which repeat a sentence that counts already."""
    counting: dict[str, str] = {}
    found = []
    for verdict in verdicts:
        claim = verdict.claim
        if verdict.verdict in _JUDGED and not claim.aside:
            counting.setdefault(claim.sentence, claim.id)
        first = claim.sentence if claim.aside else counting.get(claim.sentence, claim.id)
        found.append(
            replace(verdict, fitted=variant in claim.fitted, repeats="" if first == claim.id else first)
        )
    return tuple(found)


def _verdict(claim: Claim, findings: Findings, decides_all: bool) -> Verdict:
    if claim.relation is excluded:
        return Verdict(claim, None, math.nan, EXCLUDED)
    if claim.relation is given:
        return _input(claim, findings)
    try:
        measured = measure_claim(claim, findings)
    except NotFoundYetError as reason:
        return Verdict(claim, None, math.nan, NOT_RUN, str(reason))
    if decides_all or claim.quick:
        return judge(claim, measured)
    deviation = math.nan if claim.is_ordering else _deviation(claim, measured.mean)
    reason_text = "a quick run is too short to decide it; the number is for orientation"
    return Verdict(claim, measured, deviation, NOT_RUN, reason_text)


def _setting(claim: Claim, findings: Findings, published: PublishedSetting) -> str:
    """In what the simulations of a claim differ from the published ones."""
    found = []
    if published.hosts and claim.hosts and claim.hosts not in published.hosts:
        found.append(f"{claim.hosts:,} hosts")
    points = [
        point
        for point in findings.points.get(claim.figure, ())
        if claim.needs(claim.figure, point) and point in findings.rows
    ]
    found += dict.fromkeys(text for point in points if (text := _other_window(point, published)))
    return "; ".join(found)


def _other_window(point: Point, published: PublishedSetting) -> str:
    if (
        published.measure_ns is None
        or steps_of(point)
        or point.config.series_bin_ns is not None
        or point.closed_loop
    ):
        return ""  # curves over time and runs that end by themselves have no window
    as_published = math.isclose(point.measure_ns, published.measure_ns) and (
        published.warmup_ns is None or math.isclose(point.warmup_ns, published.warmup_ns)
    )
    return "" if as_published else f"{point.measure_ns / 1000:g} us after {point.warmup_ns / 1000:g} us"
