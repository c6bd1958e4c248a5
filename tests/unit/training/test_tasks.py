"""Trainings and results in named tasks: recipes, files, and the table that is made of them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.errors import ConfigError
from dragonfly_env.registration import SUITE
from dragonfly_env.training.tasks import Recipe, read_results
from tests.unit.cli_arguments import run


@pytest.mark.parametrize("name", dfe.tasks())
def test_every_task_has_a_recipe_within_its_budget(name: str) -> None:
    recipe = Recipe.of(name)
    assert recipe.decisions <= dfe.task(name).decisions
    assert recipe.agent in dfe.agents.learners()


def test_four_tasks_have_another_network_in_the_evaluation_or_several_in_the_training() -> None:
    others = [name for name in dfe.tasks() if not dfe.task(name).has_one_network]
    assert others == ["Sizes-2550", "ZeroShot-1056", "DragonflyPlus-272", "Failures-1056"]


def test_settings_that_differ_from_the_recipe_are_part_of_a_results_name() -> None:
    recipe = Recipe.of("Ports-72")
    assert recipe.changes("Ports-72") == ""
    selfish = Recipe(recipe.agent, recipe.decisions, {**recipe.settings, "share": "packet"})
    assert selfish.changes("Ports-72") == ":share=packet"
    assert Recipe("deep-q", 1000, {"action": "port"}).changes("Ports-72") == ":action=port"


DOCS = Path(__file__).resolve().parents[3] / "docs"
PUBLISHED = DOCS / "task_results"
TRAINED = [file.stem for file in sorted(Path(dfe.agents.__file__).with_name("weights").glob("*.npz"))]


def published(name: str) -> dict[str, Any]:
    """The result of the median of the published trainings in a task."""
    found = sorted(read_results(PUBLISHED / "ppo" / name), key=lambda result: result["score"])
    return found[(len(found) - 1) // 2]


def test_every_task_with_published_trainings_has_weights() -> None:
    assert sorted(folder.name for folder in (PUBLISHED / "ppo").iterdir()) == TRAINED


@pytest.mark.parametrize("name", [name for name in dfe.tasks() if name.endswith("-72")])
def test_the_published_bound_is_the_present_latency_floor(name: str) -> None:
    bound, task = runpy.run_path(str(DOCS / "task_references.py"))["bound"], dfe.task(name)
    for scenario, known in task.references().items():
        now = bound(task, scenario, task.seeds[0])
        assert known["bound"] == pytest.approx(now, rel=1e-5, nan_ok=True), scenario


@pytest.mark.parametrize("name", [name for name in TRAINED if name.endswith("-72")])
def test_the_weights_of_a_baseline_give_a_value_of_the_published_result(name: str) -> None:
    task, result = dfe.task(name), published(name)
    for scenario, values in result["values"].items():
        measured = task.value(task.measure(task.baseline(), scenario, task.seeds[0]))
        assert measured == pytest.approx(values[0], rel=1e-5), scenario


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_the_weights_of_a_baseline_give_the_published_score(name: str) -> None:
    assert dfe.task(name).evaluate(dfe.task(name).baseline()).score == pytest.approx(
        published(name)["score"], abs=0.01
    )


def test_a_task_without_weights_says_which_have_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dragonfly_env.named_tasks._WEIGHTS", tmp_path)
    (tmp_path / "Ports-72.npz").touch()
    with pytest.raises(ConfigError, match="task = 'Mixed-72': has no weights; these have: Ports-72"):
        dfe.task("Mixed-72").baseline()


def test_results_of_a_folder_are_one_row_per_policy_with_the_mean_over_trainings(tmp_path: Path) -> None:
    result = dfe.task("Adversarial-72").evaluate("ugal-n", seeds=[101])
    for seed, score in enumerate([80.0, 90.0, 91.0, 92.0]):
        file = tmp_path / f"seed-{seed}" / "result.json"
        result.save(file, "ppo", {"seed": seed})
        contents = json.loads(file.read_text())
        file.write_text(json.dumps({**contents, "score": score}))
    assert [found["score"] for found in read_results(tmp_path)] == [80.0, 90.0, 91.0, 92.0]
    printed = run("tasks", str(tmp_path)).stdout
    assert "Adversarial-72" in printed
    assert "90.5" in printed
    file.write_text(json.dumps({**contents, "suite": "v1"}))
    with pytest.raises(ConfigError, match=f"is a result of the tasks v1, not {SUITE}"):
        list(read_results(tmp_path))
