"""``BatchedRoutingEnv``: the one environment; every other view is a thin layer over it.

One call answers thousands of packets. All decisions that are raised within one routing delay are handed out
together, which changes no timing: a decision sees the router as it is at its instant and takes effect one routing
delay later. So a policy written in Python gives bit for bit the run that the same policy gives in the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import MAX_RUN_NS, MAX_TIME_PS, config_error
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.decisions.actions import as_actions
from dragonfly_env.decisions.batch import DecisionBatch, IntArray
from dragonfly_env.decisions.layout import Layout
from dragonfly_env.envs._reports import EpisodeReports
from dragonfly_env.envs.needs import needed_options
from dragonfly_env.envs.options import EnvOptions, documented, next_seed, takes
from dragonfly_env.envs.recipe import ByRecipe
from dragonfly_env.errors import IllegalActionError, StateError
from dragonfly_env.metrics.series import check_series, limit_of_drain

if TYPE_CHECKING:
    from dragonfly_env.policies import Policy


@documented
class BatchedRoutingEnv(ByRecipe, EpisodeReports):
    """Routers that ask for decisions in batches. Not for several threads at once.

    It is pickled and copied by its recipe: the arguments and the seed that comes next. A running episode is not
    carried: a copy begins with ``reset()``. So are all views.

    Args:
        config: The network and its traffic. ``config.policy`` routes the warm-up, ``config.seed`` is the seed of
            the first episode.
        **options: Fields of ``EnvOptions``.

    Raises:
        ConfigError: For a setting that is out of range, or that the topology or the network rules out.
    """

    _AT_WORK: ClassVar[str] = "this environment is at work in another thread; use one per thread"
    _STOPPED: ClassVar[str] = "this episode stopped for good: {}; call reset()"

    @takes(EnvOptions)
    def __init__(self, config: SimulationConfig, **options: Any) -> None:
        _checked(config)
        self._options = EnvOptions(**options)
        self._spec = self._options.spec(config.network, config.topology)
        self._config = config
        super().__init__()
        self._drained = False
        self._started = False
        self._seed_follows = False  # the next episode has the seed that follows on the present one
        self._episode = 0
        self._batch: DecisionBatch | None = None
        self._core = self._build()
        self._check_series(self._core.end_ps)
        self._layout = Layout(
            self._core.layout(), config.topology, self._options.candidate_names, self._core.num_actions
        )

    @classmethod
    def for_policy(cls, config: SimulationConfig, policy: Policy | Any, **options: Any) -> BatchedRoutingEnv:
        """The environment whose batches a policy can answer.

        Args:
            config: As for the constructor.
            policy: Anything that says what it needs, see ``needed_options``.
            **options: Further keyword arguments; they take precedence.

        Raises:
            ConfigError: For what is no policy, and as for the constructor.
        """
        return cls(config, **{**needed_options(policy, _checked(config).topology), **options})

    def __repr__(self) -> str:
        try:
            when = f"at {self.time_ns:g} ns"
        except StateError:
            when = "at work in another thread"
        return f"<BatchedRoutingEnv scope={self.scope} action={self.action} {when} of {self._config!r}>"

    def _build(self) -> _core.RoutingEnvironment:
        return _core.RoutingEnvironment(
            *self._config.core_arguments(), self._spec, self._options.warmup_ps, self._options.duration_ps
        )

    # An episode.

    def reset(self, seed: int | None = None) -> DecisionBatch:
        """Start an episode with an empty network, and run to the first decisions.

        Args:
            seed: Of everything random; None: ``config.seed`` at first, then the next of a fixed sequence.

        Returns:
            The first batch; empty if there is no decision in the whole episode.

        Raises:
            ConfigError: If the seed is no integer in [0, 2^64).
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: If another thread uses this environment.
        """
        with self._alone:
            if seed is not None:
                self._config = self._config.replace(seed=seed)
            elif self._seed_follows:
                self._config = self._config.replace(seed=next_seed(self._config.seed))
            self._batch = None
            self._core = self._build()
            self._broken, self._drained, self._started, self._seed_follows = None, False, True, True
            self._episode += 1
            with self._marks_broken():
                self._core.advance()
            return self._take_batch()

    def step(self, actions: npt.ArrayLike) -> DecisionBatch:
        """Answer the whole batch, and run to the next decisions or to the end of the episode.

        Args:
            actions: (N,) integers, one per row of the batch. After a ``KeyboardInterrupt`` the batch is empty
                although the episode is not over: ``step([])`` then goes on.

        Returns:
            The next batch; empty when ``done``.

        Raises:
            IllegalActionError: For a wrong shape or type, or for an action that its mask does not allow: the
                message names router, decision and what is legal. Nothing has changed; answer again.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: Before ``reset``, when ``done``, or if another thread uses this environment.
        """
        with self._alone:
            self._require_running("step")
            answers = as_actions(actions)
            with self._marks_broken():
                self._batch, previous = None, self._batch
                try:
                    self._core.step(answers)
                except IllegalActionError:
                    self._batch = previous
                    raise
            return self._take_batch()

    @property
    def done(self) -> bool:
        """Whether the episode has reached its end and all decisions are answered."""
        return self._core.done

    @property
    def pending(self) -> DecisionBatch:
        """The decisions that wait for an answer.

        Raises:
            StateError: Before ``reset``, or while another thread uses this environment.
        """
        with self._alone:
            if not self._started:
                raise self._not_begun("pending")
            return self._batch if self._batch is not None else self._take_batch()

    def state(self) -> npt.NDArray[np.float32]:
        """The whole network for a centralised critic: (num_routers, radix), the congestion of every output port
        (queued packets and credits in use), scaled as ``candidate_packets``.
        """
        with self._alone:
            return self._core.state()

    def minimal_action(self, batch: DecisionBatch) -> IntArray:
        """(N,) the action along a shortest path, which is always legal."""
        return batch.minimal_actions()

    # After and beside the episode.

    def extend(self, duration_ns: float) -> DecisionBatch:
        """Go on after the end, for so much longer.

        Raises:
            ConfigError: If the duration is not above 0, leads beyond the end of the clock, or is too long for a
                time series with so narrow bins.
            StateError: If the episode is not ``done``, or was drained.
        """
        duration_ps = EnvOptions.duration_in_ps("duration_ns", duration_ns)
        with self._alone:
            self._require_done("extend")
            if self._core.end_ps + duration_ps > MAX_TIME_PS:
                raise config_error("duration_ns", duration_ns, f"the clock ends at {MAX_RUN_NS:g} ns")
            self._check_series(self._core.end_ps + duration_ps)
            self._core.extend(duration_ps)
            with self._marks_broken():
                self._core.advance()
            return self._take_batch()

    def drain(self, policy: Any = None) -> None:
        """Stop all generators and run until the last packet is delivered.

        Args:
            policy: Answers the decisions on the way, with ``act(batch)``; None: always along a shortest path.

        Raises:
            ConfigError: If it comes to a time that is too long for a time series with so narrow bins.
            StateError: If the episode is not ``done``.
        """
        with self._alone:
            self._require_done("drain")
            self._drained = True
            bin_ns = self._config.series_bin_ns
            if bin_ns is None:
                self._core.begin_drain()
            else:
                end_ps, error = limit_of_drain(bin_ns, self._core.simulation.num_partitions)
                self._core.begin_drain(end_ps, str(error))
            with self._marks_broken():
                self._core.advance()
            batch = self._take_batch()
        while not self.done:
            batch = self.step(batch.minimal_actions() if policy is None else policy.act(batch))

    def reset_statistics(self) -> None:
        """Forget what was counted so far, as ``Simulation.reset_statistics``.

        Raises:
            StateError: If another thread uses this environment.
        """
        with self._alone:
            self._core.simulation.reset_statistics()

    @property
    def time_ns(self) -> float:
        """The simulated time: of the earliest pending decision, or how far the network has got."""
        with self._alone:
            return self._core.time_ns

    def trace_hash(self) -> int:
        """A 64-bit hash over every delivery since time 0; equal hashes mean equal histories."""
        with self._alone:
            return self._core.simulation.trace_hash()

    # Inside.

    def _take_batch(self) -> DecisionBatch:
        obs, mask, agents, ids, packets, time_ns, candidates = self._core.batch()
        alone, core, count = self._alone, self._core, self._options.num_draws
        answered = core.batches_answered

        def draws() -> npt.NDArray[np.float64]:
            with alone:
                return core.draws(count, answered)

        self._batch = DecisionBatch(
            layout=self._layout,
            obs=obs,
            mask=mask,
            agents=agents,
            decision_ids=ids,
            packets=packets,
            time_ns=time_ns,
            candidates=candidates,
            draws=draws,
        )
        return self._batch

    def _seed_state(self) -> dict[str, Any]:
        return {"seed": self._config.seed, "follows": self._seed_follows}

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._config = self._config.replace(seed=seeds["seed"])
        self._seed_follows = seeds["follows"]

    def _check_series(self, end_ps: int) -> None:
        if (bin_ns := self._config.series_bin_ns) is not None:
            check_series(bin_ns, self._core.simulation.num_partitions, end_ps)

    def _require_running(self, call: str) -> None:
        if not self._started:
            raise self._not_begun(f"{call}()")
        if self._core.done:
            raise StateError(f"{call}(): the episode is over; call reset()")

    def _require_done(self, call: str) -> None:
        if not self._started:
            raise self._not_begun(f"{call}()")
        if not self._core.done:
            raise StateError(f"{call}(): only after the end of an episode (done)")
        if self._drained:
            raise StateError(f"{call}(): the episode was drained; call reset()")


def _checked(config: SimulationConfig) -> SimulationConfig:
    if not isinstance(config, SimulationConfig):
        raise config_error("config", config, "must be a SimulationConfig")
    return config
