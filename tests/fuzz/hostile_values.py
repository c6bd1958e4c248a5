"""Values of no sensible kind for every parameter of everything public: refused, or they do some good."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import IllegalActionError, StateError
from dragonfly_env.policies import make_policy
from dragonfly_env.traffic import Uniform
from tests.fuzz.call import Call
from tests.fuzz.draws import nested, odd
from tests.fuzz.outcome import Outcome, outcome
from tests.fuzz.public_calls import public_calls


class _Failing:
    """An object whose every method that somebody else might call raises an error of its own."""

    def _fail(self, *_: object, **__: object) -> Any:
        raise OSError("a method of the user's own")

    __float__ = __index__ = __int__ = __len__ = __iter__ = __getitem__ = __array__ = __fspath__ = _fail
    __repr__ = __str__ = __bool__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _fail


class _FailingInt(int):
    """The same as a number."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError("a method of the user's own")

    __index__ = __float__ = __int__ = __repr__ = __str__ = __lt__ = __le__ = __gt__ = __ge__ = _fail


def _cyclic() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


_HOSTILE: tuple[Callable[[], Any], ...] = (
    *(_Failing, _FailingInt, _cyclic, lambda: "a" * 10**5, lambda: "\ud800", lambda: {"\ud800": 1}),
    *(lambda: {5: 5}, lambda: {"name": _Failing()}, lambda: [_Failing()]),
    lambda: (i for i in range(3)),
    *(lambda: iter(()), lambda: [[1, 2], [3]], lambda: [1.5, "a", None], lambda: ["a", "b"]),
    *(lambda: bytearray(b"x"), lambda: memoryview(b"x"), lambda: np.array([1 + 2j])),
    *(lambda: np.array(["a"]), lambda: np.array([b"a"])),
    lambda: np.array([np.inf], dtype=np.float16),
    lambda: np.array([1, 2], dtype="M8[ns]"),
    lambda: np.array([{}], dtype=object),
    lambda: np.zeros((2, 2, 2, 2)),
    lambda: np.zeros((3, 0)),
    lambda: np.zeros(2, dtype=[("a", "f4")]),
    lambda: np.ma.masked_array([1, 2], mask=[0, 1]),
    lambda: np.longdouble("1e4000"),
    lambda: np.array([2**63], dtype=np.uint64),
    lambda: Dragonfly(1, 2, 1),
    lambda: Dragonfly,
    NetworkConfig,
    Uniform,
    lambda: make_policy("min"),
    lambda: make_policy("q-routing"),
    *(lambda: Path("x\0y"), lambda: Path("\ud800"), lambda: print, lambda: NotImplemented),
    *(lambda: Ellipsis, lambda: slice(None)),
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A call of something public in which one or two arguments are hostile."""
    made = folder.with_name("made")  # the other folder is emptied after every input
    made.mkdir()
    calls = public_calls(made)
    while True:
        call = random.choice(calls)
        names = random.sample(call.parameters, k=min(len(call.parameters), random.choice((1, 1, 1, 2))))
        given = {name: _value(random) for name in names}
        yield functools.partial(_try, call, given)


def _value(random: Random) -> Any:
    kind = random.random()
    if kind < 0.5:
        return random.choice(_HOSTILE)()
    return nested(random) if kind < 0.54 else odd(random)


def _try(call: Call, given: dict[str, Any]) -> Outcome:
    return outcome(functools.partial(call.make, given), StateError, IllegalActionError)
