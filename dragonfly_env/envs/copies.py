"""Environments are pickled and copied by the arguments of their constructor, and by which seed comes next.

A running episode is not carried: a copy begins with ``reset()``. Its first one begins with what the next one of the
original would, so two copies see the same traffic unless they are given seeds. That is what vector classes need, which
send environments to other processes.
"""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dragonfly_env import _core
from dragonfly_env.errors import StateError
from dragonfly_env.simulation.core_owner import AT_WORK

_Env = TypeVar("_Env", bound="Copied")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Copied:
    """Base of all environments. A subclass says with ``_seed_state`` what decides on the seeds of later episodes, and
    takes that over with ``_go_on`` in an environment that was just made.
    """

    _is_copy = False
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]
    _alone: _core.Turnstile  # who is inside a method that is `alone`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        given = inspect.signature(cls.__init__)  # what the constructor takes is not what `__new__` says
        cls.__signature__ = given.replace(parameters=[*given.parameters.values()][1:])  # type: ignore[attr-defined]

    def __new__(cls: type[_Env], *arguments: Any, **settings: Any) -> _Env:
        self = super().__new__(cls)
        self._arguments = arguments, settings
        self._alone = _core.Turnstile(AT_WORK)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        arguments, settings = self._arguments
        return _made_again, (type(self), arguments, settings), self._seed_state()

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
        copied = " (a copy has an environment's settings and seeds, not its running episode)"
        return StateError(f"{call}: call reset() first{copied if self._is_copy else ''}")


def _made_again(kind: type[Copied], arguments: tuple[Any, ...], settings: dict[str, Any]) -> Copied:
    return kind(*arguments, **settings)


def alone(
    method: Callable[Concatenate[_Env, _Given], _Result],
) -> Callable[Concatenate[_Env, _Given], _Result]:
    """Make a method of an environment refuse a second thread with a ``StateError``; such methods do not call each
    other.
    """

    @functools.wraps(method)
    def entered(self: _Env, /, *arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        with self._alone:
            return method(self, *arguments, **options)

    return entered
