"""A learner that needs no PyTorch, for tests of what surrounds learners. Not a test itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from dragonfly_env.agents.learner import read_agent, write_agent
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import normalise, real
from dragonfly_env.errors import StateError


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TinySettings:
    """Settings of the learner."""

    exploration: float = real(0.25, 0.0, 1.0, doc="Share of random actions while it learns.")
    sizes: tuple[int, ...] = dataclasses.field(default=(1, 2), metadata={"unit": "", "doc": "Not used."})

    def __post_init__(self) -> None:
        normalise(self)


class TinyLearner:
    """Remembers the mean reward of every action, without regard to observations."""

    name, scope, action = "tiny", "source", "path"
    settings_class = TinySettings

    def __init__(self, settings: TinySettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or TinySettings()
        self.metadata: dict[str, Any] = {"seed given": seed}
        self.sums, self.counts = np.zeros(8), np.zeros(8)
        self.num_features = 0
        self.training = False

    def env_options(self) -> dict[str, Any]:
        return {"scope": self.scope, "action": self.action}

    def prepare(self, env: Any) -> None:
        if self.num_features not in (0, env.num_features):
            raise config_error("layout", env.num_features, f"must have {self.num_features} features")
        self.num_features = env.num_features

    def set_training(self, on: bool) -> None:
        self.training = on

    def act(self, batch: Any) -> Any:
        means = self.sums / np.maximum(self.counts, 1)
        scores = np.where(batch.mask, means[: batch.mask.shape[1]], -np.inf)
        if self.training:
            explores = batch.draws[:, 0] < self.settings.exploration
            scores[explores] = np.where(batch.mask[explores], batch.draws[explores, 1:2], -np.inf)
        return scores.argmax(axis=1)

    def learn(self, transitions: Any) -> None:
        np.add.at(self.sums, transitions.actions, transitions.rewards)
        np.add.at(self.counts, transitions.actions, 1)

    def statistics(self) -> dict[str, float]:
        return {"loss": float(self.counts.sum())}

    def save(self, path: str | Path) -> None:
        if not self.num_features:
            raise StateError("save(): nothing to save")
        learned = {"sums": self.sums.tolist(), "counts": self.counts.tolist()}
        plain = {"kind": "tiny", "metadata": self.metadata, "features": self.num_features}
        write_agent(path, {**plain, **learned})

    @classmethod
    def load(cls, path: str | Path) -> TinyLearner:
        saved = read_agent(path)
        agent = cls()
        agent.metadata, agent.num_features = saved["metadata"], saved["features"]
        agent.sums, agent.counts = np.array(saved["sums"]), np.array(saved["counts"])
        return agent


class NonMinimal:
    """Always the last legal action."""

    scope, action = "every", "port"

    def act(self, batch: Any) -> Any:
        return batch.mask.shape[1] - 1 - batch.mask[:, ::-1].argmax(axis=1)


class Illegal:
    """The last action, legal or not."""

    name, scope, action = "illegal", "every", "path"

    def act(self, batch: Any) -> Any:
        return np.full(len(batch), batch.mask.shape[1])


class Demanding:
    """Cannot be made without an argument."""

    scope, action = "every", "port"

    def __init__(self, what: str) -> None:
        self.what = what

    def act(self, batch: Any) -> Any:
        return batch.minimal_actions()


NONMINIMAL_KINDS = NonMinimal()
