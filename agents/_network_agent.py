"""The base of agents with a neural network: settings, the layout that they were trained with, and their file.

A file has a NumPy array per tensor of the networks. The state of the optimiser is not saved: it starts anew.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents._sb3 import one_thread, torch
from dragonfly_env.agents._trained_on import LayoutFacts, network_of, warn_elsewhere
from dragonfly_env.agents.registry import MOST_SEED
from dragonfly_env.agents.storage import read_agent, write_agent
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import ALL_NONMINIMAL_KINDS, OCCUPANCY_FEATURES
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.envs.batched import BatchedRoutingEnv


_Agent = TypeVar("_Agent", bound="NetworkAgent")


class NetworkAgent(ABC):
    """A learner with one network of linear layers with ReLU that all routers share. The network is built when the first
    layout is known.

    Args:
        settings: An instance of ``settings_class``; None: its defaults.
        seed: Of everything random in it.

    Raises:
        ConfigError: For a seed out of range.
    """

    says_where: ClassVar[bool] = True  # itself, if it acts in another network than it was trained on
    kind: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    counters: ClassVar[tuple[str, ...]]  # attributes that say how far the training has come
    settings: Any

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self.settings = self.settings_class() if settings is None else settings
        self.seed = check_integer("seed", seed, 0, MOST_SEED)
        self.training = False
        self.metadata: dict[str, Any] = {}
        self._facts: LayoutFacts | None = None
        self._layout: object = None  # the layout object that was checked last
        self._factors: npt.NDArray[np.float32] | None = None  # from its units to those of the training
        self._trained_on: dict[str, Any] = {}  # see `network_of`; empty: nothing was learned yet
        self._here: dict[str, Any] = {}
        self._network: Any = None  # that learns

    @property
    def name(self) -> str:
        """The kind of agent."""
        return self.kind

    @property
    def scope(self) -> str:
        """Which decisions it takes."""
        return str(self.settings.scope)

    @property
    def action(self) -> str:
        """The meaning of its actions."""
        return str(self.settings.action)

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        options: dict[str, Any] = self.settings.env_options()
        return options

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """See ``Learner.prepare``."""
        self._fit_layout(env.layout, env.num_actions)
        self._here = network_of(env.config)
        warn_elsewhere(self._trained_on, env.config, f"this {self.kind} agent")

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``."""
        self.training = bool(on)

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``.

        Raises:
            ConfigError: If the batch has another layout than that of the training.
        """
        self._fit_layout(batch.layout, batch.mask.shape[1])
        if len(batch) == 0:
            return np.zeros(0, dtype=np.int64)
        with torch.no_grad(), one_thread():
            return self._choose(batch)

    def save(self, path: str | Path) -> None:
        """See ``Learner.save``."""
        facts = self._built("save()")
        header = {
            "kind": self.kind,
            "metadata": self.metadata,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "layout": dataclasses.asdict(facts),
            "trained_on": self._trained_on or self._here,
            "counters": {name: getattr(self, name) for name in self.counters},
        }
        weights = {
            f"{name}/{key}": tensor.numpy()
            for name, network in self._networks().items()
            for key, tensor in network.state_dict().items()
        }
        write_agent(path, header, weights)

    @classmethod
    def load(cls: type[_Agent], path: str | Path) -> _Agent:
        """See ``Learner.load``."""
        header, arrays = read_agent(path, cls.kind)
        try:
            agent = cls(cls.settings_class(**header["settings"]), seed=header["seed"])
            agent.metadata, agent._trained_on = header["metadata"], header["trained_on"]
            agent._facts = LayoutFacts.from_dict(header["layout"])
            for name in cls.counters:
                setattr(agent, name, header["counters"][name])
            agent._build(agent._facts)
            for name, network in agent._networks().items():
                network.load_state_dict(
                    {key: torch.from_numpy(arrays[f"{name}/{key}"]) for key in network.state_dict()}
                )
        except (KeyError, TypeError, RuntimeError) as error:
            allowed = f"must be a saved {cls.kind} agent of this version ({error})"
            raise config_error("agent", str(path), allowed) from error
        return agent

    def export_mlp(self, path: str | Path, *, max_hops: int = 5) -> Path:
        """Write the network that acts as a policy of the core: ``make_policy("mlp", weights=path)``.

        It decides as this agent does where it does not train, from the same random numbers, up to rounding: the core
        adds up in an order of its own. One that scores actions one by one fits every size of system.

        Args:
            path: Where to; ``.npz`` is added if it is missing.
            max_hops: Port actions: the longest route, as in the environment of the training.

        Returns:
            The path of the file.

        Raises:
            StateError: If there is no network yet.
            ConfigError: If the file cannot be written, or the core has no such network.

        Example:
            >>> agent = dfe.agents.make_agent("ppo", seed=1)
            >>> config = dfe.SimulationConfig(topology="72")
            >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
            >>> dfe.make_policy("mlp", weights=agent.export_mlp("weights")).scope
            'source'
        """
        facts = self._built("export_mlp()")
        network, units, fields = self._acting(facts)
        fields = {"scope": self.scope, "max_hops": max_hops, **fields}
        if self.scope == "all":  # forced hops have one action, so nothing is lost
            if "traffic" in units:
                allowed = "counts other decisions in the feature 'traffic' than 'every' does"
                raise config_error("scope", "all", allowed)
            fields["scope"] = "every"
        if facts.occupancy_unit == "ns" and not OCCUPANCY_FEATURES.isdisjoint(units):
            allowed = "must be 'packets' or 'buffers' to be exported: the core's networks see packets"
            raise config_error("occupancy_unit", "ns", allowed)
        if self.action == "path":
            fields |= _candidates(facts)
        return self._as_mlp(network, units, **fields).save(path)

    def _as_mlp(self, network: Any, units: Mapping[str, float], **fields: Any) -> MlpNetwork:
        """Linear layers with ReLU between them as the core takes them."""
        layers = tuple(
            (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy())
            for layer in network
            if isinstance(layer, torch.nn.Linear)
        )
        return MlpNetwork(
            layers=layers,
            features=tuple(units),
            scale=tuple(units.values()),
            activation="relu",
            action=self.action,
            **fields,
        )

    def _fit_layout(self, layout: Any, num_actions: int) -> None:
        """Build the network for a layout the first time; then the layout must stay what it was.

        Raises:
            ConfigError: If it is not.
        """
        if self._network is not None and layout is self._layout:
            return
        facts = LayoutFacts.of(layout, num_actions)
        if self._facts is None:
            self._facts = facts
        self._factors = self._factors_to(self._facts, facts)
        self._layout = layout
        if self._network is None:
            self._build(self._facts)

    def _built(self, call: str) -> LayoutFacts:
        """The layout of the network.

        Raises:
            StateError: If there is no network yet, saying which ``call`` needs one.
        """
        if self._network is None or self._facts is None:
            raise StateError(f"{call}: there is no network yet; train the agent or call prepare(env) first")
        return self._facts

    def _factors_to(self, trained: LayoutFacts, other: LayoutFacts) -> npt.NDArray[np.float32] | None:
        """Factors of the observations of an environment for the network, or None.

        Raises:
            ConfigError: If the network does not fit that environment, naming the first difference.
        """
        return trained.factors(other, f"this {self.kind} agent")

    def _in_trained_units(self, obs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """(N, F) observations as the network expects them: a new array."""
        return np.array(obs) if self._factors is None else obs * self._factors

    def _learns_here(self) -> None:
        """Something is learned in the environment that the agent was prepared for last."""
        self._trained_on = self._here

    @abstractmethod
    def _build(self, facts: LayoutFacts) -> None:
        """Make ``_network``, and what goes with it, for a layout."""

    @abstractmethod
    def _choose(self, batch: DecisionBatch) -> IntArray:
        """Legal actions for one decision at least, whose layout fits."""

    @abstractmethod
    def _networks(self) -> dict[str, Any]:
        """The networks that are saved, by name."""

    @abstractmethod
    def _acting(self, facts: LayoutFacts) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """The layers of the network that acts; the features that it sees, each with the unit that it expects (0:
        squashed); and further fields of ``MlpNetwork``.
        """


def _candidates(facts: LayoutFacts) -> dict[str, Any]:
    """Which candidate paths there were."""
    kinds = facts.candidates
    if not kinds:
        raise config_error(
            "features", facts.names, "must show something of each candidate path to be exported"
        )
    nonminimal_kinds = tuple(kind for kind in dict.fromkeys(kinds) if kind in ALL_NONMINIMAL_KINDS)
    return {
        "nonminimal_kinds": nonminimal_kinds,
        "minimal_candidates": kinds.count("minimal"),
        "nonminimal_candidates": kinds.count(nonminimal_kinds[0]) if nonminimal_kinds else 1,
    }
