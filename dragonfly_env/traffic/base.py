"""Base of traffic: everything that sets when and to whom hosts send."""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from dragonfly_env import _core
from dragonfly_env.checks.values import check_mapping, config_error
from dragonfly_env.config.rows import Record, values_of
from dragonfly_env.config.topology import Dragonfly

Named = TypeVar("Named", bound="NamedTraffic")


class Traffic(ABC):
    """A pattern, a schedule of patterns, a trace or a closed-loop program: frozen, comparable, picklable."""

    __slots__ = ()

    @property
    @abstractmethod
    def spec(self) -> str:
        """A short readable name for tables; a spec string if one says it all."""

    @property
    def is_trace(self) -> bool:
        """Whether the messages have times of their own, so that load and injection process do not apply."""
        return False

    @property
    def is_closed_loop(self) -> bool:
        """Whether hosts run programs that send because of what they received, so that load, injection process and
        ``message_packets`` do not apply, and a run can come to its end.
        """
        return False

    @property
    def is_absolute(self) -> bool:
        """Whether it is a pattern that says itself how much is offered, so that ``load`` does not apply."""
        return False

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON; ``traffic_from_dict`` is the inverse."""

    @abstractmethod
    def check(self, topology: Dragonfly) -> None:
        """Raise ``ConfigError`` if this traffic is impossible on ``topology``."""


@dataclasses.dataclass(frozen=True, slots=True)
class NoTraffic(Traffic):
    """No host sends anything: what hosts without a job do where ``SimulationConfig.jobs`` is all there is."""

    @property
    def spec(self) -> str:
        return "none"

    @property
    def is_closed_loop(self) -> bool:
        return True

    def to_dict(self) -> dict[str, Any]:
        return {"pattern": "none"}

    def check(self, topology: Dragonfly) -> None:
        pass


class NamedTraffic(Record, Traffic):
    """Traffic with a name in the core's registry. Subclasses are frozen dataclasses whose fields are the arguments."""

    __slots__ = ()

    name: ClassVar[str]
    """The name in the core's registry."""

    classes: ClassVar[dict[str, type[NamedTraffic]]] = {}
    """Every class by its name in the registry."""

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            NamedTraffic.classes[cls.name] = cls
            cls.called = f"traffic pattern {cls.name!r}"

    def arguments(self) -> dict[str, Any]:
        """The arguments as the core takes them."""
        return {name: value for name, value in values_of(self).items() if value is not None}

    def core_spec(self) -> tuple[str, dict[str, Any]]:
        """Name and arguments as the core takes them."""
        return self.name, self.arguments()

    @property
    def spec(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        return {"pattern": self.name, **self.arguments()}

    @classmethod
    def from_dict(cls: type[Named], values: Mapping[str, Any]) -> Named:
        return super().from_dict(cls.arguments_in(values))

    @classmethod
    def arguments_in(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments in a table, which may name the pattern, too."""
        given = check_mapping(cls.called, values)
        if given.get("pattern") == cls.name:
            del given["pattern"]
        return given


class Pattern(NamedTraffic):
    """Pattern of senders and receivers.

    Example:
        >>> pattern = dfe.traffic.parse_traffic("hotspot:hosts=2")
        >>> isinstance(pattern, dfe.traffic.Pattern), pattern.spec
        (True, 'hotspot:hosts=2,fraction=0.2')
    """

    __slots__ = ()

    def build(
        self, topology: _core.Topology, seed: int, *, uniform_excludes_sender: bool = False
    ) -> _core.Pattern:
        """The pattern on one topology; a permutation, or hot hosts, follow from ``seed``."""
        return _core.make_pattern(topology, seed, *self.core_spec(), uniform_excludes_sender)

    def check(self, topology: Dragonfly) -> None:
        self.build(topology.to_core(), 0)


class ClosedLoop(NamedTraffic):
    """A program on every host: what a host sends follows from what it received.

    ``Simulation.run_to_completion`` runs it to its end.
    """

    __slots__ = ()

    @property
    def is_closed_loop(self) -> bool:
        return True

    def build(
        self, topology: _core.Topology, seed: int, *, packet_bytes: int, packet_flits: int = 1
    ) -> _core.Source:
        """The programs of one system; random placements follow from ``seed``.

        Messages are whole packets of ``packet_bytes``. Paced programs time a packet in ``packet_flits`` steps.
        """
        return _core.workload(topology, seed, *self.core_spec(), packet_bytes, packet_flits)

    def check(self, topology: Dragonfly) -> None:
        check_programs(self, topology, packet_bytes=2**31 - 1)


@functools.lru_cache(maxsize=128)
def check_programs(traffic: ClosedLoop, topology: Dragonfly, *, packet_bytes: int) -> None:
    """Build the programs once for all runs of a sweep: on thousands of hosts that takes tens of milliseconds."""
    traffic.build(topology.to_core(), 0, packet_bytes=packet_bytes)


class _ByName:
    """Row of the core's registry without a Python class of its own."""

    __slots__ = ()

    registered_name: str
    values: tuple[tuple[str, Any], ...]

    def arguments(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self.values}

    def core_spec(self) -> tuple[str, dict[str, Any]]:
        return self.registered_name, self.arguments()

    def __repr__(self) -> str:
        return f"parse_traffic({self.spec!r})"

    @property
    def spec(self) -> str:
        return spell(self.registered_name, self.arguments())

    def to_dict(self) -> dict[str, Any]:
        return {"pattern": self.registered_name, **self.arguments()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Any:
        return named_from_dict(values)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class RegisteredPattern(_ByName, Pattern):
    """A pattern of the core's registry that has no Python class of its own."""

    registered_name: str
    values: tuple[tuple[str, Any], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class RegisteredProgram(_ByName, ClosedLoop):
    """A closed-loop program of the core's registry that has no Python class of its own."""

    registered_name: str
    values: tuple[tuple[str, Any], ...] = ()


def closed_loop_names() -> tuple[str, ...]:
    """The closed-loop programs of the core's registry."""
    return tuple(info["name"] for info in _core.patterns() if info["closed_loop"])


def spell(name: str, arguments: Mapping[str, Any]) -> str:
    """The spec string of a pattern with plain arguments: ``"hotspot:hosts=4,fraction=0.2"``."""

    def text(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (list, tuple)):
            return "".join(f"{item};" for item in value)
        return str(value)

    return ":".join([name, ",".join(f"{key}={text(value)}" for key, value in arguments.items())]).rstrip(":")


_WORDS = {
    **dict.fromkeys(("adversarial", "adversary", "worst-case", "worst"), "adv+1"),
    **dict.fromkeys(("random", "ur", "uniform-random", "un"), "uniform"),
    **dict.fromkeys(("alltoall", "a2a"), "all-to-all"),
}
"""Words of the field, and the patterns that they mean."""


def make_named(name: str, arguments: Mapping[str, Any]) -> NamedTraffic:
    """The object for a name of the registry."""
    if (same := _WORDS.get(name.strip().lower())) is not None:
        raise config_error("traffic", name, f"is called {same!r} here")
    known, preset = _core.parse_pattern(name)
    merged = {**preset, **check_mapping("traffic", arguments)}
    cls = NamedTraffic.classes.get(known)
    if cls is not None:
        return cls.from_dict(merged)
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in merged.items()}
    items = tuple(sorted(values.items()))
    return (RegisteredProgram if known in closed_loop_names() else RegisteredPattern)(known, items)


def pattern_from_dict(values: object) -> Pattern:
    """The inverse of ``Pattern.to_dict``; a spec string is understood too."""
    named = named_from_dict(values)
    if not isinstance(named, Pattern):
        raise config_error(
            "traffic", named.spec, "is closed loop: it is alone, in no mixture and no schedule"
        )
    return named


def named_from_dict(values: object) -> NamedTraffic:
    """The inverse of ``NamedTraffic.to_dict``; a spec string is understood too."""
    if isinstance(values, str):
        return make_named(values, {})
    if not isinstance(values, Mapping) or not isinstance(values.get("pattern"), str):
        raise config_error("traffic", values, "must be a spec string or a table with the name of a 'pattern'")
    arguments = check_mapping("traffic", values)
    del arguments["pattern"]
    return make_named(values["pattern"], arguments)
