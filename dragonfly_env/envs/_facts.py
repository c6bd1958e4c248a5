"""What a decision environment is, whatever state it is in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.decisions.layout import Layout
from dragonfly_env.envs._scenarios import Changes, Scenarios
from dragonfly_env.envs.options import EnvOptions


class EnvFacts:
    """Settings and sizes of ``BatchedRoutingEnv``."""

    _scenarios: Scenarios
    _options: EnvOptions
    _layout: Layout
    _episode: int

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
        """How many networks there are beside each other."""
        return len(self._scenarios.present)

    @property
    def seed(self) -> int:
        """The seed of the present episode; of several scenarios that of the first."""
        return self.config.seed

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
        """The number of routers, of all scenarios together."""
        return sum(config.topology.num_routers for config in self.configs)

    @property
    def first_agents(self) -> npt.NDArray[np.int64]:
        """(num_scenarios,) where the routers of each scenario begin if they are numbered on from one to the next."""
        routers = [config.topology.num_routers for config in self.configs]
        return np.cumsum([0, *routers[:-1]], dtype=np.int64)

    def slots(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """(N,) the routers of a batch, numbered on from one scenario to the next, as in ``payments()``."""
        agents = batch.agents.astype(np.int64)
        return agents if self.num_scenarios == 1 else agents + self.first_agents[batch.scenario]

    @property
    def state_shape(self) -> tuple[int, int]:
        """The shape of ``state()``: (num_routers, radix); of several scenarios that of the first."""
        topology = self.config.topology
        return topology.num_routers, topology.radix

    def check_changes(self, options: Changes) -> None:
        """Check what is to be different in an episode, as ``reset`` takes it; nothing changes.

        Raises:
            ConfigError: For an option that is unknown or impossible.
        """
        self._scenarios.check(options)

    def _number(self, scenario: int | None) -> int:
        """Which scenario is meant; it need not be said where there is only one.

        Raises:
            ConfigError: If there is no such scenario.
        """
        most = self.num_scenarios - 1
        if scenario is None and most > 0:
            raise config_error(
                "scenario", None, f"must be given, from 0 to {most}: this environment has several"
            )
        return 0 if scenario is None else check_integer("scenario", scenario, 0, most)
