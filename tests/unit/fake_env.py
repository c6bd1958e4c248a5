"""Batches and transitions made by hand, to test what learners do with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class FakeLayout:
    """A layout of F features between 0 and 1."""

    names: tuple[str, ...]
    occupancy_unit: str = "buffers"

    @property
    def low(self) -> npt.NDArray[np.float32]:
        return np.zeros(len(self.names), np.float32)

    @property
    def high(self) -> npt.NDArray[np.float32]:
        return np.ones(len(self.names), np.float32)

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        return np.ones(len(self.names), np.float32)


@dataclass(frozen=True)
class FakeBatch:
    """N decisions."""

    layout: FakeLayout
    obs: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]
    draws: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.obs)


@dataclass(frozen=True)
class FakeTransitions:
    """M transitions."""

    obs: npt.NDArray[np.float32]
    actions: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    next_obs: npt.NDArray[np.float32]
    next_mask: npt.NDArray[np.bool_]
    done: npt.NDArray[np.bool_]


@dataclass
class FakeWorld:
    """A corridor: state s of ``length``, action 1 goes on (reward -1), action 0 stays (reward -1), action 2 would be
    the best by far but is illegal everywhere. Values are minus the steps to the end.
    """

    length: int = 4
    num_actions: int = 3
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @property
    def layout(self) -> FakeLayout:
        return FakeLayout(tuple(f"place {i}" for i in range(self.length)))

    def batch(self, states: npt.NDArray[np.int64]) -> FakeBatch:
        """Decisions in these states."""
        mask = np.ones((len(states), self.num_actions), np.bool_)
        mask[:, 2] = False
        return FakeBatch(self.layout, self.obs(states), mask, self.rng.random((len(states), 2)))

    def obs(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Observations are one-hot; all zero after the end."""
        return np.eye(self.length + 1, dtype=np.float32)[states][:, : self.length]

    def step(
        self, states: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], FakeTransitions]:
        """The next states (0 after the end) and the transitions."""
        following = states + (actions == 1)
        done = following == self.length
        mask = np.ones((len(states), self.num_actions), np.bool_)
        mask[:, 2] = False
        made: Any = FakeTransitions(
            self.obs(states), actions, -np.ones(len(states)), self.obs(following), mask & ~done[:, None], done
        )
        return np.where(done, 0, following), made
