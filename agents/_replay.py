"""Stable-Baselines3's replay buffer, filled by the array and with the masks of the next decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents._sb3 import ReplayBuffer, gymnasium, torch

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import Transitions


class MaskedSamples(NamedTuple):
    """B transitions as tensors."""

    observations: torch.Tensor  # (B, F)
    actions: torch.Tensor  # (B, 1) int64
    next_observations: torch.Tensor  # (B, F)
    next_masks: torch.Tensor  # (B, A) bool
    dones: torch.Tensor  # (B, 1): 1 if delivered
    rewards: torch.Tensor  # (B, 1)


class TransitionBuffer(ReplayBuffer):
    """A ring of transitions of all routers.

    Stable-Baselines3's ``add`` takes one step of every environment; here M transitions come at once, so they are
    copied into its arrays directly. Sampling draws from a generator of its own, not from NumPy's global one.

    Args:
        size: Transitions that it holds.
        observation_space: Box (F,).
        num_actions: A.
        rng: For sampling.
    """

    pos: int
    full: bool

    def __init__(
        self, size: int, observation_space: gymnasium.spaces.Box, num_actions: int, rng: np.random.Generator
    ) -> None:
        super().__init__(size, observation_space, gymnasium.spaces.Discrete(num_actions), device="cpu")
        self._rng = rng
        self.next_masks = np.zeros((size, num_actions), dtype=np.bool_)

    @property
    def filled(self) -> int:
        """How many transitions it holds."""
        return int(self.size())

    def extend(self, transitions: Transitions) -> None:
        """Append M transitions; the oldest give way. Of more than ``size`` only the last ones are kept."""
        count = len(transitions.rewards)
        first = max(0, count - self.buffer_size)
        kept = count - first
        rows = (self.pos + np.arange(kept)) % self.buffer_size
        self.observations[rows, 0] = transitions.obs[first:]
        self.next_observations[rows, 0] = transitions.next_obs[first:]
        self.next_masks[rows] = transitions.next_mask[first:]
        self.actions[rows, 0, 0] = transitions.actions[first:]
        self.rewards[rows, 0] = transitions.rewards[first:]
        self.dones[rows, 0] = transitions.done[first:]
        self.full = bool(self.full or self.pos + kept >= self.buffer_size)
        self.pos = int((self.pos + kept) % self.buffer_size)

    def draw(self, count: int) -> MaskedSamples:
        """``count`` transitions, drawn with replacement."""
        rows = self._rng.integers(self.filled, size=count)

        def column(values: npt.NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(values[rows])

        return MaskedSamples(
            observations=column(self.observations[:, 0]),
            actions=column(self.actions[:, 0]).long(),
            next_observations=column(self.next_observations[:, 0]),
            next_masks=column(self.next_masks),
            dones=column(self.dones),
            rewards=column(self.rewards),
        )
