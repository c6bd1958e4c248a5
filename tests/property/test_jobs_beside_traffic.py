"""Random short jobs beside open-loop traffic, behind random warm-ups: what is reported is the job's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation
from dragonfly_env.sweeps import Scenario, load_results, run_all
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.summary import render_summary

PS = 1000


@dataclass(frozen=True)
class Case:
    """A job of two ranks, the traffic of the others, and a warm-up."""

    messages: int
    message_bytes: int
    compute_ns: int
    start_ns: int
    load: float
    warmup_ns: float

    def program(self, rank: int, ranks: int) -> Iterator[Operation]:
        """An exchange, then a barrier."""
        yield jobs.compute(self.compute_ns)
        yield jobs.begin("exchange")
        for _ in range(self.messages):
            yield jobs.receive(0) if rank else jobs.send(1, self.message_bytes)
        yield jobs.end("exchange")
        yield from jobs.barrier(rank, range(ranks))


CASES = st.builds(
    Case,
    messages=st.integers(1, 6),
    message_bytes=st.integers(1, 4000),
    compute_ns=st.integers(1, 3000),
    start_ns=st.integers(0, 500),
    load=st.sampled_from([0.05, 0.3, 0.6]),
    warmup_ns=st.integers(0, 6_000_000).map(lambda ps: ps / PS),
)


def scenario(case: Case) -> Scenario:
    job = dfe.Job(case.program, hosts=2, start_ns=float(case.start_ns), placement=[0, 41])
    return Scenario.from_dict(
        {
            "topology": "72",
            "policies": ["min", "ugal-n"],
            "traffic": ["uniform"],
            "loads": [case.load],
            "warmup_ns": case.warmup_ns,
            "measure_ns": 1e6,
            "jobs": [job.to_dict()],
        }
    )


@settings(deadline=None, max_examples=12)
@given(CASES)
def test_reports_are_about_the_jobs_with_any_warm_up(case: Case) -> None:
    run, _ = scenario(case).runs()
    row = measure(run)
    (job,) = json.loads(row["jobs"])
    assert job["start_ns"] == pytest.approx(case.warmup_ns + case.start_ns, abs=1e-6)
    assert job["run_time_ns"] >= case.compute_ns
    assert row["duration_ns"] >= case.start_ns + job["run_time_ns"] - 1e-6
    assert row["packets_delivered"] >= job["packets_delivered"] > 0
    assert job["operations"]["exchange"]["count"] == 2
    assert job["operations"]["exchange"]["max_ns"] <= job["run_time_ns"]
    assert job["iterations"] == 2
    assert 0 < job["mpi_share"] <= 1
    # Alone, and from time 0 on, it is the same job.
    alone = run.config.replace(traffic=None, jobs=[run.config.jobs[0].replace(start_ns=0.0)])
    same = dfe.Simulation(alone).run_to_completion().jobs[0]
    assert job["messages"] == same.messages.count
    assert job["operations"].keys() == same.operations.keys()
    assert job["packets_delivered"] == same.packets_delivered


@settings(deadline=None, max_examples=4)
@given(CASES)
def test_a_sweep_of_jobs_reads_its_own_results(case: Case) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "results"
        report = run_all(scenario(case), folder, workers=1)
        assert (report.finished, report.failures) == (2, ())
        results = load_results(folder)
        assert len(results.table) == 2
        assert (results.table["packets_delivered"] > 0).all()
        render_summary(results)
