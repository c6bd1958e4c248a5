"""``BatchedRoutingEnv``: the one environment; every other view is a thin layer over it.

One call decides about thousands of packets. All decisions that are raised within one routing delay are handed out
together, which changes no timing: a decision sees the router as it is at its time and takes effect one routing
delay later. So a policy written in Python gives bit for bit the run that the same policy gives in the core.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.batch_policy import CoreNetwork
from dragonfly_env.checks.values import MAX_RUN_NS, MAX_TIME_PS, check_integer, config_error, duration_ps_of
from dragonfly_env.decisions.batch import DecisionBatch, IntArray, Outcomes, Rollout, Transitions
from dragonfly_env.decisions.feedback import HopFeedback
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES, Layout
from dragonfly_env.envs.options import EnvOptions, Several, options_for, takes
from dragonfly_env.envs.rewards import FloatArray, RouterRewards
from dragonfly_env.envs.scenarios import Changes, Configs, Scenarios, scenario_seed
from dragonfly_env.errors import IllegalActionError, StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.series import check_series, limit_of_drain
from dragonfly_env.metrics.stationarity import Mark, Marks
from dragonfly_env.simulation.config import RunState, SimulationConfig
from dragonfly_env.simulation.core_owner import CoreOwner, packet_log_of
from dragonfly_env.simulation.snapshot import Snapshot, made_of

if TYPE_CHECKING:
    from dragonfly_env.policy import Policy

_KIND = "environment"


class BatchedRoutingEnv(CoreOwner):
    """Routers whose decisions come in batches. One thread may use it at a time.

    Pickling and ``copy.deepcopy`` carry the running episode, also that of a view. ``snapshot`` and ``restore`` keep it
    in memory or in a file, and ``fork`` goes on from it with other settings.

    Args:
        config: The network and its traffic. ``config.policy`` routes the warm-up, ``config.seed`` is the seed of
            the first episode. A list of configurations: as many scenarios in one batch, which must have the same
            columns and actions; the largest of their ``threads`` share them out. A function: it makes one or a list
            from the seed of each episode (1 for the first, unless ``reset`` is given one), and seeds follow from that.
        **options: Fields of ``EnvOptions``.

    Raises:
        ConfigError: For a setting that is out of range, or that the topology or the network rules out; for scenarios
            that cannot share a batch.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> env = dfe.BatchedRoutingEnv(config, action="path", scope="source")
        >>> batch = env.reset(seed=1)
        >>> while not env.done:
        ...     batch = env.step(batch.minimal_actions())
        >>> env.time_ns, env.metrics().minimal_fraction
        (50000.0, 1.0)
    """

    _STOPPED: ClassVar[str] = "this episode stopped for good: {}; call reset()"

    @takes(EnvOptions)
    def __init__(self, config: SimulationConfig | Several, **options: Any) -> None:
        self._scenarios = Scenarios(config)
        self._options = EnvOptions(**options)
        self._drained = False
        self._started = False
        self._episode_number = 0
        self._batch: DecisionBatch | None = None
        self._made: tuple[RunState, ...] = tuple(map(RunState, self.configs))
        self._core = self._build(self._made)
        self._check_series(self._core, self.configs, self._core.end_ps)
        self._layout = self._layout_of(self._core, self.config)
        self._rewards = RouterRewards(self._options, self.num_scenarios)
        self._begin_windows([self._options.warmup_ps] * self.num_scenarios)

    @classmethod
    def for_policy(
        cls, config: SimulationConfig | Several, policy: Policy | Any, **options: Any
    ) -> BatchedRoutingEnv:
        """The environment whose batches a policy can decide.

        Args:
            config: As for the constructor.
            policy: Anything that says what it needs, see ``needed_options``.
            **options: Further keyword arguments; they take precedence.

        Raises:
            ConfigError: For what is no policy, or what needs other options on some of the topologies; and as for the
                constructor.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> policy = dfe.make_policy("ugal-n")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, policy)
            >>> policy.act(env.reset(seed=1)).dtype
            dtype('int64')
        """
        return cls(config, **options_for(Scenarios(config).present, policy, options))

    def __repr__(self) -> str:
        several = f"{self.num_scenarios} scenarios, the first " if self.num_scenarios > 1 else ""
        mode = f"scope={self.scope} action={self.action}"
        return f"<BatchedRoutingEnv {mode} at {self.time_ns:g} ns of {several}{self.config!r}>"

    def _build(self, made: tuple[RunState, ...]) -> _core.RoutingEnvironment:
        runs = [self._record(simulation) for simulation in made]
        times_ps = self._options.warmup_ps, self._options.duration_ps
        if len(runs) == 1:
            return _core.RoutingEnvironment(runs[0], *times_ps)
        return _core.RoutingEnvironment.several(
            runs, *times_ps, max(simulation.config.threads for simulation in made)
        )

    def _record(self, made: RunState) -> dict[str, Any]:
        network, topology = made.config.network, made.config.topology
        return {**made.to_core(), "decisions": self._options.spec(network, topology)}

    def _layout_of(self, core: _core.RoutingEnvironment, config: SimulationConfig) -> Layout:
        return Layout(
            core.layout(),
            config.topology,
            self._options.candidate_names,
            core.num_actions,
            self._options.occupancy_unit,
            config.network.congestion_metric,
        )

    # Properties that no state changes.

    @property
    def config(self) -> SimulationConfig:
        """The network and its traffic, with the seed of the present episode; of several scenarios the first."""
        return self._scenarios.present[0]

    @property
    def configs(self) -> tuple[SimulationConfig, ...]:
        """The networks and their traffic, with the seeds of the present episode; ``batch.scenario`` counts them."""
        return self._scenarios.present

    @property
    def num_scenarios(self) -> int:
        """Number of networks that run next to each other."""
        return len(self._scenarios.present)

    @property
    def seed(self) -> int:
        """The seed of the present episode; of several scenarios that of the first."""
        return self.config.seed

    @property
    def episode(self) -> int:
        """Number of calls of ``reset``."""
        return self._episode_number

    @property
    def scope(self) -> str:
        """Routers that decide."""
        return self._options.scope

    @property
    def action(self) -> str:
        """The meaning of an action: ``"port"`` or ``"path"``."""
        return self._options.action

    @property
    def reward(self) -> str:
        """The rule that computes the rewards of transitions: ``"hop"`` or ``"delivery"``."""
        return self._options.reward

    @property
    def options(self) -> EnvOptions:
        """All settings except ``config``."""
        return self._options

    @property
    def layout(self) -> Layout:
        """The meaning of the columns of an observation."""
        return self._layout

    @property
    def num_features(self) -> int:
        """F, the columns of an observation."""
        return self._layout.num_features

    @property
    def num_actions(self) -> int:
        """A, the columns of the mask."""
        return self._layout.num_actions

    @property
    def num_agents(self) -> int:
        """The number of routers, of all scenarios together."""
        return sum(config.topology.num_routers for config in self.configs)

    @property
    def first_agents(self) -> npt.NDArray[np.int64]:
        """(num_scenarios,) first routers of the scenarios if routers are numbered on from one scenario to the next."""
        routers = [config.topology.num_routers for config in self.configs]
        return np.cumsum([0, *routers[:-1]], dtype=np.int64)

    def slots(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """(N,) the routers of a batch, numbered on from one scenario to the next, as in ``rewards_by_router()``."""
        agents = batch.agents.astype(np.int64)
        return agents if self.num_scenarios == 1 else agents + self.first_agents[batch.scenario]

    @property
    def state_shape(self) -> tuple[int, int]:
        """The shape of ``state()``; of several scenarios that of the first."""
        topology = self.config.topology
        return topology.num_routers, topology.radix + 3 + topology.num_groups

    def check_changes(self, options: Changes) -> None:
        """Check what is to be different in an episode, as ``reset`` takes it; nothing changes.

        Args:
            options: As for ``reset``.

        Raises:
            ConfigError: For an option that is unknown or impossible.
        """
        self._scenarios.check(options)

    # An episode.

    def reset(self, seed: int | Sequence[int] | None = None, options: Changes = None) -> DecisionBatch:
        """Start an episode with empty networks, and run to the first decisions.

        Args:
            seed: Seed of all random numbers; None: ``config.seed`` at first, then the next of a fixed sequence.
                The first of several scenarios has this seed, and the others follow from it; or a list with the seed of
                each.
            options: Settings of this episode: ``traffic``, ``load``, ``seed``. Or a list with that of each
                scenario.

        Returns:
            The first batch; empty if there is no decision in the whole episode.

        Raises:
            ConfigError: If the seed is no integer in [0, 2^64), or for an option that is unknown or impossible: the
                present episode goes on.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1, options={"traffic": "adv+1", "load": 0.2})
            >>> env.seed, env.episode, env.config.load
            (1, 1, 0.2)
        """
        configs, episode_seed = self._scenarios.of_episode(seed, options)
        made = tuple(map(RunState, configs))
        core = self._build(made)
        if self._scenarios.are_drawn and self._layout_of(core, configs[0]) != self._layout:
            raise config_error(
                "config", "a function", "must make scenarios with the columns of its first ones"
            )
        self._check_series(core, configs, core.end_ps)
        self._batch = None
        self._core, self._made = core, made
        self._scenarios.begin(configs, episode_seed)
        self._broken, self._drained, self._started = None, False, True
        self._episode_number += 1
        self._rewards.begin(core, configs)
        self._begin_windows([self._options.warmup_ps] * self.num_scenarios)
        with self._marks_broken():
            self._core.advance()
        return self._take_batch()

    def step(self, actions: npt.ArrayLike) -> DecisionBatch:
        """Give the actions of the whole batch, and run to the next decisions or to the end of the episode.

        Args:
            actions: (N,) integers, one per row of the batch. After a ``KeyboardInterrupt`` the batch is empty
                although the episode is not over: ``step([])`` then goes on.

        Returns:
            The next batch; empty when ``done``. A scenario that has come to its end waits for the others: it has
            no decisions any more.

        Raises:
            IllegalActionError: For a wrong shape or type, or for an action that its mask does not allow: the
                message names router, decision and what is legal. Nothing has changed; choose again.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: Before ``reset``, or when ``done``.
        """
        self._require_running("step")
        with self._marks_broken():
            self._core.take_all(_as_integers(actions))
        return self.go_on()

    def rollout(self, policy: Policy | CoreNetwork, transitions: int) -> Rollout:
        """Let a neural network decide in the core until so many transitions are completed, or to the end of the
        episode.

        The run is the same, bit for bit, as with ``step(policy.act(batch))``, and several times as fast on small
        networks. Afterwards ``pending`` has the decisions that wait, which ``step`` or another rollout continues.

        Args:
            policy: A policy with a neural network (``mlp``, ``neural-v1``), or the network itself, which needs no file:
                ``MlpNetwork(layers=..., features=..., output="softmax")``. With a softmax actions are drawn from
                ``batch.draws``. Features without a scale are the columns of ``obs`` as they are.
            transitions: Number of transitions. All of the last step are returned, so there may be some more; fewer
                if the episode ends before.

        Returns:
            All transitions since the last call of ``rollout`` or ``transitions``, with log-probabilities.

        Raises:
            ConfigError: If the network does not fit the actions or the features of this environment.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: Before ``reset``, or when ``done``; and as ``transitions``.

        Example:
            >>> network = dfe.baselines.MlpNetwork.random(seed=1, output="softmax")
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> env = dfe.BatchedRoutingEnv(
            ...     config, scope="source", action="path", features=network.features
            ... )
            >>> batch = env.reset(seed=1)
            >>> rollout = env.rollout(network, transitions=1_000)
            >>> len(rollout) >= 1_000, env.done, len(env.pending) > 0
            (True, False, True)
        """
        self._require_running("rollout")
        self._require_transitions("rollout()")
        network = getattr(policy, "network", policy)
        if not isinstance(network, CoreNetwork):
            raise config_error("policy", policy, "must be a policy with a neural network, or an MlpNetwork")
        self._require_packets(network)
        count = check_integer("transitions", transitions, 1, 2**62)
        with self._marks_broken():
            self._batch = None
            decisions = self._core.rollout(network.to_core(), count)
        self._note_marks()
        self._require_transitions("rollout()")
        completed = Transitions(*self._core.transitions())
        log_probs = self._core.log_probabilities(completed.decision_ids, completed.scenario)
        return Rollout(completed, log_probs, decisions)

    @property
    def done(self) -> bool:
        """Whether the episode has reached its end, in all scenarios, and all decisions are made."""
        return self._core.done

    @property
    def pending(self) -> DecisionBatch:
        """The decisions that wait for an action.

        Raises:
            StateError: Before ``reset``.
        """
        self._check_begun("pending")
        return self._batch if self._batch is not None else self._take_batch()

    # A step in parts: views of one packet or router at a time take actions row by row, and then go on.

    def take_action(self, row: int, action: int) -> bool:
        """Take the action for a row of the batch, or the minimal one in place of an illegal action; whether it was
        legal. ``go_on`` makes the decisions, when every row has its action.
        """
        return self._core.take_action(row, action)

    def take_actions(self, rows: IntArray, actions: IntArray) -> list[int]:
        """Take actions for some rows of the batch, as ``take_action``; where among them illegal ones are."""
        return self._core.take_actions(rows, actions)

    def go_on(self) -> DecisionBatch:
        """Make the decisions of the batch, and run to the next one."""
        with self._marks_broken():
            self._batch = None
            self._core.go_on()
        return self._take_batch()

    # Methods for the time after the episode, and for copies of it.

    def extend(self, duration_ns: float) -> DecisionBatch:
        """Go on after the end, for ``duration_ns`` longer.

        Raises:
            ConfigError: If the duration is not above 0, leads beyond the end of the clock, or is too long for a
                time series with so narrow bins.
            StateError: If the episode is not ``done``, or was drained.
        """
        duration_ps = duration_ps_of("duration_ns", duration_ns, above_0=True)
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
            policy: Takes the decisions meanwhile, with ``act(batch)``; None: always along a shortest path.

        Raises:
            ConfigError: If it comes to a time that is too long for a time series with so narrow bins.
            StateError: If the episode is not ``done``.
        """
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
        """Forget what was counted so far, as ``Simulation.reset_statistics``."""
        simulations = [self._core.simulation_of(number) for number in range(self.num_scenarios)]
        for simulation in simulations:
            simulation.reset_statistics()
        self._begin_windows([simulation.clock_ps for simulation in simulations])

    @property
    def time_ns(self) -> float:
        """The simulated time: of the earliest pending decision, or how far the network has got (of those that go on,
        the one that is behind the others).
        """
        return self._core.time_ns

    # Results of an episode next to its batches.

    def transitions(self) -> Transitions:
        """All transitions that were completed since the last call in this episode, ordered by scenario, then by
        decision id. Every decision is in exactly one, which ends at its packet's next decision, or at the delivery
        (with reward ``"delivery"`` always there), or is truncated by the end of the episode. After ``extend`` or
        ``drain`` those that had been truncated are completed as well.

        Raises:
            StateError: Before ``reset``; if the environment was made with ``transitions=False``; or if too much
                piled up since the last call.
        """
        self._check_begun("transitions()")
        self._require_transitions("transitions()")
        return Transitions(*self._core.transitions())

    def outcomes(self) -> Outcomes:
        """Outcomes of all decisions that were completed since the last call in this episode: ``transitions()`` without
        observations, which takes a small part of the time and memory. Both may be read next to each other.

        Raises:
            StateError: Before ``reset``; if the environment was not made with ``outcomes=True``; or if too much
                piled up since the last call.
        """
        self._check_begun("outcomes()")
        if not self._options.outcomes:
            raise StateError("outcomes(): the environment was made with outcomes=False, must be True")
        if self._core.outcomes_overflowed:
            raise StateError(
                f"outcomes(): more than {self._options.max_uncollected_bytes} bytes had piled up, and no "
                "more were kept in this episode; call it more often, or raise max_uncollected_bytes"
            )
        return Outcomes(*self._core.outcomes())

    def feedback(self) -> HopFeedback:
        """Reports to routers on the hops that they chose, since the last call in this episode: one report per
        decision whose packet went on to another router and has left the input buffer there. When a batch is
        handed out, all reports that reach a router before or at the times of its decisions are among them.

        Raises:
            StateError: Before ``reset``; if the environment was not made with ``feedback=True``; or if too much
                piled up since the last call.
        """
        self._check_begun("feedback()")
        if not self._options.feedback:
            raise StateError("feedback(): the environment was made with feedback=False, must be True")
        if self._core.reports_overflowed:
            raise StateError(
                f"feedback(): more than {self._options.max_uncollected_bytes} bytes had piled up, and no "
                "more was kept in this episode; call it after every step, or raise max_uncollected_bytes"
            )
        return HopFeedback(*self._core.reports())

    def rewards_by_router(self) -> FloatArray:
        """(num_agents,) rewards of the routers since the last call in this episode, in units of
        ``reward_scale_ns``; routers are numbered on from one scenario to the next, see ``slots``.

        Every packet in the system has one holder: the router of its source host from its generation on, source queue
        included, and after each decision the router that decided. When a packet is handed over, to the next router that
        decides or to its destination host, its holder is charged for the time. On delivery the source router is
        credited with ``latency_credit_ns`` (reward ``"differential"``: with the mean latency so far). At the end of the
        episode packets that are still open are charged for their time, too, and credited with their age, but with no
        more than for a delivery. So no router gains from keeping packets. With ``share`` routers get sums.

        Raises:
            StateError: Before ``reset``, or with reward ``"delivery"``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> env = dfe.BatchedRoutingEnv(config, duration_ns=2_000, latency_credit_ns=0)
            >>> batch = env.reset(seed=1)
            >>> while not env.done:
            ...     batch = env.step(batch.minimal_actions())
            >>> np.isclose(env.rewards_by_router().sum(), env.metrics().score)
            np.True_
        """
        self._require_step_rewards("rewards_by_router()")
        return self._rewards.read_rewards(self._core, self._core.tallies())

    def packets_by_router(self) -> tuple[IntArray, IntArray]:
        """Two arrays (num_agents,): packets that the hosts of each router have generated, and packets of these hosts
        that were delivered, since the last call in this episode.
        """
        self._check_begun("packets_by_router()")
        return self._rewards.read_packets(self._core.tallies())

    def tallies_by_router(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the rewards of ``rewards_by_router()`` and the two arrays of ``packets_by_router()``."""
        self._require_step_rewards("tallies_by_router()")
        tallies = self._core.tallies()
        return self._rewards.read_rewards(self._core, tallies), *self._rewards.read_packets(tallies)

    def metrics(self, scenario: int | None = None) -> Metrics:
        """Metrics of a ``scenario`` since the warm-up (or ``reset_statistics``). While decisions are pending, the parts
        of the network may be at slightly different times; when ``done`` everything is exact, but for the middle of the
        window, by which ``saturated`` and ``stationary`` are judged: it is noted at the end of a batch.
        """
        number = self._number(scenario)
        config = self.configs[number]
        statistics = self._core.simulation_of(number).statistics()
        jobs = tuple(job.info for job in config.placed_jobs())
        middle = self._marks[number].middle(self._windows_ps[number], int(statistics["now_ps"]))
        return Metrics.from_statistics(
            statistics, config.topology, config.network, middle, jobs, config.arrivals
        )

    def trace_hash(self, scenario: int | None = None) -> int:
        """A 64-bit hash over every delivery since time 0; equal hashes mean equal histories. That of a ``scenario`` is
        the same as if it ran alone.
        """
        number = self._number(scenario)
        return self._core.simulation_of(number).trace_hash()

    def state(self, scenario: int | None = None) -> npt.NDArray[np.float32]:
        """The whole network for a centralised critic: (num_routers, radix + 3 + num_groups), 0 to ``state_high()``.

        A router's row has the occupancy of every output port (queued packets and credits in use, relative to the
        network's buffers); packets that the router holds (see ``rewards_by_router``); packets in source queues of its
        hosts; by destination group, packets that the hosts have given to it in the last one to two microseconds; and
        the share of the episode that is over. A number n of packets is shown as n / (n + radix). Of several scenarios
        ``scenario`` says which one is meant.
        """
        number = self._number(scenario)
        return self._core.state(number)

    def state_high(self, scenario: int | None = None) -> npt.NDArray[np.float32]:
        """The largest ``state()`` of a ``scenario``: 1, and for the occupancy of a port what all its buffers hold.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> env.state_high().shape == env.state_shape
            True
        """
        number = self._number(scenario)
        topology = self.configs[number].topology
        high = np.ones((topology.num_routers, topology.radix + 3 + topology.num_groups), np.float32)
        high[:, : topology.radix] = self._core.state_high(number)
        return high

    def packet_log(self, scenario: int | None = None) -> dict[str, npt.NDArray[Any]]:
        """Take the packet log of a ``scenario``, as ``Simulation.packet_log``; ``StateError`` if there is none."""
        number = self._number(scenario)
        return packet_log_of(self._core.simulation_of(number), self.configs[number])

    # Inside.

    def _begin_windows(self, times_ps: Sequence[int]) -> None:
        """Count from these times on, one for each scenario."""
        self._windows_ps = tuple(times_ps)
        self._marks = tuple(Marks() for _ in times_ps)

    def _note_marks(self) -> None:
        """Note the counts of scenarios that have passed a time for a mark: about the middle of the window is known
        whenever it ends.
        """
        for number, (marks, window_ps) in enumerate(zip(self._marks, self._windows_ps, strict=True)):
            simulation = self._core.simulation_of(number)
            if not self._made[number].config.ends and marks.was_due(window_ps, simulation.clock_ps):
                marks.note(Mark.of(simulation.totals()))

    def _number(self, scenario: int | None) -> int:
        """Return the number of the scenario that is meant; it need not be given if there is only one."""
        most = self.num_scenarios - 1
        if scenario is None and most > 0:
            raise config_error(
                "scenario", None, f"must be given, from 0 to {most}: this environment has several"
            )
        return 0 if scenario is None else check_integer("scenario", scenario, 0, most)

    def _take_batch(self) -> DecisionBatch:
        self._note_marks()
        obs, mask, agents, ids, packets, time_ns, candidates, scenario = self._core.batch()
        core, count = self._core, self._options.num_random
        batch_number = core.num_batches

        def draws() -> npt.NDArray[np.float64]:
            return core.draws(count, batch_number)

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

    # Copies.

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, with the state of the core in place of the core; the batch and the layout follow from it."""
        state = {**self.__dict__, "_scenarios": copy.copy(self._scenarios), "_batch": None}
        state["_rewards"] = copy.copy(self._rewards)
        state["_marks"] = copy.deepcopy(self._marks)
        del state["_layout"]
        state["_core"] = self._core.save() if self._started else None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = self._build(self._made)
        self._layout = self._layout_of(self._core, self.config)
        if state["_core"] is not None:
            self._core.load(state["_core"])

    def snapshot(self) -> Snapshot:
        """The state of this environment in the middle of its episode.

        ``BatchedRoutingEnv.restore`` makes an environment from it that goes on exactly as this one does;
        ``Snapshot.save`` writes it to a file, if no function makes the configurations.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1)
            >>> again = dfe.BatchedRoutingEnv.restore(env.snapshot())
            >>> bool((again.pending.obs == batch.obs).all())
            True
        """
        about = {
            "scenarios": self._scenarios.state(),
            "options": {field.name: getattr(self._options, field.name) for field in fields(EnvOptions)},
            "made": list(self._made),
            "episode": self._episode_number,
            "drained": self._drained,
            "broken": self._broken,
            "started": self._started,
            "rewards": self._rewards.state(),
            "marks": [marks.to_list() for marks in self._marks],
            "windows_ps": list(self._windows_ps),
        }
        return Snapshot(_KIND, self.time_ns, about, self._core.save())

    @classmethod
    def restore(cls, snapshot: Snapshot) -> BatchedRoutingEnv:
        """A new environment in the middle of the episode of a snapshot.

        Args:
            snapshot: A snapshot of an environment, from memory or a file; it can be used again.

        Raises:
            ConfigError: If the snapshot is of a simulation.
        """
        about, state = snapshot.require(_KIND)
        made = tuple(map(made_of, about["made"]))
        environment = cls.__new__(cls)
        environment.__setstate__(
            {
                "_scenarios": Scenarios.restored(
                    about["scenarios"], tuple(simulation.now for simulation in made)
                ),
                "_options": EnvOptions(**about["options"]),
                "_made": made,
                "_episode_number": about["episode"],
                "_drained": about["drained"],
                "_broken": about["broken"],
                "_started": about["started"],
                "_batch": None,
                "_core": state if about["started"] else None,
                "_rewards": RouterRewards(EnvOptions(**about["options"]), len(made)),
            }
        )
        environment._begin_windows(about["windows_ps"])
        for marks, noted in zip(environment._marks, about["marks"], strict=True):
            marks.set(noted)
        if about["started"]:
            environment._rewards.restore(about["rewards"], environment._core, environment.configs)
        return environment

    def fork(
        self, seed: int | None = None, traffic: Any = None, *, load: float | None = None
    ) -> BatchedRoutingEnv:
        """An independent environment that goes on from this moment, perhaps with other settings.

        Packets in the network and in source queues are the same. Settings that the arguments name change from here on;
        without arguments, equal actions have equal outcomes in both environments.

        Args:
            seed: Seed of all random numbers of the episode from now on.
            traffic: Traffic of hosts without a program from now on. Times of a schedule count from time 0.
            load: Load of that traffic, or of the present traffic.

        Raises:
            ConfigError: For settings that cannot be simulated, or cannot change in the middle of a run.
            StateError: With arguments, before ``reset``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="uniform")
            >>> env = dfe.BatchedRoutingEnv(config)
            >>> batch = env.reset(seed=1)
            >>> other = env.fork(traffic="adv+1")
            >>> other.config.traffic, env.config.traffic
            ('adv+1', 'uniform')
        """
        given = {"seed": seed, "traffic": traffic, "load": load}
        changes = {name: value for name, value in given.items() if value is not None}
        if changes and not self._started:
            raise StateError("fork(): call reset() first, or give the constructor other settings")
        state = self.__getstate__()
        if changes:
            # The core generates later packets anew, from the clock of each network on.
            made = tuple(
                simulation.changed(self._core.simulation_of(number).clock_ps, _changes_of(changes, number))
                for number, simulation in enumerate(self._made)
            )
            state["_made"] = made
            state["_scenarios"].present = tuple(simulation.now for simulation in made)
        other = type(self).__new__(type(self))
        other.__setstate__(state)
        if changes:
            for number in range(self.num_scenarios):
                other._core.simulation_of(number).resync_source()
            self._check_series(
                other._core, tuple(simulation.config for simulation in made), other._core.end_ps
            )
        return other

    @staticmethod
    def _check_series(core: _core.RoutingEnvironment, configs: Configs, end_ps: int) -> None:
        for number, config in enumerate(configs):
            if config.series_bin_ns is not None:
                check_series(config.series_bin_ns, core.simulation_of(number).num_partitions, end_ps)

    def _check_begun(self, call: str) -> None:
        if not self._started:
            raise StateError(f"{call}: call reset() first")

    def _require_step_rewards(self, call: str) -> None:
        self._check_begun(call)
        if self.reward == "delivery":
            raise StateError(
                f"{call}: reward='delivery' has no sum per step, as it falls due long after a decision; "
                "use transitions(), or reward='hop'"
            )

    def _require_running(self, call: str) -> None:
        self._check_begun(f"{call}()")
        if self._core.done:
            raise StateError(f"{call}(): the episode is over; call reset()")

    def _require_transitions(self, call: str) -> None:
        if not self._options.transitions:
            raise StateError(f"{call}: the environment was made with transitions=False")
        if self._core.overflowed:
            raise StateError(
                f"{call}: more than {self._options.max_uncollected_bytes} bytes had piled up, and no more were "
                "kept in this episode; take transitions more often, or raise max_uncollected_bytes"
            )

    def _require_packets(self, network: CoreNetwork) -> None:
        """Refuse occupancies in ns for a network that counts packets."""
        scales = dict(zip(network.features, network.scale or (), strict=False))
        if self._layout.occupancy_unit == "ns" and any(scales.get(name) for name in OCCUPANCY_FEATURES):
            raise config_error("occupancy_unit", "ns", "does not fit this network, which counts packets")

    def _require_done(self, call: str) -> None:
        self._check_begun(f"{call}()")
        if not self._core.done:
            raise StateError(f"{call}(): only after the end of an episode (done)")
        if self._drained:
            raise StateError(f"{call}(): the episode was drained; call reset()")


def _as_integers(actions: npt.ArrayLike) -> IntArray:
    """(N,) actions in the form that the core takes."""
    array = np.asarray(actions)
    if array.shape == (0,):
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise IllegalActionError(f"actions: must be integers of shape (N,), got {array.dtype} {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _changes_of(changes: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Derive the seed of a fork in one of its scenarios: the seeds of the others follow from the first."""
    given = dict(changes)
    if "seed" in given:
        given["seed"] = scenario_seed(given["seed"], number)
    return given
