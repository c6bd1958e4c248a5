"""Policies and learners from outside the core: the file of a saved agent, a class of the user's own, or a kind by name.

A class is loaded from ``file.py:Class`` or ``module:Class``; modules next to the file, or next to the command, can be
imported. In results a class is identified by its name and the SHA-256 digest of its own file.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from dragonfly_env.agents.protocol import Learner
from dragonfly_env.agents.registry import (
    AGENTS,
    agent_class,
    load_agent,
    make_agent,
    read_metadata,
    settings_class,
)
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.values import config_error, unknown_name

FORMS = "a policy, the file of an agent, file.py:Class with a method act(batch), or file.py:Class@FILE"
_GENERIC_NAMES = ("agent", "latest", "final", "best", "model")
_CLASS_AND_FILE = re.compile(r"(?P<class>[^@]+:[^\W\d]\w*)@(?P<file>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AgentSource:
    """Source of a policy in Python; it can be sent to another process.

    Attributes:
        spec: The file of a saved agent; ``module:Class``; or ``module:Class@file``, a learner and what it saved.
        folder: Where relative files and modules are found.
        label: A short name: the policy's own, or that of the saved file, or that of its folder if the file has a
            generic name.
        sha256: Digest of the saved agent; or of the name and file of the class; or of all three. A changed policy
            makes a new run; a moved or relabelled policy does not.
    """

    spec: str
    folder: str
    label: str
    sha256: str

    @classmethod
    def find(cls, spec: str) -> AgentSource:
        """The source that a user typed; a class is loaded, and a saved agent of this package is not."""
        folder = Path.cwd()
        named, file = _split(spec, folder)
        agent = cls(spec, str(folder), _label_of(folder / file), _digest(spec, folder))
        if not named:
            return agent
        policy = agent.load()
        if file:
            return agent
        if isinstance(policy, Learner):
            warnings.warn(
                f"{spec} is a learner as it is made, without any training: for one that was trained name its file too, "
                f"{spec}@FILE",
                stacklevel=2,
            )
        return replace(agent, label=str(getattr(policy, "name", named.rpartition(":")[2])))

    @property
    def is_file(self) -> bool:
        """Whether it is a saved agent, and not a class alone."""
        return _split(self.spec, Path(self.folder))[1] != ""

    @property
    def path(self) -> Path:
        """The file of the saved agent."""
        return Path(self.folder) / _split(self.spec, Path(self.folder))[1]

    def metadata(self) -> dict[str, Any]:
        """How a saved agent was made, as its file says."""
        if not _split(self.spec, Path(self.folder))[0]:
            return read_metadata(self.path)
        found = getattr(self.load(), "metadata", {})
        return found if isinstance(found, dict) else {}

    def load(self) -> BatchPolicy:
        """The policy, ready to act.

        Raises:
            ConfigError: If it cannot be loaded or made, or has changed since it was found.
        """
        folder = Path(self.folder)
        if _digest(self.spec, folder) != self.sha256:
            raise config_error("policy", self.spec, "must not change while its runs are done")
        named, file = _split(self.spec, folder)
        if not named:
            return load_agent(folder / file)
        found = load_class(named, folder)
        try:
            if file:
                return load_agent(folder / file, found)
            made: BatchPolicy = found() if isinstance(found, type) else found
        except Exception as error:
            how = "what load() of its class reads" if file else "loadable without arguments"
            allowed = f"must be {how} ({type(error).__name__}: {error})"
            raise config_error("policy", self.spec, allowed) from error
        return made


def means_file(spec: str, folder: Path) -> bool:
    """Whether a user who typed this means the file of a saved agent."""
    # Not Path.is_file: before Python 3.14 that raises for names that are too long.
    if os.path.isfile(folder / spec):  # noqa: PTH113
        return not spec.endswith(".py")
    return spec.endswith(".zip") and not _CLASS_AND_FILE.match(spec)


def _split(spec: str, folder: Path) -> tuple[str, str]:
    """The class and the saved file that a user typed; one may be empty."""
    if means_file(spec, folder):
        return "", spec
    both = _CLASS_AND_FILE.fullmatch(spec)
    return (both["class"], both["file"]) if both else (spec, "")


def _digest(spec: str, folder: Path) -> str:
    named, file = _split(spec, folder)
    digest = hashlib.sha256()
    if named:
        found = load_class(named, folder)
        own = inspect.getfile(found if isinstance(found, type) else type(found))
        digest.update(named.rpartition(":")[2].encode() + b" " + Path(own).read_bytes())
    if file:
        try:
            digest.update((folder / file).read_bytes())
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            reason = getattr(error, "strerror", None) or str(error)
            raise config_error("policy", spec, f"cannot be read ({reason})") from error
    return digest.hexdigest()


def _label_of(path: Path) -> str:
    if path.stem not in _GENERIC_NAMES:
        return path.stem
    folders = (folder.name for folder in path.parents)
    return next((name for name in folders if name and name != "checkpoints"), path.stem)


def load_class(spec: str, folder: Path) -> Any:
    """The class (or the object) that ``module:Class`` or ``file.py:Class`` names.

    Raises:
        ConfigError: If it cannot be imported, or has no method ``act``.
    """
    module, _, name = spec.rpartition(":")
    if not module or not name:
        raise config_error("policy", spec, f"must be {FORMS}")
    try:
        found = getattr(_load_module(module, folder), name)
    except Exception as error:  # a user's module may raise anything while it is imported
        raise config_error("policy", spec, f"cannot be imported ({type(error).__name__}: {error})") from error
    if not callable(getattr(found, "act", None)):
        raise config_error(
            "policy",
            spec,
            "must have a method act(batch) that returns an action per decision; scope = 'source' and action = 'path', "
            "for example, say what it decides",
        )
    return found


def _load_module(name: str, folder: Path) -> ModuleType:
    file = (folder / name).absolute()
    beside = str(file.parent if name.endswith(".py") else folder)
    if beside not in sys.path:
        sys.path.insert(0, beside)
    if not name.endswith(".py"):
        return importlib.import_module(name)
    # A changed file is another module; no file hides a module of its name.
    unique = f"{file.stem}_{hashlib.sha256(str(file).encode() + file.read_bytes()).hexdigest()}"
    if unique not in sys.modules:
        spec = importlib.util.spec_from_file_location(unique, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[unique] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[unique]
            raise
    return sys.modules[unique]


@dataclass(frozen=True, slots=True)
class LearnerSource:
    """Source of the learner of a training.

    Attributes:
        spec: A kind of ``AGENTS``, or ``module:Class`` or ``file.py:Class``.
        own: The class; None for a kind.
    """

    spec: str
    own: type[Learner] | None = None

    @classmethod
    def find(cls, spec: str) -> LearnerSource:
        """The source that a user typed.

        Raises:
            ConfigError: If there is no such kind, module or class, or what it needs is not installed.
        """
        if ":" in spec and spec not in AGENTS:
            return cls(spec, load_class(spec, Path.cwd()))
        if spec not in AGENTS:
            raise unknown_name("agent", spec, (*AGENTS, "module:Class", "file.py:Class"))
        agent_class(spec)
        return cls(spec)

    @property
    def name(self) -> str:
        """For folders and titles: the kind, or the name of the class."""
        return self.spec if self.own is None else self.own.__name__

    def saved(self, file: Path) -> str:
        """Return the argument of `evaluate` for an agent that was saved there."""
        return str(file) if self.own is None else f"{self.spec}@{file}"

    def list_settings(self) -> frozenset[str]:
        """The settings that are lists, as far as a command line must know."""
        if self.own is not None:
            return frozenset()
        fields = settings_class(self.spec).__dataclass_fields__.values()
        return frozenset(field.name for field in fields if "tuple" in str(field.type))

    def make(self, settings: Mapping[str, Any], seed: int) -> Learner:
        """A new learner; a class gets the seed if its constructor has an argument of that name.

        Raises:
            ConfigError: If a setting is unknown or out of range.
        """
        if self.own is None:
            return make_agent(self.spec, seed=seed, **settings)
        signature, arguments = inspect.signature(self.own), dict(settings)
        if "seed" in signature.parameters:
            arguments.setdefault("seed", seed)
        try:
            signature.bind(**arguments)
        except TypeError as error:
            allowed = f"must be arguments of {self.spec} ({error})"
            raise config_error("agent settings", dict(settings), allowed) from error
        return self.own(**arguments)

    def load(self, file: Path) -> Learner:
        """A saved learner of this kind or class."""
        learner: Learner = (self.own or agent_class(self.spec)).load(file)
        return learner
