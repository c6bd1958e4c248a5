"""The public names of the package; ``dragonfly_env.__getattr__`` imports them at the first use of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragonfly_env.bounds import latency_floor, most_load
from dragonfly_env.config.events import LinkEvent
from dragonfly_env.config.failures import Failures
from dragonfly_env.config.groups import Grid, LeafSpine
from dragonfly_env.config.links import LinkConfig
from dragonfly_env.config.network import NetworkConfig, networks
from dragonfly_env.config.topology import Dragonfly, topologies
from dragonfly_env.config.wiring import Wiring
from dragonfly_env.envs import (
    BatchedRoutingEnv,
    DecisionBatch,
    HopFeedback,
    Outcomes,
    Rollout,
    Transitions,
)
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError, StateError
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.parse import programs
from dragonfly_env.metrics import Metrics
from dragonfly_env.policy import Policy, make_policy, policies
from dragonfly_env.simulation import Simulation, Snapshot, simulate
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic import AllToAll, traffic_patterns

# Last: they use the modules above.
from dragonfly_env import agents, baselines, bounds, jobs, traffic  # isort: skip
from dragonfly_env.named_tasks import make_task, task, tasks  # isort: skip

if TYPE_CHECKING:  # imported at their first use by ``dragonfly_env.__getattr__``
    from dragonfly_env.envs.vec import RouterVecEnv

    __version__: str

__all__ = [
    "AllToAll",
    "BatchedRoutingEnv",
    "ConfigError",
    "DeadlockError",
    "DecisionBatch",
    "Dragonfly",
    "Failures",
    "Grid",
    "HopFeedback",
    "IllegalActionError",
    "Job",
    "LeafSpine",
    "LinkConfig",
    "LinkEvent",
    "Metrics",
    "NetworkConfig",
    "Outcomes",
    "Policy",
    "Rollout",
    "RouterVecEnv",
    "Simulation",
    "SimulationConfig",
    "Snapshot",
    "StateError",
    "Transitions",
    "Wiring",
    "__version__",
    "agents",
    "baselines",
    "bounds",
    "jobs",
    "latency_floor",
    "make_policy",
    "make_task",
    "most_load",
    "networks",
    "policies",
    "programs",
    "simulate",
    "task",
    "tasks",
    "topologies",
    "traffic",
    "traffic_patterns",
]
