"""Policies from outside the core: the file of a saved agent, or a class of your own; and learners, by kind or by
class: what a training makes, loads and goes on with.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from dragonfly_env.agents.storage import read_header
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.files import working_directory
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.config.rows import reject_unknown
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import ConfigError
from dragonfly_env.training.agent_modules import LoadedModule, load_module

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch


FORMS = (
    "the file of a saved agent, or module:Class (or file.py:Class) with a method act(batch), or file.py:Class@FILE, a "
    "learner of your own and what it saved"
)
AtWork = Callable[[], AbstractContextManager[None]]
_UNTELLING = ("agent", "latest", "final", "best", "model")
_UNTELLING_FOLDERS = ("checkpoints",)


@dataclass(frozen=True, slots=True)
class AgentSource:
    """Where a policy in Python comes from; safe to send to another process.

    Attributes:
        spec: The file of a saved agent; ``module:Class``; or ``module:Class@file``, a learner and what it saved.
        folder: Where relative files and modules are looked for.
        label: A short name: what the policy calls itself; of a saved agent that of the file (or of its folder, if
            the file's name says nothing; or of the learner, if that does not either).
        sha256: Of the saved agent; or of the class's name, its module and what that imports from next to it; or of
            both. A changed policy makes a new run; a policy that was moved or has another label does not.
    """

    spec: str
    folder: str
    label: str
    sha256: str

    @classmethod
    def find(cls, spec: str) -> AgentSource:
        """From what a user wrote.

        Raises:
            ConfigError: If there is no such file, module or class, or it is no policy.
        """
        folder = working_directory()
        if means_file(spec, folder):
            return cls(spec, str(folder), _name_of_file(folder / spec), _file_sha256(folder / spec, spec))
        loaded, _ = import_class(_class_of(spec), folder)
        if file := _file_of(spec, folder):
            sha256 = class_sha256(loaded, spec, _file_sha256(folder / file, spec))
            agent = cls(spec, str(folder), _name_of_file(folder / file), sha256)
            agent.load()
            return agent
        agent = cls(spec, str(folder), "", class_sha256(loaded, spec))
        policy = agent.load()[0]
        if isinstance(policy, Learner):
            warnings.warn(
                f"{spec} is a learner as it is made, without any training: for one that was trained name its file too, "
                f"{spec}@FILE",
                stacklevel=2,
            )
        return replace(agent, label=policy.name)

    @property
    def is_file(self) -> bool:
        """Whether it is a saved agent, and not a class."""
        return _file_of(self.spec, Path(self.folder)) != ""

    @property
    def path(self) -> Path:
        """The file of the saved agent."""
        return Path(self.folder) / _file_of(self.spec, Path(self.folder))

    def metadata(self) -> dict[str, Any]:
        """What a saved agent says of how it was made.

        Raises:
            ConfigError: If it is none.
        """
        if means_file(self.spec, Path(self.folder)):
            return read_metadata(self.path)
        found = getattr(self.load()[0], "metadata", {})
        return found if isinstance(found, dict) else {}

    def load(self) -> tuple[BatchPolicy, AtWork]:
        """The policy, ready to act, and what is to be entered whenever code of it runs: it may import what is next to
        it.

        Raises:
            ConfigError: If it cannot be loaded or made, is no policy, or has changed since it was found.
        """
        try:
            folder = Path(self.folder)
            if means_file(self.spec, folder):
                self._check_unchanged(_file_sha256(self.path, self.spec))
                return load_agent(self.path), nullcontext
            loaded, found = import_class(_class_of(self.spec), folder)
            if self.is_file:
                file_sha256 = _file_sha256(self.path, self.spec)
                self._check_unchanged(class_sha256(loaded, self.spec, file_sha256))
                with loaded.at_work():
                    return load_agent(self.path, found), loaded.at_work
            self._check_unchanged(class_sha256(loaded, self.spec))
            with loaded.at_work():
                made = found() if isinstance(found, type) else found
                return as_policy(made, self.spec), loaded.at_work
        except ConfigError:
            raise
        except Exception as error:  # whatever a user's class does when it is made
            reason = f"{type(error).__name__}: {error}"
            how = "what load() of its class reads" if self.is_file else "loadable without arguments"
            raise config_error("policy", self.spec, f"must be {how} ({reason})") from error

    def _check_unchanged(self, sha256: str) -> None:
        """A run is known by the contents that its policy had when it was planned."""
        if sha256 != self.sha256:
            raise config_error("policy", self.spec, "must not change while its runs are done")


def means_file(spec: str, folder: Path) -> bool:
    """Whether a user who wrote this means the file of a saved agent."""
    # Not Path.is_file: before Python 3.14 that raises for names that are too long.
    if os.path.isfile(folder / spec):  # noqa: PTH113
        return not spec.endswith(".py")
    return spec.endswith(".zip") and not _CLASS_AND_FILE.match(spec)


_CLASS_AND_FILE = re.compile(r"(?P<spec>[^@]+:[^\W\d]\w*)@(?P<file>.+)", re.DOTALL)


def _class_of(spec: str) -> str:
    """``module:Class`` of ``module:Class@file``."""
    both = _CLASS_AND_FILE.fullmatch(spec)
    return both["spec"] if both else spec


def _file_of(spec: str, folder: Path) -> str:
    """The file that a user who wrote this names; empty for a class alone."""
    if means_file(spec, folder):
        return spec
    both = _CLASS_AND_FILE.fullmatch(spec)
    return both["file"] if both else ""


def class_sha256(loaded: LoadedModule, spec: str, file_sha256: str = "") -> str:
    """Of a class of your own: its name, all files of its module, and of what it saved."""
    name = _class_of(spec).rpartition(":")[2]
    return hashlib.sha256(f"{name} {loaded.sha256} {file_sha256}".encode()).hexdigest()


def _file_sha256(path: Path, spec: str) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise config_error("policy", spec, f"must be {FORMS} ({reason})") from error


def _name_of_file(path: Path) -> str:
    if path.stem not in _UNTELLING:
        return path.stem
    folders = (folder.name for folder in path.parents)  # whatever it is called: somebody chose it
    name = next((name for name in folders if name and name not in _UNTELLING_FOLDERS), path.stem)
    if name in _UNTELLING:  # say at least what it is
        with suppress(ConfigError):  # what cannot be read is refused elsewhere, by the code that needs it
            return str(read_header(path).get("kind") or name)
    return name


def import_class(spec: str, folder: Path) -> tuple[LoadedModule, Any]:
    """The module, and the class in it, that ``module:Class`` or ``file.py:Class`` names.

    Raises:
        ConfigError: If there is none, or it has no method ``act``.
    """
    module, _, name = spec.rpartition(":")
    if not module or not name:
        raise config_error("policy", spec, f"must be {FORMS}")
    try:
        loaded = load_module(module, folder)
        found = getattr(loaded.module, name)
    except Exception as error:  # a user's module may do anything while it is imported
        reason = f"{type(error).__name__}: {error}"
        raise config_error("policy", spec, f"cannot be imported ({reason})") from error
    if not callable(getattr(found, "act", None)):
        raise config_error(
            "policy",
            spec,
            "must have a method act(batch) that returns an action per decision; scope = 'source' and action = 'path', "
            "for example, say what it decides",
        )
    return loaded, found


def as_policy(made: object, spec: str) -> BatchPolicy:
    """An object with ``act`` as a policy; scope and action default to those of the environment."""
    return made if isinstance(made, BatchPolicy) else _Plain(made, spec)


class _Plain:
    """A policy around an object that says nothing but ``act``."""

    def __init__(self, inner: Any, spec: str) -> None:
        self._inner = inner
        self.name = str(getattr(inner, "name", spec.rpartition(":")[2]))
        self.scope = str(getattr(inner, "scope", "every"))
        self.action = str(getattr(inner, "action", "port"))

    def act(self, batch: DecisionBatch) -> IntArray:
        actions: IntArray = self._inner.act(batch)
        return actions

    def __getattr__(self, name: str) -> Any:
        """What the object may have besides, such as ``env_options`` and ``prepare``."""
        return getattr(self._inner, name)


@dataclass(frozen=True, slots=True)
class LearnerSource:
    """Where learners of a training come from.

    Attributes:
        spec: A kind of ``AGENTS``, or ``module:Class`` or ``file.py:Class`` of your own.
        own: The class of your own; None for a kind.
        at_work: Entered whenever code of the class runs: it may import what is next to it.
        sha256: Of a class of your own: its name, its module and what that imports from next to it; empty for a kind.
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
        """A new learner. A class of your own is told the seed if its constructor has an argument of that name.

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
