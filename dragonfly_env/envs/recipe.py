"""Environments are pickled and copied by their recipe: how they were made, and which seed comes next.

A running episode is not carried: a copy begins with ``reset()``. Its first one begins with what the next one of the
original would, so two copies see the same traffic unless they are given seeds. That is what vector classes need, which
send environments to other processes.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dragonfly_env import _core
from dragonfly_env.errors import StateError
from dragonfly_env.simulation.core_owner import AT_WORK

_Self = TypeVar("_Self", bound="ByRecipe")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class ByRecipe(ABC):
    """Base of environments that are pickled by their recipe, whatever a subclass's constructor takes."""

    _one_thread: _core.Turnstile  # who is inside a method that is `alone`
    _recipe: tuple[tuple[Any, ...], dict[str, Any]]
    _is_copy = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        init = cls.__dict__.get("__init__")
        if init is not None:
            cls.__init__ = _remembering(init)  # type: ignore[method-assign]  # the same, but for the note

    def __reduce__(self) -> tuple[Any, ...]:
        arguments, options = self._recipe
        return _made_again, (type(self), arguments, options), self._seed_state()

    def __setstate__(self, seeds: dict[str, Any]) -> None:
        self._is_copy = True
        self._go_on(seeds)

    @abstractmethod
    def _seed_state(self) -> dict[str, Any]:
        """What decides on the seeds of later episodes."""

    @abstractmethod
    def _go_on(self, seeds: dict[str, Any]) -> None:
        """Take over what `_seed_state` gave, in an environment that was just made."""

    def _not_begun(self, call: str) -> StateError:
        """What to raise before the first reset."""
        why = (
            " (a copy has an environment's settings and seeds, not its running episode)"
            if self._is_copy
            else ""
        )
        return StateError(f"{call}: call reset() first{why}")


def alone(
    method: Callable[Concatenate[_Self, _Given], _Result],
) -> Callable[Concatenate[_Self, _Given], _Result]:
    """Make a method of an environment refuse a second thread with a ``StateError``; such methods do not call each
    other.
    """

    @functools.wraps(method)
    def entered(self: _Self, /, *arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        with self._one_thread:
            return method(self, *arguments, **options)

    return entered


def _remembering(init: Any) -> Any:
    @functools.wraps(init)
    def made(self: ByRecipe, *arguments: Any, **options: Any) -> None:
        if (
            "_recipe" not in self.__dict__
        ):  # of the outermost constructor, which is the one to be called again
            self._recipe = arguments, options
            self._one_thread = _core.Turnstile(AT_WORK)
        init(self, *arguments, **options)

    return made


def _made_again(kind: type[ByRecipe], arguments: tuple[Any, ...], options: dict[str, Any]) -> ByRecipe:
    return kind(*arguments, **options)
