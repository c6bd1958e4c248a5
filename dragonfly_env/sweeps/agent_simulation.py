"""A run whose packets an agent routes: the same calls as ``Simulation``, through the batched environment."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from dragonfly_env.agents.evaluation import join
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.values import PS_PER_NS, config_error, ns_to_ps
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.steadiness import Marks
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.training.agents import AtWork

if TYPE_CHECKING:
    from dragonfly_env.envs.batched import BatchedRoutingEnv


class AgentSimulation:
    """A network whose packets a policy in Python routes from time 0 on.

    Args:
        config: What to simulate; its ``policy`` decides nothing.
        policy: What decides.
        at_work: Entered whenever code of the policy runs, see `AgentSource.load`.

    Attributes:
        watch: Called with the simulated time in ns after every batch of decisions, if it is not None.

    Raises:
        ConfigError: If a setting is impossible, or the policy was made for another network.
    """

    def __init__(
        self,
        config: SimulationConfig,
        policy: BatchPolicy,
        at_work: AtWork = nullcontext,
    ) -> None:
        self.watch: Callable[[float], None] | None = None
        self._at_work = at_work
        self._config = config
        self._policy = policy
        self._answers: BatchPolicy = policy
        with self._at_work():
            self._env = self._make(1.0)
        self._started = False
        self._marks = Marks()
        self._window_ps = 0  # when the window began

    def _make(self, duration_ns: float) -> BatchedRoutingEnv:
        try:
            env, self._answers = join(self._config, self._policy, duration_ns=duration_ns)
        except TypeError as error:  # unknown keywords among its env_options
            raise config_error(
                "policy", self._policy.name, f"needs an impossible environment ({error})"
            ) from error
        return env

    @property
    def time_ns(self) -> float:
        """The simulated time."""
        return self._env.time_ns

    def run(self, duration_ns: float) -> None:
        """Advance the simulated time; ``run(a)`` and ``run(b)`` equal ``run(a + b)``. A workload ends the run at its
        completion, and nothing happens after that.

        Raises:
            IllegalActionError: If the policy chooses what its mask forbids.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        if duration_ns == 0.0:
            return
        now_ps = ns_to_ps("time_ns", self.time_ns) if self._started else 0
        for piece_ps in self._marks.pieces(self._window_ps, now_ps, ns_to_ps("duration_ns", duration_ns)):
            if self._complete:
                return
            self._run(piece_ps / PS_PER_NS)
            now_ps += piece_ps
            if self._marks.is_due(self._window_ps, now_ps):
                self._marks.note(self._env.metrics().end_mark)

    @property
    def _complete(self) -> bool:
        return self._config.ends and not math.isnan(self._env.metrics().makespan_ns)

    def _run(self, duration_ns: float) -> None:
        with self._at_work():
            if self._started:
                batch = self._env.extend(duration_ns)
            else:
                self._env = self._make(duration_ns)
                batch = self._env.reset(seed=self._config.seed)
                self._started = True
            while not self._env.done:
                batch = self._env.step(self._answers.act(batch))
                if self.watch is not None:
                    self.watch(self._env.time_ns)

    def reset_statistics(self) -> None:
        """Forget what was counted so far."""
        self._env.reset_statistics()
        self._marks.clear()
        self._window_ps = ns_to_ps("time_ns", self.time_ns) if self._started else 0

    def packet_log(self) -> dict[str, npt.NDArray[Any]]:
        """See ``Simulation.packet_log``."""
        return self._env.packet_log()

    def metrics(self) -> Metrics:
        """What was counted since the last ``reset_statistics``."""
        metrics = self._env.metrics()
        return replace(metrics, middle=self._marks.middle(self._window_ps, metrics.end_ps))

    def trace_hash(self) -> int:
        """A hash over every delivery since time 0."""
        return self._env.trace_hash()
