"""PyTorch and Stable-Baselines3, or a clear word about what is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.errors import ConfigError

try:
    import gymnasium
    import torch
    from stable_baselines3.common.buffers import ReplayBuffer
    from stable_baselines3.common.utils import polyak_update
    from stable_baselines3.dqn.policies import DQNPolicy
except ImportError as error:
    raise ConfigError(
        f"this agent needs PyTorch and Stable-Baselines3: {how_to_install('sb3')} ({error})"
    ) from error

__all__ = [
    "DQNPolicy",
    "ReplayBuffer",
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
