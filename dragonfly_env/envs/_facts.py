"""What a decision environment is, whatever state it is in."""

from __future__ import annotations

from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.decisions.layout import Layout
from dragonfly_env.envs.options import EnvOptions


class EnvFacts:
    """Settings and sizes of ``BatchedRoutingEnv``."""

    _config: SimulationConfig
    _options: EnvOptions
    _layout: Layout
    _episode: int

    @property
    def config(self) -> SimulationConfig:
        """The network and its traffic, with the seed of the present episode."""
        return self._config

    @property
    def seed(self) -> int:
        """The seed of the present episode."""
        return self._config.seed

    @property
    def episode(self) -> int:
        """How many times ``reset`` was called."""
        return self._episode

    @property
    def scope(self) -> str:
        """Which routers ask."""
        return self._options.scope

    @property
    def action(self) -> str:
        """What an action is: ``"port"`` or ``"path"``."""
        return self._options.action

    @property
    def reward(self) -> str:
        """What rewards are paid for."""
        return self._options.reward

    @property
    def options(self) -> EnvOptions:
        """All settings beside ``config``."""
        return self._options

    @property
    def layout(self) -> Layout:
        """What the columns of an observation mean."""
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
        """The number of routers."""
        return self._config.topology.num_routers

    @property
    def state_shape(self) -> tuple[int, int]:
        """The shape of ``state()``: (num_routers, radix)."""
        return self.num_agents, self._config.topology.radix
