"""Runs that are listed one by one instead of crossed: what reproductions and benchmarks are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dragonfly_env.sweeps.choices import PolicyChoice, TrafficChoice
from dragonfly_env.sweeps.run import Run
from dragonfly_env.sweeps.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Scenario):
    """A scenario whose runs are listed: systems, networks and windows differ from one to the next.

    Attributes:
        listed: The runs.
    """

    listed: tuple[Run, ...] = ()

    @classmethod
    def of(cls, name: str, runs: Sequence[Run]) -> Batch:
        """The scenario of at least one run."""
        first = runs[0].config
        return cls(
            name=name,
            topology=first.topology,
            network=first.network,
            policies=tuple(
                PolicyChoice(run.config.policy_object, label, run.agent)
                for label, run in {run.policy_label: run for run in runs}.items()
            ),
            traffic=tuple(
                TrafficChoice(run.config.traffic_object, label)
                for label, run in {run.traffic_label: run for run in runs}.items()
            ),
            loads=(),
            seeds=tuple(sorted({run.config.seed for run in runs})),
            warmup_ns=0.0,
            measure_ns=1.0,
            options={},
            listed=tuple(runs),
        )

    def runs(self) -> list[Run]:
        """Every run once."""
        return list({run.id: run for run in self.listed}.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for provenance."""
        return {"name": self.name, "runs": [run.configuration for run in self.runs()]}
