"""What an episode of the batched environment tells beside its batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.decisions.batch import Transitions
from dragonfly_env.decisions.feedback import HopFeedback
from dragonfly_env.envs._facts import EnvFacts
from dragonfly_env.errors import StateError
from dragonfly_env.jobs.workload import job_infos
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.core_owner import CoreOwner


class EpisodeReports(EnvFacts, CoreOwner):
    """Transitions, feedback, payments, metrics and logs of ``BatchedRoutingEnv``."""

    _core: _core.RoutingEnvironment
    _started: bool

    def transitions(self) -> Transitions:
        """All transitions that were completed since the last call in this episode, ordered by scenario, then by
        decision id. Every decision is in exactly one, in that of its packet's arrival at the next router that is asked,
        or of its delivery (reward ``"delivery"``: always of the delivery).

        Raises:
            StateError: Before ``reset``; if the environment was made with ``transitions=False``; or if too much
                piled up since the last call.
        """
        with self._alone:
            if not self._started:
                raise StateError("transitions(): call reset() first")
            if not self._options.transitions:
                raise StateError("transitions(): the environment was made with transitions=False")
            if self._core.overflowed:
                raise StateError(
                    f"transitions(): more than {self._options.max_uncollected_bytes} bytes had piled up, and no "
                    "more were kept in this episode; call it after every step, or raise max_uncollected_bytes"
                )
            return Transitions(*self._core.transitions())

    def feedback(self) -> HopFeedback:
        """What routers hear of the hops that they chose, since the last call in this episode: one report per
        decision whose packet went on to another router and has left the input buffer there. When a batch is
        handed out, all reports that reach a router before or at the instants of its decisions are among them.

        Raises:
            StateError: Before ``reset``; if the environment was not made with ``feedback=True``; or if too much
                piled up since the last call.
        """
        with self._alone:
            if not self._started:
                raise StateError("feedback(): call reset() first")
            if not self._options.feedback:
                raise StateError("feedback(): the environment was made with feedback=False, must be True")
            if self._core.reports_overflowed:
                raise StateError(
                    f"feedback(): more than {self._options.max_uncollected_bytes} bytes had piled up, and no "
                    "more was kept in this episode; call it after every step, or raise max_uncollected_bytes"
                )
            return HopFeedback(*self._core.reports())

    def payments(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """What the last ``reset`` or ``step`` paid: routers (M,) and rewards (M,), several per router possible, ordered
        by scenario, then by decision id. The sum per router is its reward in the step. Under ``"team"`` every router
        of a scenario gets the same. Routers are numbered on from one scenario to the next, see ``slots``.
        """
        with self._alone:
            return self._core.payments()

    def metrics(self, scenario: int | None = None) -> Metrics:
        """What was counted since the warm-up (or ``reset_statistics``). While decisions are pending, the parts of
        the network may stand at slightly different instants; when ``done`` everything is exact.

        Args:
            scenario: Which one; where there is only one, it need not be said.

        Raises:
            ConfigError: If there is no such scenario.
        """
        number = self._number(scenario)
        config = self.configs[number]
        with self._alone:
            statistics = self._core.simulation_of(number).statistics()
        jobs = job_infos(config.placed_jobs()) if config.jobs else ()
        return Metrics.from_statistics(statistics, config.topology, config.network, jobs=jobs)

    def trace_hash(self, scenario: int | None = None) -> int:
        """A 64-bit hash over every delivery since time 0; equal hashes mean equal histories. That of a scenario is
        the same as if it ran alone.

        Args:
            scenario: Which one; where there is only one, it need not be said.

        Raises:
            ConfigError: If there is no such scenario.
        """
        number = self._number(scenario)
        with self._alone:
            return self._core.simulation_of(number).trace_hash()

    def state(self, scenario: int | None = None) -> npt.NDArray[np.float32]:
        """The whole network for a centralised critic: (num_routers, radix), the congestion of every output port
        (queued packets and credits in use) relative to the network's buffers, whatever ``occupancy_unit`` is.

        Args:
            scenario: Which one; where there is only one, it need not be said.

        Raises:
            ConfigError: If there is no such scenario.
        """
        number = self._number(scenario)
        with self._alone:
            return self._core.state(number)

    def packet_log(self, scenario: int | None = None) -> dict[str, npt.NDArray[Any]]:
        """Take the packet log, as ``Simulation.packet_log``.

        Args:
            scenario: Whose; where there is only one, it need not be said.

        Raises:
            ConfigError: If there is no such scenario.
            StateError: If its configuration did not ask for ``packet_log``.
        """
        number = self._number(scenario)
        if not self.configs[number].packet_log:
            raise StateError("packet_log(): the configuration has packet_log=False, so nothing was logged")
        with self._alone:
            log = self._core.simulation_of(number).packet_log()
        for name in ("created", "injected", "delivered"):
            log[f"{name}_ns"] = log.pop(f"{name}_ps") / PS_PER_NS
        return log
