"""Programs and traces of other formats as schedules in GOAL."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs

ROOT = Path(__file__).resolve().parents[3]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def simulate(job: dfe.Job) -> tuple[float, int]:
    config = dfe.SimulationConfig(topology="72", network="q-adaptive", policy="ugal-n", jobs=[job])
    simulation = dfe.Simulation(config)
    return simulation.run_to_completion().jobs[0].run_time_ns, simulation.trace_hash()


def overlapped(rank: int, ranks: int) -> Iterator[jobs.Operation]:
    yield jobs.receive((rank - 1) % ranks, after=())
    yield jobs.send((rank + 1) % ranks, 65536, after=())
    yield jobs.compute(20_000, stream=1, after=())
    yield jobs.compute(500, after=(0, 2), after_start=(1,))
    yield from jobs.allreduce(rank, range(ranks), 8)


@pytest.mark.parametrize(
    "program",
    [
        "milc:scale=0.01,gap_ns=5000,jitter=0",
        "qbox:scale=0.002,gap_ns=6000,jitter=0",
        "moe:dp=6,ep=2,pp=3,layers=3,micro_batches=2,scale=0.00001,jitter=0,gap_ns=6e5",
        overlapped,
    ],
)
def test_a_program_written_as_goal_runs_as_the_program_itself(program: object, tmp_path: Path) -> None:
    job = dfe.Job(program, hosts=18, placement="random")
    operations = [list(job.program.operations(rank, 18)) for rank in range(18)]
    whole = all(cell.amount % 1000 == 0 for row in operations for cell in row if cell.kind == 5)
    jobs.write_goal(tmp_path / "program.goal", operations)
    spec = f"goal:{tmp_path}/program.goal,piece_bytes={job.program.piece()}"
    goal = dfe.Job(spec, placement=list(order(job)))
    if whole:
        assert simulate(goal) == simulate(job)
    else:  # times of computing are cut to whole ns
        assert simulate(goal)[0] == pytest.approx(simulate(job)[0], rel=0.01)


def order(job: dfe.Job) -> tuple[int, ...]:
    return dfe.SimulationConfig(topology="72", jobs=[job]).placed_jobs()[0].hosts


def test_a_receive_without_a_send_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dfe.ConfigError, match="receive = 0: must be sent: rank 1 waits for rank 0 in vain"):
        jobs.write_goal(tmp_path / "none.goal", [[], [jobs.receive(0)]])


def test_dumpi_becomes_messages_and_the_times_between_calls(tmp_path: Path) -> None:
    dumpi = example("dumpi_to_goal")
    files = [tmp_path / f"{rank}.txt" for rank in range(4)]
    for rank, path in enumerate(files):
        path.write_text(dumpi.SAMPLE.format(next=(rank + 1) % 4, before=(rank - 1) % 4))
    dumpi.convert(tmp_path / "ring.goal", files)
    lines = (tmp_path / "ring.goal").read_text().splitlines()
    assert lines[:6] == [
        "num_ranks 4",
        "rank 0 {",
        "l0: send 8000b to 1 tag 0",
        "l1: recv 8000b from 3 tag 0",
        "l2: calc 10000 cpu 0",  # between Waitall and Barrier
        "l3: calc 0 cpu 1",
    ]
    assert {"l2 requires l0", "l2 requires l1"} <= set(lines)
    assert not any(line.startswith(("l0 requires", "l1 requires")) for line in lines)
    run_time_ns, _ = simulate(dfe.Job(f"goal:{tmp_path}/ring.goal"))
    # A message of 63 packets, the computation, two steps of the barrier.
    assert 10_000 + 62 * 32 < run_time_ns < 10_000 + 62 * 32 + 1_500


def test_another_communicator_names_file_and_line(tmp_path: Path) -> None:
    dumpi = example("dumpi_to_goal")
    text = dumpi.SAMPLE.format(next=1, before=1).replace(
        "MPI_Comm comm=2 (MPI_COMM_WORLD)", "MPI_Comm comm=5"
    )
    (tmp_path / "0.txt").write_text(text)
    with pytest.raises(SystemExit, match=r"0\.txt, line 1: comm=5 must be MPI_COMM_WORLD"):
        dumpi.convert(tmp_path / "no.goal", [tmp_path / "0.txt"])


def test_chakra_becomes_a_graph_with_its_collectives_as_messages(tmp_path: Path) -> None:
    chakra = example("chakra_to_goal")
    files = [tmp_path / f"{rank}.json" for rank in range(4)]
    for rank, path in enumerate(files):
        path.write_text(chakra.SAMPLE.format(next=(rank + 1) % 4, before=(rank - 1) % 4))
    chakra.convert(tmp_path / "step.goal", files)
    text = (tmp_path / "step.goal").read_text()
    assert "l0: calc 5000 cpu 0" in text
    assert "l1: send 65536b to 1 tag 0" in text
    run_time_ns, _ = simulate(dfe.Job(f"goal:{tmp_path}/step.goal"))
    # 5 us, a message of 512 packets, six steps of a ring with 512 packets each, 2 us; and at most 0.5 us per message.
    law = 7_000 + 7 * 512 * 32
    assert law < run_time_ns < law + 7 * 500


def test_a_node_that_comes_before_what_it_depends_on_still_waits(tmp_path: Path) -> None:
    chakra = example("chakra_to_goal")
    nodes = [
        {"id": "7", "name": "late", "type": "COMP_NODE", "durationMicros": "1", "dataDeps": ["3"]},
        {"id": "3", "name": "early", "type": "COMP_NODE", "durationMicros": "4"},
    ]
    (tmp_path / "0.json").write_text("\n".join(map(json.dumps, nodes)))
    chakra.convert(tmp_path / "two.goal", [tmp_path / "0.json"])
    assert "l0 requires l1" in (tmp_path / "two.goal").read_text()
