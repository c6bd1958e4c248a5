"""A training on disk.

The folder has ``checkpoints/`` (the newest is ``latest.zip``), ``episodes.csv`` with a row per episode,
``tensorboard/`` and, after the last episode, ``agent.zip``. An interrupted training goes on from its newest checkpoint.
A replay buffer is not saved, and starts empty then.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.agents.training import train
from dragonfly_env.checks.files import make_folders, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.measure import machine
from dragonfly_env.training.agents import LearnerSource

_LIBRARIES = ("numpy", "torch", "stable-baselines3")
_COUNTED = ("decisions", "simulated_ns", "wall_s")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """Settings of a training: agent, environment and duration.

    Attributes:
        learner: Where the agent comes from.
        config: The network and its traffic.
        scenarios: What an episode has next to each other, instead of ``config`` alone; ``config`` then is the first.
        settings: Of the agent.
        seed: Of the agent and of the episodes' traffic.
        episodes: Number of the last episode.
        episode_ns: Simulated time of each after its warm-up.
        warmup_ns: Simulated time before each that the policy of ``config`` routes.
        evaluate_every: After how many episodes the greedy agent is measured.
        checkpoint_every: After how many episodes the agent is saved.
        stop_after_decisions: Decisions, earlier ones included, after which an episode is the last; or None.
        stop_after_s: Most real time, or None.
        tensorboard: Whether to write event files.
    """

    learner: LearnerSource
    config: SimulationConfig
    scenarios: tuple[SimulationConfig, ...] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int = 1
    episodes: int = 40
    episode_ns: float = 50_000.0
    warmup_ns: float = 0.0
    evaluate_every: int = 10
    checkpoint_every: int = 10
    stop_after_decisions: int | None = None
    stop_after_s: float | None = None
    tensorboard: bool = True


class TrainingFolder:
    """The files of one training."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.agent = path / "agent.zip"
        self.checkpoints = path / "checkpoints"
        self.latest = self.checkpoints / "latest.zip"
        self.episodes = path / "episodes.csv"
        self.tensorboard = path / "tensorboard"

    def clear(self) -> None:
        """Remove what an earlier training left, and nothing else."""
        for file in (self.agent, self.episodes, *self.checkpoints.glob("*.zip")):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.tensorboard, ignore_errors=True)

    def read_rows(self) -> list[dict[str, Any]]:
        """A row per finished episode; none if there was no training.

        Raises:
            ConfigError: If the file is damaged.
        """
        if not self.episodes.exists():
            return []
        try:
            with self.episodes.open(encoding="utf-8", newline="") as file:
                return [
                    {name: int(text) if text.isdigit() else float(text) for name, text in row.items() if text}
                    for row in csv.DictReader(file)
                ]
        except (ValueError, TypeError, AttributeError) as error:
            raise config_error(
                "episodes", str(self.episodes), "is damaged: start again with --restart"
            ) from error

    def write_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a row per episode."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
        write_text(text.getvalue(), self.episodes)


def run_training(
    plan: TrainingPlan,
    folder: Path,
    *,
    resume: bool = False,
    restart: bool = False,
    on_episode: Callable[[Mapping[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Train an agent.

    Args:
        plan: What to train.
        folder: Where everything goes; made if need be.
        resume: Whether to go on from the newest checkpoint in the folder, if there is one.
        restart: Whether to remove the training that the folder holds.
        on_episode: Called with the row of every episode.

    Returns:
        A row per episode, earlier ones included: `Progress.to_dict`.

    Raises:
        ConfigError: If the folder holds a training, and neither ``resume`` nor ``restart`` is set; for settings out of
            range.
    """
    files = TrainingFolder(folder)
    rows = files.read_rows() if resume else []
    if not (resume or restart) and (files.episodes.exists() or files.agent.exists()):
        raise config_error(
            "out", str(folder), "holds a training: choose another folder, --resume or --restart"
        )
    before = rows[-1] if rows else {"episode": 0, **dict.fromkeys(_COUNTED, 0)}
    budget = None if plan.stop_after_decisions is None else plan.stop_after_decisions - before["decisions"]
    if rows and (before["episode"] >= plan.episodes or (budget is not None and budget <= 0)):
        shutil.copyfile(files.latest, files.agent)
        return rows
    if rows:
        agent = plan.learner.load(files.latest)
        if plan.settings != agent.metadata.get("agent_settings", plan.settings):
            allowed = "cannot change in a training that is resumed: leave them out"
            raise config_error("agent settings", plan.settings, allowed)
    else:
        agent = plan.learner.make(plan.settings, plan.seed)
    course = train(
        agent,
        plan.scenarios or plan.config,
        episodes=plan.episodes,
        first_episode=before["episode"],
        episode_ns=plan.episode_ns,
        warmup_ns=plan.warmup_ns,
        seed=plan.seed,
        evaluate_every=plan.evaluate_every,
        log_dir=files.tensorboard if plan.tensorboard else None,
        checkpoint_dir=files.checkpoints,
        checkpoint_every=plan.checkpoint_every,
        stop_after_decisions=budget,
        stop_after_s=plan.stop_after_s,
    )
    make_folders(files.path, files.checkpoints)
    if restart:
        files.clear()
    agent.metadata = _provenance(plan, before)
    try:
        with closing(course):
            for progress in course:
                row: dict[str, Any] = progress.to_dict()
                row |= {name: before[name] + row[name] for name in _COUNTED}
                rows.append(row)
                agent.metadata = _provenance(plan, row)
                if progress.checkpoint is not None:
                    files.write_rows(rows)
                if on_episode is not None:
                    on_episode(row)
    finally:
        if rows:
            files.write_rows(rows)
    shutil.copyfile(files.latest, files.agent)
    return rows


def _provenance(plan: TrainingPlan, row: Mapping[str, Any]) -> dict[str, Any]:
    """Origin of an agent, and the cost of its training until now."""
    provenance = {
        "package_version": dfe.__version__,
        "agent": plan.learner.spec,
        "agent_settings": dict(plan.settings),
        "seed": plan.seed,
        "episode_ns": plan.episode_ns,
        "warmup_ns": plan.warmup_ns,
        "configuration": plan.config.to_dict(),
        "training": {name: row[name] for name in ("episode", *_COUNTED)},
        "platform": platform.platform(),
        "machine": machine(),
        "python_version": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    if plan.scenarios:
        provenance["scenarios"] = [scenario.to_dict() for scenario in plan.scenarios]
    return provenance


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
