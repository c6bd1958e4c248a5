"""``Policy``, the only form of a routing policy in Python: a name of the core's registry, and parameters.

The registry of the C++ core says which policies exist and which parameters they have, with default, range, unit and
meaning. ``dragonfly_env.baselines`` has some of them in NumPy, ``agents/q_routing.py`` and ``q_adaptive.py`` those
that learn.
"""

from __future__ import annotations

import dataclasses
import functools
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.baselines import RULES, mlp, valiant
from dragonfly_env.baselines.mlp_network import MlpNetwork, load_network
from dragonfly_env.checks.values import (
    check_mapping,
    check_text,
    config_error,
    no_such_setting,
    parse_assignments,
    unknown_name,
)
from dragonfly_env.config.rows import Record, SettingInfo, info_of, parameter_field, read_only, setting
from dragonfly_env.decisions.layout import FEATURES, VC_QUEUES, knowledge_of
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.batch_policy import BatchPolicy
    from dragonfly_env.config.topology import Dragonfly
    from dragonfly_env.decisions.batch import DecisionBatch

ParameterValue: TypeAlias = float | str | bool

_REFERENCE_LEARNERS = {
    "q-routing": "dragonfly_env.agents.q_routing:QRoutingReference",
    **dict.fromkeys(
        ("q-adaptive", "q-adaptive-queue", "q-adaptive-fast"),
        "dragonfly_env.agents.q_adaptive:QAdaptiveReference",
    ),
}
"""The learners in NumPy, which need environments and so are imported at their first use."""

_MESH_DIAMETER = 3

_CANDIDATES = ("minimal_candidates", "nonminimal_candidates", "gateways", "avoid_destination_group")
"""Parameters that are options of an environment, too."""


def _check_weights(field: str, value: object) -> str:
    if isinstance(value, (str, Path)):
        return str(value)
    allowed = (
        "must be weights=FILE, the path of a file that export_mlp(path) of a deep-q agent or MlpNetwork.save(path) "
        "writes"
    )
    raise config_error(field, value, allowed)


