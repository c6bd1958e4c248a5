"""The settings of the MaskablePPO agent; needs no PyTorch."""

from __future__ import annotations

import dataclasses
from typing import Any

from dragonfly_env.agents import _network_fields as shared
from dragonfly_env.config.rows import choice, integer, normalise, real, time_ns


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MaskedPpoSettings:
    """What ``MaskedPpoAgent`` sees, what it is paid for, its network and how it learns.

    Raises:
        ConfigError: For a value out of range.
    """

    action: str = choice(
        "path",
        ("path", "port"),
        doc="What it chooses: one of a few candidate paths, or the next port.",
    )
    scope: str = choice("source", ("source", "every", "all"), doc="Which routers decide.")
    reward: str = choice(
        "hop",
        ("hop", "delivery", "team"),
        doc="The reward of BatchedRoutingEnv; paid per step of the vector environment.",
    )
    reward_scale_ns: float = time_ns(
        100_000.0, open_low=True, doc="The time that costs a reward of -1; large, so that values stay small."
    )
    delivery_bonus_ns: float = time_ns(
        3_000.0,
        doc="What every delivery earns on top, as if it saved so much time; only with scope 'source' and reward 'hop' "
        "or 'delivery'. Without it a network that is congested, and so delivers less, pays less.",
    )
    features: tuple[str, ...] | None = shared.features()
    occupancy_unit: str = shared.occupancy_unit()
    detours: tuple[str, ...] = shared.detours()
    hidden_units: tuple[int, ...] = shared.hidden_units(
        doc="Sizes of the hidden layers (tanh) of policy and value."
    )
    learning_rate: float = shared.learning_rate(3e-4)
    rollout_steps: int = integer(
        256, 2, shared.MOST, unit="steps", doc="Of every router between two improvements."
    )
    batch_steps: int = integer(2048, 2, 2**24, unit="steps", doc="Per gradient step.")
    epochs: int = integer(4, 1, 1000, doc="Passes over a rollout.")
    discount: float = real(
        0.99,
        0.0,
        1.0,
        doc="Per step of the vector environment. A packet is paid for some 30 steps after its decision: much below 1, "
        "a discount rewards slow paths.",
    )
    gae_lambda: float = real(
        0.99, 0.0, 1.0, doc="Generalised advantage estimation; near 1 for the same reason."
    )
    clip: float = shared.clip()
    entropy_weight: float = real(0.0, 0.0, 1e3, doc="Of the entropy bonus.")
    value_weight: float = real(0.5, 0.0, 1e3, doc="Of the value's loss.")
    max_gradient_norm: float = shared.max_gradient_norm(0.5)
    average_share: float = shared.average_share()
    sample: bool = shared.sample()

    def __post_init__(self) -> None:
        normalise(self)

    @property
    def pays_bonus(self) -> bool:
        """Whether every payment is for one delivered packet, and there is a bonus."""
        return self.delivery_bonus_ns > 0 and self.scope == "source" and self.reward != "team"

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that follow."""
        return shared.environment_options(self, ("reward_scale_ns",))
