"""What the agents with a neural network share: settings, the layout that they were trained with, and their file."""

from __future__ import annotations

import dataclasses
import io
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from dragonfly_env._validate import check_integer, config_error
from dragonfly_env.agents._layouts import LayoutFacts
from dragonfly_env.agents._sb3 import torch
from dragonfly_env.agents.storage import read_agent, write_agent
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_WEIGHTS = "weights.pt"
_Agent = TypeVar("_Agent", bound="NetworkAgent")


class NetworkAgent(ABC):
    """A learner with one network that all routers share; it is built when the first layout is known.

    Args:
        settings: An instance of ``settings_class``; None: its defaults.
        seed: Of everything random in it.

    Raises:
        ConfigError: For settings of another class, or a seed out of range.
    """

    kind: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    settings: Any

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self.settings = self.settings_class() if settings is None else settings
        if not isinstance(self.settings, self.settings_class):
            raise config_error("settings", settings, f"must be {self.settings_class.__name__}")
        self.seed = check_integer("seed", seed, 0, 2**32 - 1)
        self.metadata: dict[str, Any] = {}
        self._facts: LayoutFacts | None = None
        self._layout: object = None  # the layout object that was checked last
        self._topology: dict[str, Any] = {}
        self._network: Any = None  # that learns

    @property
    def name(self) -> str:
        """The kind of agent."""
        return self.kind

    @property
    def scope(self) -> str:
        """Which decisions it must be asked for."""
        return str(self.settings.scope)

    @property
    def action(self) -> str:
        """What it answers with."""
        return str(self.settings.action)

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        options: dict[str, Any] = self.settings.env_options()
        return options

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """See ``Learner.prepare``."""
        self._fit_layout(env.layout, env.num_actions)
        self._topology = env.config.topology.to_dict()

    def save(self, path: str | Path) -> None:
        """See ``Learner.save``."""
        if self._network is None or self._facts is None:
            raise StateError("save(): there is no network yet; train the agent or call prepare(env) first")
        header = {
            "kind": self.kind,
            "metadata": self.metadata,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "layout": dataclasses.asdict(self._facts),
            "topology": self._topology,
            **self._counts(),
        }
        content = io.BytesIO()
        torch.save({name: part.state_dict() for name, part in self._parts().items()}, content)
        write_agent(path, header, {_WEIGHTS: content.getvalue()})

    @classmethod
    def load(cls: type[_Agent], path: str | Path) -> _Agent:
        """See ``Learner.load``."""
        header, members = read_agent(path, (_WEIGHTS,), kind=cls.kind)
        try:
            agent = cls(cls.settings_class(**header["settings"]), seed=header["seed"])
            agent.metadata = dict(header["metadata"])
            agent._facts = LayoutFacts.from_dict(header["layout"])
            agent._topology = dict(header["topology"])
            agent._recount({name: check_integer(name, header[name], 0, 2**62) for name in agent._counts()})
            agent._build(agent._facts)
            state = torch.load(io.BytesIO(members[_WEIGHTS]), weights_only=True)
            for name, part in agent._parts().items():
                part.load_state_dict(state[name])
        except (KeyError, TypeError, ValueError, RuntimeError, EOFError, OSError) as error:
            raise config_error("agent", str(path), f"must be a saved {cls.kind} agent ({error})") from error
        return agent

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
        self._facts.require(facts, f"this {self.kind} agent")
        self._layout = layout
        if self._network is None:
            self._build(self._facts)

    # For the agents.

    @abstractmethod
    def _build(self, facts: LayoutFacts) -> None:
        """Make ``_network``, and what goes with it, for a layout."""

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """What is saved, by name: everything with ``state_dict()`` and ``load_state_dict()``."""

    @abstractmethod
    def _counts(self) -> dict[str, int]:
        """How far the training has come, by name."""

    @abstractmethod
    def _recount(self, counts: dict[str, int]) -> None:
        """Take over counts of ``_counts``."""
