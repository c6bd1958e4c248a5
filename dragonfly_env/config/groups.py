"""Shapes of groups: which routers of a group are joined, and by how many links."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.values import config_error, parse_assignments, unknown_name
from dragonfly_env.config.rows import Record, integer

ALL_TO_ALL = "all-to-all"
_MOST_ROUTERS = _core.most_routers_of_group
_MOST_LINKS = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Grid(Record):
    """A group of ``rows * columns`` routers: all of a row are joined (rank 1), and all of a column (rank 2).

    A local path takes at most two hops, and between routers that share neither row nor column there are two shortest
    ones: along the row first, or along the column. Parallel links between two routers are one port of so many times
    the bandwidth and buffer. Router = row * columns + column; the ports of rank 1 come first, to the other columns in
    order, then those of rank 2 to the other rows.

    Raises:
        ConfigError: If a number is out of range, or the group would have more than 1,024 routers.

    Source: Alverson et al., "Cray XC Series Network", 2012; Faanes et al., "Cray Cascade", SC 2012.

    Example:
        >>> grid = dfe.Grid(rows=3, columns=8, column_links=3)
        >>> grid.routers, str(grid)
        (24, 'grid:rows=3,columns=8,row_links=1,column_links=3')
        >>> dfe.Dragonfly(p=2, group=grid, g=4, arrangement="xc").link_classes
        ('host', 'rank-1', 'rank-2', 'rank-3')
    """

    called: ClassVar[str] = "a grid"
    rows: int = integer(6, 1, _MOST_ROUTERS, unit="routers", doc="Routers of a column.")
    columns: int = integer(16, 1, _MOST_ROUTERS, unit="routers", doc="Routers of a row.")
    row_links: int = integer(
        1, 1, _MOST_LINKS, unit="parallel links", doc="Parallel links between two routers of a row."
    )
    column_links: int = integer(
        3, 1, _MOST_LINKS, unit="parallel links", doc="Parallel links between two routers of a column."
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.routers > _MOST_ROUTERS:
            raise config_error(
                "columns", self.columns, f"must be at most {_MOST_ROUTERS // self.rows} with {self.rows} rows"
            )

    def __str__(self) -> str:
        settings = ",".join(f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self))
        return f"grid:{settings}"

    @property
    def routers(self) -> int:
        """Routers of a group."""
        return self.rows * self.columns

    @property
    def global_routers(self) -> int:
        """Routers of a group that have global ports: all."""
        return self.routers

    @property
    def name(self) -> str:
        """The core's name for the shape."""
        return "grid"

    def to_core(self) -> dict[str, int]:
        """Return the record for the core."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True)
class LeafSpine(Record):
    """A group of a Dragonfly+: *leaves* have the hosts, *spines* the global links; each leaf is joined with each spine.

    ``p`` of the ``Dragonfly`` is the number of hosts per leaf, and ``h`` the number of global ports per spine. A
    minimal path to another leaf of the group has two hops, by any of the spines; a minimal path to another group has
    three: leaf, spine, spine, leaf. Leaves come first in the numbering of a group. Parallel links between a leaf and a
    spine are one port of so many times the bandwidth and buffer.

    Raises:
        ConfigError: If a number is out of range, or the group would have more than 1,024 routers.

    Source: Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017.

    Example:
        >>> group = dfe.LeafSpine(leaves=4, spines=4)
        >>> group.routers, str(group)
        (8, 'leaf-spine:leaves=4,spines=4,links=1')
        >>> topology = dfe.Dragonfly(p=4, h=4, group=group)
        >>> topology.num_hosts, topology.num_routers, topology.num_groups
        (272, 136, 17)
    """

    called: ClassVar[str] = "a leaf-spine group"
    leaves: int = integer(4, 1, _MOST_ROUTERS - 1, unit="routers", doc="Routers of a group that have hosts.")
    spines: int = integer(
        4, 1, _MOST_ROUTERS - 1, unit="routers", doc="Routers of a group that have global links."
    )
    links: int = integer(
        1, 1, _MOST_LINKS, unit="parallel links", doc="Parallel links between a leaf and a spine."
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.routers > _MOST_ROUTERS:
            most = _MOST_ROUTERS - self.leaves
            raise config_error("spines", self.spines, f"must be at most {most} with {self.leaves} leaves")

    def __str__(self) -> str:
        return f"leaf-spine:leaves={self.leaves},spines={self.spines},links={self.links}"

    @property
    def routers(self) -> int:
        """Routers of a group."""
        return self.leaves + self.spines

    @property
    def global_routers(self) -> int:
        """Routers of a group that have global ports: the spines."""
        return self.spines

    @property
    def name(self) -> str:
        """The core's name for the shape."""
        return "leaf-spine"

    def to_core(self) -> dict[str, int]:
        """Return the record for the core."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True)
class NamedShape:
    """Any other shape that the core knows, by its name and settings."""

    name: str
    settings: tuple[tuple[str, int], ...]
    routers: int = dataclasses.field(init=False)
    global_routers: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        routers, global_routers = _core.group_routers(self.name, self.to_core())
        object.__setattr__(self, "routers", routers)
        object.__setattr__(self, "global_routers", global_routers)

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, ",".join(f"{key}={value}" for key, value in self.settings))))

    def to_core(self) -> dict[str, int]:
        """Return the record for the core."""
        return dict(self.settings)


GroupShape: TypeAlias = Grid | LeafSpine | NamedShape
_OWN: dict[str, type[Grid] | type[LeafSpine]] = {"grid": Grid, "leaf-spine": LeafSpine}
"""The shapes that have a class here."""
SETTINGS = {field.name: name for name, shape in _OWN.items() for field in dataclasses.fields(shape)}
"""The shape that a setting belongs to."""


def parse_group(value: object) -> str | GroupShape:
    """A shape from what a user gives."""
    if isinstance(value, (Grid, LeafSpine, NamedShape)):
        return value
    if isinstance(value, Mapping):  # the form of dataclasses.asdict
        return _OWN[next((SETTINGS[name] for name in value if name in SETTINGS), "grid")].from_dict(value)
    if not isinstance(value, str):
        raise config_error("group", value, f"must be {ALL_TO_ALL!r}, a Grid or a LeafSpine")
    if value == ALL_TO_ALL:
        return value
    name, _, settings = value.partition(":")
    if name not in _core.group_shapes():
        raise unknown_name("group", value, _core.group_shapes())
    given: dict[str, Any] = parse_assignments(settings, "group")
    if name not in _OWN:
        return NamedShape(name, tuple(sorted(given.items())))
    return _OWN[name].from_dict(given)
