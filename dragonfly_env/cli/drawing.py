"""A topology as text: the routers of a group that is a grid, and which of its columns lead to which groups."""

from __future__ import annotations

import itertools

from dragonfly_env.config.groups import Grid
from dragonfly_env.config.topology import Dragonfly

_MOST_ROWS, _MOST_COLUMNS = 12, 24  # that are drawn one by one
_MOST_NAMED = 12


def draw_grid(made: Dragonfly) -> str:
    """The first group of a topology of grids, as text; empty for other topologies."""
    if not isinstance(made.group, Grid):
        return ""
    return "\n".join((*_group(made, made.group), "", *_wiring(made, made.group)))


def _group(made: Dragonfly, grid: Grid) -> list[str]:
    rows, columns = min(grid.rows, _MOST_ROWS), min(grid.columns, _MOST_COLUMNS)
    more = "" if columns == grid.columns else " .."
    edge = "┄" if columns < grid.columns else ""
    lines = ["column   " + "".join(f"{column:<4}" for column in range(columns)) + more]
    for row in range(rows):
        routers = "───".join("o" for _ in range(columns))
        lines.append(f"row {row:<4} {routers}{edge}")
        if row + 1 < rows:
            lines.append(" " * 9 + "   ".join("║" for _ in range(columns)))
    if rows < grid.rows:
        lines.append(" " * 9 + "..")
    lines += [
        f"o  a router with {made.p} host{'s' if made.p != 1 else ''}; its number in the group is "
        f"row * {grid.columns} + column",
        f"─  rank-1: every two of a row are joined, by {_links(grid.row_links)}",
        f"║  rank-2: every two of a column are joined, by {_links(grid.column_links)}",
    ]
    return lines


def _wiring(made: Dragonfly, grid: Grid) -> list[str]:
    """Where the global ports of group 0 lead, column by column."""
    if made.num_groups == 1:
        return ["No links to other groups."]
    peers: list[dict[int, int]] = []  # of each column: group -> ports that lead there
    for column in range(grid.columns):
        ports: dict[int, int] = {}
        for row in range(grid.rows):
            for port in range(made.radix - made.h, made.radix):
                far = made.neighbor(row * grid.columns + column, port)
                if far is not None:
                    group = far[0] // made.a
                    ports[group] = ports.get(group, 0) + 1
        peers.append(ports)
    each = made.port_links(made.radix - 1)
    lines = [
        f"rank-3: {_links(made.links_between_groups)} to every other group"
        + (f", {each} of them a port" if each > 1 else "")
        + "; from group 0 (ports of the column in brackets):"
    ]
    for _, same in itertools.groupby(range(grid.columns), key=lambda column: peers[column]):
        block = list(same)
        of = f"column {block[0]}" if len(block) == 1 else f"columns {block[0]}-{block[-1]}"
        named = [f"{group} ({ports})" for group, ports in sorted(peers[block[0]].items())]
        rest = f", .. {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        lines.append(
            f"  {of:<14} groups {', '.join(named[:_MOST_NAMED])}{rest}" if named else f"  {of:<14} none"
        )
    return lines


def _links(number: int) -> str:
    return "one link" if number == 1 else f"{number} links"
