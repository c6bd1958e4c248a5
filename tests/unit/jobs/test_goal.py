"""GOAL files: both forms, their options, and what is refused."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.cli import app
from dragonfly_env.named_tasks import VIEWS
from dragonfly_env.sweeps import run_all
from dragonfly_env.sweeps.scenario import Scenario

PING_PONG = """\
/* a comment
   of two lines */
num_ranks 3
rank 0 {
l1: calc 100 cpu 1
l2: send 4096b to 1 tag 7
l3: recv 10b from 1 tag 8 cpu 0 nic 3
l2 requires l1
l4: calc 50 cpu 1 // on the stream of l1
l4 irequires l2
}
rank 1 {
l1: recv 4096b from 0 tag 7
l2: send 10b to 0 tag 8
l2 requires l1
}
rank 2 {
}
"""


def binary_of(ranks: list[list[tuple[int, int, int, int, int, list[int], list[int]]]]) -> bytes:
    """The form of spcl/atlahs, Parser.hpp: type, peer, size, tag, cpu, and who comes after the end and the start."""
    blocks = []
    for rank in ranks:
        nodes, after, edges = b"", b"", 0
        for kind, peer, size, tag, cpu, ended, started in rank:
            nodes += struct.pack("<IBIQIBB", 0, kind, peer, size, tag, cpu, 0)
            for others in (ended, started):
                nodes += struct.pack("<II", len(others), edges)
                after += struct.pack(f"<{len(others)}I", *others)
                edges += len(others)
        blocks.append(struct.pack("<III", len(rank), 1, 0) + nodes + after)
    at = 4 + 2 + 16 * len(ranks)
    table = b""
    for block in blocks:
        table += struct.pack("<QQ", at, at + len(block))
        at += len(block)
    return struct.pack("<QIBB", 4223, len(ranks), 1, 3) + table + b"".join(blocks)


BINARY = binary_of(
    [
        [
            (3, 0, 100, 0, 1, [1], []),
            (1, 1, 4096, 7, 0, [], [3]),
            (2, 1, 10, 8, 0, [], []),
            (3, 0, 50, 0, 1, [], []),
        ],
        [(2, 0, 4096, 7, 0, [1], []), (1, 0, 10, 8, 0, [], [])],
        [],
    ]
)


def write(folder: Path, text: str | bytes, name: str = "trace.goal") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def run(spec: str, **settings: Any) -> tuple[float, int]:
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", jobs=[dfe.Job(spec, **settings)]))
    return simulation.run_to_completion().makespan_ns, simulation.trace_hash()


def test_text_and_binary_form_are_the_same_program(tmp_path: Path) -> None:
    text, binary = write(tmp_path, PING_PONG), write(tmp_path, BINARY, "trace.bin")
    assert run(f"goal:{text}") == run(f"goal:{binary}")
    assert jobs.parse_program(f"goal:{text}").graph(3) == jobs.parse_program(f"goal:{binary}").graph(3)
    assert dfe.Job(f"goal:{binary}").num_hosts == 3
    for path in (text, binary):
        operations = list(jobs.parse_program(f"goal:{path}").operations(0, 3))
        assert [operation.label for operation in operations] == ["0", "7", "8", "0"]
        assert [list(operation.after or ()) for operation in operations] == [[], [0], [], []]
        assert [list(operation.after_start) for operation in operations] == [[], [], [], [1]]


def test_a_goal_file_takes_as_long_as_its_list_of_operations(tmp_path: Path) -> None:
    def by_hand(rank: int, ranks: int) -> list[jobs.Operation]:
        if rank == 0:
            return [
                jobs.compute(100),
                jobs.send(1, 4096, "7"),
                jobs.receive(1, label="8"),
                jobs.compute(50),
            ]
        if rank == 1:
            return [jobs.receive(0, label="7"), jobs.silent_wait("7"), jobs.send(0, 10, "8")]
        return []

    job = dfe.Job(by_hand, hosts=3)
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", jobs=[job]))
    ends_ns = simulation.run_to_completion().makespan_ns
    assert run(f"goal:{write(tmp_path, PING_PONG)}") == (ends_ns, simulation.trace_hash())


def test_options_scale_times_and_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, PING_PONG)
    usual, _ = run(f"goal:{path}")
    assert run(f"goal:{path},calc_unit_ns=3")[0] == pytest.approx(usual + 200, abs=3.2)  # a cycle of a router
    # 4,096 bytes are 32 packets of 32 ns; the message back is one packet in both.
    assert run(f"goal:{path},bytes_scale=2")[0] == pytest.approx(usual + 32 * 32, abs=3.2)
    assert (
        dfe.Job.parse(f"goal:{path},calc_unit_ns=3,placement=random,iterations=2").program.calc_unit_ns == 3
    )


LATE = """\
num_ranks 2
rank 0 {
l1: send 1280b to 1 tag 7
l2: calc 10
l2 requires l1
}
rank 1 {
l1: calc 5000
l2: recv 1280b from 0 tag 7
l2 requires l1
l3: calc 10
l3 requires l2
}
"""
WRITTEN_OUT = """\
num_ranks 2
rank 0 {
o: calc 300
request: send 1b to 1 tag 8
acknowledged: recv 1b from 1 tag 9
l1: send 1280b to 1 tag 7
l2: calc 10
request requires o
l1 requires acknowledged
l2 requires l1
}
rank 1 {
l1: calc 5000
request: recv 1b from 0 tag 8
acknowledged: send 1b to 0 tag 9
l2: recv 1280b from 0 tag 7
l2 requires l1
acknowledged requires request
acknowledged irequires l2
o: calc 300
o requires l2
l3: calc 10
l3 requires o
}
"""


def test_overhead_and_rendezvous_are_computations_and_messages(tmp_path: Path) -> None:
    late, written = write(tmp_path, LATE), write(tmp_path, WRITTEN_OUT, "written.goal")
    assert run(f"goal:{late},overhead_ns=300,rendezvous_bytes=1279")[0] == run(f"goal:{written}")[0]
    # The message has come before its receive starts, if it need not wait for it.
    assert run(f"goal:{late}")[0] == 5010
    assert run(f"goal:{late},overhead_ns=300,rendezvous_bytes=1280")[0] == 5310
    # The threshold is about the sizes in the file.
    assert run(f"goal:{late},rendezvous_bytes=1280,bytes_scale=2")[0] == 5010


def test_an_eager_send_ends_with_its_overhead(tmp_path: Path) -> None:
    lines = "num_ranks 2\nrank 0 {\nl1: send 128000b to 1\nl2: calc 40000\nl2 requires l1\n}\n"
    path = write(tmp_path, lines + "rank 1 {\nrecv 128000b from 0\n}\n")
    assert run(f"goal:{path},overhead_ns=300")[0] == 40300
    left_ns = 1000 * 32
    assert run(f"goal:{path}")[0] == pytest.approx(left_ns + 40000, abs=100)


def test_rendezvous_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    text = "num_ranks 2\n"
    for rank in range(2):
        text += f"rank {rank} {{\ns: send 9b to {1 - rank}\nr: recv 9b from {1 - rank}\nr requires s\n}}\n"
    path = write(tmp_path, text)
    assert run(f"goal:{path},rendezvous_bytes=9")[0] > 0
    with pytest.raises(
        dfe.ConfigError,
        match=r"must not wait in a circle: rank 0 waits for rank 1 \('rendezvous acknowledgement of tag 0', line 3",
    ):
        dfe.Job(f"goal:{path},rendezvous_bytes=8")
    sizes = write(tmp_path, "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n")
    with pytest.raises(
        dfe.ConfigError,
        match="line 6, send = 'rendezvous acknowledgement of tag 0' to rank 0: must be received",
    ):
        dfe.Job(f"goal:{sizes},rendezvous_bytes=8")


def test_ranks_of_a_host_keep_streams_and_channels_and_their_messages_take_no_time(tmp_path: Path) -> None:
    local = "num_ranks 4\n"
    for rank in range(4):
        other = rank ^ 1
        local += (
            f"rank {rank} {{\nl1: calc 100\nl2: send 1000000b to {other} tag 1\nl3: recv 1000000b from {other} tag 1\n"
            f"l4: calc {(rank + 1) * 100}\nl2 requires l1\nl4 requires l3\n}}\n"
        )
    assert run(f"goal:{write(tmp_path, local)},ranks_per_host=2")[0] == 500.0
    # Two pairs of ranks on two hosts use one tag: the k-th receive of a pair is for its own k-th send.
    crossed = (
        "num_ranks 4\nrank 0 {\nl1: calc 5000\nl2: send 128b to 2 tag 0\nl2 requires l1\n}\n"
        "rank 1 {\nsend 128b to 3 tag 0\n}\n"
        "rank 2 {\nrecv 128b from 0 tag 0\n}\n"
        "rank 3 {\nl1: recv 128b from 1 tag 0\nl2: calc 7000\nl2 requires l1\n}\n"
    )
    ends_ns, _ = run(f"goal:{write(tmp_path, crossed)},ranks_per_host=2")
    assert 7000 < ends_ns < 8000


def test_another_file_is_another_run(tmp_path: Path) -> None:
    path = write(tmp_path, PING_PONG)
    before = jobs.parse_program(f"goal:{path}").resolved(3)
    write(tmp_path, PING_PONG.replace("calc 100", "calc 101"))
    after = jobs.parse_program(f"goal:{path}").resolved(3)
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert before.pop("sha256") != after.pop("sha256")
    assert before == after


def test_a_goal_job_goes_to_a_file_and_back(tmp_path: Path) -> None:
    job = dfe.Job(f"goal:{write(tmp_path, PING_PONG)},bytes_scale=0.5", placement="random")
    config = dfe.SimulationConfig(topology="72", jobs=[job])
    assert dfe.SimulationConfig.from_toml(config.to_toml()) == config
    assert dfe.SimulationConfig.from_json(config.to_json()) == config


HEAD = "num_ranks 2\nrank 0 {\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            HEAD + "}\nrank 1 {\nrecv 8b from 0 tag 3\n}\n",
            "line 5, receive = tag 3 from rank 0: must be sent",
        ),
        (HEAD + "send 8b to 1 tag 3\n}\n", "line 3, send = tag 3 to rank 1: must be received"),
        (
            HEAD + "l1: calc 5\nl2 requires l1\n}\n",
            "line 4 = 'l2 requires l1': .*no line above has the label 'l2'",
        ),
        (HEAD + "l1: calc 5\nl1: calc 6\n}\n", "line 4 = 'l1: calc 6': must have a label that no other"),
        (
            HEAD + "l1: calc 5\nl2: calc 5\nl1 requires l2\nl2 requires l1\n}\n",
            "2 operations: must not wait in a circle: line 3, which waits for line 4",
        ),
        (HEAD + "send 8b to 2 tag 3\n}\n", "line 3 = rank 2: must be a rank, 0 to 1"),
        (HEAD + "}\nrank 2 {\n}\n", "line 4 = rank 2: must be a rank, 0 to 1"),
        (HEAD + "}\nrank 0 {\n}\n", "line 4 = rank 0: must come in ascending order"),
        (HEAD + "send 8b to 1 tg 3\n}\n", "line 3 = 'send 8b to 1 tg 3': must have 'tag', 'cpu' or 'nic'"),
        (HEAD + "recv 8b from -1 tag 3\n}\n", "line 3 = 'recv 8b from -1 tag 3': must be 'send"),
        (HEAD + "wait 5\n}\n", "line 3 = 'wait 5': must be 'send <n>b to"),
        (HEAD + "calc 5\n", "line 3 = .*: must be followed by '}'"),
        ("rank 0 {\n}\n", "line 1 = 'rank 0 {': must be 'num_ranks n'"),
        ("num_ranks 0\n", "num_ranks 0: must be 1 to"),
        (BINARY[:-3], "binary GOAL: must be whole"),
        (HEAD + f"send {2**31}b to 1\n}}\n", "line 3, bytes = 2147483648: must be 0 to 2147483647"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(dfe.ConfigError, match="trace.goal.*" + says):
        dfe.Job(f"goal:{path}")


def test_a_goal_job_names_what_does_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path, PING_PONG)
    with pytest.raises(dfe.ConfigError, match="hosts = 4: must be 3"):
        dfe.Job(f"goal:{path}", hosts=4)
    with pytest.raises(dfe.ConfigError, match=r"nowhere\.goal.*must be a GOAL file that can be read"):
        dfe.Job(f"goal:{tmp_path}/nowhere.goal")
    with pytest.raises(dfe.ConfigError, match="byte_scale = 2: program 'goal' has no such setting"):
        dfe.Job(f"goal:{path},byte_scale=2")
    large = write(tmp_path, "num_ranks 80\nrank 0 {\ncalc 5\n}\n")
    with pytest.raises(dfe.ConfigError, match=r"jobs\[0\].hosts = 80: must be at most 72"):
        dfe.SimulationConfig(topology="72", jobs=[dfe.Job(f"goal:{large}")]).placed_jobs()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "send 8b to 1 tag 3\n}\n", "trace.goal, line 3, send = tag 3 to rank 1: must be received"),
        (HEAD + "send 8b to 1 tg 3\n}\n", "trace.goal, line 3 = 'send 8b to 1 tg 3': must have 'tag'"),
        (HEAD + "l1: calc 5\nl1 requires l1\n}\n", "must not wait in a circle: line 3"),
        (HEAD + "send 8b to 2 tag 3\n}\n", "trace.goal, line 3 = rank 2: must be a rank, 0 to 1"),
        ("num_ranks 80\n", "must be at most 72, the hosts that are left; the job has 80"),
    ],
)
def test_the_command_line_names_option_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SystemExit) as ended:
        app(["simulate", "-t", "72", "--to-completion", "--job", f"goal:{path}"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: --job goal:{path}: ")
    assert says in error
    assert error.count("\n") == 1


def test_an_environment_runs_a_schedule_as_a_simulation_does(tmp_path: Path) -> None:
    job = dfe.Job(f"goal:{write(tmp_path, LATE)},rendezvous_bytes=8", placement="random", iterations=3)
    config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2, jobs=[job])
    env = dfe.BatchedRoutingEnv(config, scope="source", action="path", duration_ns=20_000)
    batch = env.reset(seed=config.seed)
    while not env.done:
        batch = env.step(batch.minimal_actions())
    simulation = dfe.Simulation(config)
    simulation.run(20_000)
    assert env.trace_hash() == simulation.trace_hash()
    assert env.metrics(0).jobs[0].iterations == simulation.metrics().jobs[0].iterations


def test_a_schedule_takes_the_place_of_the_job_of_a_task(tmp_path: Path) -> None:
    program = f"goal:{write(tmp_path, LATE)},rendezvous_bytes=8"
    job = dfe.Job(program, placement="random", iterations="endless")
    for view in VIEWS:
        made = dfe.make_task("Jobs-72", view, jobs=[job], seed=1)
        core = made if view == "batched" else made.unwrapped.core
        assert core.config.jobs == (job,)
    task = dfe.task("Jobs-72")
    test = {name: config.replace(jobs=[job]) for name, config in task.test.items()}
    mine = dataclasses.replace(task, test=test, measure_ns=50_000)
    (scenario,) = test
    assert 5000 < mine.value(mine.measure("ugal-n", scenario, seed=1)) < 20_000


def test_runs_of_a_sweep_keep_their_results_until_the_schedule_changes(tmp_path: Path) -> None:
    path = write(tmp_path, LATE)

    def runs() -> list[Any]:
        return Scenario.from_dict(
            {
                "topology": "72",
                "traffic": ["none"],
                "policies": ["min"],
                "programs": [f"goal:{path}", f"goal:{path},overhead_ns=100"],
                "placements": ["random", "groups=2"],
                "seeds": [1],
                "measure_ns": 20_000,
            }
        ).runs()

    before = runs()
    assert run_all(before, tmp_path / "out", workers=1).finished == len({run.id for run in before}) == 4
    assert run_all(runs(), tmp_path / "out", workers=1).finished == 0
    write(tmp_path, LATE.replace("calc 10", "calc 11"))
    assert {run.id for run in runs()}.isdisjoint(run.id for run in before)
