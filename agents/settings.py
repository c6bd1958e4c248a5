"""The settings of the agents with a neural network; they need no PyTorch."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import Any

from dragonfly_env.baselines.mlp_network import SCOPES, check_scope
from dragonfly_env.checks.values import check_choice, check_integer, config_error
from dragonfly_env.config.help import documented
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, setting, show_changes
from dragonfly_env.decisions.layout import NONMINIMAL_KINDS, OCCUPANCY_UNITS

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

_MOST = 2**31 - 1


def _features(unnamed: str = "those of the environment") -> Any:
    """Features that the agent observes; None too.

    Args:
        unnamed: What None means, for the documentation.
    """
    return setting(
        None,
        lambda name, value: _names(name, value, None),
        "",
        f"Names of the observation's features; None: {unnamed}.",
        optional=True,
    )


def _occupancy_unit() -> Any:
    """In which occupancies are observed."""
    return choice(
        "buffers",
        OCCUPANCY_UNITS,
        doc="Of the occupancies that it observes, as of ``BatchedRoutingEnv``. 'packets' and 'ns' mean the same "
        "whatever the buffers are; where they differ, 'buffers' is converted.",
    )


def _nonminimal_kinds() -> Any:
    """Which non-minimal paths it may take."""
    return setting(
        NONMINIMAL_KINDS,
        lambda name, value: _names(name, value, NONMINIMAL_KINDS),
        "",
        "Kinds of non-minimal paths among the candidates; with action 'path' only.",
        optional=False,
    )


def _hidden_units(default: tuple[int, ...] = (64, 64), *, doc: str) -> Any:
    """A to eight layer sizes."""
    return setting(default, _sizes, "units", doc, optional=False)


def _learning_rate(default: float) -> Any:
    """The optimiser's."""
    return real(default, 0.0, 1.0, open_low=True, doc="Step size of Adam.")


def _max_gradient_norm(default: float) -> Any:
    """Where gradients are clipped."""
    return real(default, 0.0, 1e9, open_low=True, doc="Longer gradients are shortened.")


def _environment_options(settings: Any) -> dict[str, Any]:
    """The keyword arguments of ``BatchedRoutingEnv`` that follow from settings."""
    options = {
        name: getattr(settings, name) for name in ("scope", "action", "reward", "features", "occupancy_unit")
    }
    if settings.action == "path":
        options["nonminimal_kinds"] = settings.nonminimal_kinds
    return options


def _names(field: str, value: object, known: tuple[str, ...] | None) -> tuple[str, ...]:
    """A tuple of strings (TOML and JSON give lists), each one of ``known`` if that is given."""
    if isinstance(value, str) or not isinstance(value, (tuple, list)):
        raise config_error(field, value, "must be a list of names")
    for name in value:
        if known is not None:
            check_choice(field, name, known)
        elif not isinstance(name, str):
            raise config_error(field, value, "must be a list of names")
    return tuple(value)


def _sizes(field: str, value: object) -> tuple[int, ...]:
    """A tuple of one to eight layer sizes."""
    if not isinstance(value, (tuple, list)) or not 1 <= len(value) <= 8:
        raise config_error(field, value, "must be a list of 1 to 8 numbers of units")
    return tuple(check_integer(field, size, 1, 4096) for size in value)


