"""Experiments: scenarios, running them on all cores, results as tables and figures.

from pathlib import Path
from dragonfly_env.sweeps import Scenario, run_all, load_results

scenario = Scenario.from_toml(Path("examples/demo.toml"))
run_all(scenario, Path("results/demo"))
table = load_results(Path("results/demo")).table       # one row per run
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.extras import require_analysis

if TYPE_CHECKING:
    from dragonfly_env.sweeps.point import Point, Run
    from dragonfly_env.sweeps.results import Results, aggregate, load_results
    from dragonfly_env.sweeps.runner import Failure, SweepInterrupted, SweepReport, run_all
    from dragonfly_env.sweeps.scenario import Scenario

# The module of each name. Tables come with pandas, which takes longer to import than all else, and the command line
# needs only scenarios for its options.
_HOMES = {
    **dict.fromkeys(("Point", "Run"), "point"),
    "Scenario": "scenario",
    **dict.fromkeys(("Results", "aggregate", "load_results"), "results"),
    **dict.fromkeys(("Failure", "SweepInterrupted", "SweepReport", "run_all"), "runner"),
}
_NEED_ANALYSIS = ("results", "runner")  # tables and worker processes; scenarios and runs need no extra

__all__ = [
    "Failure",
    "Point",
    "Results",
    "Run",
    "Scenario",
    "SweepInterrupted",
    "SweepReport",
    "aggregate",
    "load_results",
    "run_all",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOMES[name] in _NEED_ANALYSIS:
        require_analysis(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
