"""Settings that all tests share.

Hypothesis draws the same examples on every machine and in every run, so that a test never fails by luck. To search
further: ``pytest tests/property --hypothesis-profile=explore``.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.products import chosen_cases, share_of

# Collection makes millions of objects that stay: looking for garbage among them is a quarter of its time.
gc.disable()

# No deadline: tests never depend on how fast the machine is.
settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")

# Several test processes share the cores: with a thread per core each, PyTorch spends most of its time waiting.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that starts the tests in the background may ignore SIGINT, and children inherit that: Ctrl-C would
# be tested on processes that cannot hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says how much of the products of parameters and of the slow tests is tested."""
    parser.addoption(
        "--products",
        default="pairs",
        help="tests marked with `product`: `pairs` runs a choice of their cases in which every pair of values "
        "occurs, and leaves out tests marked with `slow` that are not named by their file; `all` runs every case "
        "and every test, `3/10` runs the third tenth of both",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that is marked with `product` its cases."""
    marker = metafunc.definition.get_closest_marker("product")
    if marker is not None:
        cases = chosen_cases(marker.kwargs, metafunc.config.getoption("--products"))
        ids = ["-".join(getattr(value, "__name__", str(value)) for value in case) for case in cases]
        metafunc.parametrize(list(marker.kwargs), cases, ids=ids)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out, or take a share of them (``--products``)."""
    choice = config.getoption("--products")
    named = any(".py" in argument for argument in config.args)
    if choice == "pairs" and (named or "slow" in config.option.markexpr):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    some = set() if choice == "pairs" else set(share_of(slow, choice))
    left_out = [item for item in slow if item not in some]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """From now on look for garbage, among what tests make."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def ctrl_c_is_left_alone() -> Iterator[None]:
    """A test that changes the handler of Ctrl-C in this process fails itself, instead of some later test."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before
