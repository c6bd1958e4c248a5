"""Published against measured: is a claim met?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragonfly_env.reproduce.claims import Claim
from dragonfly_env.reproduce.findings import Findings, NotFoundYetError
from dragonfly_env.reproduce.measurements import Measured, measure_claim
from dragonfly_env.reproduce.paired import COMPARISONS

MET, DEVIATES, NOT_RUN = "met", "deviates", "not run"
INPUT, EXCLUDED = "input", "not reproducible"
_ABSOLUTE = ("gap", "relative-gap", "reduction")
_UNDECIDED = (NOT_RUN, INPUT, EXCLUDED)
_SLACK = 1e-9  # for decimal numbers in binary


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim and what became of it.

    Attributes:
        claim: What was published.
        measured: What was measured, or None. There may be a number although the verdict is ``not run``: one that
            decides nothing.
        deviation: Relative, of gaps absolute; NaN for orderings and where nothing was measured.
        verdict: ``met``, ``deviates`` or ``not run``; ``input`` of what the reproduction starts from, ``not
            reproducible`` of what it cannot show.
        reason: Why it was not run, or details of what was measured.
    """

    claim: Claim
    measured: Measured | None
    deviation: float
    verdict: str
    reason: str = ""

    @property
    def ordering(self) -> str:
        """``holds``, ``reversed``, or nothing: also where nothing is decided."""
        return "" if self.measured is None or self.verdict in _UNDECIDED else self.measured.ordering

    @property
    def uncertain(self) -> bool:
        """Whether more runs might turn it."""
        return self.measured is not None and self.measured.uncertain and self.verdict not in _UNDECIDED


def judge(claim: Claim, measured: Measured) -> Verdict:
    """The verdict on one measurement that counts."""
    if math.isnan(measured.mean):
        nothing = (
            "one of its runs has no such value, or there are too few"
            if claim.relation in COMPARISONS
            else "no packet was delivered in the window"
        )
        return Verdict(claim, measured, math.nan, NOT_RUN, nothing)
    if claim.is_ordering:
        verdict = MET if measured.ordering == "holds" else DEVIATES
        return Verdict(claim, measured, math.nan, verdict, measured.details)
    deviation = _deviation(claim, measured.mean)
    if claim.low is not None or claim.high is not None:
        low, high = claim.bounds
        met = low - _SLACK <= measured.mean <= high + _SLACK
        return Verdict(claim, measured, deviation, MET if met else DEVIATES, measured.details)
    inside = abs(deviation)
    if claim.relation in ("at-most", "ratio-at-most"):
        inside = deviation
    elif claim.relation == "at-least":
        inside = -deviation
    met = inside <= claim.tolerance + _SLACK and measured.ordering != "reversed"
    return Verdict(claim, measured, deviation, MET if met else DEVIATES, measured.details)


def _input(claim: Claim, findings: Findings) -> Verdict:
    """What was put in, and if it can be measured, what came of it."""
    try:
        measured = measure_claim(claim, findings) if claim.metric else None
    except NotFoundYetError as reason:
        return Verdict(claim, None, math.nan, INPUT, str(reason))
    deviation = math.nan if measured is None else _deviation(claim, measured.mean)
    return Verdict(claim, measured, deviation, INPUT)


def _deviation(claim: Claim, measured: float) -> float:
    if claim.relation in _ABSOLUTE:
        return measured - claim.published
    return measured / claim.published - 1.0 if claim.published else math.nan


def judge_all(claims: Sequence[Claim], findings: Findings, *, decides_all: bool) -> tuple[Verdict, ...]:
    """A verdict on every claim.

    Args:
        claims: What was published.
        findings: What was simulated.
        decides_all: Whether the windows were long enough for every claim, or only for those marked ``quick``.
    """
    verdicts = []
    for claim in claims:
        if claim.relation == "excluded":
            verdicts.append(Verdict(claim, None, math.nan, EXCLUDED))
            continue
        if claim.relation == "input":
            verdicts.append(_input(claim, findings))
            continue
        try:
            measured = measure_claim(claim, findings)
        except NotFoundYetError as reason:
            verdicts.append(Verdict(claim, None, math.nan, NOT_RUN, str(reason)))
            continue
        if decides_all or claim.quick:
            verdicts.append(judge(claim, measured))
        else:
            deviation = math.nan if claim.is_ordering else _deviation(claim, measured.mean)
            reason_text = "a quick run is too short to decide it; the number is for orientation"
            verdicts.append(Verdict(claim, measured, deviation, NOT_RUN, reason_text))
    return tuple(verdicts)
