"""Jobs start after a warm-up, and what a window would not measure is refused before the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.simulation.window import after_warmup
from dragonfly_env.sweeps import Scenario
from dragonfly_env.sweeps.measure import simulate_run
from dragonfly_env.sweeps.point import Run

JOB = {"program": "milc:scale=0.001,gap_ns=1000", "hosts": 8, "start_ns": 500.0}
ENDLESS = {**JOB, "iterations": "endless"}


def config(*jobs: dict[str, Any], **changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(topology="72", jobs=jobs, **changes)


def run_of(made: dfe.SimulationConfig, *, warmup_ns: float, measure_ns: float = 1e5) -> Run:
    return Run(
        config=made,
        policy_label="min",
        traffic_label="mine",
        warmup_ns=warmup_ns,
        measure_ns=measure_ns,
        arrays=False,
    )


def starts(made: dfe.SimulationConfig) -> list[float]:
    return [job.start_ns for job in made.jobs if isinstance(job, dfe.Job)]


def test_jobs_that_end_start_after_the_warm_up_and_endless_ones_run_in_it() -> None:
    made = config(JOB, ENDLESS, "background-mix:fill=0.5,scale=0.001", traffic="uniform")
    assert starts(after_warmup(made, 1000.25)) == [1500.25, 500.0]
    assert after_warmup(made, 0.0) is made


TRACE = dfe.traffic.Trace.from_columns(
    time_ns=[10 * i for i in range(2_000)],
    src=[i % 72 for i in range(2_000)],
    dst=[(7 * i + 1) % 72 for i in range(2_000)],
    bytes=[128] * 2_000,
)


@pytest.mark.parametrize("warmup_ns", [0.0, 10_000.25, 100_000.0])
def test_a_trace_starts_after_the_warm_up(warmup_ns: float, tmp_path: Path) -> None:
    """2,000 messages within 20 us are generated and delivered, with any warm-up."""
    made = dfe.SimulationConfig(topology="72", traffic=TRACE)
    metrics = dfe.simulate(made, warmup_ns=warmup_ns, measure_ns=100_000.0)
    assert (metrics.packets_generated, metrics.packets_delivered) == (2_000, 2_000)
    file = tmp_path / "short.csv"
    time_ns = TRACE.time_ps / 1000
    pd.DataFrame({"time_ns": time_ns, "src": TRACE.src, "dst": TRACE.dst, "bytes": TRACE.bytes}).to_csv(
        file, index=False
    )
    settings = {"topology": "72", "policies": ["min"], "traffic": [f"trace:{file}"], "warmup_ns": warmup_ns}
    (run,) = Scenario.from_dict(settings).runs()
    assert simulate_run(run)[1].packets_delivered == 2_000
    again = dfe.SimulationConfig.from_dict(run.config.to_dict())
    assert (again.traffic_object, again.to_dict()) == (run.config.traffic_object, run.config.to_dict())


def test_policies_from_outside_meet_a_trace_after_the_warm_up_too() -> None:
    made = dfe.SimulationConfig(topology="72", traffic=TRACE)
    times = {"warmup_ns": 30_000.0, "measure_ns": 40_000.0}
    metrics = dfe.agents.evaluate_policy("min", made, **times, native=False)
    assert metrics.packets_delivered == 2_000
    assert metrics.latency_mean_ns == dfe.agents.evaluate_policy("min", made, **times).latency_mean_ns


def test_a_trace_outside_the_window_is_refused_before_the_run() -> None:
    made = dfe.SimulationConfig(topology="72", traffic=TRACE)
    with pytest.raises(
        dfe.ConfigError, match=r"^traffic = .* until 19990 ns': ends before the measured window"
    ):
        run_of(made, warmup_ns=20_000.0)
    late = made.replace(traffic=TRACE.delayed(5_000.0))
    with pytest.raises(dfe.ConfigError, match=r"^traffic = .* from 5000 ns': must begin before 4000 ns"):
        dfe.simulate(late, measure_ns=4_000.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"traffic": ["uniform"]}, (2000.0, [2500.0, 500.0])),
        ({"traffic": ["none"]}, (2000.0, [2500.0, 500.0])),
        ({"traffic": ["none"], "jobs": [JOB]}, (0.0, [500.0])),
        ({"traffic": ["none"], "warmup_ns": None}, (0.0, [500.0, 500.0])),
        ({"traffic": ["uniform"], "warmup_ns": None}, (100_000.0, [100_500.0, 500.0])),
    ],
)
def test_a_scenario_warms_up_what_runs_before_its_jobs(
    changes: dict[str, Any], expected: tuple[float, list[float]]
) -> None:
    settings = {"topology": "72", "policies": ["min"], "loads": [0.2], "warmup_ns": 2000.0}
    settings |= {"jobs": [JOB, ENDLESS], **changes}
    given = {name: value for name, value in settings.items() if value is not None}
    (run,) = Scenario.from_dict(given).runs()
    assert (run.warmup_ns, starts(run.config)) == expected


def test_a_warm_up_that_swallows_the_begin_of_a_job_is_refused() -> None:
    with pytest.raises(
        dfe.ConfigError, match=r"^jobs\[0\].start_ns = 500.0: must be at least warmup_ns = 501"
    ):
        run_of(config(JOB, traffic="uniform"), warmup_ns=501.0)
    assert run_of(config(JOB, traffic="uniform"), warmup_ns=500.0).closed_loop
    assert not run_of(config(ENDLESS, traffic="uniform"), warmup_ns=5000.0).closed_loop


def test_one_call_measures_a_job_as_long_as_it_takes_with_any_warm_up() -> None:
    short = config(JOB, traffic="uniform", load=0.2)
    for warmup_ns in (0.0, 30_000.0):
        metrics = dfe.simulate(short, warmup_ns=warmup_ns, measure_ns=400_000.0)
        (job,) = metrics.jobs
        assert job.complete
        assert job.start_ps == (warmup_ns + 500.0) * 1000
        assert sum(operation.count for operation in job.operations.values()) > 0
