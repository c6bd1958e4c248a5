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
        1, 1, _MOST_LINKS, unit="links", doc="Parallel links between two routers of a row."
    )
    column_links: int = integer(
        3, 1, _MOST_LINKS, unit="links", doc="Parallel links between two routers of a column."
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
    def name(self) -> str:
        """The core's name for the shape."""
        return "grid"

    def to_core(self) -> dict[str, int]:
        """Return the record for the core."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True)
class NamedShape:
    """Any other shape that the core knows, by its name and settings."""

    name: str
    settings: tuple[tuple[str, int], ...]
    routers: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "routers", _core.group_routers(self.name, self.to_core()))

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, ",".join(f"{key}={value}" for key, value in self.settings))))

    def to_core(self) -> dict[str, int]:
        """Return the record for the core."""
        return dict(self.settings)


GroupShape: TypeAlias = "Grid | NamedShape"


def parse_group(value: object) -> str | GroupShape:
    """A shape from what a user gives."""
    if isinstance(value, (Grid, NamedShape)):
        return value
    if isinstance(value, Mapping):  # the form of dataclasses.asdict
        return Grid.from_dict(value)
    if not isinstance(value, str):
        raise config_error("group", value, f"must be {ALL_TO_ALL!r} or a Grid")
    if value == ALL_TO_ALL:
        return value
    name, _, settings = value.partition(":")
    if name not in _core.group_shapes():
        raise unknown_name("group", value, _core.group_shapes())
    given: dict[str, Any] = parse_assignments(settings, "group")
    if name != "grid":
        return NamedShape(name, tuple(sorted(given.items())))
    return Grid.from_dict(given)
