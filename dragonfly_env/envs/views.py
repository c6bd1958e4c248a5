"""Common parts of views of ``BatchedRoutingEnv``: settings, and the base of the PettingZoo views."""

from __future__ import annotations

import dataclasses
import operator
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.values import check_integer, config_error, did_you_mean
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.options import EnvOptions, IllegalAction, Several
from dragonfly_env.envs.render import RENDER_MODES, Renderer
from dragonfly_env.envs.rounds import IllegalActions, Rounds
from dragonfly_env.envs.scenarios import DrawnForViews
from dragonfly_env.errors import StateError
from dragonfly_env.simulation.config import SimulationConfig

GivenConfig: TypeAlias = "SimulationConfig | Several | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None"
Observation: TypeAlias = dict[str, npt.NDArray[Any]]

_CONFIG_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
# Options of BatchedRoutingEnv that views take: which outcomes are kept is for them to say.
ENV_OPTIONS = frozenset(field.name for field in dataclasses.fields(EnvOptions)) - {"outcomes"}


def split_settings(
    settings: Mapping[str, Any], options: Collection[str] = ENV_OPTIONS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of ``SimulationConfig``, and options of ``BatchedRoutingEnv`` that a view takes, apart."""
    for name, value in settings.items():
        if name not in _CONFIG_FIELDS and name not in options:
            hint = did_you_mean(name, sorted({*_CONFIG_FIELDS, *options}))
            raise config_error(name, value, f"is no setting of this environment{hint}")
    fields = {name: value for name, value in settings.items() if name in _CONFIG_FIELDS}
    return fields, {name: value for name, value in settings.items() if name not in _CONFIG_FIELDS}


def view_config(config: SimulationConfig | Mapping[str, Any] | None = None) -> SimulationConfig:
    """The configuration of a view. The default one is the same for every view, and small enough to learn on in minutes:
    every group sends to the next, so that minimal paths are congested and a non-minimal path helps.
    """
    if config is None:
        return SimulationConfig(topology=Dragonfly.preset("72"), traffic="adv+1", load=0.35)
    if isinstance(config, SimulationConfig):
        return config
    if isinstance(config, Mapping):
        return SimulationConfig.from_dict(config)
    raise config_error("config", config, "must be a SimulationConfig, a mapping of its fields, or None")


def view_configs(config: Any, fields: Mapping[str, Any]) -> SimulationConfig | Several:
    """The configurations of a view that takes several: one, a list of them, or a function that makes them.

    Args:
        config: As ``view_config`` takes it, a list of such, or a function as ``BatchedRoutingEnv`` takes it.
        fields: Fields that replace those of each configuration. If neither these fields nor a mapping have a seed, the
            seed is drawn from the operating system. With a function it is the seed of the first episode.
    """
    if isinstance(config, (list, tuple)):
        return [view_config(scenario).replace(**with_seed(scenario, fields)) for scenario in config]
    if callable(config):
        return DrawnForViews(config, with_seed(config, fields))
    return view_config(config).replace(**with_seed(config, fields))


def with_seed(config: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a seed from the operating system if neither the settings nor the configuration has one."""
    has_seed = isinstance(config, SimulationConfig) or (isinstance(config, Mapping) and "seed" in config)
    return dict(settings) if has_seed else {"seed": secrets.randbits(48), **settings}


def make_core(config: GivenConfig, settings: Mapping[str, Any], for_policy: Any = None) -> BatchedRoutingEnv:
    """The environment under a view whose agents are routers.

    Args:
        config: See ``view_configs``.
        settings: Fields of ``SimulationConfig`` and options of ``BatchedRoutingEnv``.
        for_policy: A policy or its name: the environment shows what it needs.
    """
    fields, chosen = split_settings(settings)
    configs = view_configs(config, fields)
    # Views hand out the rewards of steps and the outcomes of decisions, but no transitions.
    options = {"transitions": False, **chosen, "outcomes": True}
    if options.get("reward") == "delivery":
        raise config_error(
            "reward",
            "delivery",
            "belongs to packets, and its sum per step favors delivering less; "
            'choose "hop", or transitions() of BatchedRoutingEnv',
        )
    if for_policy is None:
        return BatchedRoutingEnv(configs, **options)
    return BatchedRoutingEnv.for_policy(configs, for_policy, **options)


class RouterView:
    """An agent per router, ``router_0`` and so on: the base of the two PettingZoo views. ``dragonfly_env.dragonfly_v0``
    lists the settings.

    Attributes:
        core: The batched environment underneath, for metrics, layout, ``seed`` and ``trace_hash()``. Stepping it breaks
            this view. ``core.pending`` has the decisions of all rounds of the batch.

    Raises:
        ConfigError: For an unknown name or an impossible value.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dragonfly_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 10,
    }

    def __init__(
        self,
        config: GivenConfig = None,
        *,
        for_policy: Any = None,
        illegal_action: IllegalAction = "remap",
        render_mode: str | None = None,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        self.core = make_core(config, settings, for_policy)
        self.max_cycles = None if max_cycles is None else check_integer("max_cycles", max_cycles, 1, 2**62)
        self.render_mode = render_mode
        self._renderer = Renderer(self.core.config, render_mode)
        self._illegal_actions = IllegalActions(illegal_action)
        self._rounds: Rounds | None = None

        count, layout, self._idle = self.core.num_agents, self.core.layout, self.core.num_actions
        self.possible_agents = [f"router_{i}" for i in range(count)]
        self.agents: list[str] = []
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        # The values of a mapping by agent; the first name twice, so that one agent gives a tuple, too.
        self._in_order = operator.itemgetter(*self.possible_agents, self.possible_agents[0])
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            name: spaces.Dict(
                {
                    "observation": spaces.Box(layout.low, layout.high, dtype=np.float32),
                    "action_mask": spaces.MultiBinary(self._idle + 1),
                }
            )
            for name in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            name: spaces.Discrete(self._idle + 1) for name in self.possible_agents
        }
        high = self._stacked([self.core.state_high(number) for number in range(self.core.num_scenarios)])
        self.state_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """``Dict(observation=Box (F,) float32, action_mask=MultiBinary (A + 1,))``, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(A + 1)``, the same object at every call; the last action is idle."""
        return self.action_spaces[agent]

    def state(self) -> npt.NDArray[np.float32]:
        """The state of the whole network for a central critic: see ``BatchedRoutingEnv.state``. A new array.

        Returns:
            (num_routers, S) within ``state_space``, of several scenarios one after the other; S is that of the largest,
            and what others do not have is 0.

        Raises:
            StateError: Before the first reset, or after close.
        """
        self._check_open("state()")
        return self._stacked([self.core.state(number) for number in range(self.core.num_scenarios)])

    @staticmethod
    def _stacked(states: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """The rows of all states, with zeros where another state has more columns."""
        width = max(state.shape[1] for state in states)
        return np.concatenate([np.pad(state, ((0, 0), (0, width - state.shape[1]))) for state in states])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """A frame: utilisation of every global link since the frame before, with the hottest named. Of several
        scenarios the first is shown.

        Returns:
            As ``render_mode`` says: a string for ``"ansi"``, (800, 1100, 3) uint8 for ``"rgb_array"``, None for
            ``"human"``, which prints the string.

        Raises:
            StateError: Before the first reset, after close, or without a ``render_mode``.
        """
        self._check_open("render()")
        return self._renderer.render(self.core.metrics(scenario=0), self.core.time_ns)

    def close(self) -> None:
        """Forget the episode; ``reset`` starts a new one."""
        self._rounds = None
        self.agents = []

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.possible_agents)} routers, seed {self.core.seed}>"

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> Rounds:
        """Start an episode."""
        rounds = self._rounds = Rounds(self.core, self._illegal_actions, seed, options)
        self.agents = self.possible_agents[:]
        self._cycle = 0
        self._renderer.reset()
        return rounds

    def _check_open(self, call: str) -> Rounds:
        if self._rounds is None or self._rounds.interrupted:
            raise StateError(f"{call}: call reset() first")
        return self._rounds

    def _check_running(self) -> Rounds:
        rounds = self._check_open("step()")
        if not self.agents:
            raise StateError("step(): the episode is over; call reset()")
        return rounds
