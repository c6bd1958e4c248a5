"""``Wiring``: the links between groups as a list, from rows, a CSV file or a networkx graph."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.files import refusing, write_text
from dragonfly_env.checks.values import check_integer, config_error

Link: TypeAlias = tuple[int, int, int, int, int, int]
"""Group, router in the group and place of the port at one end, then at the other end."""

LISTED = "listed"
"""The name of the arrangement of a machine with a list of links."""
_COLUMNS = ("group_a", "router_a", "group_b", "router_b")
_PLACES = ("port_a", "port_b")
_COUNT = "count"
_MOST = 2**20


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Wiring:
    """The links between groups, each by its two routers and their global ports.

    Two are equal if their links are; a run is identified by the SHA-256 of the links, not by their file.

    Args:
        links: Rows ``(group, router, group, router)``: routers are counted from 0 in each group, and take their global
            ports in the order of the rows. A row with six numbers, ``(group, router, port, group, router, port)``,
            names the ports, too, counted from 0 among the global ports of the router. All rows are of one kind.
            Equal rows of four numbers are parallel links.
        path: The file that they come from, if any.

    Raises:
        ConfigError: If there is no link, a link stays in its group, or two links have the same port.

    Example:
        >>> links = [(0, 0, 1, 0), (0, 1, 1, 1), (0, 1, 2, 0), (1, 0, 2, 1)]
        >>> topology = dfe.Dragonfly(p=1, a=2, wiring=dfe.Wiring(links))
        >>> topology.num_groups, topology.h, topology.num_hosts
        (3, 2, 6)
        >>> topology.neighbor(0, 2)
        (2, 2)
    """

    links: tuple[Link, ...]  # sorted; the lower group of each first
    path: str = dataclasses.field(default="", compare=False)

    def __init__(self, links: Iterable[Sequence[int]], path: str = "") -> None:
        object.__setattr__(self, "links", _with_places(links))
        object.__setattr__(self, "path", str(path))

    def __repr__(self) -> str:
        return f"<Wiring: {len(self.links)} links{f' of {self.path}' if self.path else ''}>"

    def __str__(self) -> str:
        return self.path or f"sha256:{self.sha256[:12]}"

    @property
    def sha256(self) -> str:
        """Digest of the links."""
        return hashlib.sha256(np.array(self.links, dtype="<u4").tobytes()).hexdigest()

    @property
    def num_groups(self) -> int:
        """Groups: the highest number, and one more."""
        return 1 + max(max(link[0], link[3]) for link in self.links)

    @property
    def most_links(self) -> int:
        """Links of the pair of groups that has most."""
        pairs = Counter(frozenset((link[0], link[3])) for link in self.links)
        return max(pairs.values())

    @property
    def global_ports(self) -> int:
        """Global ports that a router needs."""
        return 1 + max(max(link[2], link[5]) for link in self.links)

    def to_dict(self) -> dict[str, Any]:
        """The file and its digest or, without a file, the links; for TOML and JSON."""
        if self.path:
            return {"path": self.path, "sha256": self.sha256}
        return {"links": [list(link) for link in self.links]}

    def write(self, path: str | Path) -> None:
        """Write the links, with their ports, as a CSV file that ``wiring=`` reads.

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be written.
        """
        header = "group_a,router_a,port_a,group_b,router_b,port_b"
        lines = [header, *(",".join(map(str, link)) for link in self.links), ""]
        with refusing("wiring", Path(path), "must be a file that can be written"):
            write_text("\n".join(lines), Path(path))


def _with_places(links: Iterable[Sequence[int]]) -> tuple[Link, ...]:
    """The links with ports, which rows of four numbers take in turn."""
    used: Counter[tuple[int, int]] = Counter()
    made: list[Link] = []
    rows = [tuple(check_integer("wiring", number, 0, _MOST) for number in row) for row in links]
    if not rows:
        raise config_error("wiring", "no links", "must list a link or more")
    size = 6 if len(rows[0]) == 6 else 4
    for row in rows:
        if len(row) != size:
            raise config_error("wiring", row, f"must have {size} numbers, as the first row, of 4 or 6")
        near, far = row[: size // 2], row[size // 2 :]
        if near[0] == far[0]:
            raise config_error("wiring", row, "must join two groups: links inside groups follow from group")
        if size == 4:
            ends = []
            for end in (near, far):
                ends += [*end, used[end[0], end[1]]]
                used[end[0], end[1]] += 1
        else:
            ends = [*near, *far]
        low, high = sorted((ends[:3], ends[3:]))
        made.append((low[0], low[1], low[2], high[0], high[1], high[2]))
    taken = Counter(end for link in made for end in (link[:3], link[3:]))
    for (group, router, port), count in taken.items():
        if count > 1:
            allowed = "must have one link, not several"
            raise config_error("wiring", f"port {port} of router {router} in group {group}", allowed)
    return tuple(sorted(made))


def read_wiring(path: str | Path) -> Wiring:
    """The links in a CSV file. Its first line names the columns: ``group_a``, ``router_a``, ``group_b`` and
    ``router_b``; then ``count`` (parallel links, 1 without it), or ``port_a`` and ``port_b``.
    """
    links: list[tuple[int, ...]] = []
    with (
        refusing("wiring", Path(path), "must be a CSV file that can be read"),
        Path(path).open(newline="", encoding="utf-8-sig") as file,
    ):
        table = csv.DictReader(file, skipinitialspace=True)
        names = tuple(name.strip() for name in table.fieldnames or ())
        table.fieldnames = list(names)
        known = {frozenset((*_COLUMNS, *more)) for more in ((), (_COUNT,), _PLACES)}
        if frozenset(names) not in known:
            allowed = (
                f"must begin with the columns {','.join(_COLUMNS)} and, if needed, count or port_a,port_b"
            )
            raise config_error("wiring", str(path), allowed)
        for row in table:
            try:
                numbers = {name: int(str(row[name])) for name in names}
            except ValueError:
                where = f"{path}, line {table.line_num}"
                raise config_error("wiring", where, "must have a whole number in each column") from None
            ends: list[tuple[str, ...]] = [_COLUMNS[:2], _COLUMNS[2:]]
            if _PLACES[0] in numbers:
                ends = [(*end, port) for end, port in zip(ends, _PLACES, strict=True)]
            link = tuple(numbers[name] for end in ends for name in end)
            links += [link] * check_integer("count", numbers.get(_COUNT, 1), 0, _MOST)
    return Wiring(links, path=str(path))


@dataclasses.dataclass(frozen=True, slots=True)
class GraphOfGroups:
    """The routers and links of a networkx graph.

    Attributes:
        wiring: Its links between groups.
        routers: Routers of the largest group.
        local: Links inside groups: group, and two routers in it, the lower first.
        names: The node of each group and router.
    """

    wiring: Wiring
    routers: int
    local: frozenset[tuple[int, int, int]]
    names: Mapping[tuple[int, int], Hashable]


def read_graph(graph: Any) -> GraphOfGroups:
    """The groups, routers and links of a networkx graph.

    Nodes are routers and have the attribute ``group``: any name or number. Groups, and routers in a group, are numbered
    in the order of the nodes. Hosts, nodes with ``kind="host"``, are left out. Links take the global ports of a router
    in the order of the attribute ``ports`` of edges (as ``Dragonfly.to_networkx`` gives), or else of the edges; an edge
    with ``links=k`` is k links.
    """
    groups: dict[Hashable, int] = {}
    sizes: Counter[int] = Counter()
    places: dict[Hashable, tuple[int, int]] = {}
    for node, values in graph.nodes(data=True):
        if values.get("kind") == "host":
            continue
        if "group" not in values:
            allowed = "must have the attribute group: a graph without groups is no Dragonfly"
            raise config_error("wiring", f"node {node!r}", allowed)
        group = groups.setdefault(values["group"], len(groups))
        places[node] = (group, sizes[group])
        sizes[group] += 1
    local: set[tuple[int, int, int]] = set()
    ends: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(
        list
    )  # [router]: port, and number of the link
    between: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for node, peer, values in graph.edges(data=True):
        if node not in places or peer not in places:
            continue
        near, far = places[node], places[peer]
        if near[0] == far[0]:
            local.add((near[0], min(near[1], far[1]), max(near[1], far[1])))
            continue
        for _ in range(int(values.get("links", 1))):
            for router, end in ((node, near), (peer, far)):
                ends[end].append((int(values.get("ports", {}).get(router, 0)), len(between)))
            between.append((near, far))
    place = {
        (router, link): at for router, ports in ends.items() for at, (_, link) in enumerate(sorted(ports))
    }
    wiring = Wiring(
        [(*near, place[near, link], *far, place[far, link]) for link, (near, far) in enumerate(between)]
    )
    return GraphOfGroups(
        wiring, max(sizes.values(), default=0), frozenset(local), {end: node for node, end in places.items()}
    )


def parse_wiring(value: object) -> Wiring | GraphOfGroups | None:
    """A wiring from what a user gives: the object, rows, a networkx graph, the path of a CSV file, or its table."""
    if value is None or isinstance(value, Wiring):
        return value
    if isinstance(value, (str, Path)):
        return read_wiring(value)
    if isinstance(value, Mapping) and "path" in value:
        wiring = read_wiring(value["path"])
        if value.get("sha256", wiring.sha256) != wiring.sha256:
            raise config_error(
                "wiring", str(value["path"]), f"must be the file with sha256 {value['sha256']}"
            )
        return wiring
    if isinstance(value, Mapping) and "links" in value:
        return Wiring(value["links"])
    if hasattr(value, "nodes") and hasattr(value, "edges"):
        return read_graph(value)
    if isinstance(value, Iterable):
        return Wiring(value)
    raise config_error("wiring", value, "must be rows, a CSV file, a networkx graph or Wiring(...)")


def check_ends(wiring: Wiring, routers: int, first: int, ports: int) -> None:
    """Refuse a wiring whose routers or ports a group does not have.

    Args:
        wiring: The links.
        routers: Routers of a group.
        first: The first of them that has global ports.
        ports: Global ports of a router.
    """
    for link in wiring.links:
        for group, router, port in (link[:3], link[3:]):
            if not first <= router < routers:
                allowed = f"must be a router with global ports: from {first} to {routers - 1}"
                raise config_error("wiring", f"router {router} of group {group}", allowed)
            if port >= ports:
                allowed = f"must have a port below {ports} (h)"
                raise config_error("wiring", f"port {port} of router {router} in group {group}", allowed)


def check_local_links(graph: GraphOfGroups, local: npt.NDArray[np.int64], shape: str) -> None:
    """Refuse a graph whose links inside groups are not those of the shape.

    Args:
        graph: The groups.
        local: (L, 3) links of the shape: group, and two routers in it, the lower first.
        shape: Its name.
    """
    links = {tuple(row) for row in local.tolist()}
    for group, low, high in sorted(links ^ graph.local):
        names = [repr(graph.names.get((group, index), index)) for index in (low, high)]
        has = "must have the link" if (group, low, high) in links else "must have no link"
        raise config_error("wiring", " and ".join(names), f"{has} that {shape} says")
