"""Learners by kind, or by class: what a training makes, loads and goes on with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.registry import (
    AGENTS,
    agent_class,
    learner_type,
    load_agent,
    make_agent,
    read_metadata,
    settings_class,
)
from dragonfly_env.checks.files import working_directory
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.config.rows import reject_unknown
from dragonfly_env.errors import ConfigError
from dragonfly_env.training.agents import AtWork, class_sha256, import_class


@dataclass(frozen=True, slots=True)
class LearnerSource:
    """Where learners of a training come from.

    Attributes:
        spec: A kind of ``AGENTS``, or ``module:Class`` or ``file.py:Class`` of one's own.
        own: The class of one's own; None for a kind.
        at_work: Entered whenever code of the class runs: it may import what is beside it.
        sha256: Of a class of one's own: its name, its module and what that imports from beside it; empty for a kind.
    """

    spec: str
    own: type[Learner] | None = None
    at_work: AtWork = nullcontext
    sha256: str = ""

    @classmethod
    def find(cls, spec: object) -> LearnerSource:
        """From what a user wrote.

        Raises:
            ConfigError: If there is no such kind, module or class, the class is no learner, or what it needs is not
                installed.
        """
        if not isinstance(spec, str) or spec in AGENTS or ":" not in spec:
            if not isinstance(spec, str) or spec not in AGENTS:
                raise unknown_name("agent", spec, (*AGENTS, "module:Class", "file.py:Class"))
            agent_class(spec)
            return cls(spec)
        loaded, found = import_class(spec, working_directory())
        own = learner_type(found, "agent", spec)
        return cls(spec, own, loaded.at_work, class_sha256(loaded, spec))

    @property
    def name(self) -> str:
        """For folders and titles: the kind, or the name of the class."""
        return self.spec if self.own is None else self.own.__name__

    def saved(self, file: Path) -> str:
        """What `evaluate` takes for an agent that was saved there."""
        return str(file) if self.own is None else f"{self.spec}@{file}"

    def check(self, settings: Mapping[str, Any]) -> None:
        """Whether a learner can be made with these settings.

        Raises:
            ConfigError: If one is unknown, or out of range as far as that is known before it is made.
        """
        if self.own is None:
            described = settings_class(self.spec)
            reject_unknown(described, settings, f"agent {self.spec!r}")
            described(**settings)
            return
        try:
            inspect.signature(self.own).bind(**settings)
        except (TypeError, ValueError) as error:  # ValueError: a class that has no signature
            allowed = f"must be arguments of {self.spec} ({error})"
            raise config_error("agent settings", dict(settings), allowed) from error

    def list_settings(self) -> frozenset[str]:
        """The settings that are lists, as far as a command line must know."""
        if self.own is not None:
            return frozenset()
        fields = settings_class(self.spec).__dataclass_fields__.values()
        return frozenset(field.name for field in fields if "tuple" in str(field.type))

    def make(self, settings: Mapping[str, Any], seed: int) -> Learner:
        """A new learner. A class of one's own is told the seed if its constructor has an argument of that name.

        Raises:
            ConfigError: If it cannot be made.
        """
        if self.own is None:
            return make_agent(self.spec, seed=seed, **settings)
        arguments = dict(settings)
        parameters = inspect.signature(self.own).parameters.values()
        if any(one.name == "seed" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
            arguments.setdefault("seed", seed)
        return self._called("made", lambda own: own(**arguments))

    def load(self, file: Path) -> Learner:
        """A saved one.

        Raises:
            ConfigError: If it cannot be loaded.
        """
        if self.own is None:
            return load_agent(file)
        return self._called("loaded", lambda own: load_agent(file, own))

    def metadata_of(self, file: Path) -> dict[str, Any]:
        """What ``metadata`` held when an agent was saved.

        Raises:
            ConfigError: If it cannot be loaded.
        """
        return read_metadata(file) if self.own is None else dict(self.load(file).metadata)

    def _called(self, done: str, work: Any) -> Learner:
        try:
            made: Learner = work(self.own)
        except ConfigError:
            raise
        except Exception as error:  # whatever a user's class does
            reason = f"{type(error).__name__}: {error}"
            raise config_error("agent", self.spec, f"cannot be {done} ({reason})") from error
        if not isinstance(made, Learner):
            raise config_error("agent", self.spec, f"must still be a learner when it is {done}")
        return made

    def working(self) -> AbstractContextManager[None]:
        """To be entered around everything that runs code of the class."""
        return self.at_work()
