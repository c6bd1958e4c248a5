"""``BatchedRoutingEnv``: the one environment; every other view is a thin layer over it.

One call answers thousands of packets. All decisions that are raised within one routing delay are handed out
together, which changes no timing: a decision sees the router as it is at its instant and takes effect one routing
delay later. So a policy written in Python gives bit for bit the run that the same policy gives in the core.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from dragonfly_env.envs._scenarios import Changes, Configs, Scenarios
from dragonfly_env.envs.needs import options_for
from dragonfly_env.envs.options import EnvOptions, Several, documented, takes
from dragonfly_env.envs.recipe import ByRecipe
from dragonfly_env.errors import IllegalActionError, StateError
from dragonfly_env.metrics.series import check_series, limit_of_drain
from dragonfly_env.simulation.core_owner import AT_WORK

if TYPE_CHECKING:
    from dragonfly_env.policies import Policy


@documented
class BatchedRoutingEnv(ByRecipe, EpisodeReports):
    """Routers that ask for decisions in batches. Not for several threads at once.

    It is pickled and copied by its recipe: the arguments and the seed that comes next. A running episode is not
    carried: a copy begins with ``reset()``. So are all views.

    Args:
        config: The network and its traffic. ``config.policy`` routes the warm-up, ``config.seed`` is the seed of
            the first episode. A list of configurations: as many scenarios in one batch, which must have the same
            columns and actions; the largest of their ``threads`` share them out. A function: it makes one or a list
            from the seed of each episode (1 for the first, unless ``reset`` is given one), and seeds follow from that.
        **options: Fields of ``EnvOptions``.

    Raises:
        ConfigError: For a setting that is out of range, or that the topology or the network rules out; for scenarios
            that cannot share a batch.
    """

    _AT_WORK: ClassVar[str] = AT_WORK
    _STOPPED: ClassVar[str] = "this episode stopped for good: {}; call reset()"

    @takes(EnvOptions)
    def __init__(self, config: SimulationConfig | Several, **options: Any) -> None:
        self._scenarios = Scenarios(config)
        self._options = EnvOptions(**options)
        super().__init__()
        self._drained = False
        self._started = False
        self._episode = 0
        self._batch: DecisionBatch | None = None
        self._core = self._build(self.configs)
        self._check_series(self._core, self.configs, self._core.end_ps)
        self._layout = self._layout_of(self._core, self.config)

    @classmethod
    def for_policy(
        cls, config: SimulationConfig | Several, policy: Policy | Any, **options: Any
    ) -> BatchedRoutingEnv:
        """The environment whose batches a policy can answer.

        Args:
            config: As for the constructor.
            policy: Anything that says what it needs, see ``needed_options``.
            **options: Further keyword arguments; they take precedence.

        Raises:
            ConfigError: For what is no policy, or what needs other options on some of the topologies; and as for the
                constructor.
        """
        return cls(config, **options_for(Scenarios(config).present, policy, options))

    def __repr__(self) -> str:
        try:
            when = f"at {self.time_ns:g} ns"
        except StateError:
            when = "at work in another thread"
        several = f"{self.num_scenarios} scenarios, the first " if self.num_scenarios > 1 else ""
        return (
            f"<BatchedRoutingEnv scope={self.scope} action={self.action} {when} of {several}{self.config!r}>"
        )

    def _build(self, configs: Configs) -> _core.RoutingEnvironment:
        options = self._options
        runs = [(*one.core_arguments(), options.spec(one.network, one.topology)) for one in configs]
        times_ps = options.warmup_ps, options.duration_ps
        if len(runs) == 1:
            return _core.RoutingEnvironment(*runs[0], *times_ps)
        return _core.RoutingEnvironment.several(runs, *times_ps, max(one.threads for one in configs))

    def _layout_of(self, core: _core.RoutingEnvironment, config: SimulationConfig) -> Layout:
        return Layout(
            core.layout(),
            config.topology,
            self._options.candidate_names,
            core.num_actions,
            self._options.occupancy_unit,
            config.network.paths_weighed_by,
        )

    # An episode.

    def reset(self, seed: int | Sequence[int] | None = None, options: Changes = None) -> DecisionBatch:
        """Start an episode with empty networks, and run to the first decisions.

        Args:
            seed: Of everything random; None: ``config.seed`` at first, then the next of a fixed sequence. Of several
                scenarios the first has this seed, the others have seeds that follow from it; or a list with that of
                each.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. Or a list with that of each
                scenario.

        Returns:
            The first batch; empty if there is no decision in the whole episode.

        Raises:
            ConfigError: If the seed is no integer in [0, 2^64), or for an option that is unknown or impossible: the
                present episode goes on.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: If another thread uses this environment.
        """
        with self._alone:
            configs, own = self._scenarios.of_episode(seed, options)
            core = self._build(configs)
            if self._scenarios.are_drawn and self._layout_of(core, configs[0]) != self._layout:
                raise config_error(
                    "config", "a function", "must make scenarios with the columns of its first ones"
                )
            self._check_series(core, configs, core.end_ps)
            self._batch = None
            self._core = core
            self._scenarios.begin(configs, own)
            self._broken, self._drained, self._started = None, False, True
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
            The next batch; empty when ``done``. A scenario that has come to its end waits for the others: it asks
            nothing any more.

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
        """Whether the episode has reached its end, in all scenarios, and all decisions are answered."""
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
            self._check_series(self._core, self.configs, self._core.end_ps + duration_ps)
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
            for number, config in enumerate(self.configs):
                if config.series_bin_ns is None:
                    self._core.begin_drain(network=number)
                else:
                    partitions = self._core.simulation_of(number).num_partitions
                    end_ps, error = limit_of_drain(config.series_bin_ns, partitions)
                    self._core.begin_drain(end_ps, str(error), number)
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
            for number in range(self.num_scenarios):
                self._core.simulation_of(number).reset_statistics()

    @property
    def time_ns(self) -> float:
        """The simulated time: of the earliest pending decision, or how far the network has got (of those that go on,
        the one that is behind the others).
        """
        with self._alone:
            return self._core.time_ns

    # Inside.

    def _take_batch(self) -> DecisionBatch:
        obs, mask, agents, ids, packets, time_ns, candidates, scenario = self._core.batch()
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
            scenario=scenario,
        )
        return self._batch

    def _seed_state(self) -> dict[str, Any]:
        return self._scenarios.state()

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._scenarios.go_on(seeds)

    @staticmethod
    def _check_series(core: _core.RoutingEnvironment, configs: Configs, end_ps: int) -> None:
        for number, config in enumerate(configs):
            if config.series_bin_ns is not None:
                check_series(config.series_bin_ns, core.simulation_of(number).num_partitions, end_ps)

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
