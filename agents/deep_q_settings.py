"""The settings of the deep Q agent; needs no PyTorch."""

from __future__ import annotations

import dataclasses
from typing import Any

from dragonfly_env.agents import _network_fields as shared
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepQSettings:
    """What ``DeepQAgent`` sees, what it is paid for, its network and how it learns.

    Raises:
        ConfigError: For a value out of range.
    """

    action: str = choice(
        "port",
        ("port", "path"),
        doc="What it chooses: the next port, or one of a few candidate paths.",
    )
    scope: str = choice(
        "every",
        ("every", "all", "source"),
        doc="Which routers decide. With paths chosen at the 'source' a decision has no successor: the value of a "
        "path is the expected time to delivery, learned without bootstrapping.",
    )
    reward: str = choice(
        "hop",
        ("hop", "delivery"),
        doc="Paid per decision: minus the time to the packet's next decision, or minus the time to its "
        "delivery (then without bootstrapping). With scope 'source' both are the same.",
    )
    features: tuple[str, ...] | None = shared.features()
    occupancy_unit: str = shared.occupancy_unit()
    detours: tuple[str, ...] = shared.detours()
    hidden_units: tuple[int, ...] = shared.hidden_units(doc="Sizes of the hidden layers (ReLU).")
    learning_rate: float = shared.learning_rate(5e-4)
    discount: float = real(
        1.0, 0.0, 1.0, doc="Of the next decision's value; 1: values are times to delivery, as in Q-routing."
    )
    double_q: bool = boolean(
        True, doc="Whether the online network picks the next action that the target network values."
    )
    loss: str = choice(
        "huber", ("huber", "squared"), doc="Of the temporal difference, in units of the reward (1 us)."
    )
    batch_transitions: int = integer(256, 1, 2**20, unit="transitions", doc="Per gradient step.")
    train_every_transitions: int = integer(
        256, 1, shared.MOST, unit="transitions", doc="New transitions per gradient step."
    )
    first_transitions: int = integer(
        2_000, 1, shared.MOST, unit="transitions", doc="Collected before the first gradient step."
    )
    buffer_transitions: int = integer(100_000, 1, 2**27, unit="transitions", doc="Size of the replay buffer.")
    target_update_steps: int = integer(
        1, 1, shared.MOST, unit="gradient steps", doc="After how many the target network moves."
    )
    target_update_share: float = real(
        0.005,
        0.0,
        1.0,
        open_low=True,
        doc="How far it moves towards the online network; below 1 it averages recent weights, at 1 it is a copy.",
    )
    averaged: bool = boolean(
        True, doc="Whether the target network, the steadier one, acts when the agent does not train."
    )
    max_gradient_norm: float = shared.max_gradient_norm(10.0)
    epsilon_start: float = real(1.0, 0.0, 1.0, doc="Share of random actions at the beginning.")
    epsilon_end: float = real(0.02, 0.0, 1.0, doc="Share of random actions in the end.")
    epsilon_decisions: int = integer(
        300_000, 1, 2**53, unit="decisions", doc="Over how many it falls, linearly."
    )

    def __post_init__(self) -> None:
        normalise(self)
        if self.batch_transitions > self.buffer_transitions:
            raise config_error(
                "batch_transitions",
                self.batch_transitions,
                f"must be at most buffer_transitions = {self.buffer_transitions}",
            )

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that follow."""
        return shared.environment_options(self)
