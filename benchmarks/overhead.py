"""Family ``overhead``: what a run costs beyond the core: imports, building, statistics, rows, sweeps."""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from benchmarks.effort import Effort
from benchmarks.process import run_process
from benchmarks.result import Result
from benchmarks.workload import Report, configuration
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program
from dragonfly_env.sweeps import Scenario, load_results, run_all
from dragonfly_env.sweeps.measure import measure as measure_run
from dragonfly_env.sweeps.run import Run
from dragonfly_env.sweeps.storage import ResultsFolder

_RUN_NS = 1_000.0
_PROCESSES = (
    ("start Python", ("-c", "pass")),
    ("import dragonfly_env", ("-c", "import dragonfly_env")),
    ("import dragonfly_env.sweeps", ("-c", "import dragonfly_env.sweeps")),
    ("dragonfly-env --help", ("-m", "dragonfly_env.cli", "--help")),
    (
        "dragonfly-env simulate, 72 hosts for 1 us",
        (
            "-m",
            "dragonfly_env.cli",
            "simulate",
            "--topology=72",
            "--warmup-ns=0",
            "--measure-ns=1000",
            "--json",
        ),
    ),
)


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure starting processes, the steps of one run, and a sweep of tiny runs.

    Args:
        effort: ``processes``, ``rounds``, ``core_topology`` and ``sweep_runs`` are used.
        report: Told of the progress.

    Returns:
        CPU-milliseconds of each.
    """
    with tempfile.TemporaryDirectory() as folder:
        beside = Beside(program(), effort.yardstick_laps)
        return [
            *_processes(effort, beside, report),
            *_steps(effort, beside, report, Path(folder)),
            _sweep(effort, beside, report, Path(folder)),
        ]


def _result(
    name: str, samples: Callable[[], list[float]], beside: Beside, parameters: dict[str, Any]
) -> Result:
    """``samples()``: CPU-seconds; they are short, so the yardstick runs next to all of them together."""
    seconds, hops_per_s = beside.measure(samples)
    return Result(
        family="overhead",
        name=name,
        unit="CPU-ms",
        samples=[1e3 * s for s in seconds],
        higher_is_better=False,
        parameters=parameters,
        yardstick_hops_per_s=[hops_per_s] * len(seconds),
    )


def _processes(effort: Effort, beside: Beside, report: Report) -> list[Result]:
    """Whole processes; the first of each fills the caches of the system and is not counted, if there are more."""
    results = []
    for name, arguments in _PROCESSES:
        report(f"processes: {name}")
        command = [sys.executable, *arguments]
        if effort.processes > 1:
            run_process(command)

        def samples(command: list[str] = command) -> list[float]:
            return [run_process(command).cpu_s for _ in range(effort.processes)]

        results.append(_result(name, samples, beside, {"arguments": list(arguments)}))
    return results


def _steps(effort: Effort, beside: Beside, report: Report, folder: Path) -> list[Result]:
    report("steps of one run")
    config = configuration(effort.core_topology)
    run = Run(
        config=config,
        policy_label="min",
        traffic_label="uniform",
        warmup_ns=0.0,
        measure_ns=_RUN_NS,
        arrays=True,
    )
    simulation = dfe.Simulation(config)
    simulation.run(_RUN_NS)
    files = ResultsFolder(folder / "steps")
    files.prepare()
    row, provenance = measure_run(run)
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("build a configuration", lambda: configuration(effort.core_topology)),
        ("build a simulation", lambda: dfe.Simulation(config)),
        ("metrics()", simulation.metrics),
        ("metrics().to_dict()", lambda: simulation.metrics().to_dict()),
        ("trace_hash()", simulation.trace_hash),
        ("write a row", lambda: files.write_run(row, provenance)),
    )
    parameters = {"topology": effort.core_topology}
    return [
        _result(
            f"{name}, {effort.core_topology} hosts",
            functools.partial(_repeat, step, effort.rounds),
            beside,
            parameters,
        )
        for name, step in steps
    ]


def _repeat(step: Callable[[], object], rounds: int, calls: int = 5) -> list[float]:
    """CPU-seconds of one call, ``rounds`` times the mean of ``calls``; the first call is not counted."""
    step()
    seconds = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(calls):
            step()
        seconds.append((time.process_time() - begin) / calls)
    return seconds


def _sweep(effort: Effort, beside: Beside, report: Report, folder: Path) -> Result:
    """A sweep in this process; what its rows say that the simulations took is not counted."""
    report("a sweep of tiny runs")
    parameters = {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["uniform"],
        "loads": [0.5],
        "seeds": list(range(effort.sweep_runs)),
        "warmup_ns": 0.0,
        "measure_ns": _RUN_NS,
    }
    scenario = Scenario.from_dict(parameters)

    def samples() -> list[float]:
        seconds = []
        for i in range(effort.rounds):
            target = folder / f"sweep{i}"
            begin = time.process_time()
            run_all(scenario, target, workers=1)
            cpu_s = time.process_time() - begin
            simulated_s = float(load_results(target).table["measured_cpu_seconds"].sum())
            seconds.append((cpu_s - simulated_s) / effort.sweep_runs)
        return seconds

    return _result("sweep, per run beyond its simulation, 72 hosts", samples, beside, parameters)
