"""A call of something public with arguments that it accepts: what is made hostile starts from there."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """Something public.

    Args:
        name: For people.
        bind: Gives the callable; what it belongs to is made anew each time.
        good: Arguments that it accepts.
        more: Further parameters, which it has a default for.
        functions: Those of them that take a function of the user, whose own errors are the user's.
    """

    name: str
    bind: Callable[[], Callable[..., Any]]
    good: Mapping[str, Any]
    more: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(dict.fromkeys((*self.good, *self.more)))

    def make(self, given: Mapping[str, Any]) -> Any:
        """Call it; whatever it yields one by one is asked for the first time."""
        arguments = {**self.good, **given}
        for name in self.functions:
            if callable(arguments.get(name)):
                arguments[name] = lambda *_, **__: None
        result = self.bind()(**arguments)
        return next(result, None) if isinstance(result, Iterator) else result


def of(function: Callable[..., Any], **good: Any) -> Call:
    """Something with a name of its own; its other parameters have defaults."""
    return Call(function.__qualname__, lambda: function, good, optional(function, good))


def optional(function: Callable[..., Any], good: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the parameters that may be named, without those that are given."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters
    return tuple(name for name, found in parameters.items() if found.kind in kinds and name not in good)


def method(make: Callable[[], Any], name: str, **good: Any) -> Call:
    """A method of an object that is made anew for every call."""
    return Call(name, lambda: getattr(make(), name), good)
