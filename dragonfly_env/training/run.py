"""Training an agent so that nothing is lost: checkpoints, a row per episode, and going on after an interruption.

A folder holds all that is needed to go on: ``training.json`` (what is trained, and how far it is), ``checkpoints/``,
``episodes.parquet``, ``tensorboard/`` and, when the training is over, ``agent.zip``.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

import dragonfly_env as dfe
from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.registry import MOST_SEED
from dragonfly_env.agents.training import MOST_EPISODES, Progress, Schedule, train
from dragonfly_env.checks.documents import differences, read_json
from dragonfly_env.checks.files import make_folders, without_link
from dragonfly_env.checks.outside import check_mapping
from dragonfly_env.checks.values import check_integer, check_real, config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.measure import machine
from dragonfly_env.sweeps.run import without_places
from dragonfly_env.sweeps.storage import (
    METADATA_KEY,
    hold,
    read_rows,
    write_json,
    write_table,
)
from dragonfly_env.training.agents import LearnerSource


class TrainingFolder:
    """The files of one training.

    Args:
        path: The folder; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.agent = path / "agent.zip"
        self.checkpoints = path / "checkpoints"
        self.latest = self.checkpoints / "latest.zip"
        self.episodes = path / "episodes.parquet"
        self.tensorboard = path / "tensorboard"
        self.state = path / "training.json"

    def prepare(self) -> None:
        """Create the folder and prove that it can be written to.

        Raises:
            ConfigError: If it cannot.
        """
        make_folders(self.path, self.checkpoints)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the folder for one training.

        Raises:
            ConfigError: On entering, if another training is writing to it.
        """
        return hold(self.path, "another training")

    def clear(self) -> None:
        """Remove what an earlier training left, and nothing else."""
        for file in (self.agent, self.episodes, self.state, *self.checkpoints.glob("*.zip")):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.tensorboard, ignore_errors=True)

    def read_state(self) -> dict[str, Any] | None:
        """What was being trained and how far it got, or None in a new folder.

        Raises:
            ConfigError: If the file is damaged.
        """
        if not self.state.exists():
            return None
        state = read_json(self.state, "training", allowed="cannot be read")
        if not isinstance(state, dict) or not {"plan", "progress"} <= state.keys():
            raise config_error("training", str(self.state), "must be what an earlier training wrote")
        return state

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Write it; the file appears complete or not at all."""
        write_json(state, self.state)

    def read_episodes(self, count: int) -> list[dict[str, Any]]:
        """The rows of the first ``count`` episodes, as far as they are there.

        Raises:
            ConfigError: If the file is damaged; it says that the agent is not.
        """
        if not self.episodes.exists():
            return []
        try:
            table = read_rows(self.episodes)
        except ConfigError as error:
            raise ConfigError(
                f"{error}: it only tells the course so far; without that file the training goes on"
            ) from error
        rows: list[dict[str, Any]] = table.to_pylist()
        known = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return [row for row in known if row["episode"] <= count]

    def write_episodes(self, rows: Sequence[Mapping[str, Any]], provenance: Mapping[str, Any]) -> None:
        """Write a row per episode, and what made them."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        if not names:
            return
        table = pa.table({name: [row.get(name) for row in rows] for name in names})
        metadata = {METADATA_KEY: json.dumps(provenance).encode()}
        write_table(table.replace_schema_metadata(metadata), self.episodes)


_MOST = 2**53  # decisions, and units of time
_LIBRARIES = ("numpy", "torch", "stable-baselines3", "sb3-contrib")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """What to train, on what, and for how long.

    Attributes:
        kind: Of the agent; or ``module:Class`` or ``file.py:Class`` for a learner of your own, which is made with the
            settings as arguments (and ``seed``, if it takes one).
        config: The network and its traffic.
        scenarios: What an episode has next to each other, instead of ``config`` alone; ``config`` then is the first.
        settings: Of the agent.
        seed: Of the agent and of the episodes' traffic.
        episodes: How many there are to be, those of earlier sittings included.
        episode_ns: Simulated time of each after its warm-up.
        warmup_ns: Simulated time before each that the policy of ``config`` routes.
        evaluate_every: After how many episodes the greedy agent is measured; after the last one anyway.
        checkpoint_every: After how many episodes the agent is saved.
        stop_after_s: Real time for all of it, or None.
        tensorboard: Write event files.

    Raises:
        ConfigError: For an unknown agent or setting, a value out of range, or if what the agent needs is not
            installed.
    """

    kind: str
    config: SimulationConfig
    scenarios: tuple[SimulationConfig, ...] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int = 1
    episodes: int = 40
    episode_ns: float = 50_000.0
    warmup_ns: float = 0.0
    evaluate_every: int = 10
    checkpoint_every: int = 10
    stop_after_s: float | None = None
    tensorboard: bool = True

    def __post_init__(self) -> None:
        self.learner.check(self.settings)  # and what it needs is installed
        check_integer("seed", self.seed, 0, MOST_SEED)
        Schedule(self.episodes, self.episode_ns, self.warmup_ns, self.seed)
        check_integer("checkpoint_every", self.checkpoint_every, 1, MOST_EPISODES)
        check_integer("evaluate_every", self.evaluate_every, 0, MOST_EPISODES)
        if self.stop_after_s is not None:
            check_real("stop_after_s", self.stop_after_s, 0.0, 1e9, unit="s", open_low=True)

    @property
    def learner(self) -> LearnerSource:
        """Where the agent comes from.

        Raises:
            ConfigError: If there is no such learner.
        """
        return LearnerSource.find(self.kind)

    def identity(self) -> dict[str, Any]:
        """Everything that what is learned in an episode depends on, as JSON types: trainings that differ in it
        cannot go on from each other. Files and classes count by their content (`without_places`).
        """
        values = {
            "agent": self.kind,
            "agent_settings": dict(self.settings),
            "seed": self.seed,
            "episode_ns": self.episode_ns,
            "warmup_ns": self.warmup_ns,
            "configuration": _without_seed(self.config),
        }
        if sha256 := self.learner.sha256:
            values["sha256"] = sha256
        if self.scenarios:
            values["scenarios"] = [_without_seed(one) for one in self.scenarios]
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain


def _without_seed(config: SimulationConfig) -> dict[str, Any]:
    """What is learned depends neither on threads nor on this seed: every episode has its own."""
    return {name: value for name, value in config.to_dict().items() if name not in ("threads", "seed")}


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training did.

    Attributes:
        agent: The file of the trained agent.
        rows: One per episode, those of earlier sittings included: `Progress.to_dict`.
        resumed_after: The episodes that earlier sittings had done.
        complete: Whether all episodes are done (not if the time was up before).
    """

    agent: Path
    rows: list[dict[str, Any]]
    resumed_after: int
    complete: bool


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during a training; the same call goes on from the last checkpoint.

    Attributes:
        episode: Finished episodes that the checkpoint knows.
        episodes: Episodes that there are to be.
    """

    def __init__(self, episode: int, episodes: int) -> None:
        super().__init__(f"interrupted after {episode} of {episodes} episodes")
        self.episode = episode
        self.episodes = episodes


def run_training(
    plan: TrainingPlan,
    folder: Path,
    *,
    fresh: bool = False,
    on_start: Callable[[Sofar], None] | None = None,
    on_episode: Callable[[Progress], None] | None = None,
) -> TrainingReport:
    """Train an agent, or go on training the one that the folder holds.

    Args:
        plan: What to train.
        folder: Where everything goes; created if need be.
        fresh: Forget what the folder holds.
        on_start: Told how far earlier sittings got.
        on_episode: Told of every episode; the counters are those of all sittings.

    Raises:
        ConfigError: If the folder is not writable, in use or holds another training; for whatever `train` refuses.
        TrainingInterrupted: On Ctrl-C.
    """
    files = TrainingFolder(folder)
    files.prepare()
    with files.locked(), plan.learner.at_work():
        if fresh:
            files.clear()
        before = _resume_point(plan, files)
        sitting = _Sitting(plan, files, before)
        if on_start is not None:
            on_start(before)
        if before.is_enough(plan):
            sitting.finish()
        else:
            sitting.train(on_episode)
        return TrainingReport(
            files.agent, sitting.rows, before.episode, sitting.sofar.episode >= plan.episodes
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Sofar:
    """How far a training got: what the last checkpoint knows."""

    episode: int = 0
    decisions: int = 0
    simulated_ns: float = 0.0
    wall_s: float = 0.0

    @classmethod
    def from_dict(cls, values: object) -> Sofar:
        """The inverse of ``dataclasses.asdict``.

        Raises:
            ConfigError: If it is something else.
        """
        table = check_mapping("training.progress", values)
        if table.keys() != cls.__dataclass_fields__.keys():
            allowed = f"must have {', '.join(cls.__dataclass_fields__)}"
            raise config_error("training.progress", list(table), allowed)
        counts = {name: check_integer(name, table[name], 0, _MOST) for name in ("episode", "decisions")}
        times = {
            name: check_real(name, table[name], 0.0, float(_MOST)) for name in ("simulated_ns", "wall_s")
        }
        return cls(**counts, **times)  # type: ignore[arg-type]

    def is_enough(self, plan: TrainingPlan) -> bool:
        """Whether nothing is left to do."""
        late = plan.stop_after_s is not None and self.wall_s >= plan.stop_after_s
        return self.episode > 0 and (late or self.episode >= plan.episodes)

    def plus(self, progress: Progress) -> Progress:
        """A later sitting's progress (which counts decisions of all sittings) with the times of all sittings."""
        return dataclasses.replace(
            progress,
            simulated_ns=self.simulated_ns + progress.simulated_ns,
            wall_s=self.wall_s + progress.wall_s,
        )


