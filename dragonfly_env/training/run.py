"""A training on disk.

The folder has ``checkpoints/`` (the newest is ``latest.zip``), ``episodes.csv`` with a row per episode,
``tensorboard/`` and, after the last episode, ``agent.zip``. An interrupted training goes on from its newest checkpoint.
A replay buffer is not saved, and starts empty then.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.agents.training import train
from dragonfly_env.checks.files import make_folders, open_output, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.measure import machine
from dragonfly_env.training.agents import LearnerSource

_COUNTED = ("decisions", "simulated_ns", "wall_s")
Row = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """Settings of a training.

    Attributes:
        learner: Where the agent comes from.
        configs: The networks and their traffic that an episode has next to each other.
        settings: Settings of the agent.
        seed: Seed of the agent and of the episodes' traffic.
        episodes: Number of the last episode.
        options: Further arguments of ``train``; ``stop_after_decisions`` counts earlier decisions, too.
        tensorboard: Whether to write event files.
    """

    learner: LearnerSource
    configs: tuple[SimulationConfig, ...]
    settings: Mapping[str, Any]
    seed: int
    episodes: int
    options: Mapping[str, Any]
    tensorboard: bool


def run_training(
    plan: TrainingPlan,
    folder: Path,
    *,
    resume: bool = False,
    restart: bool = False,
    on_episode: Callable[[Row], None] = lambda row: None,
    on_estimate: Callable[[float], None] = lambda seconds: None,
) -> list[Row]:
    """Train an agent.

    Args:
        plan: Plan of the training.
        folder: Where everything goes; made if need be.
        resume: Whether to go on from the newest checkpoint in the folder, if there is one.
        restart: Whether to remove the training that the folder holds.
        on_episode: Called with the row of every episode.
        on_estimate: Called once, after the first episode and before ``on_episode``, with ``seconds_to_go``.

    Returns:
        A row per episode, earlier ones included: `Progress.to_dict`.

    Raises:
        ConfigError: If the folder holds a training, and neither ``resume`` nor ``restart`` is set, or both are; for
            settings out of range.
    """
    if resume and restart:
        raise config_error("restart", True, "cannot be combined with resume: leave one of the two out")
    agent_file, table, checkpoints = folder / "agent.zip", folder / "episodes.csv", folder / "checkpoints"
    tensorboard, latest = folder / "tensorboard", checkpoints / "latest.zip"
    if not (resume or restart) and (table.exists() or agent_file.exists()):
        raise config_error(
            "out", str(folder), "holds a training: choose another folder, --resume or --restart"
        )
    rows = _read_rows(table) if resume and table.exists() else []
    before = rows[-1] if rows else {"episode": 0, **dict.fromkeys(_COUNTED, 0)}
    budget = plan.options["stop_after_decisions"]
    if rows and (
        before["episode"] >= plan.episodes or (budget is not None and before["decisions"] >= budget)
    ):
        _finish(latest, agent_file)
        return rows
    if rows:
        agent = plan.learner.made.load(latest)
        if plan.settings != agent.metadata.get("agent_settings", plan.settings):
            allowed = "cannot change in a training that is resumed: leave them out"
            raise config_error("agent settings", plan.settings, allowed)
    else:
        agent = plan.learner.make(plan.settings, plan.seed)
    course = train(
        agent,
        plan.configs if len(plan.configs) > 1 else plan.configs[0],
        episodes=plan.episodes,
        first_episode=before["episode"],
        seed=plan.seed,
        log_dir=tensorboard if plan.tensorboard else None,
        checkpoint_dir=checkpoints,
        earlier={name: before[name] for name in _COUNTED},
        **plan.options,
    )
    make_folders(folder, checkpoints)
    if restart:  # remove the files of an earlier training, and nothing else
        for file in (agent_file, table, *checkpoints.glob("*.zip")):
            file.unlink(missing_ok=True)
        shutil.rmtree(tensorboard, ignore_errors=True)
    agent.metadata = _provenance(plan, before)
    try:
        with closing(course):
            for progress in course:
                row: Row = progress.to_dict()
                if len(rows) == before["episode"]:
                    on_estimate(seconds_to_go(plan, before, row))
                rows.append(row)
                agent.metadata = _provenance(plan, row)
                if progress.checkpoint is not None:
                    _write_rows(rows, table)
                on_episode(row)
    finally:
        if rows:
            _write_rows(rows, table)
    _finish(latest, agent_file)
    return rows


def seconds_to_go(plan: TrainingPlan, before: Row, first: Row) -> float:
    """Estimate the rest of a training, in seconds of real time: its further episodes are taken to be like the first.

    Args:
        plan: Plan of the training.
        before: Counts before the first episode of this run: zeros, or the last row of the training that is resumed.
        first: The row of the first episode of this run.

    Returns:
        The seconds until the last episode, or until a limit on decisions or time; without evaluations.
    """
    episode_s, decided = (first[name] - before[name] for name in ("wall_s", "decisions"))
    left, budget = plan.episodes - first["episode"], plan.options["stop_after_decisions"]
    if budget is not None and decided:
        left = min(left, max(0, math.ceil((budget - first["decisions"]) / decided)))
    most_s = plan.options["stop_after_s"]
    return float(left * episode_s if most_s is None else min(left * episode_s, max(0.0, most_s - episode_s)))


def _finish(latest: Path, agent_file: Path) -> None:
    """Make the newest checkpoint the trained agent."""
    with open_output(agent_file) as file:
        file.write(latest.read_bytes())


def _read_rows(table: Path) -> list[Row]:
    with table.open(encoding="utf-8", newline="") as file:
        return [
            {name: int(text) if text.isdigit() else float(text) for name, text in row.items() if text}
            for row in csv.DictReader(file)
        ]


def _write_rows(rows: list[Row], table: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    write_text(text.getvalue(), table)


def _provenance(plan: TrainingPlan, row: Row) -> dict[str, Any]:
    """Origin of an agent, and the cost of its training until now."""
    several = {"scenarios": [config.to_dict() for config in plan.configs]} if len(plan.configs) > 1 else {}
    return {
        "package_version": dfe.__version__,
        "agent": plan.learner.spec,
        "agent_settings": dict(plan.settings),
        "seed": plan.seed,
        "episode_ns": plan.options["episode_ns"],
        "warmup_ns": plan.options["warmup_ns"],
        "configuration": plan.configs[0].to_dict(),
        **several,
        "training": {name: row[name] for name in ("episode", *_COUNTED)},
        "platform": platform.platform(),
        "machine": machine(),
        "python_version": platform.python_version(),
        "libraries": {name: _version(name) for name in ("numpy", "torch")},
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
