"""Rewards per step and router, from what the core has tallied since the start of the episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.envs.scenarios import Configs

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Tallies = tuple[IntArray, IntArray, IntArray]
"""Tallies of the core since the start of the episode, by router: rewards in ps, packets generated, delivered."""

_HORIZON = 20_000  # deliveries over which the mean latency runs


class RouterRewards:
    """Rewards of the routers of an environment since the last reading. Attributes are replaced, never changed, so
    that ``copy.copy`` makes an independent one.

    Attributes:
        read: Tallies of the core at that time, one array (num_agents,) each: rewards in ps, packets generated,
            packets delivered.
        credits_ns: Credit of a delivery, by scenario; with reward ``"differential"`` these go on from
            episode to episode.
    """

    def __init__(self, options: EnvOptions, scenarios: int) -> None:
        self._share = options.share
        self._scale_ps = options.reward_scale_ns * 1000.0
        self._runs = options.reward == "differential"
        self.credits_ns = [options.latency_credit_ns] * scenarios
        self.read: tuple[IntArray, ...] = ()
        self.latencies: list[list[int]] = []

    def begin(self, core: _core.RoutingEnvironment, configs: Configs) -> None:
        """Begin an episode."""
        routers = [config.topology.num_routers for config in configs]
        groups = [
            size for config in configs for size in np.bincount(config.topology.group_of_routers()).tolist()
        ]
        sizes = {"router": [1] * sum(routers), "group": groups, "all": routers}[self._share]
        self._sizes = np.array(sizes)
        self._firsts = np.cumsum([0, *sizes[:-1]])
        self.latencies = [[0, 0]] * len(
            configs
        )  # packets delivered and the sum of their latencies in ps, by scenario
        self._first_routers = np.cumsum([0, *routers])
        self.read = (np.zeros(sum(routers), np.int64),) * 3
        self._set_credits(core)

    def state(self) -> dict[str, Any]:
        """The state for snapshots."""
        read = [column.tolist() for column in self.read]
        return {"credits_ns": self.credits_ns, "read": read, "latencies": self.latencies}

    def restore(self, state: Mapping[str, Any], core: _core.RoutingEnvironment, configs: Configs) -> None:
        """Go on from a snapshot."""
        self.credits_ns = state["credits_ns"]
        self.begin(core, configs)
        self.read = tuple(np.array(column, np.int64) for column in state["read"])
        self.latencies = state["latencies"]

    def read_rewards(self, core: _core.RoutingEnvironment, tallies: Tallies) -> FloatArray:
        """(num_agents,) rewards, and a new mean latency for the credits to come."""
        reward_ps, _, delivered = tallies
        reward = (reward_ps - self.read[0]) / self._scale_ps
        self.read = (reward_ps, *self.read[1:])
        if self._runs:
            self._follow(core, delivered)
        if self._share == "router":
            return reward
        return np.repeat(np.add.reduceat(reward, self._firsts), self._sizes)

    def read_packets(self, tallies: Tallies) -> tuple[IntArray, IntArray]:
        """(num_agents,) packets generated and packets delivered."""
        _, generated, delivered = tallies
        difference = generated - self.read[1], delivered - self.read[2]
        self.read = (self.read[0], generated, delivered)
        return difference

    def _follow(self, core: _core.RoutingEnvironment, delivered: IntArray) -> None:
        """Move the mean latency of each scenario towards that of the packets delivered since."""
        before, self.latencies, credits_ns = self.latencies, [], self.credits_ns
        self.credits_ns = []
        for number, (mean_ns, (packets_before, ps_before)) in enumerate(zip(credits_ns, before, strict=True)):
            first, end = self._first_routers[number : number + 2]
            packets, ps = int(delivered[first:end].sum()), core.latency_ps(number)
            self.latencies.append([packets, ps])
            new = packets - packets_before
            share = min(1.0, new / _HORIZON)
            step_ns = (ps - ps_before) / new / 1000.0 - mean_ns if new else 0.0
            self.credits_ns.append(mean_ns + share * step_ns)
        self._set_credits(core)

    def _set_credits(self, core: _core.RoutingEnvironment) -> None:
        for number, credit_ns in enumerate(self.credits_ns):
            core.set_credit(number, round(credit_ns * 1000.0))
