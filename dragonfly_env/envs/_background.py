"""Who answers for all packets but the tagged one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.errors import IllegalActionError
from dragonfly_env.policies import Policy as BuiltIn
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
        self._answers = policy

    @property
    def chooses_env(self) -> Any:
        """The policy, if it says which environment it needs; None otherwise."""
        says = all(isinstance(getattr(self._policy, name, None), str) for name in _NEEDS)
        return self._policy if says else None

    @property
    def built_in(self) -> BuiltIn | None:
        """The policy, if it is one of the core's."""
        if self._policy is None:
            return make_policy("min")
        return self._policy if isinstance(self._policy, BuiltIn) else None

    @property
    def hears(self) -> bool:
        """Whether it needs the environment's feedback."""
        return isinstance(self._policy, BuiltIn) and self._policy.learns

    def check(self, env: BatchedRoutingEnv) -> None:
        """Whether it can answer the batches of an environment.

        Raises:
            ConfigError: If it needs another scope or action mode, or refuses the layout.
        """
        for name, given in zip(_NEEDS, (env.scope, env.action), strict=True):
            needed = getattr(self._policy, name, given)
            if needed != given:
                raise config_error(name, given, f"the background policy needs {name}={needed!r}")
        if isinstance(self._policy, BuiltIn):
            if self._policy.has_reference:  # the others decide in the core
                self._answers = self._policy.twin(env)
        elif hasattr(self._policy, "prepare"):
            self._policy.prepare(env)

    def act(self, batch: DecisionBatch) -> IntArray:
        """(N,) the answers, in an array that belongs to the caller.

        Raises:
            IllegalActionError: If they are not (N,) integers.
        """
        if self._policy is None:
            return batch.minimal_actions()
        answers = np.asarray(self._answers.act(batch))
        if answers.shape != (len(batch),) or answers.dtype.kind not in "iu":
            raise IllegalActionError(
                f"the background policy answered with {answers.dtype} of shape {answers.shape} instead of "
                f"{len(batch)} integers"
            )
        return answers.astype(np.int64)


class _Predicts:
    """A model of Stable-Baselines3 that was trained on ``PacketRouting``, as a policy that answers batches."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._vector = ""  # which form of flat observations it takes
        self._asks_masks = "action_masks" in inspect.signature(model.predict).parameters

    def prepare(self, env: BatchedRoutingEnv) -> None:
        space = self._model.observation_space
        shapes = {name: part.shape for name, part in getattr(space, "spaces", {}).items()}
        needed = {"observation": (env.num_features,), "action_mask": (env.num_actions,)}
        flat = {(env.num_features,): "features", (env.num_features + env.num_actions,): "both"}
        self._vector = "" if shapes else flat.get(space.shape, "")
        if shapes != needed and not self._vector:
            raise config_error(
                "background",
                type(self._model).__name__,
                f"sees {shapes or space}; here it would see {needed}",
            )

    def act(self, batch: DecisionBatch) -> IntArray:
        # Copies, as PyTorch cannot have arrays that are read only.
        masks = {"action_masks": batch.mask.copy()} if self._asks_masks else {}
        seen: Any = {"observation": batch.obs.copy(), "action_mask": batch.mask.astype(np.int8)}
        if self._vector == "features":
            seen = seen["observation"]
        elif self._vector:
            seen = np.concatenate([batch.obs, batch.mask.astype(np.float32)], axis=1)
        actions: IntArray = np.asarray(self._model.predict(seen, deterministic=True, **masks)[0], np.int64)
        legal = batch.mask[np.arange(len(batch)), actions]
        return np.where(legal, actions, batch.minimal_actions())


def make_background(policy: Any) -> Background:
    """The background policy that a setting names.

    Args:
        policy: ``"min"``, another name of a policy, an object with ``act(batch)``, or a model of Stable-Baselines3.

    Raises:
        ConfigError: For anything else.
    """
    if isinstance(policy, str):
        made = make_policy(policy)
        return Background(None if made.name == "min" else made)
    if callable(getattr(policy, "act", None)):
        return Background(policy)
    if callable(getattr(policy, "predict", None)) and hasattr(policy, "observation_space"):
        return Background(_Predicts(policy))
    raise config_error(
        "background",
        policy,
        "must be the name of a policy, an object with act(batch), or a model with predict()",
    )
