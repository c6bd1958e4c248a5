"""Trainings and evaluations in named tasks: recipes, result files, and the table of the results in a folder."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.files import read_toml, refusing
from dragonfly_env.checks.values import config_error
from dragonfly_env.named_tasks import Task, TaskScore
from dragonfly_env.registration import SUITE
from dragonfly_env.training.agents import LearnerSource
from dragonfly_env.training.run import Row, TrainingPlan, run_training

_RECIPES = Path(__file__).resolve().parents[1] / "agents" / "recipes"
_MOST_EPISODES = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """The hyper-parameters of the baseline of a task.

    Attributes:
        agent: A kind of ``learners()``.
        decisions: Decisions of a training.
        settings: Settings of the agent.
    """

    agent: str
    decisions: int
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, task: str) -> Recipe:
        """The recipe of a task: ``agents/recipes/TASK.toml``."""
        return cls(**read_toml(_RECIPES / f"{task}.toml"))

    def changes(self, task: str) -> str:
        """The settings that differ from the recipe of the task, as a policy's parameters are written."""
        usual = Recipe.of(task)
        known = usual.settings if self.agent == usual.agent else {}
        changes = [f"{name}={value}" for name, value in self.settings.items() if known.get(name) != value]
        return ":" + ",".join(changes) if changes else ""


def plan_of(
    task: Task, learner: LearnerSource, settings: Mapping[str, Any], seed: int, decisions: int
) -> TrainingPlan:
    """The training of an agent in a task: its scenarios, its episodes, a budget of decisions."""
    options = {
        "episode_ns": task.options["duration_ns"],
        "warmup_ns": 0.0,
        "evaluate_every": 0,
        "checkpoint_every": 10,
        "stop_after_decisions": decisions,
        "stop_after_s": None,
    }
    return TrainingPlan(
        learner=learner,
        configs=tuple(task.train.values()),
        settings=settings,
        seed=seed,
        episodes=_MOST_EPISODES,
        options=options,
        tensorboard=False,
    )


def train_in(
    task: Task,
    seed: int,
    folder: Path,
    *,
    recipe: Recipe,
    on_episode: Callable[[Row], None] = lambda row: None,
    on_estimate: Callable[[float], None] = lambda seconds: None,
) -> TaskScore:
    """Train an agent in a task and evaluate it: ``agent.zip`` and ``result.json`` in the folder."""
    learner = LearnerSource.find(recipe.agent)
    plan = plan_of(task, learner, recipe.settings, seed, recipe.decisions)
    began = time.process_time()
    rows = run_training(plan, folder, restart=True, on_episode=on_episode, on_estimate=on_estimate)
    cpu_s = time.process_time() - began
    agent = learner.made.load(folder / "agent.zip")
    result = task.evaluate(in_core(agent, folder))
    training = {"seed": seed, "decisions": rows[-1]["decisions"], "cpu_s": round(cpu_s, 1)}
    training |= {"agent": recipe.agent, "settings": dict(recipe.settings)}
    result.save(folder / "result.json", learner.name + recipe.changes(task.name), training)
    return result


def in_core(agent: BatchPolicy, folder: Path) -> BatchPolicy:
    """The agent as a policy of the core where it can be exported, which is several times as fast."""
    if not hasattr(agent, "export_mlp"):
        return agent
    return dfe.make_policy("mlp", weights=str(agent.export_mlp(folder / "weights.npz")))


def read_results(folder: Path) -> Iterator[dict[str, Any]]:
    """The result files below a folder, of the present suite."""
    for file in sorted(folder.rglob("*.json")):
        with refusing("folder", file, "must hold result files of 'dragonfly-env evaluate --task'"):
            contents = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(contents, dict) and {"suite", "task", "score"} <= contents.keys():
            if contents["suite"] != SUITE:
                allowed = f"is a result of the tasks {contents['suite']}, not {SUITE}: evaluate it again"
                raise config_error("folder", str(file), allowed)
            yield contents
