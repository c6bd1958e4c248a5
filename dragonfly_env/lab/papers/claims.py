"""What a paper states in numbers: one row of a table each."""

from __future__ import annotations

import csv
import functools
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, TypeAlias, cast

from dragonfly_env.sweeps.run import Point

Relation: TypeAlias = Literal[
    "value", "ratio", "ratio-at-most", "gap", "relative-gap", "at-most", "at-least", "ordering",
    "saving", "reduction", "paired-ratio", "spread-ratio", "lower", "higher", "input", "excluded",
]  # fmt: skip

THROUGHPUT_TOLERANCE = 0.02
"""Relative, for throughput, hops and their ratios."""
POINTS_TOLERANCE = 0.02
"""Absolute, for what is published as a difference: gaps between throughputs, savings and speed-ups."""
LATENCY_TOLERANCE = 0.08
"""Relative, for latencies, their ratios, and times that a learner takes."""

_OF_NAMED = (
    "falls_past_saturation",
    "minima_at_multiples",
)  # orderings that look at the named policies alone
EXPLANATIONS = ("experiment: ", "public simulator: ", "open: ")
"""How an explanation of a deviation begins."""
NOTHING_TRIED = "open: nothing tried yet"

_NEUTRAL: dict[str, float] = {
    **dict.fromkeys(("ratio", "ratio-at-most", "paired-ratio", "spread-ratio"), 1.0),
    **dict.fromkeys(("gap", "relative-gap", "saving", "reduction"), 0.0),
}
_IN_POINTS = ("gap", "relative-gap", "saving", "reduction")
_TEXTS = ("id", "section", "figure", "traffic", "policy", "reference", "metric", "unit", "note")
_COARSE = ("latency", "fraction_below", "settling", "makespan", "knee", "mixture_knee")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A published number or ordering, and how it is measured."""

    id: str  # Its name, e.g. ``QA01``.
    section: str  # where the paper says so
    figure: str  # the figure whose simulations show it
    hosts: int  # size of the system; 0 if it does not matter
    traffic: str  # label of the figure's cases; ``any``: the worst of them; empty: a claim about several
    # load of the figure's cases; None: the largest value of all loads, or what the metric makes of them
    load: float | None
    policy: str  # policy that the claim is about
    reference: str  # the policy that it is compared with, or an empty string
    metric: str  # the quantity: a name of `measurements.METRICS`
    published: float  # the number; 0 for an ordering
    unit: str
    # ``value``: the policy's metric; ``ratio``: policy / reference; ``gap``: reference - policy; ``relative-gap``:
    # reference / policy - 1; ``saving``: 1 - policy / reference; ``at-most``, ``at-least``: the metric does not exceed
    # the number, or reaches it; ``ratio-at-most``: the ratio does not exceed it; ``ordering``: the metric is 1 if the
    # ordering holds. Of pairs of runs that differ in the policy alone: ``reduction``: 1 - policy / reference;
    # ``paired-ratio``; ``spread-ratio``: of the runs' standard deviations; ``lower``, ``higher``: whether the policy's
    # is (metrics joined by ``+``: all of them). ``input``: what the reproduction starts from, or what follows without a
    # simulation; ``excluded``: what it cannot show, for the reason in ``note``.
    relation: Relation
    rivals: tuple[str, ...]  # policies not better than ``policy``, if the paper ranks it ("second best")
    quick: bool  # whether a quick run can decide it
    note: str  # further statement of the paper, briefly
    low: float | None = None  # the smallest value that counts as met, if the claim has bounds of its own
    high: float | None = None  # the largest one
    # names of the model variants that were chosen because they meet this claim: it does not test them
    fitted: tuple[str, ...] = ()
    # why it deviates: ``experiment: ...`` (what was run and what came of it), ``public simulator: ...`` (its figure,
    # which deviates as ours does) or ``open: ...`` (what was tried)
    explanation: str = ""

    @property
    def bounds(self) -> tuple[float, float]:
        """``low`` and ``high``, infinite where there is none."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    @property
    def neutral(self) -> float | None:
        """The value of a comparison in which policy and reference are alike; None where nothing is compared."""
        return _NEUTRAL.get(self.relation)

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

        What the paper states with "at most" or "at least" has one bound, every other number two. Where an effect is
        stated and there are no bounds of its own, the values end at "no effect", which itself does not count.
        """
        if self.low is not None or self.high is not None:
            return self.bounds
        half = POINTS_TOLERANCE if self.relation in _IN_POINTS else self.tolerance * abs(self.published)
        low, high = self.published - half, self.published + half
        if self.relation in ("at-most", "ratio-at-most"):
            low = -math.inf
        elif self.relation == "at-least":
            high = math.inf
        if self.states_effect and self.neutral is not None:
            if self.published > self.neutral:
                low = max(low, self.neutral)
            else:
                high = min(high, self.neutral)
        return low, high

    @property
    def is_ordering(self) -> bool:
        """Whether it says who is better, not by how much."""
        return self.relation in ("ordering", "lower", "higher")

    @property
    def tolerance(self) -> float:
        """The relative deviation up to which a number is met."""
        return LATENCY_TOLERANCE if self.metric.startswith(_COARSE) else THROUGHPUT_TOLERANCE

    def needs(self, figure: str, point: Point) -> bool:
        """Whether it cannot be decided without such a simulation. Of most orderings: all of the figure's policies."""
        hosts = point.config.topology.num_hosts
        if self.relation == "excluded" or figure != self.figure or self.hosts not in (0, hosts):
            return False
        if self.traffic not in ("", "any", point.traffic_label):
            return False
        if not self.policy or (self.is_ordering and self.metric not in _OF_NAMED):
            return True
        known_load = self.load is None or math.isclose(self.load, point.load, abs_tol=1e-9)
        return known_load and point.policy_label in (self.policy, self.reference, *self.rivals)

    def describe(self) -> str:
        """One line for people: what is measured, and where."""
        metric = self.metric.replace("_", " ")
        ratio, saving = f"{self.policy} / {self.reference}", f"1 - {self.policy} / {self.reference}"
        order = f"{metric.replace('+', ' and ')}: {self.policy} {self.relation} than {self.reference}"
        what = {
            **dict.fromkeys(("ratio", "ratio-at-most", "paired-ratio"), f"{metric}: {ratio}"),
            "gap": f"{metric}: {self.reference} - {self.policy}",
            "relative-gap": f"{metric}: {self.reference} / {self.policy} - 1",
            **dict.fromkeys(("saving", "reduction"), f"{metric}: {saving}"),
            "spread-ratio": f"standard deviation of {metric}: {ratio}",
            **dict.fromkeys(("lower", "higher"), order),
            **dict.fromkeys(("ordering", "excluded"), self.note),
            "input": metric or self.note,
        }.get(self.relation, f"{metric}: {self.policy}")
        load = "" if self.load is None else f" {self.load:g}"
        hosts = f", {self.hosts:,} hosts" if self.hosts else ""
        return f"{what}, {self.traffic}{load}{hosts}" if self.traffic else what


@functools.cache
def read_claims(package: str, name: str) -> tuple[Claim, ...]:
    """Claims from a CSV file that is part of a package."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return tuple(map(_claim, csv.DictReader(text.splitlines())))


def _claim(row: dict[str, str]) -> Claim:
    own: dict[str, Any] = {name: row[name] for name in _TEXTS}
    own |= {name: float(row[name]) if row.get(name) else None for name in ("load", "low", "high")}
    own |= {name: tuple((row.get(name) or "").split()) for name in ("rivals", "fitted")}
    return Claim(
        **own,
        hosts=int(row["hosts"]),
        published=float(row["published"]),
        relation=cast("Relation", row["relation"]),
        quick=row["quick"] == "yes",
        explanation=row.get("explanation") or "",
    )
