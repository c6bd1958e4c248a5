"""PyTorch and Stable-Baselines3, or a clear word about what is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.errors import ConfigError

try:
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.buffers import ReplayBuffer
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.utils import polyak_update
    from stable_baselines3.common.vec_env import VecEnvWrapper
    from stable_baselines3.dqn.policies import DQNPolicy
except ImportError as error:
    raise ConfigError(
        f"this agent needs PyTorch and Stable-Baselines3: {how_to_install('sb3')} ({error})"
    ) from error

__all__ = [
    "BaseCallback",
    "DQNPolicy",
    "MaskableActorCriticPolicy",
    "MaskablePPO",
    "OwnRandomness",
    "ReplayBuffer",
    "VecEnvWrapper",
    "gymnasium",
    "one_thread",
    "polyak_update",
    "seeded",
    "torch",
]


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's global random state seeded inside, and as it was outside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread inside: networks this small are faster so, and results do not depend on the
    number of processors.
    """
    before = torch.get_num_threads()
    if before != 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if before != 1:
            torch.set_num_threads(before)


class OwnRandomness:
    """The global random states of NumPy and PyTorch, which Stable-Baselines3 draws from, as one learner's own.

    Inside ``with`` they go on where this learner left them; outside they are as if it had not run.
    """

    def __init__(self, seed: int) -> None:
        self._numpy: Any = np.random.RandomState(seed).get_state()
        self._torch = torch.Generator().manual_seed(seed).get_state()

    def __enter__(self) -> None:
        self._outer: Any = (np.random.get_state(), torch.get_rng_state())  # noqa: NPY002
        np.random.set_state(self._numpy)  # noqa: NPY002
        torch.set_rng_state(self._torch)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._numpy, self._torch = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
        np.random.set_state(self._outer[0])  # noqa: NPY002
        torch.set_rng_state(self._outer[1])
