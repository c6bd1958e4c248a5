"""What a leaderboard says of trainings."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.lab.benchmark.report import BOARD, of_policy
from dragonfly_env.lab.benchmark.scores import score
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.lab.benchmark.training import TrainingCost, training_cost
from dragonfly_env.sweeps.scenario import PolicyChoice
from dragonfly_env.training.agents import AgentSource
from tests.unit.lab.benchmark.test_benchmark import outcome
from tests.unit.lab.benchmark.tiny_suite import tiny


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (TrainingCost(), "-"),
        (TrainingCost(decisions=999, wall_s=3.4), "999 decisions, 3 s"),
        (TrainingCost(decisions=2_113_402, wall_s=1234.0), "2,113,402 decisions, 20 min 34 s"),
        (TrainingCost(decisions=999_999), "999,999 decisions"),
        (TrainingCost(cpu_s=769.0), "769 CPU-s"),
    ],
)
def test_a_training_is_told_in_a_few_words(cost: TrainingCost, text: str) -> None:
    assert cost.describe() == text


def test_heuristics_have_no_training_and_the_shipped_networks_have_one() -> None:
    assert training_cost(PolicyChoice.parse("ugal-n")).describe() == "-"
    for name in ("neural-v1", "neural-v2"):
        shipped = training_cost(PolicyChoice.parse(name))
        assert shipped.cpu_s == dfe.make_policy(name).training_cpu_s > 0
        assert math.isnan(shipped.decisions)


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"episode": 3, "decisions": 12_000, "simulated_ns": 1.0, "wall_s": 2.0}, "12,000 decisions, 2 s"),
        ({"decisions": 12_000}, "12,000 decisions"),
        ({}, "-"),
    ],
)
def test_a_saved_agent_says_itself_what_it_took(
    told: Any, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.zip").write_bytes(b"saved")
    policy = dfe.make_policy("min")
    source = AgentSource("agent.zip", str(tmp_path), "mine", "0" * 64)
    monkeypatch.setattr(AgentSource, "metadata", lambda self: {"training": told})
    assert training_cost(PolicyChoice(policy, "mine", source)).describe() == text


def test_it_is_part_of_the_row() -> None:
    found = [outcome("min", 500.0), outcome("q-routing", 900.0), outcome("mine", 400.0)]
    kinds = {"min": "untuned", "q-routing": "online"}
    cost = TrainingCost(decisions=5000, wall_s=7.0)
    tracks = Suite.from_dict(tiny()).tracks
    scores = score(found, tracks, "quick", kinds, ("min", "q-routing", "mine"), {"mine": cost})
    said = {
        of_policy(row)[0]: of_policy(row)[BOARD.index("trained")]
        for _, row in scores.leaderboard().iterrows()
    }
    assert said == {"mine": "5,000 decisions, 7 s", "min": "-", "q-routing": "while measured"}
    row = scores.table.set_index("policy").loc["mine"]
    assert (row["training_decisions"], row["training_wall_s"]) == dataclasses.astuple(cost)[:2]
