"""The list of fuzzers: one line each.

A target is a module of this folder with

    NAME = "configurations"
    def attempts(random: random.Random, folder: Path) -> Iterator[Callable[[], Outcome]]

``attempts`` is endless; each of its calls is one input, made from ``random`` alone, which the driver seeds anew for
every input (from seed, target and number of the input): so input 12,345 can be repeated without those before it.
What is made ready before the first ``yield`` must not draw from ``random``, and no input may lean on an earlier one.
``folder`` is an empty folder for whatever has to be a file, the current one of the process. An input that returns is
``RUN`` or ``REFUSED``; whatever it raises is wrong, and so is killing the process, or keeping it busy for minutes.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import cast

from tests.fuzz.outcome import Outcome

Attempts = Callable[[Random, Path], Iterator[Callable[[], Outcome]]]


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """One fuzzer.

    Args:
        module: Name of the module in this folder.
        inputs_in_tests: How many inputs ``make test`` tries: two or three seconds.
    """

    module: str
    inputs_in_tests: int

    @property
    def name(self) -> str:
        """The module's NAME: that of its file, with dashes."""
        return self.module.replace("_", "-")

    def load(self) -> Attempts:
        """Import the module; its ``attempts``."""
        module = importlib.import_module(f"tests.fuzz.{self.module}")
        if self.name != module.NAME:
            raise RuntimeError(f"{module.__file__}: NAME = {module.NAME!r} must be {self.name!r}")
        return cast(Attempts, module.attempts)


TARGETS: tuple[Target, ...] = (
    Target("configurations", 400),
    Target("simulations", 60),
    Target("environments", 60),
    Target("reset_options", 40),
    Target("core_calls", 60),
    Target("threads", 10),
    Target("interrupts", 20),
    Target("command_lines", 15),
    Target("scenario_files", 12),
    Target("linked_folders", 5),
    Target("operation_texts", 60),
    Target("python_programs", 60),
    Target("jobs_in_cuts", 15),
    Target("hostile_values", 240),
    Target("tampered_agents", 25),
    Target("tampered_jobs", 80),
    Target("tampered_json", 60),
    Target("tampered_published", 15),
    Target("tampered_q_tables", 200),
    Target("tampered_results", 25),
    Target("tampered_toml", 100),
    Target("tampered_traces", 150),
    Target("tampered_weights", 150),
)  # fmt: skip


def target_of(name: str) -> Target:
    """The target called ``name``.

    Raises:
        KeyError: If there is none.
    """
    return {target.name: target for target in TARGETS}[name]
