"""The demand matrix of a traffic pattern: the load that routers send to each other, from the core's own expectation."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic import Pattern, Traffic, parse_traffic

Matrix = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Demand:
    """The load that hosts send at a load of 1, in units of the bandwidth of a host's link.

    Attributes:
        between_routers: (R, R) from the hosts of a router (row) to those of another (column).
        sent: (H,) by each host.
        received: (H,) by each host.
        pattern: Its expectation in the core.
    """

    between_routers: Matrix
    sent: Matrix
    received: Matrix
    pattern: _core.Pattern

    @functools.cached_property
    def of_hosts(self) -> Matrix:
        """(H, R) from each host (row) to the hosts of a router (column)."""
        return self.pattern.demand(by_host=True)


def demand_of(
    topology: Dragonfly, traffic: object, *, network: NetworkConfig | None = None, seed: int = 1
) -> Demand:
    """The demands of a traffic pattern."""
    pattern = pattern_of(parse_traffic(traffic))
    pattern.check(topology)
    excludes = network is not None and network.uniform_excludes_sender
    core = pattern.build(topology.to_core(), seed, uniform_excludes_sender=excludes)
    sent = np.array([core.share(host) for host in range(topology.num_hosts)])
    return Demand(core.demand(), sent, core.received(), core)


def pattern_of(traffic: Traffic) -> Pattern:
    """The pattern, if the traffic is one."""
    if isinstance(traffic, Pattern):
        return traffic
    allowed = "must be an open-loop pattern, a mixture or a demand matrix: bounds need rates between hosts"
    raise config_error("traffic", traffic.spec, allowed)


def offered_by(config: SimulationConfig) -> tuple[Demand, float]:
    """The demands of a run, and the load that it offers."""
    if config.jobs:
        names = ", ".join(job.title for job in config.jobs)
        raise config_error("jobs", names, "must be none: the traffic of jobs has no demand matrix")
    pattern = pattern_of(config.traffic_object)
    load = config.load
    if pattern.is_absolute:
        load = config.offered_steps[0][2]
    return demand_of(config.topology, pattern, network=config.network, seed=config.seed), load
