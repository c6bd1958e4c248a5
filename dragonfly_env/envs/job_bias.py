"""The views of ``dragonfly_env.job_bias_v0``: all jobs choose at once, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pettingzoo.utils.env import AECEnv, ParallelEnv

from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.envs._job_view import FloatArray, Info, JobView, over_error
from dragonfly_env.envs.recipe import alone
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.errors import IllegalActionError

_METADATA = {"name": "job_bias_v0", "render_modes": list(RENDER_MODES), "render_fps": 4}


class ParallelJobBias(JobView, ParallelEnv[str, FloatArray, int]):
    """All jobs choose at once; see ``dragonfly_env.job_bias_v0`` for settings and spaces."""

    metadata: ClassVar[dict[str, Any]] = {**_METADATA, "is_parallelizable": True}

    @alone
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
        """
        self._begin(seed, options)
        return self._shown(self.agents)

    @alone
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
        """
        self._running("step()")
        if not self.agents:
            raise over_error("step()")
        if not isinstance(actions, Mapping):
            raise IllegalActionError(f"actions must be a dictionary by agent, not a {type(actions).__name__}")
        for name in actions:
            if name not in self._index:
                raise IllegalActionError(
                    f"actions[{name!r}]: there is no such agent; they are 'job_0' to {self.possible_agents[-1]!r}"
                )
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


class AecJobBias(JobView, AECEnv[str, FloatArray, int]):
    """The jobs choose one after the other; the interval runs when all have. See ``dragonfly_env.job_bias_v0``."""

    metadata: ClassVar[dict[str, Any]] = {**_METADATA, "is_parallelizable": True}

    def __init__(self, config: SimulationConfig | Mapping[str, Any] | None = None, **settings: Any) -> None:
        super().__init__(config, **settings)
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, Info] = {}
        self._answers: dict[str, int] = {}

    @alone
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode in a new network and run the warm-up, under the policies that the configuration names.

        Args:
            seed: Of the run; None: the configuration's at first, later the next one from the generator.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Raises:
            ConfigError: For an option or an impossible seed.
        """
        self._begin(seed, options)
        names = self.agents
        self.rewards = dict.fromkeys(names, 0.0)
        self._cumulative_rewards = dict.fromkeys(names, 0.0)
        self.terminations = dict.fromkeys(names, False)
        self.truncations = dict.fromkeys(names, False)
        self.infos = {name: self._info(name) for name in names}
        self._answers = {}
        self.agent_selection = names[0]

    @alone
    def step(self, action: int | None) -> None:
        """Choose the mode of ``agent_selection``; the last job's choice runs the interval.

        Args:
            action: An index into ``modes``; None for a job that is complete, or when the time is over.

        Raises:
            IllegalActionError: For what is no integer or out of range; nothing has changed then.
            StateError: Before the first reset, after the end of the episode, or after close.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        self._running("step()")
        if not self.agents:
            raise over_error("step()")
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

    @alone
    def observe(self, agent: str) -> FloatArray:
        """(F,) what a job saw of the last interval. A new array.

        Raises:
            ConfigError: If there is no such agent.
            StateError: Before the first reset, or after close.
        """
        return self._observation(agent)

    @alone
    def last(self, observe: bool = True) -> tuple[FloatArray | None, float, bool, bool, Info]:
        """Observation, reward since its last turn, termination, truncation and info of ``agent_selection``.

        Raises:
            StateError: Before the first reset, or after the end of the episode.
        """
        self._running("last()")
        agent = self.agent_selection
        if agent not in self.infos:
            raise over_error("last()")
        seen = self._observation(agent) if observe else None
        paid, info = self._cumulative_rewards[agent], self.infos[agent]
        return seen, paid, self.terminations[agent], self.truncations[agent], info

    def close(self) -> None:
        """Free the network; ``reset`` makes a new one. May be called again."""
        super().close()
        self.rewards, self._cumulative_rewards, self.infos = {}, {}, {}
        self.terminations, self.truncations = {}, {}