_OF_MLP = {
    "weights": setting(None, _check_weights, "", "The file of the network: its path."),
    "sha256": setting(
        None,
        check_text,
        "",
        "The digest of the file, so that no other file is taken for it; None: any file.",
        optional=True,
    ),
}
"""Parameters that Python passes to the core as one network."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Policy(Record):
    """A routing policy: a name of ``policies()`` and its parameters. Policies are comparable and hashable.

    Args:
        name: The name, to which parameters may be appended: ``"par:bias_packets=10"``.
        parameters: Parameters by name, the rows of ``dragonfly-env info NAME``. The others take their defaults.

    Attributes:
        name: The name in the registry, e.g. ``"ugal-n"``.
        parameters: All parameters by name; those that are unset and so follow the network are left out.

    Raises:
        ConfigError: For an unknown name or parameter (the nearest one is named), or a value out of range.

    Example:
        >>> policy = dfe.Policy("ugal-n", {"bias_packets": 2})
        >>> policy
        Policy('ugal-n', {'bias_packets': 2.0})
        >>> policy == dfe.Policy("ugal-n:bias_packets=2")
        True
        >>> policy.scope, policy.action, policy.has_reference, policy.learns
        ('source', 'path', True, False)
    """

    called: ClassVar[str] = "a policy"
    name: str
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise config_error("policy", self.name, "must be the name of a policy, such as 'min' or 'ugal-n'")
        name, _, text = self.name.partition(":")
        name = _aliases().get(name.strip(), name.strip())
        given = {**parse_assignments(text, "policy parameter"), **self.parameters}
        fields = _fields(name)
        for parameter, value in given.items():
            if parameter not in fields:
                raise config_error(
                    parameter,
                    value,
                    no_such_setting(
                        f"policy {name!r}", parameter, fields, where=f"'dragonfly-env info {name}'"
                    ),
                )
        values = {
            parameter: field.metadata["check"](
                parameter if parameter in given else f"{name}.{parameter}",
                given.get(parameter, field.default),
            )
            for parameter, field in fields.items()
        }
        _check_together(values)
        if name == "mlp":
            values["sha256"] = load_network(values["weights"], values["sha256"])[1]
        object.__setattr__(self, "name", name)
        parameters = {key: value for key, value in values.items() if value is not None}
        object.__setattr__(self, "parameters", read_only(parameters))

    def __hash__(self) -> int:
        return hash((self.name, *self.parameters.items()))

    def __repr__(self) -> str:
        changed = self._changed()
        return f"Policy({self.name!r}{f', {changed}' if changed else ''})"

    def _changed(self) -> dict[str, ParameterValue]:
        """The parameters that differ from their defaults."""
        fields = _fields(self.name)
        return {key: value for key, value in self.parameters.items() if value != fields[key].default}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values; ``from_dict`` is the inverse.

        Example:
            >>> dfe.make_policy("min").to_dict()
            {'name': 'min'}
        """
        return {"name": self.name, **self.parameters}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Policy:
        """The policy that ``to_dict`` described as ``values``."""
        parameters = check_mapping("policy", values)
        if not isinstance(name := parameters.pop("name", None), str):
            raise config_error("policy", values, "must have a 'name'")
        return cls(name, parameters)

    def to_core(self) -> _core.PolicyRecord:
        """Name and parameters as the core receives them: the network itself instead of its file."""
        parameters = dict(self.parameters)
        if network := self.network:
            parameters.pop("sha256", None)
            parameters["weights"] = network.to_core()
        return {"name": self.name, "parameters": parameters}

    @property
    def is_usual(self) -> bool:
        """Whether all parameters have their defaults, so that the name says it all."""
        return not self._changed()

    @property
    def scope(self) -> str:
        """Decisions that the policy takes, as the ``scope`` of ``BatchedRoutingEnv``: ``"source"``, ``"every"``, ..."""
        if network := self.network:
            return network.scope
        return _core.policy_scope(self.name, self.parameters)

    @property
    def action(self) -> str:
        """The meaning of the policy's actions: a ``"path"`` or a ``"port"``."""
        if network := self.network:
            return network.action
        return registry()[self.name]["action"]

    @property
    def knowledge(self) -> str:
        """The knowledge that the policy needs: ``"local"``, ``"delayed"`` (signals of other routers, with their delay)
        or ``"ideal"`` (the state of other routers without delay).
        """
        if network := self.network:
            return knowledge_of(network.features)
        return registry()[self.name]["knowledge"]

    @property
    def summary(self) -> str:
        """A sentence on what the policy does."""
        return registry()[self.name]["summary"]

    @property
    def source(self) -> str:
        """Paper and section that describe the policy."""
        return registry()[self.name]["source"]

    @property
    def learns(self) -> bool:
        """Whether the policy keeps tables in the core and changes them during a run."""
        return registry()[self.name]["scope"] == "all"  # a learner also receives reports from every router

    @property
    def network(self) -> MlpNetwork | None:
        """The neural network whose decisions these are; None: the policy is no network."""
        file = self.parameters["weights"] if self.name == "mlp" else mlp.SHIPPED.get(self.name)
        return None if file is None else load_network(file, self.parameters.get("sha256"))[0]

    @property
    def has_reference(self) -> bool:
        """Whether NumPy can run the policy, too: ``reference`` returns the implementation."""
        return self.name in RULES or self.name in _REFERENCE_LEARNERS

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """Decide in NumPy as the core's policy does, with the same ``trace_hash()``.

        Args:
            batch: N decisions of an environment with ``env_options()``.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks what the parameters need.
            StateError: If there is no reference implementation, or if it has tables: see ``reference``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> policy = dfe.make_policy("ugal-n")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, policy)
            >>> policy.act(env.reset(seed=1)).dtype
            dtype('int64')
        """
        if self.learns:
            raise StateError(
                f"act(): policy {self.name!r} learns inside the core: run it with Simulation, or let its "
                "reference(env) decide the batches of an environment"
            )
        if self.name not in RULES:
            raise self._only_in_the_core("act()")
        return RULES[self.name](batch, **self.parameters)

    def reference(self, env: Any) -> BatchPolicy:
        """The object that decides the batches of a ``BatchedRoutingEnv`` as the core's policy decides.

        A policy without tables does so itself, in any environment that has what it needs. The reference of a learner is
        another object, for this environment.

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
        if not self.learns:
            return self
        learner: BatchPolicy = pkgutil.resolve_name(_REFERENCE_LEARNERS[self.name])(self, env)
        return learner

    def _only_in_the_core(self, call: str) -> StateError:
        return StateError(
            f"{call}: policy {self.name!r} runs in the core only, it has no implementation in NumPy; let the core run "
            f"it by SimulationConfig(policy={self.name!r}), or measure it with dragonfly_env.agents.evaluate_policy"
        )

    def env_options(self, topology: Dragonfly | None = None) -> dict[str, Any]:
        """The keyword arguments of ``BatchedRoutingEnv`` that show what the policy sees: where it decides, the
        candidates that its parameters need, and its features by its own parameters, not by ``config.policy``.

        Args:
            topology: The system, for learners: routes are as much longer as its minimal paths are; None: groups are
                all-to-all.

        Example:
            >>> options = dfe.make_policy("val-g").env_options()
            >>> options["scope"], options["action"]
            ('source', 'path')
        """
        given = self.parameters
        needed: dict[str, Any] = {"scope": self.scope, "action": self.action}
        if self.learns:  # five hops of Q-adaptive: Kang, Wang, Lan, HPDC 2021, section 4.2
            hops, draws = (given["max_hops"] + 3, 2) if self.name == "q-routing" else (5, 3)
            longer = 0 if topology is None else topology.diameter - _MESH_DIAMETER
            return {**needed, "feedback": True, "max_hops": hops + longer, "num_random": draws}
        if network := self.network:
            return {
                **needed,
                "features": network.features,
                "trackers": {name: {} for name in self._trackers(network.features)},
                "max_hops": network.max_hops,
                "nonminimal_kinds": network.nonminimal_kinds,
                "minimal_candidates": network.minimal_candidates,
                "nonminimal_candidates": network.nonminimal_candidates,
                "avoid_destination_group": given.get("avoid_destination_group"),
            }
        needed |= {option: given[option] for option in _CANDIDATES if option in given}
        if kinds := self._nonminimal_kinds():
            needed["nonminimal_kinds"] = kinds
        observes = tuple(registry()[self.name]["features"])
        if given.get("congestion_metric") == "queued":
            observes = (VC_QUEUES, *observes)
        if observes:
            needed["features"] = (*FEATURES, *observes)
            needed["trackers"] = self._trackers(observes)
        return needed

    def _nonminimal_kinds(self) -> tuple[str, ...]:
        """The kinds of non-minimal path that an environment must show; empty: its default ones."""
        given = self.parameters
        if given.get("own_group") == "local":
            return (valiant.KINDS[self.name], "l")
        if "decide" in given:
            by_own_links = given["decide"] == "progressive" and given["later_nonminimal"] == "own-links"
            return ("lg", *(("l",) if given["in_group"] else ()), *(("g",) if by_own_links else ()))
        return ()

    def _trackers(self, features: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The trackers that show some features, each with those of this policy's parameters that are its own."""
        shown, given = set(features), self.parameters
        return {
            tracker["name"]: {
                row["name"]: given[row["name"]] for row in tracker["parameters"] if row["name"] in given
            }
            for tracker in _core.trackers()
            if not shown.isdisjoint(tracker["features"])
        }


