"""The package's errors: derived from the fitting built-in, picklable, and raised with a readable message."""

from __future__ import annotations

import pickle

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.checks.values import (
    check_time_ns,
    ns_to_ps,
)

ERRORS = (dfe.ConfigError, dfe.IllegalActionError, dfe.DeadlockError, dfe.StateError)


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (dfe.ConfigError, ValueError),
        (dfe.IllegalActionError, ValueError),
        (dfe.DeadlockError, RuntimeError),
        (dfe.StateError, RuntimeError),
    ],
)
def test_an_error_is_also_the_built_in_that_fits(error: type[Exception], built_in: type[Exception]) -> None:
    assert issubclass(error, built_in)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_survives_the_way_to_another_process(error: type[Exception]) -> None:
    copy = pickle.loads(pickle.dumps(error("what happened")))
    assert type(copy) is error
    assert str(copy) == "what happened"


def test_the_core_raises_the_same_class_as_python() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^arrangement = .*palmtree"):
        _core.Topology(4, 8, 4, 0, "palm", 1)


@pytest.mark.parametrize(("ns", "ps"), [(0, 0), (3.2, 3_200), (0.001, 1), (1e15, 10**18), (1e-4, None)])
def test_nanoseconds_become_picoseconds_as_written(ns: float, ps: int | None) -> None:
    if ps is None:
        with pytest.raises(dfe.ConfigError, match="whole number of picoseconds"):
            ns_to_ps("t", ns)
    else:
        assert ns_to_ps("t", ns) == ps
        if ns <= 1e9:
            assert check_time_ns("t", ns) == ns
