"""A trace as a job: the same deliveries as the trace as traffic, on any hosts, next to background traffic."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.unit.cli_arguments import run

SETTINGS = {"topology": "72", "policy": "min", "packet_log": True}


def random_trace(seed: int, messages: int = 60, ranks: int = 12) -> Trace:
    draw = np.random.default_rng(seed)
    return Trace.from_columns(
        time_ns=np.sort(draw.integers(0, 20_000, messages)),
        src=draw.integers(0, ranks, messages),
        dst=draw.integers(0, ranks, messages),
        bytes=draw.integers(0, 600, messages),
    )


def deliveries(**settings: object) -> list[tuple[int, ...]]:
    simulation = dfe.Simulation(dfe.SimulationConfig(**{**SETTINGS, **settings}))  # type: ignore[arg-type]
    simulation.run_to_completion()
    log = simulation.packet_log()
    return sorted(zip(*(log[name].tolist() for name in ("src", "dst", "delivered_ns")), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_a_job_delivers_the_messages_of_a_trace_when_the_trace_does(seed: int) -> None:
    trace = random_trace(seed)
    assert deliveries(jobs=[dfe.Job(trace)]) == deliveries(traffic=trace)


def test_ranks_of_a_trace_send_next_to_background_traffic_of_the_other_hosts() -> None:
    trace = random_trace(1)
    hosts = list(range(71, 71 - 2 * 12, -2))
    alone = {"jobs": [dfe.Job(trace, placement=hosts)]}
    placed = {host for rank, host in enumerate(hosts) if rank in trace.src}
    assert {src for src, _, _ in deliveries(**alone)} == placed
    quiet = dfe.Simulation(dfe.SimulationConfig(**{**SETTINGS, **alone})).run_to_completion()
    busy = dfe.Simulation(
        dfe.SimulationConfig(**{**SETTINGS, **alone, "traffic": "adv+1", "load": 0.5})
    ).run_to_completion()
    assert busy.jobs[0].messages.count == quiet.jobs[0].messages.count == len(trace)
    assert busy.jobs[0].messages.mean_ns > quiet.jobs[0].messages.mean_ns
    assert busy.packets_delivered > 10 * quiet.packets_delivered


def test_a_job_of_a_trace_is_made_of_a_file_a_table_and_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.csv").write_text("time_ns,src,dst,bytes\n100,0,1,128\n200,1,2,4096\n", encoding="utf-8")
    job = dfe.Job.parse("trace:two.csv,start=first,placement=random,seed=3")
    assert (job.num_hosts, job.placement, job.program.spec) == (3, "random", "trace:two.csv,start=first")
    assert dfe.Job.from_dict(job.to_dict()) == job == pickle.loads(pickle.dumps(job))
    arguments = ["-t", "72", "--job", "trace:two.csv", "--traffic", "uniform", "-l", "0.2", "--to-completion"]
    result = run("simulate", *arguments)
    assert result.exit_code == 0, result.output
    assert "trace:two.csv" in result.stdout


def test_what_no_job_can_replay_is_refused() -> None:
    routed = Trace.from_columns(time_ns=[0], src=[0], dst=[1], bytes=[1], routers=["0"])
    with pytest.raises(dfe.ConfigError, match="must be a trace without routes"):
        dfe.Job(routed)
    empty = Trace.from_columns(time_ns=[], src=[], dst=[], bytes=[])
    with pytest.raises(dfe.ConfigError, match="must be a trace with a message"):
        dfe.Job(empty)
    with pytest.raises(dfe.ConfigError, match="hosts = 3: must be 12"):
        dfe.Job(random_trace(0), hosts=3)
