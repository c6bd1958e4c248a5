"""Statements of papers that are no number of one point: orderings, and numbers that several simulations give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError
from dragonfly_env.sweeps.run import Point


@dataclass(frozen=True, slots=True)
class Statement:
    """What became of a statement.

    Attributes:
        value: The number; of an ordering 1 if it holds, else 0.
        details: What was measured, for the report.
        sure: Whether more runs could not turn it.
    """

    value: float
    details: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was simulated for a claim. Every question about something that was not raises `NotFoundYetError`."""

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
        return float(np.nanmean(self.findings.values(point, column)))

    def by_policy(self, column: str, *, load: float | None = None, per: float = 1.0) -> dict[str, float]:
        """The means of all policies of the figure."""
        return {point.policy_label: self.mean(point, column) / per for point in self.points(load=load)}


STATEMENTS: dict[str, Callable[[Evidence], Statement]] = {}
"""By the name of the metric of claims."""


def statement(measure: Callable[[Evidence], Statement]) -> Callable[[Evidence], Statement]:
    """Make a function the measure of the claims whose metric has its name."""
    STATEMENTS[measure.__name__] = measure
    return measure


def ordering(holds: bool, details: str, sure: bool = True) -> Statement:
    """The statement of an ordering."""
    return Statement(float(holds), details, bool(sure))


def listed(values: dict[str, float], form: str, unit: str = "") -> str:
    """Values by name, for the report."""
    text = ", ".join(f"{name} {value:{form}}" for name, value in values.items())
    return f"{text} {unit}" if unit else text
