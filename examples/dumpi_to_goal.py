"""DUMPI to GOAL: the calls of MPI that a run has recorded, as a schedule that ``dfe.Job("goal:FILE")`` runs.

    dumpi2ascii trace-0000.bin > trace-0000.txt   # for each rank; a part of sstsimulator/sst-dumpi
    python examples/dumpi_to_goal.py trace.goal trace-*.txt

Without arguments, a sample of four ranks is converted and run. Files are those of the ranks 0, 1, ... in this
order. The time between two calls is computation. Sends, receives, waits and usual collectives on MPI_COMM_WORLD are
converted; another communicator is an error.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env import jobs

BYTES = {"CHAR": 1, "BYTE": 1, "PACKED": 1, "SHORT": 2, "INT": 4, "UNSIGNED": 4, "FLOAT": 4}  # others: 8
CALL = re.compile(r"MPI_(\w+) (entering|returning) at walltime ([\d.]+)")
FIELD = re.compile(r"\S+(?: \S+)? (\w+)(?:\[\d+\])*=(.*)")


def calls(path: Path) -> Iterator[tuple[str, Decimal, Decimal, dict[str, str], int]]:
    """The calls of a rank: name, begin and end in s, arguments, line."""
    name, begin, first = "", Decimal(), 0
    fields: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := CALL.match(line):
            if found[2] == "entering":
                name, begin, fields, first = found[1], Decimal(found[3]), {}, number
            else:
                yield name, begin, Decimal(found[3]), fields, first
        elif name and (argument := FIELD.match(line)):
            fields[argument[1]] = argument[2]


def numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"-?\d+", text)))


def num_bytes(fields: dict[str, str], prefix: str = "") -> int:
    """Bytes of a buffer: its count times the size of its type."""
    kind = fields.get(f"{prefix}datatype") or fields[f"{prefix}type"]
    named = re.search(r"MPI_(?:UNSIGNED_)?(\w+?)(?:_INT)?\)", kind)
    return sum(numbers(fields[f"{prefix}count"])) * BYTES.get(named[1] if named else "", 8)


def collective_of(name: str, fields: dict[str, str], rank: int, ranks: int) -> list[jobs.Operation]:
    """Make the messages of a collective call; none for another call."""
    everyone = range(ranks)
    if name == "Barrier":
        return list(jobs.barrier(rank, everyone))
    if name == "Allreduce":
        return list(jobs.allreduce(rank, everyone, num_bytes(fields)))
    if name in ("Bcast", "Reduce"):
        tree = jobs.broadcast if name == "Bcast" else jobs.reduce
        return list(tree(rank, everyone, num_bytes(fields), root=numbers(fields["root"])[0]))
    if name == "Allgather":
        return list(jobs.allgather(rank, everyone, ranks * num_bytes(fields, "send")))
    if name == "Alltoall":
        return list(jobs.alltoallv(rank, everyone, num_bytes(fields, "send")))
    return []


def operations_of(path: Path, rank: int, ranks: int) -> list[jobs.Operation]:
    """Convert the calls of a rank."""
    made: list[jobs.Operation] = []
    requests: dict[int, int] = {}
    last: tuple[int, ...] = ()  # operations that end before the next call begins
    ended: Decimal | None = None

    def add(operation: jobs.Operation) -> int:
        made.append(operation._replace(after=last))
        return len(made) - 1

    for name, begin, end, fields, line in calls(path):
        if "comm" in fields and "WORLD" not in fields["comm"]:
            sys.exit(f"{path}, line {line}: comm={fields['comm']} must be MPI_COMM_WORLD")
        if ended is not None and begin > ended:
            last = (add(jobs.compute(float((begin - ended) * 10**9))),)
        ended = end
        if name.removeprefix("I").lower() in ("send", "ssend", "rsend", "bsend", "recv"):
            tag = fields["tag"].split()[0]
            if "dest" in fields:
                message = add(jobs.send(int(fields["dest"]), num_bytes(fields), tag))
            else:
                message = add(jobs.receive(int(fields["source"].split()[0]), label=tag))
            if name.startswith("I"):
                requests[numbers(fields["request"])[0]] = message
            else:
                last = (message,)
        elif name in ("Wait", "Waitall"):
            waited = numbers(fields.get("requests") or fields["request"])
            last = (*last, *(requests.pop(request) for request in waited if request in requests))
        elif collective := collective_of(name, fields, rank, ranks):
            made += jobs.as_graph(collective, len(made), last)
            last = (len(made) - 2,)  # the wait before the end
    return made


SAMPLE = """\
MPI_Isend entering at walltime 10.000020000
int count=1000
MPI_Datatype datatype=11 (MPI_DOUBLE)
int dest={next}
int tag=7
MPI_Comm comm=2 (MPI_COMM_WORLD)
MPI_Request request=[5]
MPI_Isend returning at walltime 10.000021000
MPI_Irecv entering at walltime 10.000021000
int source={before}
int tag=7
MPI_Request request=[6]
MPI_Irecv returning at walltime 10.000021000
MPI_Waitall entering at walltime 10.000021000
MPI_Request requests[2]=[5, 6]
MPI_Waitall returning at walltime 10.000031000
MPI_Barrier entering at walltime 10.000041000
MPI_Comm comm=2 (MPI_COMM_WORLD)
MPI_Barrier returning at walltime 10.000050000
"""


def convert(target: Path, files: list[Path]) -> None:
    ranks = [operations_of(path, rank, len(files)) for rank, path in enumerate(files)]
    jobs.write_goal(target, ranks)
    print(f"{target.name}: {len(ranks)} ranks, {sum(map(len, ranks)):,} operations")


def run_sample(folder: Path) -> None:
    """Convert the sample, and run it."""
    files = [folder / f"trace-{rank:04}.txt" for rank in range(4)]
    for rank, path in enumerate(files):
        path.write_text(SAMPLE.format(next=(rank + 1) % 4, before=(rank - 1) % 4))
    convert(folder / "trace.goal", files)
    config = dfe.SimulationConfig(topology="72", network="q-adaptive", jobs=[f"goal:{folder}/trace.goal"])
    print(f"run time {dfe.Simulation(config).run_to_completion().makespan_ns:,.0f} ns")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        convert(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
    else:
        with tempfile.TemporaryDirectory() as folder:
            run_sample(Path(folder))
