"""Environments are pickled and copied by their recipe: how they were made, and which seed comes next.

A running episode is not carried: a copy begins with ``reset()``. Its first one begins with what the next one of the
original would, so two copies see the same traffic unless they are given seeds. That is what vector classes need, which
send environments to other processes.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import Any

from dragonfly_env.errors import StateError


class ByRecipe(ABC):
    """Base of environments that are pickled by their recipe, whatever a subclass's constructor takes."""

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


def _remembering(init: Any) -> Any:
    @functools.wraps(init)
    def made(self: ByRecipe, *arguments: Any, **options: Any) -> None:
        if (
            "_recipe" not in self.__dict__
        ):  # of the outermost constructor, which is the one to be called again
            self._recipe = arguments, options
        init(self, *arguments, **options)

    return made


def _made_again(kind: type[ByRecipe], arguments: tuple[Any, ...], options: dict[str, Any]) -> ByRecipe:
    return kind(*arguments, **options)
