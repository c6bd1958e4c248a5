"""Every fuzzer finds nothing in a small number of inputs, the same ones each time; ``make fuzz`` searches further.

A fuzzer is a module of this folder with a docstring that says what must hold, and

    def attempts(random: random.Random, folder: Path) -> Iterator[Callable[[], Outcome]]

``attempts`` is endless; each of its calls is one input, made from ``random`` alone, which is seeded anew for every
input by Hypothesis. What is made ready before the first ``yield`` must not draw from ``random``, and no input may lean
on an earlier one. ``folder`` is an empty folder for whatever has to be a file, and the current one. An input that
returns is ``RUN`` or ``REFUSED``; whatever it raises is wrong, and so is ending the process or taking gigabytes.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import re
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.fuzz.outcome import Outcome
from tests.fuzz.public_calls import public_calls
from tests.fuzz.public_surface import NOT_CALLED, missing, name_of, surface

# Module, and how many inputs `make test` tries: two or three seconds.
_FUZZERS = {
    "configurations": 400,
    "simulations": 100,
    "environments": 60,
    "interrupts": 20,
    "scenario_files": 12,
    "hostile_values": 240,
    "tampered_arrays": 350,
    "tampered_jobs": 80,
    "tampered_json": 60,
    "tampered_snapshots": 80,
    "tampered_traces": 150,
}
_MEMORY_BYTES = (
    4 * 2**30
)  # of address space; half of it in use is too much, even for an input that is refused


@pytest.mark.parametrize("fuzzer", _FUZZERS)
def test_no_input_of_the_fuzzer_goes_wrong(
    fuzzer: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)
    seed, times = (request.config.getoption(f"--fuzz-{name}") for name in ("seed", "times"))
    drawn = random.Random()
    module = importlib.import_module(f"tests.fuzz.{fuzzer}")
    ends: list[Outcome] = []

    with contextlib.closing(module.attempts(drawn, folder)) as attempts, _limited_memory():

        def attempt(seed: int) -> None:
            drawn.seed(seed)
            ends.append(next(attempts)())
            event(ends[-1].value)  # counted by --hypothesis-show-statistics
            shutil.rmtree(folder)
            folder.mkdir()
            os.chdir(folder)

        if seed is not None:
            drawn.seed(seed)
            next(attempts)()
            return
        searched = settings(
            max_examples=_FUZZERS[fuzzer] * times,
            derandomize=times == 1,
            phases=(Phase.reuse, Phase.generate),  # a smaller seed is no smaller input
            suppress_health_check=list(HealthCheck),
        )
        searched(given(seed=st.integers(0, 2**64 - 1))(attempt))()
    assert Outcome.RUN in ends, "a fuzzer whose inputs are all refused looks at nothing"


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    """Fail if much more memory is in use at any time than before."""
    sanitized = "ASAN_OPTIONS" in os.environ  # needs terabytes of address space
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before = _status("VmRSS")
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + _MEMORY_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    used = _status("VmHWM") - before
    assert used < _MEMORY_BYTES // 2, f"{used / 2**30:.1f} GB were in use"


def _status(name: str) -> int:
    """A figure of this process in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.M)
    assert found is not None
    return int(found[1]) * 1024


def test_hostile_values_go_to_everything_public_that_takes_some(tmp_path: Path) -> None:
    called = [call.bind() for call in public_calls(tmp_path)]
    assert missing(called) == set(), "add a call to public_calls, or a reason to NOT_CALLED"
    assert NOT_CALLED.keys() <= surface() - {name_of(value) for value in called}, (
        "left out, and yet called or gone"
    )


def test_every_call_works_as_it_is(tmp_path: Path) -> None:
    for call in public_calls(tmp_path):
        if call.name not in ("Trace.from_file",):  # of which no file is written
            call.make({})
