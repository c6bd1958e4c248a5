"""Jobs: programs next to each other on the hosts of one machine.

``Job`` says which program runs where; ``SimulationConfig(jobs=[...])`` runs them. Programs are the motifs of
applications (``dragonfly_env.jobs.programs``), closed-loop patterns, or functions of your own made of ``send``,
``receive``, ``wait``, ``compute`` and the collectives.
"""

from __future__ import annotations

from dragonfly_env.jobs.collectives import (
    allgather,
    allreduce,
    alltoallv,
    barrier,
    broadcast,
    hierarchical_allreduce,
    reduce,
    reduce_scatter,
    ring_allreduce,
    tree_allreduce,
)
from dragonfly_env.jobs.goal import Goal, write_goal
from dragonfly_env.jobs.job import ENDLESS, Job
from dragonfly_env.jobs.mix import BackgroundMix
from dragonfly_env.jobs.operations import (
    Operation,
    as_graph,
    begin,
    compute,
    end,
    receive,
    send,
    silent_wait,
    wait,
)
from dragonfly_env.jobs.parse import parse_program
from dragonfly_env.jobs.program import Motif, Program
from dragonfly_env.jobs.programs import Hacc, Llm, Milc, MilcReorder, Moe, Nek5000, Qbox, Rayleigh
from dragonfly_env.jobs.recorded import RecordedProgram
from dragonfly_env.jobs.replay import Replay

__all__ = [
    "ENDLESS",
    "BackgroundMix",
    "Goal",
    "Hacc",
    "Job",
    "Llm",
    "Milc",
    "MilcReorder",
    "Moe",
    "Motif",
    "Nek5000",
    "Operation",
    "Program",
    "Qbox",
    "Rayleigh",
    "RecordedProgram",
    "Replay",
    "allgather",
    "allreduce",
    "alltoallv",
    "as_graph",
    "barrier",
    "begin",
    "broadcast",
    "compute",
    "end",
    "hierarchical_allreduce",
    "parse_program",
    "receive",
    "reduce",
    "reduce_scatter",
    "ring_allreduce",
    "send",
    "silent_wait",
    "tree_allreduce",
    "wait",
    "write_goal",
]
