"""What a trained agent remembers of the environment that it was trained in, and whether another one fits."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env._validate import config_error
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from dragonfly_env.envs.layout import Layout


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutFacts:
    """Names and ranges of the F features, and the number of actions."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    scale: tuple[float, ...]
    num_actions: int

    @classmethod
    def of(cls, layout: Layout, num_actions: int) -> LayoutFacts:
        """The facts about a layout."""

        def numbers(values: npt.NDArray[Any]) -> tuple[float, ...]:
            limits = np.finfo(np.float32)
            return tuple(np.clip(values, limits.min, limits.max).astype(float).tolist())

        return cls(
            tuple(layout.names), numbers(layout.low), numbers(layout.high), numbers(layout.scale), num_actions
        )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> LayoutFacts:
        """The inverse of ``dataclasses.asdict``.

        Raises:
            ConfigError: If it is something else.
        """
        try:
            ranges = {name: tuple(map(float, values[name])) for name in ("low", "high", "scale")}
            facts = cls(
                names=tuple(map(str, values["names"])), num_actions=int(values["num_actions"]), **ranges
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"the saved agent has no readable layout ({error})") from error
        if not all(len(column) == len(facts.names) for column in ranges.values()) or facts.num_actions < 1:
            raise ConfigError("the saved agent has no readable layout: its columns differ in length")
        return facts

    def observation_space(self) -> Any:
        """Box (F,) float32."""
        from gymnasium import spaces

        low, high = (np.array(bound, dtype=np.float32) for bound in (self.low, self.high))
        return spaces.Box(low, high, dtype=np.float32)

    def require(self, other: LayoutFacts, who: str) -> None:
        """Refuse an environment with other features or actions than those of the training.

        Raises:
            ConfigError: Naming the first difference.
        """
        if other == self:
            return
        if other.num_actions != self.num_actions:
            text = f"{other.num_actions} actions, but {who} was trained with {self.num_actions}"
        elif len(other.names) != len(self.names):
            text = f"{len(other.names)} features, but {who} was trained with {len(self.names)}"
        elif other.names != self.names:
            at = next(
                i for i, pair in enumerate(zip(other.names, self.names, strict=True)) if pair[0] != pair[1]
            )
            text = f"feature {at} is {other.names[at]!r}, but {who} was trained with {self.names[at]!r}"
        else:
            text = f"features are scaled otherwise than those that {who} was trained with"
        raise config_error("layout", f"{len(other.names)} features", text)
