"""A run that is saved and restored goes on bit for bit: every policy, on networks of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.products import in_turn
from tests.ready import ready

GRID = dfe.Dragonfly(p=2, a=8, h=2, g=4, group=dfe.Grid(rows=2, columns=4, row_links=1, column_links=3))
NETWORKS = {"default": "72", "q-adaptive": "72", "lia": "72", "aries": GRID}
MEASURED_NS, MORE_NS = 1_500, 1_000


def config_of(policy: str, network: str, **settings: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(
        topology=NETWORKS[network],
        network=network,
        policy=ready(policy),
        traffic="adv+1",
        load=0.4,
        **settings,
    )


def facts(simulation: dfe.Simulation) -> dict[str, Any]:
    """All that a run shows of itself."""
    known: dict[str, Any] = {
        "hash": simulation.trace_hash(),
        "metrics": simulation.metrics().to_dict(),
        "time": simulation.time_ns,
    }
    if ready(simulation.config.policy_object.name).learns:
        known["table"] = simulation.q_table().tobytes().hex()
    if simulation.config.packet_log:
        known["log"] = {name: column.tolist() for name, column in simulation.packet_log().items()}
    return known


def state_of(snapshot: dfe.Snapshot) -> bytes:
    return bytes(snapshot._core)


@pytest.mark.parametrize(
    ("policy", "network"),
    in_turn(dfe.policies(), tuple(NETWORKS)),
)
def test_a_restored_run_goes_on_as_if_it_had_never_stopped(policy: str, network: str, tmp_path: Path) -> None:
    config = config_of(policy, network, packet_log=True, series_bin_ns=100.0, host_latency=True)
    whole = dfe.Simulation(config)
    whole.run(MEASURED_NS)
    snapshot = whole.snapshot()
    snapshot.save(tmp_path / "run")
    ways = {
        "memory": dfe.Simulation.restore(snapshot),
        "file": dfe.Simulation.restore(dfe.Snapshot.load(tmp_path / "run")),
        "fork": whole.fork(),
    }
    whole.run(MORE_NS)
    after = state_of(whole.snapshot())
    expected = facts(whole)
    for way, other in ways.items():
        other.run(MORE_NS)
        assert state_of(other.snapshot()) == after, way
        assert json.dumps(facts(other), default=str) == json.dumps(expected, default=str), way
        other.check_invariants()


SCRIPT = """
import json, sys
from pathlib import Path
import dragonfly_env as dfe
for file in sorted(Path(sys.argv[1]).iterdir()):
    simulation = dfe.Simulation.restore(dfe.Snapshot.load(file))
    simulation.run(2_000)
    table = simulation.q_table().tobytes().hex() if simulation.config.policy_object.learns else ""
    print(json.dumps([file.name, simulation.trace_hash(), simulation.metrics().to_dict(), table], default=str))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_saved_runs_go_on_in_another_process(threads: int, tmp_path: Path) -> None:
    """Run every policy for 3 us here, then 2 us more both there and here."""
    expected = []
    for policy in sorted(dfe.policies()):
        whole = dfe.Simulation(config_of(policy, "default", threads=threads))
        whole.run(3_000)
        whole.snapshot().save(tmp_path / policy)
        whole.run(2_000)
        table = whole.q_table().tobytes().hex() if ready(policy).learns else ""
        expected.append([policy, whole.trace_hash(), whole.metrics().to_dict(), table])
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [json.loads(line) for line in printed] == json.loads(json.dumps(expected, default=str))


PROGRAMS = ("hacc", "milc", "nek5000", "qbox", "rayleigh")
JOBS: dict[str, dict[str, Any]] = {
    "all-to-all": {"traffic": "all-to-all:message_bytes=2000"},
    "halo3d": {"traffic": "halo3d:side=8,iterations=3,compute_ns=200"},
    "graph500": {"traffic": "graph500:scale=10,signals=true,reduce=star"},
    "jobs": {
        "jobs": [
            dfe.Job(f"{program}:scale=0.02", hosts=8, placement="random-routers") for program in PROGRAMS
        ]
    },
    "next to traffic": {
        "jobs": [dfe.Job("milc:scale=0.02", hosts=8, policy="par")],
        "traffic": "uniform",
        "load": 0.3,
    },
}


@pytest.mark.parametrize("name", JOBS)
def test_programs_go_on_in_the_middle_of_their_work(name: str, tmp_path: Path) -> None:
    whole = dfe.Simulation(dfe.SimulationConfig(topology="72", policy="ugal-n", **JOBS[name]))
    for _ in range(4):
        whole.run(400)
        whole.snapshot().save(tmp_path / "run")
        other = dfe.Simulation.restore(dfe.Snapshot.load(tmp_path / "run"))
        whole.run(400)
        other.run(400)
        assert state_of(other.snapshot()) == state_of(whole.snapshot())
    ends = [simulation.run_to_completion().to_dict() for simulation in (whole, other)]
    assert json.dumps(ends[0], default=str) == json.dumps(ends[1], default=str)
    assert whole.trace_hash() == other.trace_hash()
    assert np.isfinite(whole.metrics().makespan_ns)
