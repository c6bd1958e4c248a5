"""Routing policies by name: what a policy object is, and the registry that ``make_policy`` uses.

Which policies exist is decided in one place, the registry of the C++ core. For each of its names one settings
class (in ``dragonfly_env.baselines``) holds the parameters with their units and sources; ``make_policy``
finds it by name.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.outside import check_mapping
from dragonfly_env.checks.values import config_error, no_such_setting, unknown_name
from dragonfly_env.config.rows import SettingInfo, describe, normalise, of_row, reject_unknown
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.batch_policy import BatchPolicy
    from dragonfly_env.decisions.batch import DecisionBatch

ParameterValue: TypeAlias = float | str | bool
_IN_THE_CORE: Final = object()
_CANDIDATES = {
    "minimal_candidates": "minimal_candidates",
    "nonminimal_candidates": "detour_candidates",
    "gateways": "gateways",
    "avoid_destination_group": "avoid_destination_group",
}
_TYPES = {
    "real": "float",
    "whole": "int",
    "flag": "bool",
    "name": "str",
    "network": "bool | None",
    "network-real": "float | None",
}


def parameter() -> Any:
    """A field that is a parameter of the core's policy: default, range, unit and meaning stand in its row there.

    The annotation is checked against the row when the class is made.
    """
    return _IN_THE_CORE


def check_gateways(gateways: str, minimal_candidates: int) -> None:
    """Any gateway is drawn where there is a choice: who has one path alone is not asked about it.

    Raises:
        ConfigError: For any gateway with one shortest path.
    """
    if gateways == "any" and minimal_candidates < 2:
        raise config_error("gateways", gateways, "must be 'nearest' with minimal_candidates=1")


# The names that a class answers to, each with the fields that the name fixes.
NamedVariants: TypeAlias = Mapping[str, Mapping[str, ParameterValue]]


class Policy(ABC):
    """A routing policy with its parameters: a frozen dataclass, comparable and hashable.

    Subclasses declare the core's parameters by ``parameter()`` and others as checked fields, the registry names that
    they answer to in ``variants``, and where the policy comes from in ``source``.
    """

    __slots__ = ()

    variants: ClassVar[NamedVariants]
    """Registry names of this class and the fields that each of them fixes."""

    aliases: ClassVar[Mapping[str, str]] = {}
    """Further names that ``make_policy`` understands, and the registry names that they stand for."""

    learns: ClassVar[bool] = False
    """Whether it keeps tables in the core and changes them during a run."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Parameters without a default: the name alone is not enough."""

    source: ClassVar[str]
    """Where the policy is described: paper and section."""

    def __init_subclass__(cls) -> None:
        """Fill in the fields that are parameters of the core.

        Raises:
            TypeError: If the core has no such parameter, or one of another type.
        """
        super().__init_subclass__()
        declared = [name for name, value in vars(cls).items() if value is _IN_THE_CORE]
        rows = {
            row["name"]: row for name in declared and cls.variants for row in _registry()[name]["parameters"]
        }
        for name in declared:
            if name not in rows:
                raise TypeError(
                    f"{cls.__name__}.{name}: the core has no such parameter, only {', '.join(rows)}"
                )
            expected, annotation = _TYPES[rows[name]["type"]], cls.__annotations__[name]
            if expected != getattr(annotation, "__name__", annotation):
                raise TypeError(f"{cls.__name__}.{name}: {annotation}, but {expected} in the core")
            setattr(cls, name, of_row(rows[name]))

    def __post_init__(self) -> None:
        normalise(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the registry, e.g. ``"ugal-n"``."""

    @abstractmethod
    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Decide as the core's policy does, in NumPy: its twin, with the same ``trace_hash()``.

        Args:
            batch: N decisions of a batched environment with this policy's ``scope`` and ``action``.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks what the parameters ask for.
        """

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that ``act`` needs: where it is asked, and the candidates
        that its parameters ask for.
        """
        needed: dict[str, Any] = {"scope": self.scope, "action": self.action}
        for field, option in _CANDIDATES.items():
            if (value := getattr(self, field, None)) is not None:
                needed[option] = value
        return needed

    def twin(self, env: Any) -> BatchPolicy:
        """What answers the batches of a ``BatchedRoutingEnv`` as the core's policy decides.

        A policy without tables does so itself, for any environment that has what it needs; of one that learns it
        is another object, for this environment.

        Raises:
            ConfigError: If the environment lacks what the twin of a learner needs.
        """
        return self

    def parameters(self) -> dict[str, ParameterValue]:
        """What the core is told beside the name: every field that the name does not fix and that is not
        None.
        """
        fixed = self.variants.get(self.name, {})
        values = {field.name: getattr(self, field.name) for field in _fields(self)}
        return {name: value for name, value in values.items() if name not in fixed and value is not None}

    def core_parameters(self) -> dict[str, Any]:
        """``parameters()`` as the core takes them: what stands in a file as what was read from it."""
        return self.parameters()

    def _of_tracker(self, tracker: str) -> dict[str, ParameterValue]:
        """Those parameters that are a tracker's: what an environment needs to show what the policy sees."""
        names = [
            row["name"] for one in _core.trackers() if one["name"] == tracker for row in one["parameters"]
        ]
        return {name: value for name, value in self.parameters().items() if name in names}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values; ``policy_from_dict`` is the inverse."""
        return {"name": self.name, **self.parameters()}

    @property
    def scope(self) -> str:
        """Which decisions the policy must be asked for: ``"source"``, ``"every"`` or ``"all"``."""
        return _registry()[self.name]["scope"]

    @property
    def action(self) -> str:
        """What the policy answers with: a ``"path"`` or a ``"port"``."""
        return _registry()[self.name]["action"]

    @property
    def summary(self) -> str:
        """One sentence on what the policy does."""
        return _registry()[self.name]["summary"]

    @classmethod
    def describe(cls) -> tuple[SettingInfo, ...]:
        """The parameters with default, unit and meaning."""
        return describe(cls)

    @classmethod
    def settings_names(cls) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(field.name for field in _fields(cls))


def _fields(policy: Policy | type[Policy]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(policy)  # type: ignore[arg-type]  # every concrete policy is a dataclass


@functools.cache
def _registry() -> dict[str, _core.PolicyInfo]:
    return {info["name"]: info for info in _core.policies()}


def highest(policy: str, name: str) -> float:
    """The highest value that a parameter of the core's policy may have.

    Raises:
        KeyError: If there is no such policy or parameter, or no such limit.
    """
    for row in _registry()[policy]["parameters"]:
        if row["name"] == name and row["high"] is not None:
            return row["high"]
    raise KeyError(name)


_classes: dict[str, type[Policy]] = {}
_aliases: dict[str, str] = {}


def register_policies(classes: Iterable[type[Policy]]) -> None:
    """Make classes known under their names. Called once by each package that brings policies.

    Raises:
        ValueError: If two classes claim one name.
    """
    for cls in classes:
        for name in cls.variants:
            if _classes.setdefault(name, cls) is not cls:
                raise ValueError(
                    f"policy name {name!r} is claimed by {_classes[name].__name__} and {cls.__name__}"
                )
        _aliases.update(cls.aliases)


@dataclasses.dataclass(frozen=True, slots=True)
class CorePolicy(Policy):
    """A policy that the core has and that no settings class describes yet: one C++ file and one registry
    line.

    Its parameters are those that the registry lists; the core checks their values.
    """

    variants: ClassVar[NamedVariants] = {}
    source: ClassVar[str] = "see the registry"

    name: str
    settings: tuple[tuple[str, ParameterValue], ...] = ()

    def __post_init__(self) -> None:
        known = [parameter["name"] for parameter in _registry()[self.name]["parameters"]]
        for name, value in self.settings:
            if name not in known:
                raise config_error(name, value, no_such_setting(f"policy {self.name!r}", name, known))
            if not isinstance(value, (bool, int, float, str)):
                raise config_error(name, value, "must be a number, a string, True or False")

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Refuse: only the core knows how this policy decides.

        Raises:
            StateError: Always.
        """
        raise StateError(
            f"act(): policy {self.name!r} runs in the core only; no class with a NumPy twin describes it"
        )

    def parameters(self) -> dict[str, ParameterValue]:
        """The given parameters; for others the registry's defaults hold."""
        return dict(self.settings)


def policies() -> tuple[str, ...]:
    """The names of all routing policies."""
    return tuple(_registry())


def policy_class(name: str) -> type[Policy]:
    """The settings class that answers to a policy's name; ``CorePolicy`` if there is none of its own.

    Raises:
        ConfigError: For an unknown name; the nearest one is named.
    """
    known = _aliases.get(name, name) if isinstance(name, str) else ""
    if known in _classes:
        return _classes[known]
    if known in _registry():
        return CorePolicy
    raise unknown_name("policy", name, policies())


def describe_policy(name: str) -> tuple[SettingInfo, ...]:
    """The parameters that may be given with a policy's name, whether a class describes it or only the core's rows.

    Raises:
        ConfigError: For an unknown name.
    """
    cls = policy_class(name)
    if cls is not CorePolicy:
        fixed = cls.variants[_aliases.get(name, name)]
        return tuple(row for row in cls.describe() if row.name not in fixed)
    rows = _registry()[name]["parameters"]
    return describe(dataclasses.make_dataclass(name, [(row["name"], Any, of_row(row)) for row in rows]))


def make_policy(name: str, **parameters: Any) -> Policy:
    """A policy by name.

    Args:
        name: One of ``policies()``.
        **parameters: Fields of its class, e.g. ``bias_packets=2`` for ``"ugal-n"``.

    Raises:
        ConfigError: For an unknown name or parameter (the nearest one is named), a value out of range, or a
            parameter that contradicts the name (``make_policy("ugal-n", detour="lg")``).
    """
    cls = policy_class(name)
    name = _aliases.get(name, name)
    if cls is CorePolicy:
        return CorePolicy(name, tuple(sorted(parameters.items())))
    fixed = cls.variants[name]
    reject_unknown(cls, parameters, f"policy {name!r}", fixed=fixed)
    for parameter, value in fixed.items():
        given = parameters.get(parameter, value)
        if not isinstance(given, type(value)) or given != value:
            raise config_error(parameter, given, f"is {value!r} in policy {name!r}")
    return cls(**{**fixed, **parameters})


def policy_from_dict(values: Mapping[str, Any]) -> Policy:
    """The policy that ``Policy.to_dict`` described.

    Raises:
        ConfigError: For whatever ``make_policy`` refuses, or without a ``name``.
    """
    parameters = check_mapping("policy", values)
    if "name" not in parameters:
        raise config_error("policy", parameters, "must have a 'name'")
    return make_policy(parameters.pop("name"), **parameters)


def parse_policy(policy: object) -> Policy:
    """A policy given by name, as an object, or as a table ``{"name": ..., parameters...}``.

    Raises:
        ConfigError: For anything else, and for whatever ``make_policy`` refuses.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return make_policy(policy)
    if isinstance(policy, Mapping):
        return policy_from_dict(policy)
    raise config_error("policy", policy, f"must be a policy object or one of {', '.join(policies())}")
