"""The views of ``dragonfly_env.job_bias_v0``: all jobs choose at once, or one after the other."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pettingzoo.utils.env import AECEnv, ParallelEnv

from dragonfly_env.checks.outside import check_items
from dragonfly_env.checks.values import check_choice, check_instance, check_integer, config_error, shown
from dragonfly_env.config.help import constructed_like
from dragonfly_env.decisions.actions import as_index
from dragonfly_env.envs.defaults import JOB_BIAS_DURATION_NS, WARMUP_NS, jobs_config
from dragonfly_env.envs.intervals import Figures, FloatArray, IntervalEnv
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.envs.views import AecAgents, Info, NamedAgents, check_actions, check_settings
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from dragonfly_env.jobs import Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.counters import Counters
from dragonfly_env.metrics.tiles import HOST_OUT, TileTable, tile_kinds
from dragonfly_env.policies import Policy, parse_policy
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig

__all__ = ["AecJobBias", "ParallelJobBias"]

MODES = ("ad0", "ad1", "ad2", "ad3")
REWARDS = ("job", "team")
_MOST_MODES = 64
_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
_METADATA = {"name": "job_bias_v0", "render_modes": list(RENDER_MODES), "render_fps": 4}

# Beyond these a figure says nothing more.
_MOST_RATE = 2.0
_MOST_RATIO = 100.0
_MOST_SHARE = 10.0
_MOST_TIME = 100.0


class JobView(IntervalEnv, NamedAgents):
    """One agent per job, ``job_0`` and so on; settings and spaces: ``dragonfly_env.job_bias_v0``.

    Args:
        config: A ``SimulationConfig`` with jobs, a mapping of its fields, or None for MILC and HACC on
            ``theta-m8``.
        modes: Policies to choose from, by name or as objects.
        reward: ``"job"`` or ``"team"``.
        interval_ns: Simulated time between two choices.
        duration_ns: Simulated time of an episode: a whole number of intervals.
        warmup_ns: Simulated time before the first choice.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        **fields: Of ``SimulationConfig``; they replace those of ``config``.

    Raises:
        ConfigError: For an unknown setting or an impossible value.
    """

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
        check_settings(fields, _FIELDS.union(inspect.signature(JobView.__init__).parameters))
        self._set_up(
            jobs_config() if config is None else config,
            fields,
            interval_ns,
            duration_ns,
            warmup_ns,
            render_mode,
        )
        self._jobs = [job for job in self._config.jobs if isinstance(job, Job)]
        if not self._jobs:
            raise config_error("jobs", self._config.jobs, "must be one or more: each is an agent")
        self._modes = _check_modes(modes)
        self._team = check_choice("reward", reward, REWARDS) == "team"
        self._try_modes()

        names = [policy.name for policy in self._modes]
        self._figures = JobFigures(self._config, len(self._jobs), names, self._interval_ns)
        self._name_agents("job", len(self._jobs), self._figures.view.space, len(self._modes))
        self.state_space = self._figures.state.space()
        self._reading: Counters | None = None
        self._window: Counters | None = None
        self._chosen: list[int | None] = [None] * len(self._jobs)

    # What both views need.

    @property
    def modes(self) -> tuple[Policy, ...]:
        """What the jobs choose from: action i is the i-th."""
        return self._modes

    @property
    def layout(self) -> tuple[str, ...]:
        """The name of each figure of an observation."""
        return self._figures.view.names

    @property
    def state_layout(self) -> tuple[str, ...]:
        """The name of each figure of the state."""
        return self._figures.state.names

    def state(self) -> FloatArray:
        """(S,) float32: the counters of the whole machine in the last interval; ``state_layout`` names them.

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.parallel_env()
            >>> seen, infos = env.reset(seed=1)
            >>> env.state().shape == (len(env.state_layout),)
            True
        """
        return self._figures.of_machine(self._last_window("state()"))

    def counters(self) -> Counters:
        """The counters of the last interval (of the warm-up, after ``reset``).

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.parallel_env(warmup_ns=1_000)
            >>> seen, infos = env.reset(seed=1)
            >>> env.counters().duration_ns
            1000.0
        """
        return self._last_window("counters()")

    def metrics(self) -> Metrics:
        """What was measured since the warm-up.

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.parallel_env()
            >>> seen, infos = env.reset(seed=1)
            >>> len(env.metrics().jobs)
            2
        """
        return self._running("metrics()").metrics()

    def close(self) -> None:
        """Free the network; ``reset`` makes a new one. May be called again.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> job_bias_v0.parallel_env().close()
        """
        self._simulation = self._reading = self._window = None
        self.agents = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._jobs)} jobs and {len(self._modes)} modes>"

    # The run.

    def _begin(self, seed: int | None, options: object) -> None:
        simulation = self._new_simulation(seed, options)
        self._chosen = [None] * len(self._jobs)
        first = simulation.counters()
        simulation.run(self._warmup_ns)
        self._window = simulation.counters().since(first)
        simulation._begin_episode()
        self._reading = simulation.counters()
        self.agents = self.possible_agents[:]

    def _episode(self) -> dict[str, Any] | None:
        episode = super()._episode()
        if episode is None:
            return None
        return {
            **episode,
            "chosen": list(self._chosen),
            "window": self._window,
            "reading": self._reading,
            "agents": list(self.agents),
        }

    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        super()._resume(episode, trusted, changes)
        most = len(self._modes) - 1
        chosen = [
            None if one is None else check_integer("snapshot", one, 0, most) for one in episode["chosen"]
        ]
        if len(chosen) != len(self._jobs):
            raise config_error("snapshot", "of other jobs", "must be of the same environment")
        self._chosen = chosen
        self._window = check_instance("snapshot", episode["window"], Counters)
        self._reading = check_instance("snapshot", episode["reading"], Counters)
        self.agents = [self.possible_agents[self._number(name)] for name in episode["agents"]]

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
        chosen = as_index(action, len(self._modes))
        if chosen is None:
            most = len(self._modes) - 1
            raise IllegalActionError(
                f"{agent}: action {shown(action)} must be an integer from 0 to {most}, an index into modes"
            )
        return chosen

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


def _check_modes(modes: object) -> tuple[Policy, ...]:
    if isinstance(modes, (str, Mapping, Policy)):
        raise config_error("modes", modes, "must be a list of policies")
    given = check_items("modes", modes, "must be a list of policies", _MOST_MODES)
    policies = tuple(parse_policy(one) for one in given)
    if len(policies) < 2 or len(set(policies)) < len(policies):
        raise config_error("modes", modes, "must be two or more different policies")
    return policies


@constructed_like(JobView)
class ParallelJobBias(JobView, ParallelEnv[str, FloatArray, int]):
    """All jobs choose at once; see ``dragonfly_env.job_bias_v0`` for settings and spaces.

    Example:
        >>> from dragonfly_env import job_bias_v0
        >>> env = job_bias_v0.parallel_env(interval_ns=1_000, duration_ns=2_000)
        >>> seen, infos = env.reset(seed=1)
        >>> while env.agents:
        ...     seen, rewards, *_, infos = env.step({name: 3 for name in env.agents})
        >>> infos["job_0"]["mode"], "metrics" in infos["job_0"]
        ('ad3', True)
    """

    metadata: ClassVar[dict[str, Any]] = {**_METADATA, "is_parallelizable": True}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, FloatArray], dict[str, Info]]:
        """Begin an episode in a new network and run the warm-up, under the policies that the configuration names.

        Args:
            seed: Of the run; None: the configuration's at first, later the next one from the generator.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Returns:
            Observations of the warm-up and infos, of all jobs.

        Raises:
            ConfigError: For an option or an impossible seed.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.parallel_env(interval_ns=1_000, duration_ns=2_000)
            >>> seen, infos = env.reset(seed=1)
            >>> seen["job_0"].shape == (len(env.layout),)
            True
        """
        self._begin(seed, options)
        return self._shown(self.agents)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, FloatArray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Run an interval in the chosen modes.

        Args:
            actions: An index into ``modes`` for every job that is still there.

        Returns:
            Observations, rewards, terminations (the job is complete), truncations (the time is over), infos.

        Raises:
            IllegalActionError: For a missing action, an unknown agent, what is no integer or out of range; nothing has
                changed then.
            StateError: Before the first reset, after the end of the episode, or after close.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.parallel_env(interval_ns=1_000, duration_ns=2_000)
            >>> seen, infos = env.reset(seed=1)
            >>> seen, rewards, done, truncated, infos = env.step({"job_0": 0, "job_1": 3})
            >>> infos["job_1"]["mode"]
            'ad3'
        """
        self._check_running(not self.agents)
        check_actions(actions)
        self._check_names(actions)
        acting = self.agents
        for name in acting:
            if name not in actions:
                raise IllegalActionError(f"{name} has no action; nothing has changed")
        chosen = {name: self._check_action(name, actions[name]) for name in acting}
        rewards, done, over = self._advance(chosen)
        observations, infos = self._shown(acting)
        self.agents = [] if over else [name for name in acting if not done[name]]
        return observations, rewards, done, dict.fromkeys(acting, over), infos

    def _shown(self, names: list[str]) -> tuple[dict[str, FloatArray], dict[str, Info]]:
        return {name: self._observation(name) for name in names}, {name: self._info(name) for name in names}


