"""How views show a decision: where the mask stands, and whether an observation is a dictionary or one vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.values import check_bool, check_choice
from dragonfly_env.decisions.layout import Layout

MASK_IN = ("both", "observation", "info")
FORM_SETTINGS = ("mask_in", "flat_observation")

FloatArray = npt.NDArray[np.float32]


class Form:
    """The form of a view's observations and infos.

    Args:
        mask_in: ``"both"``, ``"observation"`` or ``"info"``: where the mask stands. With ``"info"`` an observation is
            the features alone.
        flat: Observations are one vector, the features and then (unless ``mask_in="info"``) the mask.
        layout: Of the features.
        num_actions: The length of a mask.
        feature_key: The key of the features, where an observation is a dictionary; that of the mask is ``action_mask``.
        mask_space: The mask's space there; None: ``MultiBinary``.

    Raises:
        ConfigError: For another value of ``mask_in`` or ``flat``.
    """

    def __init__(
        self,
        mask_in: object,
        flat: object,
        layout: Layout,
        num_actions: int,
        *,
        feature_key: str = "observation",
        mask_space: spaces.Space[Any] | None = None,
    ) -> None:
        place = check_choice("mask_in", mask_in, MASK_IN)
        self.in_info = place != "observation"
        self._appended = check_bool("flat_observation", flat) and place != "info"
        self._alone = place == "info"
        self._layout = layout
        self._num_actions = num_actions
        self._key = feature_key
        self._mask_space = mask_space

    @property
    def is_dict(self) -> bool:
        """Whether an observation is a dictionary."""
        return not (self._alone or self._appended)

    def space(self) -> spaces.Space[Any]:
        """A new space of observations."""
        low, high = self._layout.low, self._layout.high
        if self._appended:
            low = np.append(low, np.zeros(self._num_actions, np.float32))
            high = np.append(high, np.ones(self._num_actions, np.float32))
        box = spaces.Box(low, high, dtype=np.float32)
        if not self.is_dict:
            return box
        mask = spaces.MultiBinary(self._num_actions) if self._mask_space is None else self._mask_space
        return spaces.Dict({self._key: box, "action_mask": mask})

    def one(self, seen: FloatArray, mask: npt.NDArray[Any]) -> Any:
        """One observation, of these arrays themselves where their form allows.

        Args:
            seen: (F,) features.
            mask: (A,) what is legal.
        """
        if self._alone:
            return seen
        return (
            np.append(seen, mask.astype(np.float32))
            if self._appended
            else {self._key: seen, "action_mask": mask}
        )

    def many(self, seen: FloatArray, masks: npt.NDArray[Any]) -> list[Any]:
        """(n,) observations: views of these arrays, or of a new one.

        Args:
            seen: (n, F) features.
            masks: (n, A) what is legal.
        """
        if self._alone:
            return list(seen)
        if self._appended:
            return list(np.concatenate([seen, masks.astype(np.float32)], axis=1))
        key = self._key
        return [{key: row, "action_mask": mask} for row, mask in zip(seen, masks, strict=True)]

    def info(self, mask: npt.NDArray[Any]) -> dict[str, Any]:
        """What an info says of the mask: a new dictionary."""
        return {"action_mask": mask} if self.in_info else {}