_WORDS = {
    "minimal": "min",
    "shortest": "min",
    "valiant": "val-n",
    "val": "val-n",
    "vlb": "val-n",
    "adaptive": "ugal-n",
    "piggyback": "pb",
    "progressive": "par",
    "qadaptive": "q-adaptive",
    "qrouting": "q-routing",
}
"""Words of the field, and the policies that they mean."""


@functools.cache
def registry() -> dict[str, _core.PolicyInfo]:
    """The rows of the core's registry by name."""
    return {info["name"]: info for info in _core.policies()}


@functools.cache
def _aliases() -> dict[str, str]:
    """Further names that papers use, and the names in the registry."""
    return {alias: info["name"] for info in _core.policies() for alias in info["aliases"]}


@functools.cache
def _fields(name: str) -> dict[str, dataclasses.Field[Any]]:
    """The parameters of a policy, each with default, check and meaning."""
    if name not in registry():
        raise unknown_name("policy", name, policies(), meant=_WORDS)
    rows = registry()[name]["parameters"]
    if name == "mlp":
        return {row["name"]: _OF_MLP.get(row["name"]) or parameter_field(row) for row in rows}
    return {
        row["name"]: parameter_field(row) for row in rows if row["type"] != "object"
    }  # a network of the package


def check_gateways(gateways: str, minimal_candidates: int) -> None:
    """Any gateway is drawn where there is a choice: where there is one path alone nothing is drawn."""
    if gateways == "any" and minimal_candidates < 2:
        raise config_error("gateways", gateways, "must be 'nearest' with minimal_candidates=1")


