"""Lines of a leaderboard on trainings."""

from __future__ import annotations

import dataclasses
import math

from dragonfly_env.baselines import mlp
from dragonfly_env.lab.benchmark.report import BOARD, of_policy
from dragonfly_env.lab.benchmark.scores import score
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.lab.benchmark.training import TrainingCost, training_cost
from dragonfly_env.sweeps.scenario import parse_policy_choice
from tests.unit.lab.benchmark.test_benchmark import outcome
from tests.unit.lab.benchmark.tiny_suite import tiny


def test_heuristics_have_no_training_and_the_shipped_networks_have_one() -> None:
    assert training_cost(parse_policy_choice("ugal-n")[1]).describe() == "-"
    for name in mlp.SHIPPED:
        shipped = training_cost(parse_policy_choice(name)[1])
        assert shipped.cpu_s == mlp.training_cpu_s(name) > 0
        assert math.isnan(shipped.decisions)


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
