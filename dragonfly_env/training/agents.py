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

from dragonfly_env.agents.learner import AGENTS, Learner, agent_class, load_agent, make_agent, read_metadata
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.files import refusing
from dragonfly_env.checks.values import config_error, unknown_name

FORMS = "a policy, the file of an agent, file.py:Class with a method act(batch), or file.py:Class@FILE"
_WORDS = {
    **dict.fromkeys(("dqn", "deepq", "deep_q", "double-dqn", "q-learning"), "deep-q"),
    **dict.fromkeys(("ppo2", "mappo", "ippo"), "ppo"),
}
"""Names of algorithms, and the agents that they mean."""
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
        source = cls(spec, str(folder), _label_of(folder / file), _digest(spec, folder))
        if not named:
            return source
        policy = source.load()
        if file:
            return source
        if isinstance(policy, Learner):
            warnings.warn(
                f"{spec} is a learner as it is made, without any training: for one that was trained name its file too, "
                f"{spec}@FILE",
                stacklevel=2,
            )
        return replace(source, label=str(getattr(policy, "name", named.rpartition(":")[2])))

    @property
    def _parts(self) -> tuple[str, str]:
        return _split(self.spec, Path(self.folder))

    @property
    def is_file(self) -> bool:
        """Whether it is a saved agent, and not a class alone."""
        return self._parts[1] != ""

    @property
    def path(self) -> Path:
        """The file of the saved agent."""
        return Path(self.folder) / self._parts[1]

    def metadata(self) -> dict[str, Any]:
        """Return what the file of a saved agent says about its training."""
        if not self._parts[0]:
            return read_metadata(self.path)
        metadata = getattr(self.load(), "metadata", {})
        return metadata if isinstance(metadata, dict) else {}

    def load(self) -> BatchPolicy:
        """The policy, ready to act; ``ConfigError`` if it cannot be made, or has changed since it was found."""
        folder = Path(self.folder)
        if _digest(self.spec, folder) != self.sha256:
            raise config_error("policy", self.spec, "must not change while its runs are done")
        named, file = self._parts
        if not named:
            return load_agent(self.path)
        agent_class = load_class(named, folder)
        try:
            if file:
                return load_agent(self.path, agent_class)
            made: BatchPolicy = agent_class() if isinstance(agent_class, type) else agent_class
        except Exception as error:  # a user's class may raise anything
            how = "what load() of its class reads" if file else "loadable without arguments"
            allowed = f"must be {how} ({type(error).__name__}: {error})"
            raise config_error("policy", self.spec, allowed) from error
        return made


@dataclass(frozen=True, slots=True)
class LearnerSource:
    """Source of the learner of a training.

    Attributes:
        spec: A kind of ``AGENTS``, or ``module:Class`` or ``file.py:Class``.
        made: The class.
    """

    spec: str
    made: Any

    @classmethod
    def find(cls, spec: str) -> LearnerSource:
        """The source that a user typed; ``ConfigError`` if there is none, or if PyTorch is missing."""
        if spec in AGENTS:
            return cls(spec, agent_class(spec))
        if ":" not in spec:
            forms = (*AGENTS, "module:Class", "file.py:Class")
            raise unknown_name("agent", spec, forms, meant=_WORDS)
        return cls(spec, load_class(spec, Path.cwd()))

    @property
    def name(self) -> str:
        """Name for folders and titles: the kind, or the name of the class."""
        return self.spec if self.spec in AGENTS else str(self.made.__name__)

    def saved(self, file: Path) -> str:
        """The argument of ``evaluate`` for an agent that was saved there."""
        return str(file) if self.spec in AGENTS else f"{self.spec}@{file}"

    def list_settings(self) -> frozenset[str]:
        """The settings that are lists, as far as a command line must know."""
        fields = getattr(getattr(self.made, "settings_class", None), "__dataclass_fields__", {})
        return frozenset(name for name, field in fields.items() if "tuple" in str(field.type))

    def make(self, settings: Mapping[str, Any], seed: int) -> Learner:
        """A new learner; a class of the user's gets the seed if its constructor has an argument of that name."""
        if self.spec in AGENTS:
            return make_agent(self.spec, seed=seed, **settings)
        signature = inspect.signature(self.made)
        arguments = {"seed": seed, **settings} if "seed" in signature.parameters else settings
        try:
            signature.bind(**arguments)
        except TypeError as error:
            allowed = f"must be arguments of {self.spec} ({error})"
            raise config_error("agent settings", dict(settings), allowed) from error
        learner: Learner = self.made(**arguments)
        return learner


def means_file(spec: str, folder: Path) -> bool:
    """Whether a user who typed this means the file of a saved agent."""
    # Not Path.is_file: before Python 3.14 that raises for names that are too long.
    if os.path.isfile(folder / spec):  # noqa: PTH113
        return not spec.endswith(".py")
    return spec.endswith(".zip") and not _CLASS_AND_FILE.match(spec)


def load_class(spec: str, folder: Path) -> Any:
    """The class (or the object) that ``module:Class`` or ``file.py:Class`` names; it must have a method ``act``."""
    module, _, name = spec.rpartition(":")
    if not module or not name:
        raise config_error("policy", spec, f"must be {FORMS}")
    try:
        agent_class = getattr(_load_module(module, folder), name)
    except Exception as error:  # a user's module may raise anything while it is imported
        raise config_error("policy", spec, f"cannot be imported ({type(error).__name__}: {error})") from error
    if not callable(getattr(agent_class, "act", None)):
        raise config_error(
            "policy",
            spec,
            "must have a method act(batch) that returns an action per decision; scope = 'source' and action = 'path', "
            "for example, say what it decides",
        )
    return agent_class


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
        agent_class = load_class(named, folder)
        source = inspect.getfile(agent_class if isinstance(agent_class, type) else type(agent_class))
        digest.update(named.rpartition(":")[2].encode() + b" " + Path(source).read_bytes())
    if file:
        with refusing("policy", Path(spec), "cannot be read"):
            digest.update((folder / file).read_bytes())
    return digest.hexdigest()


def _label_of(path: Path) -> str:
    if path.stem not in _GENERIC_NAMES:
        return path.stem
    folders = (folder.name for folder in path.parents)
    return next((name for name in folders if name and name != "checkpoints"), path.stem)
