"""Settings that every agent with a neural network has; they need no PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dragonfly_env.checks.values import check_choice, check_integer, config_error
from dragonfly_env.config.rows import boolean, choice, real, setting
from dragonfly_env.decisions.layout import OCCUPANCY_UNITS
from dragonfly_env.envs.options import DETOURS

MOST = 2**31 - 1


def features(unnamed: str = "those of the environment") -> Any:
    """What it observes; None too.

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


def occupancy_unit() -> Any:
    """In which occupancies are observed."""
    return choice(
        "buffers",
        OCCUPANCY_UNITS,
        doc="Of the occupancies that it observes, as of ``BatchedRoutingEnv``. 'packets' and 'ns' mean the same "
        "whatever the buffers are; where they differ, 'buffers' is converted.",
    )


def detours() -> Any:
    """Which detours it may take."""
    return setting(
        DETOURS,
        lambda name, value: _names(name, value, DETOURS),
        "",
        "Kinds of detours among the candidates; with action 'path' only.",
        optional=False,
    )


def hidden_units(default: tuple[int, ...] = (64, 64), *, doc: str) -> Any:
    """One to eight layer sizes."""
    return setting(default, _sizes, "units", doc, optional=False)


def learning_rate(default: float) -> Any:
    """The optimiser's."""
    return real(default, 0.0, 1.0, open_low=True, doc="Step size of Adam.")


def max_gradient_norm(default: float) -> Any:
    """Where gradients are clipped."""
    return real(default, 0.0, 1e9, open_low=True, doc="Longer gradients are shortened.")


def average_share() -> Any:
    """Of the weights that act: an average of the recent ones."""
    return real(
        0.1,
        0.0,
        1.0,
        open_low=True,
        doc="How far the weights that act when it is evaluated move to the newest ones after each improvement; 1: they "
        "are the newest.",
    )


def sample() -> Any:
    """Whether a policy over actions is one when it is evaluated, too."""
    return boolean(
        True,
        doc="Whether it draws its actions when it is evaluated too (from the batch's draws); if not, it takes the "
        "likeliest.",
    )


def clip() -> Any:
    """PPO's epsilon."""
    return real(0.2, 0.0, 1.0, open_low=True, doc="Most that a probability ratio moves: PPO's epsilon.")


def environment_options(settings: Any, names: Iterable[str] = ()) -> dict[str, Any]:
    """The keyword arguments of ``BatchedRoutingEnv`` that follow from settings.

    Args:
        settings: With ``scope``, ``action``, ``reward``, ``features`` and ``detours``.
        names: Further fields that are such arguments.
    """
    always = ("scope", "action", "reward", *names, "features", "occupancy_unit")
    options = {name: getattr(settings, name) for name in always}
    if settings.action == "path":
        options["detours"] = settings.detours
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