def _resume_point(plan: TrainingPlan, files: TrainingFolder) -> Sofar:
    """How far the folder's training got.

    Raises:
        ConfigError: If it is another one; the message names the first setting that differs.
    """
    state = files.read_state()
    if state is None:
        return Sofar()
    ours_now = without_places(plan.identity())
    for name, theirs, ours in differences(without_places(state["plan"]), ours_now):
        raise config_error(
            "out",
            str(files.path),
            f"holds a training with {name} = {theirs!r}, not {ours!r}: choose another folder, or --fresh to forget it",
        )
    return Sofar.from_dict(state["progress"])


class _Sitting:
    """One uninterrupted part of a training."""

    def __init__(self, plan: TrainingPlan, files: TrainingFolder, before: Sofar) -> None:
        self._plan = plan
        self._files = files
        self._before = before
        self.sofar = before
        self.rows = files.read_episodes(before.episode)

    def train(self, on_episode: Callable[[Progress], None] | None) -> None:
        plan, files, before = self._plan, self._files, self._before
        agent = self._agent()
        agent.metadata = self._provenance()
        course = train(
            agent,
            plan.scenarios or plan.config,
            episodes=plan.episodes,
            first_episode=before.episode,
            decisions_before=before.decisions,
            episode_ns=plan.episode_ns,
            warmup_ns=plan.warmup_ns,
            seed=plan.seed,
            evaluate_every=plan.evaluate_every,
            log_dir=files.tensorboard if plan.tensorboard else None,
            checkpoint_dir=files.checkpoints,
            checkpoint_every=plan.checkpoint_every,
            stop_after_s=None if plan.stop_after_s is None else plan.stop_after_s - before.wall_s,
        )
        if before.episode == 0:
            self._keep()
        try:
            with closing(cast("Generator[Progress, None, None]", course)):
                for own in course:
                    progress = before.plus(own)
                    self.rows.append(progress.to_dict())
                    self.sofar = Sofar(
                        **{name: getattr(progress, name) for name in Sofar.__dataclass_fields__}
                    )
                    if progress.checkpoint is not None:
                        self._keep()
                    if on_episode is not None:
                        on_episode(progress)
        except KeyboardInterrupt:
            if self.sofar is not before:
                self._keep()
            raise TrainingInterrupted(self.sofar.episode, plan.episodes) from None
        agent.metadata = self._provenance()
        agent.save(without_link(files.agent))
        self._keep()

    def finish(self) -> None:
        """Make the last checkpoint the trained agent, if it is not yet: there is nothing left to train."""
        files = self._files
        if files.agent.exists():
            known = self._plan.learner.metadata_of(files.agent).get("training")
            if known == dataclasses.asdict(self.sofar):
                return
        agent = self._plan.learner.load(files.latest)
        agent.metadata = self._provenance()
        agent.save(without_link(files.agent))

    def _agent(self) -> Learner:
        """The agent, new or from the checkpoint."""
        if self._before.episode > 0:
            return self._plan.learner.load(self._files.latest)
        return self._plan.learner.make(self._plan.settings, self._plan.seed)

    def _keep(self) -> None:
        """Note how far the latest checkpoint got."""
        self._files.write_episodes(self.rows, self._provenance())
        self._files.write_state({"plan": self._plan.identity(), "progress": dataclasses.asdict(self.sofar)})

    def _provenance(self) -> dict[str, Any]:
        """What made this agent."""
        return {
            "package_version": dfe.__version__,
            **self._plan.identity(),
            "configuration": self._plan.config.to_dict(),
            "training": dataclasses.asdict(self.sofar),
            "platform": platform.platform(),
            "machine": machine(),
            "python_version": platform.python_version(),
            "libraries": {name: _version(name) for name in _LIBRARIES},
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