def _check_together(values: Mapping[str, Any]) -> None:
    check_gateways(values.get("gateways", "nearest"), values.get("minimal_candidates", 1))
    low, high = values.get("low_packets"), values.get("high_packets")
    if low is not None and high is not None and low > high:
        raise config_error("low_packets", low, f"must be at most high_packets, {high:g}")


def highest(policy: str, name: str) -> float:
    """The highest value that a parameter of the core's policy may have."""
    for row in registry()[policy]["parameters"]:
        if row["name"] == name and row["high"] is not None:
            return row["high"]
    raise KeyError(name)


def policies() -> tuple[str, ...]:
    """The names of all routing policies.

    Example:
        >>> len(dfe.policies()) > 20, "ugal-n" in dfe.policies()
        (True, True)
    """
    return tuple(registry())


def describe_policy(name: str) -> tuple[SettingInfo, ...]:
    """The parameters that may be given with a policy's name: default, unit, range and meaning."""
    return tuple(info_of(parameter, field) for parameter, field in _fields(name).items())


def needs_weights(name: str) -> bool:
    """Whether the name alone is not enough: the policy is a network from a file."""
    return "sha256" in _fields(name)


def make_policy(name: str, **parameters: Any) -> Policy:
    """A policy by name.

    Args:
        name: One of ``policies()``, to which parameters may be appended: ``"ugal-n:bias_packets=2"``.
        **parameters: Parameters by name, e.g. ``bias_packets=2`` for ``"ugal-n"``.

    Raises:
        ConfigError: For an unknown name or parameter (the nearest one is named), or a value out of range.

    Example:
        >>> dfe.make_policy("ugal-n", bias_packets=2).parameters["bias_packets"]
        2.0
        >>> try:
        ...     dfe.make_policy("ugal")
        ... except dfe.ConfigError as error:
        ...     print(str(error)[:51])
        policy = 'ugal': is unknown; did you mean 'ugal-n'?
    """
    return Policy(name, parameters)


@functools.cache
def _named(name: str) -> Policy:
    """The policy with every parameter at its default; thousands of jobs have the same one."""
    return Policy(name)


def parse_policy(policy: object) -> Policy:
    """A policy given by name (``"par"``, ``"par:bias_packets=10"``), as an object, or as a table ``{"name": ...,
    parameters...}``.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return Policy(policy) if ":" in policy else _named(policy)
    if isinstance(policy, Mapping):
        return Policy.from_dict(policy)
    raise config_error("policy", policy, f"must be a policy object or one of {', '.join(policies())}")
