"""A Dragonfly interconnect as a reinforcement-learning environment.

Example::

    import dragonfly_env as dfe

    topology = dfe.Dragonfly.preset("1056")
    config = dfe.SimulationConfig(topology=topology, traffic="adv+1", load=0.45, policy="ugal-n")
    metrics = dfe.simulate(config, warmup_ns=100_000, measure_ns=100_000)
    print(metrics.latency_mean_ns, metrics.accepted_load)
"""

from __future__ import annotations

from dragonfly_env import _process

if _process.is_command_line():  # before the imports below, which take a second or two
    _process.begin()

from typing import TYPE_CHECKING, Any

from dragonfly_env.bounds import latency_floor, most_load
from dragonfly_env.config.groups import Grid
from dragonfly_env.config.links import LinkConfig
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs import BatchedRoutingEnv, DecisionBatch, HopFeedback, Transitions
from dragonfly_env.envs import registration as _registration  # noqa: F401 - names for gymnasium.make
from dragonfly_env.errors import ConfigError, DeadlockError, IllegalActionError, StateError
from dragonfly_env.jobs import Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.policies import Policy, make_policy, policies
from dragonfly_env.simulation import Simulation, Snapshot, simulate
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic import AllToAll, traffic_patterns

# Last: they register their policies, and use the modules above.
from dragonfly_env import agents, baselines, bounds  # isort: skip

if TYPE_CHECKING:
    from dragonfly_env.envs.vec import RouterVecEnv

    __version__: str

__all__ = [
    "AllToAll",
    "BatchedRoutingEnv",
    "ConfigError",
    "DeadlockError",
    "DecisionBatch",
    "Dragonfly",
    "Grid",
    "HopFeedback",
    "IllegalActionError",
    "Job",
    "LinkConfig",
    "Metrics",
    "NetworkConfig",
    "Policy",
    "RouterVecEnv",
    "Simulation",
    "SimulationConfig",
    "Snapshot",
    "StateError",
    "Transitions",
    "__version__",
    "agents",
    "baselines",
    "bounds",
    "latency_floor",
    "make_policy",
    "most_load",
    "policies",
    "simulate",
    "traffic_patterns",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":  # looked up at its first use, so that a simulation alone does not wait for it
        from dragonfly_env._version import installed_version

        globals()[name] = installed_version()
        return globals()[name]
    if name == "RouterVecEnv":  # needs Stable-Baselines3, which is an extra
        from dragonfly_env.envs.vec import RouterVecEnv

        return RouterVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
