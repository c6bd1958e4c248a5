"""Reasons why claims deviate, in texts whose figures are measurements of the same report.

Names in braces stand for measurements. ``{mean:.2f}`` is the claim's own, ``{LI11.details}`` that of another claim
under the same model variant, ``{LI16a@transit-first.mean:,.0f}`` that under another one. What was not run reads "not
run".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dragonfly_env.lab.papers.claims import NOTHING_TRIED
from dragonfly_env.lab.papers.verdicts import DEVIATES, Verdict


class Quotes:
    """Values by name, as items or as attributes; a name without a value gives quotes that read "not run"."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = values or {}

    def __getitem__(self, name: str) -> Any:
        found = self._values.get(name)
        return Quotes() if found is None or found != found else found

    __getattr__ = __getitem__

    def __format__(self, form: str) -> str:
        return "not run"


def quotes(verdicts: Mapping[str, Sequence[Verdict]], variant: str) -> dict[str, Quotes]:
    """Values that texts may quote, by claim: of a model variant by id, of each by ``id@variant``."""
    found = {
        name: {verdict.claim.id: Quotes(_quoted(verdict)) for verdict in some}
        for name, some in verdicts.items()
    }
    of_variants = {
        f"{claim}@{name}": measured for name, some in found.items() for claim, measured in some.items()
    }
    return {**of_variants, **found[variant]}


def explained(verdicts: Mapping[str, Sequence[Verdict]]) -> dict[str, tuple[Verdict, ...]]:
    """Verdicts by model variant, each claim that deviates with its explanation."""
    known = {variant: quotes(verdicts, variant) for variant in verdicts}
    return {
        variant: tuple(_explained(verdict, known[variant]) for verdict in some)
        for variant, some in verdicts.items()
    }


def _explained(verdict: Verdict, known: Mapping[str, Quotes]) -> Verdict:
    if verdict.verdict != DEVIATES:
        return verdict
    text = verdict.claim.explanation or NOTHING_TRIED
    return replace(verdict, explanation=text.format_map(Quotes({**known, **_quoted(verdict)})))


def _quoted(verdict: Verdict) -> dict[str, Any]:
    """Numbers of a verdict that an explanation may quote, with their intervals if these are known."""
    measured = verdict.measured
    if measured is None or math.isnan(measured.mean):
        return {}
    mean, half = measured.mean, measured.ci95
    low, high = mean - half, mean + half
    known = not math.isnan(half)
    return {
        "mean": mean,
        "details": measured.details,
        "deviation": 100.0 * verdict.deviation,
        "verdict": verdict.verdict,
        "ratio": f"{mean:.3g}" + (f" [{low:.3g}, {high:.3g}]" if known else ""),
        "percent": f"{100.0 * mean:+.1f} %"
        + (f" [{100.0 * low:+.1f}, {100.0 * high:+.1f}]" if known else ""),
        **measured.values,
    }
