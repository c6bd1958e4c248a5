"""Programs that are written down: what lines say, and what is said about lines that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs import Operation

RING = """
# A ring, and a result.
ranks 4
*   compute ns=1000
*   receive from=-1
*   send to=+1 bytes=4096
*   wait
0   send to=3 bytes=100 label=result   # at once
3   receive from=0 label=result
0-3 allreduce bytes=8
"""


def written(text: str, tmp_path: Path) -> dfe.Job:
    file = tmp_path / "test.ops"
    file.write_text(text)
    return dfe.Job(f"file:{file}")


def simulate(job: dfe.Job) -> tuple[dfe.Metrics, int]:
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=dfe.Dragonfly(p=2, a=4, h=2), jobs=[job]))
    return simulation.run_to_completion(), simulation.trace_hash()


def test_a_file_runs_and_equals_the_same_program_in_python(tmp_path: Path) -> None:
    def ring(rank: int, ranks: int) -> Iterator[Operation]:
        yield jobs.compute(1000)
        yield jobs.receive((rank - 1) % ranks)
        yield jobs.send((rank + 1) % ranks, 4096)
        yield from jobs.wait()
        if rank == 0:
            yield jobs.send(3, 100, "result")
        if rank == 3:
            yield jobs.receive(0, label="result")
        yield from jobs.allreduce(rank, range(ranks), 8)

    job = written(RING, tmp_path)
    assert job.hosts == 4
    metrics, trace = simulate(job.replace(iterations=3))
    own, same = simulate(dfe.Job(ring, hosts=4, iterations=3))
    assert trace == same
    assert metrics.jobs[0].operations == own.jobs[0].operations
    assert metrics.jobs[0].operations["allreduce"].count == 12
    packets = -(-4096 // 128) * 4 + 1 + 4 * 2
    assert metrics.packets_delivered == 3 * packets
    assert jobs.parse_program(dfe.Job(ring, hosts=4).program.to_dict()) == dfe.Job(ring, hosts=4).program


def test_every_operation_can_be_written(tmp_path: Path) -> None:
    text = """ranks 6
        * begin name=all
        * barrier
        * alltoallv bytes=300
        * broadcast bytes=1000 root=2
        * reduce bytes=1000 root=5
        0 send to=0 bytes=5 label=own
        0 receive from=0 label=own
        1 send to=2 bytes=5 of=all-to-all label=x
        2 receive from=1 bytes=5 label=x
        2 wait label=x
        * end name=all
    """
    metrics, _ = simulate(written(text, tmp_path))
    assert metrics.jobs[0].operations.keys() == {"all", "barrier", "alltoallv", "broadcast", "reduce", "wait"}
    assert metrics.jobs[0].operations["all"].count == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "test.ops = '': must begin with a line 'ranks N'"),
        ("0 wait\n", "test.ops, line 1 = '0 wait': must be 'ranks N' before anything else"),
        ("ranks 0\n", "line 1, ranks = '0': must be 1 to"),
        ("ranks 99999999999\n", "line 1, ranks = '99999999999': must be 1 to"),
        ("ranks x\n", "must be 'ranks N'"),
        ("ranks 2\n\n0 sent to=1 bytes=1", "line 3, operation = 'sent': .*did you mean 'send'"),
        ("ranks 2\n0", "line 2, operation = ''"),
        ("ranks 2\n2 wait", "line 2, rank = '2': must be a rank, 0 to 1"),
        ("ranks 2\n1-0 wait", "line 2, rank = '1-0'"),
        ("ranks 2\nx wait", "line 2, rank = 'x'"),
        ("ranks 2\n0 send to=2 bytes=1", "line 2, to = '2': must be a whole number, 0 to 1"),
        ("ranks 2\n0 send bytes=1", "line 2, to = None: must be given"),
        ("ranks 2\n0 send to=1", "line 2, bytes = None: must be given"),
        ("ranks 2\n0 send to=1 bytes=-1", "line 2, bytes = '-1': must be a whole number"),
        ("ranks 2\n0 send to=1 bytes=1e3", "line 2, bytes = '1e3'"),
        (
            "ranks 2\n0 send to=1 byte=1",
            "line 2, byte = '1': 'send' has no such setting; did you mean 'bytes'",
        ),
        (
            "ranks 2\n0 send to=1 bytes=1 zz=2",
            "line 2, zz = '2': 'send' has no such setting, only to, bytes, label",
        ),
        ("ranks 2\n0 receive from=1 from=1", "line 2, from = '1': must be given only once"),
        ("ranks 2\n0 send to=1 bytes=8 bytes=9", "line 2, bytes = '9': must be given only once"),
        ("ranks 2\n0 receive from=1 bytes=abc", "line 2, bytes = 'abc': must be a whole number, 0 to"),
        ("ranks 2\n0 receive from=1 bytes=1.5", r"line 2, bytes = '1\.5': must be a whole number, 0 to"),
        ("ranks 2\n0 receive from=1 bytes=-1", "line 2, bytes = '-1': must be a whole number, 0 to"),
        (
            "ranks 2\n0 receive from=1 bytes=" + 30 * "9",
            "line 2, bytes = '999+': must be a whole number, 0 to",
        ),
        ("ranks 2\n0 send to=1 bytes=1_0", "line 2, bytes = '1_0': must be a whole number"),
        ("ranks 2\n0 send to=1 bytes=8 of=all-to-al", "line 2, of = 'all-to-al': must be all-to-all"),
        ("ranks 2\n0 wait measured=nope", "line 2, measured = 'nope': must be true or false"),
        ("ranks 2\n0 wait label=", "line 2 = 'label=': must have the form name=value"),
        ('ranks 2\n0 wait label=""', "line 2, label = '\"\"': must be a word, or text in quotes"),
        ('ranks 2\n0 wait label="a b', "line 2, label = '\"a': must be a word, or text in quotes"),
        ("ranks 2\n\n0 end name=x", "line 3, name = 'x': must have begun: no 'begin' of this name"),
        ("ranks 2\n0 begin name=x", "line 2, name = 'x': must be ended"),
        ("ranks 2\n0 begin name=x\n0 begin name=x\n0 end name=x", "line 3, name = 'x': must be ended"),
        ("ranks 2\n0 begin name=x\n1 end name=x", "name = 'x': must"),
        (
            "ranks 2\n0 begin name=iteration\n0 end name=iteration",
            "line 2, name = 'iteration': must be another",
        ),
        ("ranks 2\n0 wait now", "line 2 = 'now': must have the form name=value"),
        ("ranks 2\n0 compute ns=-4", "line 2, ns = '-4': must be a time in ns"),
        ("ranks 2\n0 compute ns=nan", "line 2, ns = 'nan'"),
        ("ranks 2\n0 broadcast bytes=1 root=7", "line 2, root = '7'"),
    ],
)
def test_wrong_lines_are_named_with_their_field(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        written(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "ranks 3\n0 receive from=2 label=x\n0 wait",
            "line 2, receive = 'x' from rank 2: must be sent: rank 0 waits for rank 2, which does not send it 'x'",
        ),
        (
            "ranks 2\n0 send to=1 bytes=8",
            "line 2, send = '' to rank 1: must be received: rank 1 never receives",
        ),
        (
            "ranks 2\n0 send to=1 bytes=8\n1 receive from=0 bytes=9",
            r"line 3, bytes = 9: must be 8, as rank 0 sends \(line 2\)",
        ),
        (
            "ranks 3\n* receive from=-1\n* wait\n* send to=+1 bytes=8",
            r"3 ranks: must not wait in a circle: rank 0 waits for rank 2 \('', line 3\), which waits for rank 1 "
            r"\('', line 3\), which waits for rank 0",
        ),
        (
            "ranks 2\n0 receive from=0\n0 wait\n0 send to=0 bytes=1",
            "1 rank: must not wait in a circle: rank 0",
        ),
    ],
)
def test_a_program_that_would_wait_for_ever_is_refused_and_says_who_waits(
    text: str, says: str, tmp_path: Path
) -> None:
    job = written(text, tmp_path)
    with pytest.raises(dfe.ConfigError, match=r"jobs\[0\]\..*" + says):
        dfe.SimulationConfig(topology=dfe.Dragonfly(p=2, a=4, h=2), jobs=[job])
