"""Routing policies by name: what a policy object is, and the registry that ``make_policy`` uses.

The registry of the C++ core says which policies exist and which parameters they have, with default, range, unit and
meaning. A class in ``dragonfly_env.baselines`` or ``dragonfly_env.agents`` explains the rule of a policy and takes its
parameters from there; ``make_policy`` finds it by name.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import (
    check_mapping,
    config_error,
    no_such_setting,
    parse_assignments,
    unknown_name,
)
from dragonfly_env.config.help import documented
from dragonfly_env.config.rows import SettingInfo, describe, normalise, of_row, reject_unknown
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.batch_policy import BatchPolicy
    from dragonfly_env.decisions.batch import DecisionBatch

ParameterValue: TypeAlias = float | str | bool
PARAMETER_TYPES = {
    "real": "float",
    "whole": "int",
    "flag": "bool",
    "name": "str",
    "network": "bool | None",
    "network-real": "float | None",
}
"""The types of parameters as the core calls them, and as Python does."""
_CANDIDATES = ("minimal_candidates", "nonminimal_candidates", "gateways", "avoid_destination_group")
"""Parameters that are options of an environment, too."""


def check_gateways(gateways: str, minimal_candidates: int) -> None:
    """Any gateway is drawn where there is a choice: where there is one path alone nothing is drawn."""
    if gateways == "any" and minimal_candidates < 2:
        raise config_error("gateways", gateways, "must be 'nearest' with minimal_candidates=1")


# The names that a class answers to, each with the fields that the name fixes.
NamedVariants: TypeAlias = Mapping[str, Mapping[str, ParameterValue]]


class Policy(ABC):
    """A routing policy with its parameters: a frozen dataclass, comparable and hashable.

    A subclass names its names in the registry in ``variants``. The parameters of the core's policy become
    its fields by themselves; it declares only what it has in addition, as checked fields. For type checkers it
    derives from the class of its parameters in ``policy_parameters.pyi``.

    Example:
        >>> policy = dfe.make_policy("ugal-n", bias_packets=2)
        >>> policy.name, policy.scope, policy.action
        ('ugal-n', 'source', 'path')
        >>> policy.parameters()["bias_packets"], policy.has_reference, policy.learns
        (2.0, True, False)
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

    observes: ClassVar[tuple[str, ...]] = ()
    """The features that show what it weighs, besides the usual ones."""

    def __init_subclass__(cls) -> None:
        """Add the parameters of the core as fields: all that the class does not declare itself, but networks."""
        super().__init_subclass__()
        for name in vars(cls).get("variants", ()):
            for row in _registry()[name]["parameters"]:
                if row["name"] not in cls.__annotations__ and row["type"] in PARAMETER_TYPES:
                    cls.__annotations__[row["name"]] = PARAMETER_TYPES[row["type"]]
                    setattr(cls, row["name"], of_row(row))

    def __post_init__(self) -> None:
        normalise(self)

    @property
    def name(self) -> str:
        """The name in the registry, e.g. ``"ugal-n"``."""
        return next(
            name
            for name, fixed in self.variants.items()
            if all(getattr(self, field) == value for field, value in fixed.items())
        )

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Decide as the core's policy does, in NumPy: its reference implementation, with the same ``trace_hash()``.

        Args:
            batch: N decisions of a batched environment with this policy's ``scope`` and ``action``.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks what the parameters need.
            StateError: If there is no reference implementation: the core alone runs this policy.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> policy = dfe.make_policy("ugal-n")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, policy)
            >>> policy.act(env.reset(seed=1)).dtype
            dtype('int64')
        """
        raise self._only_in_the_core("act()")

    @property
    def has_reference(self) -> bool:
        """Whether there is a reference implementation in NumPy, which ``reference`` gives; the core runs every
        policy.
        """
        return type(self).act is not Policy.act

    def reference(self, env: Any) -> BatchPolicy:
        """What decides the batches of a ``BatchedRoutingEnv`` as the core's policy decides.

        A policy without tables does so itself, for any environment that has what it needs; of one that learns it
        is another object, for this environment.

        Raises:
            ConfigError: If the environment lacks what the reference implementation of a learner needs.
            StateError: If there is no reference implementation: the core alone runs this policy.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> learner = dfe.make_policy("q-adaptive")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, learner)
            >>> reference = learner.reference(env)
            >>> reference.act(env.reset(seed=1)).dtype
            dtype('int64')
        """
        if not self.has_reference:
            raise self._only_in_the_core("reference()")
        return self

    def _only_in_the_core(self, call: str) -> StateError:
        return StateError(
            f"{call}: policy {self.name!r} runs in the core only, it has no implementation in NumPy; let the core run "
            f"it by SimulationConfig(policy={self.name!r}), or measure it with dragonfly_env.agents.evaluate_policy"
        )

    def env_options(self) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that show what the policy sees: where it decides, the
        candidates that its parameters need, and its features by its own parameters, whatever ``config.policy`` is.

        Example:
            >>> options = dfe.make_policy("val-g").env_options()
            >>> options["scope"], options["action"]
            ('source', 'path')
        """
        needed: dict[str, Any] = {"scope": self.scope, "action": self.action}
        for option in _CANDIDATES:
            if (value := getattr(self, option, None)) is not None:
                needed[option] = value
        if self.observes:
            needed["features"] = (*FEATURES, *self.observes)
            needed["trackers"] = self._trackers(self.observes)
        return needed

    def _trackers(self, features: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The trackers that show some features, each with those of this policy's parameters that are its own."""
        shown, given = set(features), self.parameters()
        return {
            tracker["name"]: {
                row["name"]: given[row["name"]] for row in tracker["parameters"] if row["name"] in given
            }
            for tracker in _core.trackers()
            if not shown.isdisjoint(tracker["features"])
        }

    def parameters(self) -> dict[str, ParameterValue]:
        """What the core is told next to the name: every field that the name does not fix and that is not
        None.

        Example:
            >>> sorted(dfe.make_policy("ugal-n").parameters())[:2]
            ['bias_packets', 'minimal_candidates']
        """
        fixed = self.variants.get(self.name, {})
        values = {field.name: getattr(self, field.name) for field in _fields(self)}
        return {name: value for name, value in values.items() if name not in fixed and value is not None}

    def core_parameters(self) -> dict[str, Any]:
        """``parameters()`` as the core takes them: what is in a file as what was read from it."""
        return self.parameters()

    def to_core(self) -> _core.PolicyRecord:
        """Name and parameters as the core takes them."""
        return {"name": self.name, "parameters": self.core_parameters()}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values; ``policy_from_dict`` is the inverse.

        Example:
            >>> dfe.make_policy("min").to_dict()
            {'name': 'min'}
        """
        return {"name": self.name, **self.parameters()}

    @property
    def scope(self) -> str:
        """Which decisions the policy takes: ``"source"``, ``"every"`` or ``"all"``."""
        return _registry()[self.name]["scope"]

    @property
    def action(self) -> str:
        """What the policy chooses: a ``"path"`` or a ``"port"``."""
        return _registry()[self.name]["action"]

    @property
    def summary(self) -> str:
        """One sentence on what the policy does."""
        return _registry()[self.name]["summary"]

    @property
    def source(self) -> str:
        """Where the policy is described: paper and section."""
        return _registry()[self.name]["source"]

    @classmethod
    def describe(cls) -> tuple[SettingInfo, ...]:
        """The parameters with default, unit and meaning.

        Example:
            >>> row = dfe.baselines.Ugal.describe()[-1]
            >>> row.name, row.default, row.unit
            ('bias_packets', 0.0, 'packets')
        """
        return describe(cls)

    @classmethod
    def settings_names(cls) -> tuple[str, ...]:
        """The names of the parameters.

        Example:
            >>> "bias_packets" in dfe.baselines.Ugal.settings_names()
            True
        """
        return tuple(field.name for field in _fields(cls))


def _fields(policy: Policy | type[Policy]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(policy)  # type: ignore[arg-type]  # every concrete policy is a dataclass


@functools.cache
def _registry() -> dict[str, _core.PolicyInfo]:
    return {info["name"]: info for info in _core.policies()}


def highest(policy: str, name: str) -> float:
    """The highest value that a parameter of the core's policy may have."""
    for row in _registry()[policy]["parameters"]:
        if row["name"] == name and row["high"] is not None:
            return row["high"]
    raise KeyError(name)


_classes: dict[str, type[Policy]] = {}
_aliases: dict[str, str] = {}


def register_policies(classes: Iterable[type[Policy]]) -> None:
    """Make classes known under their names, and list their parameters in their docstrings. Called once by each package
    that brings policies.
    """
    for cls in classes:
        for name in cls.variants:
            if _classes.setdefault(name, cls) is not cls:
                raise ValueError(
                    f"policy name {name!r} is claimed by {_classes[name].__name__} and {cls.__name__}"
                )
        _aliases.update(cls.aliases)
        documented(cls)


@dataclasses.dataclass(frozen=True, slots=True)
class CorePolicy(Policy):
    """A policy that the core has and that no class describes yet: one C++ file and one registry line.

    Its parameters are those that the registry lists; the core checks their values.
    """

    variants: ClassVar[NamedVariants] = {}

    name: str
    settings: tuple[tuple[str, ParameterValue], ...] = ()

    def __post_init__(self) -> None:
        known = [parameter["name"] for parameter in _registry()[self.name]["parameters"]]
        for name, value in self.settings:
            if name not in known:
                raise config_error(name, value, no_such_setting(f"policy {self.name!r}", name, known))
            if not isinstance(value, (bool, int, float, str)):
                raise config_error(name, value, "must be a number, a string, True or False")

    def parameters(self) -> dict[str, ParameterValue]:
        """The given parameters; for others the registry's defaults hold."""
        return dict(self.settings)


def policies() -> tuple[str, ...]:
    """The names of all routing policies.

    Example:
        >>> len(dfe.policies()) > 20, "ugal-n" in dfe.policies()
        (True, True)
    """
    return tuple(_registry())


def policy_class(name: str) -> type[Policy]:
    """The settings class of a policy's name; ``CorePolicy`` if there is none of its own."""
    known = _aliases.get(name, name) if isinstance(name, str) else ""
    if known in _classes:
        return _classes[known]
    if known in _registry():
        return CorePolicy
    raise unknown_name("policy", name, policies())


def describe_policy(name: str) -> tuple[SettingInfo, ...]:
    """The parameters that may be given with a policy's name, whether a class describes it or only the core's rows."""
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

    Example:
        >>> dfe.make_policy("ugal-n", bias_packets=2).bias_packets
        2.0
        >>> try:
        ...     dfe.make_policy("ugal")
        ... except dfe.ConfigError as error:
        ...     print(str(error)[:39])
        policy = 'ugal': did you mean 'ugal-n'?
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
    """The policy that ``Policy.to_dict`` described."""
    parameters = check_mapping("policy", values)
    if "name" not in parameters:
        raise config_error("policy", parameters, "must have a 'name'")
    return make_policy(parameters.pop("name"), **parameters)


def parse_policy(policy: object) -> Policy:
    """A policy given by name (``"par"``, ``"par:bias_packets=10"``), as an object, or as a table ``{"name": ...,
    parameters...}``.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        name, _, parameters = policy.partition(":")
        return policy_from_dict({**parse_assignments(parameters, "policy parameter"), "name": name})
    if isinstance(policy, Mapping):
        return policy_from_dict(policy)
    raise config_error("policy", policy, f"must be a policy object or one of {', '.join(policies())}")