@documented
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepQSettings:
    """Settings of ``DeepQAgent``: its observations and rewards, its network and its learning rule.

    Raises:
        ConfigError: For a value out of range.

    Example:
        >>> settings = dfe.agents.DeepQSettings(hidden_units=(32,), discount=0.9)
        >>> settings.action, settings.env_options()["scope"]
        ('port', 'every')
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
        doc="Given per decision: minus the time to the packet's next decision, or minus the time to its "
        "delivery (then without bootstrapping). With scope 'source' both are the same.",
    )
    features: tuple[str, ...] | None = _features()
    occupancy_unit: str = _occupancy_unit()
    nonminimal_kinds: tuple[str, ...] = _nonminimal_kinds()
    hidden_units: tuple[int, ...] = _hidden_units(doc="Sizes of the hidden layers (ReLU).")
    learning_rate: float = _learning_rate(5e-4)
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
        256, 1, _MOST, unit="transitions", doc="New transitions per gradient step."
    )
    first_transitions: int = integer(
        2_000, 1, _MOST, unit="transitions", doc="Collected before the first gradient step."
    )
    buffer_transitions: int = integer(100_000, 1, 2**27, unit="transitions", doc="Size of the replay buffer.")
    target_update_steps: int = integer(
        1, 1, _MOST, unit="gradient steps", doc="After how many the target network moves."
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
    max_gradient_norm: float = _max_gradient_norm(10.0)
    epsilon_start: float = real(1.0, 0.0, 1.0, doc="Share of random actions at the beginning.")
    epsilon_end: float = real(0.02, 0.0, 1.0, doc="Share of random actions in the end.")
    epsilon_decisions: int = integer(
        300_000, 1, 2**53, unit="decisions", doc="Over how many it falls, linearly."
    )

    __repr__ = show_changes

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
        return _environment_options(self)


@documented
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PpoSettings:
    """Settings of ``PpoAgent``: its observations, its network and its learning rule.

    Raises:
        ConfigError: For a value out of range.

    Example:
        >>> settings = dfe.agents.PpoSettings(hidden_units=(16, 16))
        >>> settings.reward, settings.env_options()["action"], settings.observed[0]
        ('delivery', 'path', 'hops')
    """

    action: str = choice(
        "path", ("path", "port"), doc="What it chooses: one of a few candidate paths, or the next port."
    )
    scope: str = choice(
        "source",
        SCOPES,
        doc="Which routers decide, see ``EnvOptions``; the last three with paths only.",
    )
    features: tuple[str, ...] | None = _features(
        "``settings.FEATURES`` of the action, which no size of system is in"
    )
    occupancy_unit: str = _occupancy_unit()
    nonminimal_kinds: tuple[str, ...] = _nonminimal_kinds()
    hidden_units: tuple[int, ...] = _hidden_units(
        (32, 32),
        doc="Sizes of the hidden layers (ReLU) of the network that scores an action, and of the baseline's.",
    )
    learning_rate: float = _learning_rate(2e-3)
    rollout_transitions: int = integer(
        32_768, 2, 2**24, unit="transitions", doc="Completed between two improvements."
    )
    batch_transitions: int = integer(1024, 2, 2**24, unit="transitions", doc="Per gradient step.")
    epochs: int = integer(3, 1, 1000, doc="Passes over a rollout.")
    epoch_share: float = real(
        0.25, 0.0, 1.0, open_low=True, doc="Share of the rollout, drawn anew, that a pass takes."
    )
    clip: float = real(
        0.2, 0.0, 1.0, open_low=True, doc="Most that a probability ratio moves: PPO's epsilon."
    )
    entropy_weight: float = real(0.003, 0.0, 1e3, doc="Of the entropy bonus.")
    value_weight: float = real(0.5, 0.0, 1e3, doc="Of the baseline's loss (Huber, in units of 1 us).")
    max_gradient_norm: float = _max_gradient_norm(0.5)
    average_share: float = real(
        0.1,
        0.0,
        1.0,
        open_low=True,
        doc="How far the weights that act when it is evaluated move to the newest ones after each improvement; 1: they "
        "are the newest.",
    )
    sample: bool = boolean(
        True,
        doc="Whether it draws its actions when it is evaluated too (from the batch's random numbers); if not, it "
        "takes the likeliest.",
    )

    __repr__ = show_changes

    def __post_init__(self) -> None:
        normalise(self)
        check_scope(self.scope, self.action)

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
        return {**_environment_options(self), "features": self.observed}
