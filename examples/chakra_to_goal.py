"""Chakra to GOAL: an execution trace of a training job as a schedule that ``dfe.Job("goal:FILE")`` runs.

    chakra_jsonizer --input_filename trace.0.et --output_filename trace.0.json   # for each rank; mlcommons/chakra
    python examples/chakra_to_goal.py trace.goal trace.*.json

Without arguments, a sample of four ranks is converted and run.
The files are those of the ranks 0, 1, ... in this order: messages of Chakra's protobuf schema as JSON, one after the
other. A node starts after the nodes of its data and control dependencies. COMP_NODE takes its duration; the GPU's and
the CPU's nodes are two streams. Sends and receives are matched by ``comm_tag``; collectives of all ranks become
messages as in ``dragonfly_env.jobs``. Nodes of memory and storage take no time. Format: schema/protobuf/et_def.proto.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env import jobs

KINDS = {"COMP_NODE": 4, "COMM_SEND_NODE": 5, "COMM_RECV_NODE": 6, "COMM_COLL_NODE": 7}
COLLECTIVES = dict(
    enumerate(
        (
            "ALL_REDUCE",
            "REDUCE",
            "ALL_GATHER",
            "GATHER",
            "SCATTER",
            "BROADCAST",
            "ALL_TO_ALL",
            "REDUCE_SCATTER",
        )
    )
) | {9: "BARRIER"}


def nodes(path: Path) -> Iterator[dict[str, Any]]:
    """The nodes of a rank, in the order of the file, with attributes as plain keys."""
    text, decoder, at = path.read_text(), json.JSONDecoder(), 0
    while (at := at + len(text[at:]) - len(text[at:].lstrip())) < len(text):
        node, at = decoder.raw_decode(text, at)
        if "name" not in node:
            continue  # the metadata
        for attribute in node.get("attr", ()):
            values = [value for key, value in attribute.items() if key.lower().endswith("val")]
            node[attribute["name"]] = values[0] if values else 0
        yield node


def number(node: dict[str, Any], *names: str) -> int:
    """The first of some fields that the node has; 0 is left out of JSON."""
    return int(next((node[name] for name in names if name in node), 0))


def operations_of(path: Path, rank: int, ranks: int) -> list[jobs.Operation]:
    """Convert the nodes of a rank. A node may come before those that it depends on."""
    everyone = range(ranks)
    collectives: dict[str, Callable[[int], Iterator[jobs.Operation]]] = {
        "ALL_REDUCE": lambda size: jobs.ring_allreduce(rank, everyone, size),
        "ALL_GATHER": lambda size: jobs.allgather(rank, everyone, size),
        "REDUCE_SCATTER": lambda size: jobs.reduce_scatter(rank, everyone, size),
        "ALL_TO_ALL": lambda size: jobs.alltoallv(rank, everyone, size // ranks),
        "BROADCAST": lambda size: jobs.broadcast(rank, everyone, size),
        "BARRIER": lambda size: jobs.barrier(rank, everyone),
    }
    trace = {number(node, "id"): node for node in nodes(path)}
    begins: dict[int, int] = {}  # [node] its first operation
    ends: dict[int, int] = {}  # [node] its last operation
    made: list[jobs.Operation] = []
    for name, node in trace.items():
        kind = node.get("type", 0)
        kind = KINDS.get(kind, 0) if isinstance(kind, str) else kind
        size = number(node, "comm_size")
        tag = f"tag {number(node, 'comm_tag')}"
        begins[name] = len(made)
        if kind == KINDS["COMM_SEND_NODE"]:
            made.append(jobs.send(number(node, "comm_dst"), size, tag))
        elif kind == KINDS["COMM_RECV_NODE"]:
            made.append(jobs.receive(number(node, "comm_src"), label=tag))
        elif kind == KINDS["COMM_COLL_NODE"]:
            which = node.get("comm_type", 0)
            which = which if which in collectives else COLLECTIVES.get(int(which), which)
            if which not in collectives:
                sys.exit(f"{path}: node {name} is a {which}, which has no conversion")
            made.append(jobs.compute(0, stream=2))
            made += jobs.as_graph(collectives[which](size), len(made), (begins[name],))
            made.append(jobs.compute(0, stream=2, after=(len(made) - 2,)))
        else:
            duration = number(node, "durationMicros", "duration_micros") if kind == KINDS["COMP_NODE"] else 0
            on_cpu = str(node.get("is_cpu_op", False)).lower() == "true"
            made.append(jobs.compute(duration * 1000.0, stream=int(on_cpu) if duration else 2))
        ends[name] = len(made) - 1
    for name, node in trace.items():
        before = [node.get(key, ()) for key in ("dataDeps", "data_deps", "ctrlDeps", "ctrl_deps")]
        after = dict.fromkeys(ends[int(other)] for some in before for other in some if int(other) in ends)
        made[begins[name]] = made[begins[name]]._replace(after=tuple(after))
    return made


SAMPLE = """\
{{"version": "0.0.4"}}
{{"name": "forward", "type": "COMP_NODE", "durationMicros": "5"}}
{{"id": "1", "name": "send", "type": "COMM_SEND_NODE", "dataDeps": ["0"],
  "attr": [{{"name": "comm_size", "int64Val": "65536"}}, {{"name": "comm_dst", "int32Val": {next}}}]}}
{{"id": "2", "name": "receive", "type": "COMM_RECV_NODE",
  "attr": [{{"name": "comm_size", "int64Val": "65536"}}, {{"name": "comm_src", "int32Val": {before}}}]}}
{{"id": "3", "name": "gradients", "type": "COMM_COLL_NODE", "dataDeps": ["1", "2"],
  "attr": [{{"name": "comm_type", "int64Val": "0"}}, {{"name": "comm_size", "int64Val": "262144"}}]}}
{{"id": "4", "name": "optimizer", "type": "COMP_NODE", "durationMicros": "2", "ctrlDeps": ["3"]}}
"""


def convert(target: Path, files: list[Path]) -> None:
    """Write the schedule of the ranks."""
    ranks = [operations_of(path, rank, len(files)) for rank, path in enumerate(files)]
    jobs.write_goal(target, ranks)
    print(f"{target.name}: {len(ranks)} ranks, {sum(map(len, ranks)):,} operations")


def run_sample(folder: Path) -> None:
    """Convert the sample, and run it."""
    files = [folder / f"trace.{rank}.json" for rank in range(4)]
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
