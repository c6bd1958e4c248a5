"""A trained agent's record of its training environment, and whether another environment or network fits it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error, differences
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from dragonfly_env.decisions.layout import Layout

_PARTS = ("topology", "network")
_MOST_SHOWN = 4


class NetworkMismatchWarning(UserWarning):
    """A trained agent routes in another network than it was trained in. It may do well there, or badly.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", dfe.agents.NetworkMismatchWarning)
    """


def network_of(config: SimulationConfig) -> dict[str, Any]:
    """An agent's record of a network: plain values."""
    return {"topology": config.topology.to_dict(), "network": config.network.to_dict()}


def warn_elsewhere(trained_on: Mapping[str, Any], config: SimulationConfig, who: str) -> None:
    """Warn of an agent that was trained in another network.

    Args:
        trained_on: As `network_of` gives it, or a whole configuration's ``to_dict``; what is absent or empty is
            not known.
        config: Where it acts now.
        who: The agent, for the message.
    """
    here = network_of(config)
    known = {part: trained_on.get(part) for part in _PARTS}
    found = [
        f"{field} was {was!r} and is {is_now!r}"
        for part, there in known.items()
        if isinstance(there, Mapping) and there
        for field, is_now, was in differences(here[part], there, part)
    ]
    if found:
        more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        warnings.warn(
            f"{who} was trained in another network than this one: {', '.join(found[:_MOST_SHOWN])}{more}",
            NetworkMismatchWarning,
            stacklevel=3,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutFacts:
    """Names and ranges of the F features, and the number of actions."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    scale: tuple[float, ...]
    num_actions: int
    occupancy_unit: str

    @classmethod
    def of(cls, layout: Layout, num_actions: int) -> LayoutFacts:
        """The facts about a layout."""

        def numbers(values: npt.NDArray[Any]) -> tuple[float, ...]:
            limits = np.finfo(np.float32)
            return tuple(np.clip(values, limits.min, limits.max).astype(float).tolist())

        return cls(
            tuple(layout.names),
            numbers(layout.low),
            numbers(layout.high),
            numbers(layout.scale),
            num_actions,
            layout.occupancy_unit,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LayoutFacts:
        """The inverse of ``dataclasses.asdict``, after JSON."""
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**plain)

    @property
    def features(self) -> dict[str, float]:
        """The features in the order of their columns, each with its unit."""
        units: dict[str, float] = {}
        for name, unit in zip(self.names, self.scale, strict=True):
            units.setdefault(_feature_of(name), unit)
        return units

    @property
    def candidates(self) -> tuple[str, ...]:
        """The kinds of the candidate paths, as far as columns tell: ``candidate_hops[1 lgl]``."""
        columns = [name for name in self.names if name.startswith("candidate_")]
        first = _feature_of(columns[0]) if columns else ""
        return tuple(name.rstrip("]").rpartition(" ")[2] for name in columns if _feature_of(name) == first)

    def observation_space(self) -> Any:
        """Box (F,) float32."""
        from gymnasium import spaces

        low, high = (np.array(bound, dtype=np.float32) for bound in (self.low, self.high))
        return spaces.Box(low, high, dtype=np.float32)

    def factors(self, other: LayoutFacts, who: str) -> npt.NDArray[np.float32] | None:
        """Factors that bring observations of another environment into the units of the training.

        Occupancies in packets can be converted, whichever buffers their unit follows from: units of packets are powers
        of two, so nothing is lost.

        Args:
            other: The facts about that environment.
            who: The agent, for the message.

        Returns:
            (F,) factors; None if the units are those of the training.

        Raises:
            ConfigError: Naming the first difference that cannot be converted.
        """
        self.require_unit(other, who)
        occupancy = np.array([_feature_of(name) in OCCUPANCY_FEATURES for name in self.names])
        trained, here = (np.array((facts.low, facts.high, facts.scale)) for facts in (self, other))
        same = trained.shape == here.shape and bool((trained == here)[:, ~occupancy].all())
        if (other.names, other.num_actions) == (self.names, self.num_actions) and same:
            units = np.where(occupancy, here[2] / np.where(occupancy, trained[2], 1.0), 1.0)
            return None if bool((units == 1.0).all()) else units.astype(np.float32)
        if other.num_actions != self.num_actions:
            text = (
                f"{other.num_actions} actions, but {who} was trained with {self.num_actions}: choose an agent over "
                "paths, which fits systems of other sizes"
            )
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

    def require_unit(self, other: LayoutFacts, who: str) -> None:
        """Refuse occupancies in ns where the training had packets, or the reverse.

        Raises:
            ConfigError: Naming both units.
        """
        shown = any(_feature_of(name) in OCCUPANCY_FEATURES for name in self.names)
        if shown and (self.occupancy_unit == "ns") != (other.occupancy_unit == "ns"):
            raise config_error(
                "occupancy_unit",
                other.occupancy_unit,
                f"must be {self.occupancy_unit!r}: {who} was trained with occupancies in that unit, and packets and "
                "times cannot be converted",
            )


def _feature_of(column: str) -> str:
    """The feature that a column belongs to."""
    return column.partition("[")[0]
