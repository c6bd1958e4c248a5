"""Experiments: scenarios, running them on all cores, results as tables and figures.

from pathlib import Path
from dragonfly_env.experiments import Scenario, run_sweep, load_results

scenario = Scenario.from_toml(Path("examples/demo.toml"))
run_sweep(scenario, Path("results/demo"))
table = load_results(Path("results/demo")).table       # one row per run
"""

from __future__ import annotations

from dragonfly_env.experiments.execute import Failure
from dragonfly_env.experiments.results import Results, aggregate, load_results
from dragonfly_env.experiments.run import Run
from dragonfly_env.experiments.runner import SweepInterrupted, SweepReport, run_sweep
from dragonfly_env.experiments.scenario import Scenario

__all__ = [
    "Failure",
    "Results",
    "Run",
    "Scenario",
    "SweepInterrupted",
    "SweepReport",
    "aggregate",
    "load_results",
    "run_sweep",
]