@constructed_like(JobView)
class AecJobBias(JobView, AecAgents, AECEnv[str, FloatArray, int]):
    """The jobs choose one after the other; the interval runs when all have. See ``dragonfly_env.job_bias_v0``.

    Example:
        >>> from dragonfly_env import job_bias_v0
        >>> env = job_bias_v0.raw_env(interval_ns=1_000, duration_ns=1_000)
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     seen, reward, terminated, truncated, info = env.last()
        ...     env.step(None if terminated or truncated else 3)
        >>> env.agents
        []
    """

    metadata: ClassVar[dict[str, Any]] = {**_METADATA, "is_parallelizable": True}

    def __init__(self, config: SimulationConfig | Mapping[str, Any] | None = None, **settings: Any) -> None:
        super().__init__(config, **settings)
        self.agent_selection = self.possible_agents[0]
        self._begin_agents()
        self._answers: dict[str, int] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode in a new network and run the warm-up, under the policies that the configuration names.

        Args:
            seed: Of the run; None: the configuration's at first, later the next one from the generator.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Raises:
            ConfigError: For an option or an impossible seed.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.raw_env()
            >>> env.reset(seed=1)
            >>> env.agents
            ['job_0', 'job_1']
        """
        self._begin(seed, options)
        names = self.agents
        self._begin_agents(names)
        self.infos = {name: self._info(name) for name in names}
        self._answers = {}
        self.agent_selection = names[0]

    def step(self, action: int | None) -> None:
        """Choose the mode of ``agent_selection``; the last job's choice runs the interval.

        Args:
            action: An index into ``modes``; None for a job that is complete, or when the time is over.

        Raises:
            IllegalActionError: For what is no integer or out of range; nothing has changed then.
            StateError: Before the first reset, after the end of the episode, or after close.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.raw_env()
            >>> env.reset(seed=1)
            >>> env.step(3)
            >>> env.agent_selection
            'job_1'
        """
        self._check_running(not self.agents)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise IllegalActionError(f"{agent}: action must be None, as its episode is over")
            self._was_dead_step(None)
            return
        chosen = self._check_action(agent, action)
        self._answers[agent] = chosen
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if len(self._answers) < len(self.agents):
            self.agent_selection = self.agents[self.agents.index(agent) + 1]
            return
        self.rewards, done, over = self._advance(self._answers)
        self._answers = {}
        self.terminations = done
        self.truncations = dict.fromkeys(self.agents, over)
        self.infos = {name: self._info(name) for name in self.agents}
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]
        self._deads_step_first()

    def _episode(self) -> dict[str, Any] | None:
        episode = super()._episode()
        if episode is None:
            return None
        return {
            **episode,
            "selected": self.agent_selection,
            "after": getattr(self, "_skip_agent_selection", None),
            "answers": dict(self._answers),
            "rewards": dict(self.rewards),
            "cumulative": dict(self._cumulative_rewards),
            "terminations": dict(self.terminations),
            "truncations": dict(self.truncations),
            "infos": {name: dict(info) for name, info in self.infos.items()},
        }

    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        super()._resume(episode, trusted, changes)
        self.agent_selection = self.possible_agents[self._number(episode["selected"])]
        if episode["after"] is not None:
            self._skip_agent_selection = self.possible_agents[self._number(episode["after"])]
        self._answers = {
            self.possible_agents[self._number(name)]: self._check_action(name, one)
            for name, one in episode["answers"].items()
        }
        self.rewards = {name: float(one) for name, one in episode["rewards"].items()}
        self._cumulative_rewards = {name: float(one) for name, one in episode["cumulative"].items()}
        self.terminations = {name: bool(one) for name, one in episode["terminations"].items()}
        self.truncations = {name: bool(one) for name, one in episode["truncations"].items()}
        self.infos = {name: dict(info) for name, info in episode["infos"].items()}

    def observe(self, agent: str) -> FloatArray:
        """(F,) what a job saw of the last interval. A new array.

        Raises:
            ConfigError: If there is no such agent.
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.raw_env()
            >>> env.reset(seed=1)
            >>> env.observe("job_1").dtype
            dtype('float32')
        """
        return self._observation(agent)

    def last(self, observe: bool = True) -> tuple[FloatArray | None, float, bool, bool, Info]:
        """Observation, reward since its last turn, termination, truncation and info of ``agent_selection``.

        Args:
            observe: Whether the observation is wanted; without, None is in its place.

        Raises:
            StateError: Before the first reset, or after the end of the episode.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> env = job_bias_v0.raw_env()
            >>> env.reset(seed=1)
            >>> env.last()[1:4]
            (0.0, False, False)
        """
        self._running("last()")
        agent = self.agent_selection
        if agent not in self.infos:
            raise StateError("last(): the episode is over; call reset()")
        seen = self._observation(agent) if observe else None
        paid, info = self._cumulative_rewards[agent], self.infos[agent]
        return seen, paid, self.terminations[agent], self.truncations[agent], info

    def close(self) -> None:
        """Free the network; ``reset`` makes a new one. May be called again.

        Example:
            >>> from dragonfly_env import job_bias_v0
            >>> job_bias_v0.raw_env().close()
        """
        super().close()
        self._begin_agents()


class JobFigures:
    """Observations of ``job_bias_v0``: ``view`` of one job, and the ``state`` of the machine.

    Args:
        config: What is simulated; its jobs are the agents, then those of a mix.
        jobs: How many of them are agents.
        modes: The names of what they choose from.
        interval_ns: Unit of the times of messages.
    """

    def __init__(self, config: SimulationConfig, jobs: int, modes: Sequence[str], interval_ns: float) -> None:
        self._interval_ns = interval_ns
        self._topology = config.topology
        self._packet_time_ns = config.network.packet_time_ns
        placed = config.placed_jobs()[:jobs]
        self._hosts = [len(one.hosts) for one in placed]
        names = dict.fromkeys(name for one in placed for name in one.operation_names[1:])
        self._operations = tuple(names)
        tiles = {}
        for kind in tile_kinds(config.topology):
            tiles[f"{kind}_flit_rate"] = _MOST_RATE
            if kind != HOST_OUT:
                tiles[f"{kind}_stalls_to_flits"] = _MOST_RATIO
        bounds = {f"mode_{i}_{mode}": 1.0 for i, mode in enumerate(modes)}
        bounds |= {"accepted_load": _MOST_RATE, **tiles}
        bounds |= {f"{name}_share": _MOST_SHARE for name in self._operations}
        bounds |= {"message_mean": _MOST_TIME}
        self._modes = len(modes)
        self.view = Figures({name: (0.0, high) for name, high in bounds.items()})
        self.state = Figures(
            {name: (0.0, high) for name, high in {"accepted_load": _MOST_RATE, **tiles}.items()}
        )

    def accepted_load(self, window: Counters, job: int) -> float:
        """Packets that reached hosts of a job from one another, as a share of what their links could bring."""
        return self._load(window, window.jobs[job].packets_delivered, self._hosts[job])

    def machine_load(self, window: Counters) -> float:
        """The same of all hosts."""
        packets = window.tiles.kinds[HOST_OUT].flits // window.flits_per_packet
        return self._load(window, packets, self._topology.num_hosts)

    def of_job(self, window: Counters, job: int, mode: int | None) -> FloatArray:
        """(F,) what the job sees of an interval: its local view. A new array."""
        chosen = np.zeros(self._modes)
        if mode is not None:
            chosen[mode] = 1.0
        row = window.jobs[job]
        rank_ns = self._hosts[job] * window.duration_ns
        shares = [
            row.operations[name].total_ns / rank_ns if name in row.operations and rank_ns > 0 else 0.0
            for name in self._operations
        ]
        values = [
            *chosen,
            self.accepted_load(window, job),
            *self._of_tiles(window, window.tiles_of_job(job)),
            *shares,
            row.messages.mean_ns / self._interval_ns,
        ]
        return self.view.vector(values)

    def of_machine(self, window: Counters) -> FloatArray:
        """(S,) the global view. A new array."""
        values = [self.machine_load(window), *self._of_tiles(window, window.tiles)]
        return self.state.vector(values)

    def _of_tiles(self, window: Counters, tiles: TileTable) -> list[float]:
        """By class: flits as a share of what the links could carry, and stalls per flit."""
        totals = tiles.by("kind")
        rows = {kind: i for i, kind in enumerate(totals["kind"].tolist())}
        busy_ps = dict(zip(self._topology.link_classes, window.link_busy_ps_per_packet.tolist(), strict=True))
        span_ps = window.end_ps - window.start_ps
        values: list[float] = []
        for kind in tile_kinds(self._topology):
            row = rows.get(kind)
            link = "host" if kind not in busy_ps else kind
            most = math.nan
            if row is not None and span_ps > 0:
                most = totals["tiles"][row] * span_ps / busy_ps[link] * window.flits_per_packet
            values.append(float(totals["flits"][row] / most) if row is not None else 0.0)
            if kind != HOST_OUT:
                values.append(float(totals["stalls_to_flits"][row]) if row is not None else 0.0)
        return values

    def _load(self, window: Counters, packets: int, hosts: int) -> float:
        return packets * self._packet_time_ns / (hosts * window.duration_ns) if window.duration_ns else 0.0
