"""Trainings and results in named tasks: recipes, files, and the table that is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env.errors import ConfigError
from dragonfly_env.named_tasks import SUITE
from dragonfly_env.training.tasks import Recipe, read_results, write_result
from tests.unit.cli_arguments import run


@pytest.mark.parametrize("name", dfe.tasks())
def test_every_task_has_a_recipe_within_its_budget(name: str) -> None:
    recipe = Recipe.of(name)
    assert recipe.decisions <= dfe.task(name).decisions
    assert recipe.agent in dfe.agents.learners()


def test_results_of_a_folder_are_one_row_per_policy_with_the_mean_over_trainings(tmp_path: Path) -> None:
    result = dfe.task("Adversarial-72").evaluate("ugal-n", seeds=[101])
    for seed, score in enumerate([80.0, 90.0, 91.0, 92.0]):
        file = tmp_path / f"seed-{seed}" / "result.json"
        file.parent.mkdir()
        write_result(result, "ppo", file, {"seed": seed})
        contents = json.loads(file.read_text())
        file.write_text(json.dumps({**contents, "score": score}))
    assert [found["score"] for found in read_results(tmp_path)] == [80.0, 90.0, 91.0, 92.0]
    printed = run("tasks", str(tmp_path)).stdout
    assert "Adversarial-72" in printed
    assert "90.5" in printed
    file.write_text(json.dumps({**contents, "suite": "v1"}))
    with pytest.raises(ConfigError, match=f"is a result of the tasks v1, not {SUITE}"):
        list(read_results(tmp_path))
