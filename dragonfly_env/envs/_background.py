"""Who answers for all packets but the tagged one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env._validate import config_error
from dragonfly_env.envs.batch import DecisionBatch
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.errors import IllegalActionError
from dragonfly_env.policies import make_policy

IntArray = npt.NDArray[np.int64]

_NEEDS = ("scope", "action")


class Background:
    """A policy that answers batches.

    Args:
        policy: Anything with ``act(batch)``; None: the minimal action.
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    @property
    def chooses_env(self) -> Any:
        """The policy, if it says which environment it needs; None otherwise."""
        says = all(isinstance(getattr(self._policy, name, None), str) for name in _NEEDS)
        return self._policy if says else None

    def check(self, env: BatchedRoutingEnv) -> None:
        """Whether it can answer the batches of an environment.

        Raises:
            ConfigError: If it needs another scope or action mode, or refuses the layout.
        """
        for name, given in zip(_NEEDS, (env.scope, env.action), strict=True):
            needed = getattr(self._policy, name, given)
            if needed != given:
                raise config_error(name, given, f"the background policy needs {name}={needed!r}")
        if hasattr(self._policy, "prepare"):
            self._policy.prepare(env)

    def act(self, batch: DecisionBatch) -> IntArray:
        """(N,) the answers, in an array that belongs to the caller.

        Raises:
            IllegalActionError: If they are not (N,) integers.
        """
        if self._policy is None:
            return batch.minimal_actions()
        answers = np.asarray(self._policy.act(batch))
        if answers.shape != (len(batch),) or answers.dtype.kind not in "iu":
            raise IllegalActionError(
                f"the background policy answered with {answers.dtype} of shape {answers.shape} instead of "
                f"{len(batch)} integers"
            )
        return answers.astype(np.int64)


def make_background(policy: Any) -> Background:
    """The background policy that a setting names.

    Args:
        policy: ``"min"``, another name of a policy, or an object with ``act(batch)``.

    Raises:
        ConfigError: For anything else.
    """
    if isinstance(policy, str):
        made = make_policy(policy)
        return Background(None if made.name == "min" else made)
    if not callable(getattr(policy, "act", None)):
        raise config_error("background", policy, "must be the name of a policy, or an object with act(batch)")
    return Background(policy)
