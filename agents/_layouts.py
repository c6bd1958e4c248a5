"""What a trained agent remembers of the environment that it was trained in, and whether another one fits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.arrays import as_numbers
from dragonfly_env.checks.outside import check_mapping
from dragonfly_env.checks.values import check_integer, config_error

if TYPE_CHECKING:
    from dragonfly_env.decisions.layout import Layout

_MOST_FEATURES = 2**16
_MOST_ACTIONS = 2**12


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
    def from_dict(cls, values: object) -> LayoutFacts:
        """The inverse of ``dataclasses.asdict``.

        Raises:
            ConfigError: If it is something else.
        """
        table = check_mapping("agent.layout", values)
        names = table.get("names")
        if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= _MOST_FEATURES:
            raise config_error("agent.layout.names", names, f"must be a list of 1 to {_MOST_FEATURES} names")
        for name in names:
            if not isinstance(name, str):
                raise config_error("agent.layout.names", name, "must be a list of names")
        low, high, scale = (_column(table, name, len(names)) for name in ("low", "high", "scale"))
        for name, below, above in zip(names, low, high, strict=True):
            if not below <= above:
                raise config_error(f"agent.layout.low of {name}", below, f"must be at most {above}")
        actions = check_integer("agent.layout.num_actions", table.get("num_actions"), 1, _MOST_ACTIONS)
        return cls(tuple(names), low, high, scale, actions)

    @property
    def features(self) -> dict[str, float]:
        """The features in the order of their columns, each with its unit."""
        units: dict[str, float] = {}
        for name, unit in zip(self.names, self.scale, strict=True):
            units.setdefault(feature_of(name), unit)
        return units

    @property
    def candidates(self) -> tuple[str, ...]:
        """The kinds of the candidate paths, as far as columns tell: ``candidate_hops[1 lgl]``."""
        columns = [name for name in self.names if name.startswith("candidate_")]
        first = feature_of(columns[0]) if columns else ""
        return tuple(name.rstrip("]").rpartition(" ")[2] for name in columns if feature_of(name) == first)

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


def feature_of(column: str) -> str:
    """The feature that a column belongs to."""
    return column.partition("[")[0]


def _column(table: Mapping[str, object], name: str, length: int) -> tuple[float, ...]:
    """A float32 for every feature."""
    field = f"agent.layout.{name}"
    values = as_numbers(field, table.get(name), ndim=1)
    largest = float(np.finfo(np.float32).max)
    if len(values) != length or not (np.abs(values) <= largest).all():
        raise config_error(
            field, table.get(name), f"must be a list of {length} numbers within single precision"
        )
    return tuple(values.tolist())
