"""The settings of the agent that learns by PPO from exact transitions; needs no PyTorch."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import Any

from dragonfly_env.agents import _network_fields as shared
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import choice, integer, normalise, real

FEATURES = MappingProxyType(
    {
        "path": (
            "hops",
            "destination_demand",
            "destination_remote_demand",
            "candidate_kind",
            "candidate_time_packets",
            "candidate_packets",
            "candidate_vc_packets",
            "candidate_queue_packets",
        ),
        "port": ("queue_packets", "credits_in_use", "link_class", "is_minimal", "hops", "waiting", "traffic"),
    }
)
"""What is observed if no features are named, by action: nothing that has the size of a system in it."""

_OF_PATHS = ("source-any", "way", "progressive")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PpoSettings:
    """What ``PpoAgent`` sees, its network and how it learns.

    Raises:
        ConfigError: For a value out of range.
    """

    action: str = choice(
        "path", ("path", "port"), doc="What it chooses: one of a few candidate paths, or the next port."
    )
    scope: str = choice(
        "source",
        ("source", "every", *_OF_PATHS),
        doc="Which routers decide, see ``EnvOptions``; the last three with paths only.",
    )
    features: tuple[str, ...] | None = shared.features(
        "``ppo_settings.FEATURES`` of the action, which no size of system is in"
    )
    occupancy_unit: str = shared.occupancy_unit()
    detours: tuple[str, ...] = shared.detours()
    hidden_units: tuple[int, ...] = shared.hidden_units(
        (32, 32),
        doc="Sizes of the hidden layers (ReLU) of the network that scores an action, and of the baseline's.",
    )
    learning_rate: float = shared.learning_rate(2e-3)
    rollout_transitions: int = integer(
        32_768, 2, 2**24, unit="transitions", doc="Completed between two improvements."
    )
    batch_transitions: int = integer(4096, 2, 2**24, unit="transitions", doc="Per gradient step.")
    epochs: int = integer(3, 1, 1000, doc="Passes over a rollout.")
    clip: float = shared.clip()
    entropy_weight: float = real(0.003, 0.0, 1e3, doc="Of the entropy bonus.")
    value_weight: float = real(0.5, 0.0, 1e3, doc="Of the baseline's loss (Huber, in units of 1 us).")
    max_gradient_norm: float = shared.max_gradient_norm(0.5)
    average_share: float = shared.average_share()
    sample: bool = shared.sample()

    def __post_init__(self) -> None:
        normalise(self)
        if self.scope in _OF_PATHS and self.action != "path":
            raise config_error("scope", self.scope, "must be 'source' or 'every' with action='port'")

    @property
    def reward(self) -> str:
        """``"delivery"``: what a decision brought is one number, the time to its packet's delivery."""
        return "delivery"

    @property
    def observed(self) -> tuple[str, ...]:
        """The features: those that were named, or the usual ones of the action."""
        return self.features if self.features is not None else FEATURES[self.action]

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that follow."""
        return {**shared.environment_options(self), "features": self.observed}
