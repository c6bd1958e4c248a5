"""What both views of ``job_bias_v0`` share: settings, agents and spaces, the run, rewards."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.outside import check_items
from dragonfly_env.checks.values import (
    check_choice,
    check_integer,
    check_time_ns,
    config_error,
    did_you_mean,
    ns_to_ps,
    shown,
)
from dragonfly_env.config.simulation import MAX_SEED, SimulationConfig
from dragonfly_env.envs._job_figures import JobFigures
from dragonfly_env.envs._scenarios import check_changes
from dragonfly_env.envs.defaults import JOB_BIAS_DURATION_NS, WARMUP_NS, jobs_config, view_config
from dragonfly_env.envs.recipe import ByRecipe, alone
from dragonfly_env.envs.render import Renderer
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from dragonfly_env.jobs import Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.policies import Policy, parse_policy
from dragonfly_env.simulation import Simulation

FloatArray = npt.NDArray[np.float32]
Info = dict[str, Any]

MODES = ("ad0", "ad1", "ad2", "ad3")
REWARDS = ("job", "team")
_MOST_MODES = 64
_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
_OWN = ("config", "modes", "reward", "interval_ns", "duration_ns", "warmup_ns", "render_mode")


class JobView(ByRecipe):
    """One agent per job, ``job_0`` and so on; settings and spaces: ``dragonfly_env.job_bias_v0``.

    Raises:
        ConfigError: For an unknown setting or an impossible value.
    """

    metadata: ClassVar[dict[str, Any]]
    possible_agents: list[str]
    agents: list[str]

    def __init__(
        self,
        config: SimulationConfig | Mapping[str, Any] | None = None,
        *,
        modes: Sequence[Policy | str] = MODES,
        reward: str = "job",
        interval_ns: float = 20_000.0,
        duration_ns: float = JOB_BIAS_DURATION_NS,
        warmup_ns: float = WARMUP_NS,
        render_mode: str | None = None,
        **fields: Any,
    ) -> None:
        for name, value in fields.items():
            if name not in _FIELDS:
                hint = did_you_mean(name, sorted(_FIELDS.union(_OWN)))
                raise config_error(name, value, f"is no setting of this environment{hint}")
        self._config = (jobs_config() if config is None else view_config(config)).replace(**fields)
        self._jobs = [job for job in self._config.jobs if isinstance(job, Job)]
        if not self._jobs:
            raise config_error("jobs", self._config.jobs, "must be one or more: each is an agent")
        self._modes = _check_modes(modes)
        self._team = check_choice("reward", reward, REWARDS) == "team"
        self._interval_ns = check_time_ns("interval_ns", interval_ns, open_low=True)
        duration_ns = check_time_ns("duration_ns", duration_ns, self._interval_ns)
        interval_ps = ns_to_ps("interval_ns", self._interval_ns)
        self._num_intervals, rest_ps = divmod(ns_to_ps("duration_ns", duration_ns), interval_ps)
        if rest_ps:
            raise config_error(
                "duration_ns", duration_ns, f"must be a multiple of interval_ns = {interval_ns:g}"
            )
        self._warmup_ns = check_time_ns("warmup_ns", warmup_ns)
        self._renderer = Renderer(self._config, render_mode)
        self.render_mode = render_mode
        self._try_modes()

        self.possible_agents = [f"job_{i}" for i in range(len(self._jobs))]
        self.agents = []
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        names = [policy.name for policy in self._modes]
        self._figures = JobFigures(self._config, len(self._jobs), names, self._interval_ns)
        high = self._figures.high
        # Own objects for every agent: they are seeded and sampled one by one.
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            name: spaces.Box(np.zeros_like(high), high, dtype=np.float32) for name in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            name: spaces.Discrete(len(self._modes)) for name in self.possible_agents
        }
        top = self._figures.state_high
        self.state_space = spaces.Box(np.zeros_like(top), top, dtype=np.float32)
        self._generator: np.random.Generator | None = None
        self._simulation: Simulation | None = None
        self._reading: Counters | None = None
        self._window: Counters | None = None
        self._chosen: list[int | None] = [None] * len(self._jobs)
        self._intervals_done = 0

    # What is asked of both views.

    @property
    def config(self) -> SimulationConfig:
        """What is simulated; the seed is that of the first episode."""
        return self._config

    @property
    def modes(self) -> tuple[Policy, ...]:
        """What the jobs choose from: action i is the i-th."""
        return self._modes

    @property
    def layout(self) -> tuple[str, ...]:
        """The name of each figure of an observation."""
        return self._figures.names

    @property
    def state_layout(self) -> tuple[str, ...]:
        """The name of each figure of the state."""
        return self._figures.state_names

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """``Box (F,) float32``: the same object at every call.

        Raises:
            ConfigError: If there is no such agent.
        """
        self._number(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(len(modes))``: the same object at every call.

        Raises:
            ConfigError: If there is no such agent.
        """
        self._number(agent)
        return self.action_spaces[agent]

    @alone
    def state(self) -> FloatArray:
        """(S,) float32: the counters of the whole machine in the last interval; ``state_layout`` names them.

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._figures.of_machine(self._last_window("state()"))

    @alone
    def counters(self) -> Counters:
        """The counters of the last interval (of the warm-up, after ``reset``).

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._last_window("counters()")

    @alone
    def metrics(self) -> Metrics:
        """What was measured since the warm-up.

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._running("metrics()").metrics()

    @alone
    def trace_hash(self) -> int:
        """A 64-bit hash over every delivery of this episode; equal hashes mean equal histories.

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._running("trace_hash()").trace_hash()

    @alone
    def render(self) -> Any:
        """A frame as ``render_mode`` says: a string, an image, or None after printing it.

        Raises:
            StateError: Before the first reset, or without a ``render_mode``.
        """
        return self._renderer.render(self._running("render()").metrics())

    @alone
    def close(self) -> None:
        """Free the network; ``reset`` makes a new one. May be called again."""
        self._simulation = self._reading = self._window = None
        self.agents = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._jobs)} jobs and {len(self._modes)} modes>"

    def __str__(self) -> str:
        return str(self.metadata["name"])

    # The run.

    def _begin(self, seed: int | None, options: object) -> None:
        (changes,) = check_changes(options)
        if seed is not None and "seed" in changes:
            raise config_error("options", "seed", "is given already as seed")
        seed = changes.pop("seed", seed)
        config = self._config.replace(**changes)
        if seed is not None:
            seed = check_integer("seed", seed, 0, MAX_SEED)
        elif self._generator is None:
            seed = self._config.seed
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        assert self._generator is not None
        run_seed = int(self._generator.integers(MAX_SEED, dtype=np.uint64)) if seed is None else seed
        self._simulation = simulation = Simulation(config.replace(seed=run_seed))
        self._renderer.reset()
        self._intervals_done = 0
        self._chosen = [None] * len(self._jobs)
        first = simulation.counters()
        simulation.run(self._warmup_ns)
        self._window = simulation.counters().since(first)
        simulation._begin_episode()
        self._reading = simulation.counters()
        self.agents = self.possible_agents[:]

    def _advance(self, actions: Mapping[str, int]) -> tuple[dict[str, float], dict[str, bool], bool]:
        """Set the modes and run an interval.

        Returns:
            Rewards and terminations of those who acted, and whether the time is over.
        """
        simulation = self._running("step()")
        for name, action in actions.items():
            job = self._index[name]
            mode = self._modes[action]
            if self._chosen[job] != action:
                simulation.set_job_policy(job, mode, self._jobs[job].all_to_all_policy)
                self._chosen[job] = action
        simulation.run(self._interval_ns)
        reading = simulation.counters()
        assert self._reading is not None
        self._window = window = reading.since(self._reading)
        self._reading = reading
        self._intervals_done += 1
        if self._team:
            rewards = dict.fromkeys(actions, self._figures.machine_load(window))
        else:
            rewards = {name: self._figures.accepted_load(window, self._index[name]) for name in actions}
        done = {name: reading.jobs[self._index[name]].unfinished_ranks == 0 for name in actions}
        return rewards, done, self._intervals_done == self._num_intervals

    def _observation(self, agent: str) -> FloatArray:
        job = self._number(agent)
        return self._figures.of_job(self._last_window("observe()"), job, self._chosen[job])

    def _info(self, agent: str) -> Info:
        job = self._index[agent]
        window = self._last_window("step()")
        chosen = self._chosen[job]
        row = window.jobs[job]
        last = self._intervals_done == self._num_intervals or row.unfinished_ranks == 0
        return {
            **({"metrics": self._running("step()").metrics()} if last else {}),
            "time_ns": window.end_ps / 1000,
            "mode": None if chosen is None else self._modes[chosen].name,
            "accepted_load": self._figures.accepted_load(window, job),
            "machine_accepted_load": self._figures.machine_load(window),
            "packets_delivered": row.packets_delivered,
            "iterations": row.iterations.count,
            "operations_total_ns": {name: one.total_ns for name, one in row.operations.items()},
        }

    def _check_action(self, agent: str, action: Any) -> int:
        """An action as an integer.

        Raises:
            IllegalActionError: For anything else, or one out of range; nothing has changed.
        """
        most = len(self._modes) - 1
        try:
            given = np.asarray(action)
        except Exception:  # whatever a user's class raises
            given = np.empty(0)
        if given.ndim != 0 or given.dtype.kind not in "iu" or not 0 <= given <= most:
            raise IllegalActionError(
                f"{agent}: action {shown(action)} must be an integer from 0 to {most}, an index into modes"
            )
        return int(given)

    def _number(self, agent: object) -> int:
        number = self._index.get(agent) if isinstance(agent, str) else None
        if number is None:
            raise config_error(
                "agent",
                agent,
                f"must be one of 'job_0' to {self.possible_agents[-1]!r}, as there is no other",
            )
        return number

    def _running(self, call: str) -> Simulation:
        if self._simulation is None:
            raise self._not_begun(call)
        return self._simulation

    def _last_window(self, call: str) -> Counters:
        self._running(call)
        assert self._window is not None
        return self._window

    def _try_modes(self) -> None:
        """Refuse modes that this run cannot have, before an episode begins."""
        simulation = Simulation(self._config)
        for i, mode in enumerate(self._modes):
            try:
                simulation.set_job_policy(0, mode)
            except ConfigError as error:
                raise ConfigError(f"modes[{i}]: {error}") from None

    def _seed_state(self) -> dict[str, Any]:
        return {"generator": copy.deepcopy(self._generator)}

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._generator = seeds["generator"]


def _check_modes(modes: object) -> tuple[Policy, ...]:
    if isinstance(modes, (str, Mapping, Policy)):
        raise config_error("modes", modes, "must be a list of policies")
    given = check_items("modes", modes, "must be a list of policies", _MOST_MODES)
    policies = tuple(parse_policy(one) for one in given)
    if len(policies) < 2 or len(set(policies)) < len(policies):
        raise config_error("modes", modes, "must be two or more different policies")
    return policies


def over_error(call: str) -> StateError:
    """What to raise after the end of an episode."""
    return StateError(f"{call}: the episode is over; call reset()")
