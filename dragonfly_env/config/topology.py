"""``Dragonfly``: which router, port and host is connected to which.

Numbering. router = group*a + local index; host = router*p + slot. The ports of a router are numbered hosts
first (0 .. p-1), then local (all-to-all: p .. p+a-2, one for each other router of the group in order; ``Grid`` and
``LeafSpine`` have their own), then the h global ones. With ``LeafSpine`` only leaves have hosts and only spines have
global links: their numbers go on from leaf to leaf and from spine to spine, and a in the rules below is the number of
spines. The global ports of a group have positions q = local index * h + j, 0 <= q < a*h.

Arrangements say which group position q of group i leads to (with ``trunking`` t the rule holds for the slot
s = q mod (a*h/t), once per slice of a*h/t positions, so each pair of groups has t links):

================== ==================================================================================
``palmtree``       i - (s+1) mod g: the figures of the LIA paper, FOGSim, CAMINOS
``palmtree-plus``  i + (s+1) mod g: the text of the LIA paper
``absolute``       s, or s+1 from s = i on: Kim et al., ISCA 2008; the HPDC'21 paper's simulator
``relative``       i + (s+1) mod g: Hastings et al., CLUSTER 2015. Without trunking the same wiring as
                   ``palmtree-plus``; with it, equal slices meet here, mirrored ones (k and t-1-k) there
``circulant``      i+1, i-1, i+2, i-2, ... mod g: Hastings et al., CLUSTER 2015
``xc``             Cray XC: the links to peers s = 0, 1, ... (as in ``absolute``) are dealt to the
                   routers in turn, on a grid column by column, in bundles of two that are one port
``spread``         i - (s+1) mod g, as ``palmtree``, with as many links on every router, or one more
================== ==================================================================================

With fewer groups than the maximum only the slots s < g-1 are connected, so the last routers of a group may have no
links. ``spread`` connects the first ports of every router instead; with all groups it is the wiring of ``palmtree``.
A ``Wiring`` lists the global links instead, ``arrangement`` is ``"listed"`` then.

Shortest paths. Among several a packet draws anew at every router (its own random stream, the same for every policy):
of the global links on a shortest path one of those nearest to the router, all alike, then one of the shortest local
paths to it, all alike. Where groups are all-to-all nothing is drawn: with trunking, routers take their own links first,
and ranks spread the rest.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.checks.values import (
    check_choice,
    check_integer,
    check_mapping,
    config_error,
    parse_assignments,
    unknown_name,
)
from dragonfly_env.config.failures import Failures, parse_failures
from dragonfly_env.config.groups import ALL_TO_ALL, SETTINGS, GroupShape, LeafSpine, parse_group
from dragonfly_env.config.rows import Record, changed
from dragonfly_env.config.systems import (
    FIELDS,
    INSTEAD,
    MAX_RADIX,
    PRESETS,
    WORDS,
    bundle_of,
    is_xc,
    ports_between,
    with_changes,
)
from dragonfly_env.config.wiring import (
    LISTED,
    GraphOfGroups,
    Wiring,
    check_ends,
    check_local_links,
    parse_wiring,
)

if TYPE_CHECKING:
    import networkx as nx


Arrangement: TypeAlias = Literal[
    "palmtree", "palmtree-plus", "absolute", "relative", "circulant", "xc", "spread"
]


@dataclasses.dataclass(frozen=True, init=False)
class Dragonfly(Record):
    """A Dragonfly: groups of routers, all-to-all between groups; a group is all-to-all, a ``Grid`` or a
    ``LeafSpine``. Immutable.

    Two are equal if all their parameters are; they hash, copy and pickle by them.

    Args:
        p: Hosts per router, at least 1; with a ``LeafSpine`` per leaf.
        a: Routers per group, at least 1; with a ``Grid`` or ``LeafSpine`` its number of routers, or None.
        h: Global ports per router, at least 0, with a ``LeafSpine`` per spine; None with ``arrangement="xc"``:
            as many as it needs.
        g: Groups, from 1 to a*h/trunking + 1; None: that maximum (not with ``"xc"``, which needs a number).
        arrangement: Rule for the far end of each global port; see the module's documentation.
        trunking: Global ports that join a pair of groups; a divisor of a*h.
        group: The inside of a group: ``"all-to-all"``, a ``Grid`` or a ``LeafSpine`` (or its string).
        links_between_groups: Links that join a pair of groups, instead of ``trunking``: any number that fits; with
            ``"xc"`` an even one, since a port is two links.
        failed: Dead links and routers, and degraded links: ``Failures``, its table or its text; None: the machine is
            whole.
        wiring: The links between groups as a list, instead of ``arrangement``: a ``Wiring``, its rows, the path of a
            CSV file, or a networkx graph whose nodes have the attribute ``group`` and whose links inside groups are
            those of ``group``. Then ``h`` and ``g`` are as large as it needs if they are None, with a graph ``a`` too.

    Raises:
        ConfigError: If a parameter is no integer or out of range, a name is unknown (the nearest match is
            named), a router would have more than 1,024 ports, or the system would be too large to address. If failures
            leave two live routers without a path, the message names the pair.

    Source: Kim et al., "Technology-driven, highly-scalable Dragonfly topology", ISCA 2008; ``Grid`` and ``"xc"``:
    Alverson et al., "Cray XC Series Network", 2012; ``LeafSpine``: Shpiner et al., "Dragonfly+", HiPINEB 2017.

    Example:
        >>> topology = dfe.Dragonfly(p=2, a=4, h=2)
        >>> topology.num_hosts, topology.num_routers, topology.num_groups
        (72, 36, 9)
        >>> topology.radix, topology.diameter, topology.link_classes
        (7, 3, ('host', 'local', 'global'))
    """

    called: ClassVar[str] = "a topology"
    p: int
    a: int
    h: int
    g: int
    arrangement: Arrangement | Literal["listed"]
    trunking: int
    group: str | GroupShape
    failed: Failures | None
    wiring: Wiring | None

    def __init__(
        self,
        p: int,
        a: int | None = None,
        h: int | None = None,
        g: int | None = None,
        arrangement: Arrangement | Literal["listed"] = "palmtree",
        trunking: int | None = None,
        group: str | GroupShape = ALL_TO_ALL,
        links_between_groups: int | None = None,
        failed: Failures | Mapping[str, Any] | str | None = None,
        wiring: Wiring
        | Iterable[Sequence[int]]
        | Mapping[str, Any]
        | str
        | Path
        | nx.Graph[Any]
        | None = None,
    ) -> None:
        p = check_integer("p", p, 1, MAX_RADIX)
        shape = parse_group(group)
        listed = parse_wiring(wiring)
        graph = listed if isinstance(listed, GraphOfGroups) else None
        if graph is not None:
            listed = graph.wiring
            a = graph.routers if a is None and isinstance(shape, str) else a
        if not isinstance(shape, str):
            if a is not None and check_integer("a", a, 1, MAX_RADIX) != shape.routers:
                raise config_error("a", a, f"must be {shape.routers}, the routers of {shape}, or None")
            a = shape.routers
        a = check_integer("a", a, 1, MAX_RADIX)
        if isinstance(listed, Wiring):
            check_choice("arrangement", arrangement, ("palmtree", LISTED))
            arrangement = "listed"
            g = check_integer(
                "g", listed.num_groups if g is None else g, listed.num_groups, listed.num_groups
            )
            h = check_integer("h", listed.global_ports if h is None else h, listed.global_ports, MAX_RADIX)
            check_ends(listed, a, 0 if isinstance(shape, str) else a - shape.global_routers, h)
            for name, number in (("trunking", trunking), ("links_between_groups", links_between_groups)):
                if number not in (None, listed.most_links):
                    raise config_error(name, number, "must be left out with wiring, which lists the links")
            self._set(p, a, h, g, arrangement, listed.most_links, shape, parse_failures(failed), listed)
            if graph is not None:
                inside = self._ends()
                check_local_links(graph, inside[inside[:, 0] == inside[:, 3]][:, [0, 1, 4]], str(shape))
            return
        check_choice("arrangement", arrangement, _core.arrangements())
        between = ports_between(arrangement, trunking, links_between_groups)
        if arrangement == "xc":
            g = check_integer("g", g, 1, MAX_RADIX * MAX_RADIX + 1)
            needed = -(-(g - 1) * between // (a if isinstance(shape, str) else shape.global_routers))
            if needed > MAX_RADIX:
                raise config_error(
                    "g", g, f"would need {needed} global ports of a router, more than {MAX_RADIX}"
                )
            h = check_integer("h", needed if h is None else h, needed, MAX_RADIX)
        h = check_integer("h", h, 0, MAX_RADIX)
        positions = h * (a if isinstance(shape, str) else shape.global_routers)
        if between > max(1, positions):
            raise config_error(
                "trunking" if links_between_groups is None else "links_between_groups",
                trunking if links_between_groups is None else links_between_groups,
                f"must be an integer from 1 to {max(1, positions) * bundle_of(arrangement)}",
            )
        if trunking is not None and arrangement != "xc" and positions % between:
            routers = "spines" if isinstance(shape, LeafSpine) else "a"
            raise config_error("trunking", trunking, f"must divide {routers}*h, which is {positions}")
        groups = positions // between + 1
        if g is not None:
            groups = check_integer("g", g, 1, groups)
        self._set(p, a, h, groups, arrangement, between, shape, parse_failures(failed), None)

    def _set(self, *values: Any) -> None:
        for name, value in zip(FIELDS, values, strict=True):
            object.__setattr__(self, name, value)
        _ = self._wiring  # computed now, because it may be impossible

    @functools.cached_property
    def _wiring(self) -> _core.Topology:
        if self.failed is None:
            return self._whole
        dead_links, dead_routers = self.failed.drawn_on(self._whole)
        return self._made(dead_links, dead_routers, self.failed.degraded_on(self._whole))

    @functools.cached_property
    def _whole(self) -> _core.Topology:
        """The machine without failures."""
        return self._made()

    def _made(
        self,
        dead_links: Sequence[tuple[int, int]] = (),
        dead_routers: Sequence[int] = (),
        degraded: Sequence[tuple[int, int, float]] = (),
    ) -> _core.Topology:
        name, settings = (
            (None, {}) if isinstance(self.group, str) else (self.group.name, self.group.to_core())
        )
        return _core.Topology(
            self.p,
            self.a,
            self.h,
            self.g,
            self.arrangement if self.wiring is None else "palmtree",
            self.trunking if self.wiring is None else 1,
            name,
            settings,
            dead_links,
            dead_routers,
            degraded,
            () if self.wiring is None else self.wiring.links,
        )

    def __repr__(self) -> str:
        implied: dict[str, Any] = {
            "arrangement": "palmtree",
            "trunking": 1,
            "group": ALL_TO_ALL,
            "failed": None,
            "wiring": None,
        }
        implied["g"] = self.global_ports_per_group // self.trunking + 1
        if self.wiring is not None:
            implied |= {"arrangement": LISTED, "trunking": self.trunking}
            implied |= {"g": self.wiring.num_groups, "h": self.wiring.global_ports}
        changes = self._with_number_of_links(changed(self, **implied))
        return f"Dragonfly({', '.join(f'{name}={value!r}' for name, value in changes.items())})"

    def _with_number_of_links(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters with ``links_between_groups`` instead of a ``trunking`` that does not divide a*h."""
        divides = self.global_ports_per_group % self.trunking == 0
        if "trunking" in parameters and not is_xc(self.arrangement) and not divides:
            parameters["links_between_groups"] = parameters.pop("trunking")
        return parameters

    @classmethod
    def preset(cls, name: str | int, **overrides: Any) -> Dragonfly:
        """A published system by its number of hosts, with single parameters changed.

        Args:
            name: ``"72"``, ``"342"``, ``"1056"``, ``"2550"``, ``"5256"``, ``"16512"``, ``"83232"`` (balanced:
                a = 2p = 2h) or ``"279040"`` (p=16, a=32, h=17); the number itself is accepted too. Cray XC machines:
                ``"theta"``, ``"cori"``, ``"edison"``, and an eighth of two, ``"theta-m8"`` and ``"cori-m8"``.
                Dragonfly+ systems: ``"dfp-272"``, ``"dfp-1008"`` and ``"jupiter"``.
            **overrides: Parameters of ``Dragonfly`` that differ; without ``g`` it follows from the others.

        Raises:
            ConfigError: For an unknown name or parameter (the nearest is named) or a value out of range.

        Example:
            >>> dfe.Dragonfly.preset("1056").num_hosts
            1056
            >>> dfe.Dragonfly.preset(72, arrangement="absolute").arrangement
            'absolute'
        """
        key = str(name)
        if key not in PRESETS:
            numbers = [int(part) for part in re.split("[,x:]", key) if part.strip().isdecimal()]
            if len(numbers) in (3, 4):
                typed = ",".join(map("{}={}".format, "pahg", numbers))
                raise config_error("topology", key, f"must have names: {typed}")
            raise unknown_name("topology", key, PRESETS)
        cls._check_names(overrides, extra=INSTEAD, meant=WORDS)
        return cls(**with_changes(PRESETS[key], overrides))

    def replace(self, **changes: Any) -> Dragonfly:
        """A copy with some parameters changed; pass ``g=None`` to have it follow from the others again. What follows
        from a ``Grid``, a ``LeafSpine`` or from ``"xc"`` (a, h) follows again.

        Raises:
            ConfigError: For an unknown parameter or a value out of range.
        """
        self._check_names(changes, extra=INSTEAD, meant=WORDS)
        now = self._with_number_of_links({name: getattr(self, name) for name in FIELDS})
        return type(self)(**with_changes(now, changes))

    def to_dict(self) -> dict[str, Any]:
        """Every parameter as a plain value, for TOML and JSON; without ``failed`` and ``wiring`` if they are None."""
        values: dict[str, Any] = {name: getattr(self, name) for name in FIELDS} | {"group": str(self.group)}
        for name in ("failed", "wiring"):
            value = values.pop(name)
            if value is not None:
                values[name] = value.to_dict()
        return self._with_number_of_links(values)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Dragonfly:
        """The inverse of ``to_dict``; ``preset`` may name a system that the other keys change.

        Args:
            values: Parameters by name, as ``to_dict`` gives them.

        Raises:
            ConfigError: For an unknown or missing key or a value out of range.
        """
        given = check_mapping("topology", values, "must be a table of parameters")
        cls._check_names(given, extra=("preset", *INSTEAD), meant=WORDS)
        if "preset" in given:
            return cls.preset(given.pop("preset"), **given)
        derived = {
            "a": parse_group(given.get("group", ALL_TO_ALL)) != ALL_TO_ALL,
            "h": is_xc(given.get("arrangement")) or given.get("wiring") is not None,
        }
        missing = [name for name in ("p", "a", "h") if name not in given and not derived.get(name)]
        if missing:
            raise config_error("topology", dict(values), f"lacks {', '.join(missing)} (or name a preset)")
        return cls(**given)

    def to_core(self) -> _core.Topology:
        """The core's own object (private; shared, not copied)."""
        return self._wiring

    @property
    def num_hosts(self) -> int:
        """Hosts: p*a*g; with a ``LeafSpine`` only the leaves count."""
        return self._wiring.num_hosts

    @property
    def num_routers(self) -> int:
        """Routers: a*g."""
        return self._wiring.num_routers

    @property
    def num_groups(self) -> int:
        """Groups: g."""
        return self.g

    @property
    def hosts_per_group(self) -> int:
        """Hosts of a group: p*a; with a ``LeafSpine`` p times its leaves."""
        return self.num_hosts // self.num_groups

    @property
    def global_ports_per_group(self) -> int:
        """Global ports of a group, connected or not: a*h; with a ``LeafSpine`` h times its spines."""
        return self.h * (self.a if isinstance(self.group, str) else self.group.global_routers)

    @property
    def radix(self) -> int:
        """Ports of a router: p hosts, the local ones (all-to-all: a - 1), and h global ones."""
        return self._wiring.radix

    def router_of(self, host: int) -> int:
        """The router that a host is connected to.

        Raises:
            ConfigError: If there is no such host.
        """
        return self._wiring.router_of_host(check_integer("host", host, 0, self.num_hosts - 1))

    def group_of(self, router: int) -> int:
        """The group of a router.

        Raises:
            ConfigError: If there is no such router.
        """
        return self._wiring.group_of(self._router("router", router))

    def router_of_hosts(self) -> npt.NDArray[np.int64]:
        """(num_hosts,) the router of each host. A new array.

        Example:
            >>> dfe.Dragonfly(p=2, a=2, h=1, g=2).router_of_hosts()
            array([0, 0, 1, 1, 2, 2, 3, 3])
        """
        return self._wiring.router_of_hosts()

    def port_of_hosts(self) -> npt.NDArray[np.int64]:
        """(num_hosts,) the port of its router that each host is connected to. A new array."""
        return self._wiring.port_of_hosts()

    def hosts_of_routers(self) -> npt.NDArray[np.int64]:
        """(num_routers,) numbers of hosts of the routers. A new array."""
        return np.bincount(self.router_of_hosts(), minlength=self.num_routers)

    def group_of_routers(self) -> npt.NDArray[np.int64]:
        """(num_routers,) the group of each router, ascending. A new array."""
        return self._wiring.group_of_routers()

    def place_of_routers(self) -> npt.NDArray[np.int64]:
        """(num_routers,) the place of each router in its group, from 0. A new array."""
        groups = self.group_of_routers()
        return np.arange(self.num_routers) - np.searchsorted(groups, groups)

    def port_kind(self, port: int) -> str:
        """The class of link of a port of any router: ``"host"``, ``"local"`` or ``"global"``; on a grid ``"host"``,
        ``"rank-1"`` (row), ``"rank-2"`` (column) or ``"rank-3"`` (global).

        Raises:
            ConfigError: If a router has no such port.

        Example:
            >>> topology = dfe.Dragonfly.preset("72")
            >>> [topology.port_kind(port) for port in (0, 2, 5)]
            ['host', 'local', 'global']
        """
        return self._wiring.port_kind(self._port(port))

    def port_links(self, port: int) -> int:
        """Number of parallel links per port of any router.

        Raises:
            ConfigError: If a router has no such port.

        Example:
            >>> theta = dfe.Dragonfly.preset("theta-m8")
            >>> [theta.port_links(port) for port in range(theta.radix)]
            [1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 2, 2]
        """
        kind = self.port_kind(port)
        return next(bundled for name, _, bundled in self._wiring.link_classes if name == kind)

    @property
    def link_classes(self) -> tuple[str, ...]:
        """The classes of link in the order of the ports: ``"host"`` first, the global one last."""
        return tuple(name for name, _, _ in self._wiring.link_classes)

    @property
    def links_between_groups(self) -> int:
        """Links that join a pair of groups: ``trunking``, with ``"xc"`` twice that."""
        return self.trunking * bundle_of(self.arrangement)

    @property
    def num_local_ports(self) -> int:
        """Ports of a router that lead to routers of its group."""
        return self._wiring.num_local_ports

    @property
    def diameter(self) -> int:
        """Hops that no minimal path exceeds: 3; on a grid of several rows and columns 5. With a ``LeafSpine`` 5, which
        only paths from spine to spine need: those between leaves have at most 3.
        """
        return self._wiring.diameter

    def port_classes(self) -> npt.NDArray[np.int64]:
        """(radix,) the class of every port as an index into ``link_classes``. A new array."""
        return np.repeat(
            np.arange(len(self.link_classes)), [ports for _, ports, _ in self._wiring.link_classes]
        )

    def neighbor(self, router: int, port: int) -> tuple[int, int] | None:
        """The router and its port at the other end of a local or global link.

        Returns:
            ``(router, port)``, or None for a port that nothing is connected to (g below its maximum), or whose link is
            dead.

        Raises:
            ConfigError: If there is no such router or port, or the port leads to a host.

        Example:
            >>> dfe.Dragonfly.preset("72").neighbor(router=0, port=5)
            (35, 6)
        """
        far = self._wiring.neighbor(self._router("router", router), self._port(port))
        return None if far[0] < 0 else far

    def minimal_hops(self, router: int, dst_router: int) -> int:
        """Links from ``router`` to ``dst_router`` on a shortest path that uses at most one global link, or two where no
        link joins the groups: 0 to ``diameter``.

        Raises:
            ConfigError: If there is no such router.
        """
        return self._wiring.minimal_hops(
            self._router("router", router), self._router("dst_router", dst_router)
        )

    def minimal_port(self, router: int, dst_router: int) -> int:
        """The port of ``router`` on a minimal path to another one.

        The router behind it is exactly one hop closer. Where trunking offers several equally short paths the
        choice is fixed, by the local index of ``router`` plus ``dst_router``.

        Raises:
            ConfigError: If there is no such router or both are the same.
        """
        return self._wiring.minimal_port(
            self._router("router", router), self._router("dst_router", dst_router)
        )

    def minimal_ports(self, router: int, dst_router: int) -> tuple[int, ...]:
        """All ports of ``router`` on a shortest path to another one, ascending; none if both are the same.

        Raises:
            ConfigError: If there is no such router.

        Example:
            >>> theta = dfe.Dragonfly.preset("theta-m8")
            >>> theta.minimal_ports(router=0, dst_router=9)
            (2, 9)
        """
        return tuple(
            self._wiring.minimal_ports(self._router("router", router), self._router("dst_router", dst_router))
        )

    def links(self) -> npt.NDArray[np.uint32]:
        """Every directed link between routers; dead ones are left out.

        Returns:
            (L, 4) router, port, router at the other end, its port; sorted by the first two. A new array.
        """
        return self._wiring.links()

    def dead_links(self) -> npt.NDArray[np.uint32]:
        """Every directed link that does not work, those of dead routers included.

        Returns:
            (L, 4) as ``links``. A new array.

        Example:
            >>> topology = dfe.Dragonfly.preset("72", failed="links=0:5")
            >>> topology.dead_links().tolist()
            [[0, 5, 35, 6], [35, 6, 0, 5]]
        """
        whole, alive = self._whole.links(), self._wiring.links()
        width = np.uint64(self.radix)
        before, after = (ends[:, 0].astype(np.uint64) * width + ends[:, 1] for ends in (whole, alive))
        return whole[~np.isin(before, after)]

    def link_rates(self) -> npt.NDArray[np.float64]:
        """(L,) the share of its rate that each link of ``links`` carries: below 1 if the link is degraded. A new array.

        Example:
            >>> topology = dfe.Dragonfly.preset("72", failed="degraded_links=0:5:0.25")
            >>> slow = topology.link_rates() < 1
            >>> topology.links()[slow].tolist(), topology.link_rates()[slow].tolist()
            ([[0, 5, 35, 6], [35, 6, 0, 5]], [0.25, 0.25])
        """
        ends = {(router, port): i for i, (router, port, *_) in enumerate(self.links().tolist())}
        rates = np.ones(len(ends))
        for router, port, rate in () if self.failed is None else self.failed.degraded_on(self._whole):
            if (router, port) in ends:
                rates[ends[router, port]] = rate
        return rates

    @property
    def num_dead_links(self) -> int:
        """Links between routers that do not work, each counted once."""
        return len(self.dead_links()) // 2

    def dead_routers(self) -> npt.NDArray[np.int64]:
        """Numbers of the routers that do not work, ascending. A new array."""
        return np.flatnonzero(self._wiring.dead_routers())

    def live_hosts(self) -> npt.NDArray[np.int64]:
        """Numbers of the hosts whose routers work, ascending. A new array."""
        return np.flatnonzero(~self._wiring.dead_routers()[self.router_of_hosts()])

    def relayed_groups(self) -> list[tuple[int, int, int]]:
        """The pairs of groups that no link joins, lower group first, and the number of groups with links to both.

        Example:
            >>> dfe.Dragonfly.preset("72", failed="links=0:5").relayed_groups()
            [(0, 8, 7)]
        """
        return self._wiring.relayed_groups()

    def _ends(self) -> npt.NDArray[np.int64]:
        """(L, 6) group, place in it and port at the lower router of each link, then at the other one."""
        rows = self.links().astype(np.int64)
        near, port, far, far_port = rows[rows[:, 0] < rows[:, 2]].T
        group, place = self.group_of_routers(), self.place_of_routers()
        return np.stack([group[near], place[near], port, group[far], place[far], far_port], axis=1)

    def to_wiring(self) -> Wiring:
        """The links between groups as a list, which may be changed or written; dead ones are left out.

        Example:
            >>> palmtree = dfe.Dragonfly.preset("72")
            >>> listed = palmtree.replace(wiring=palmtree.to_wiring())
            >>> bool((listed.links() == palmtree.links()).all())
            True
        """
        ends = self._ends()
        ends[:, [2, 5]] -= self.radix - self.h
        return Wiring(ends[ends[:, 0] != ends[:, 3]].tolist())

    def to_networkx(self, *, hosts: bool = False) -> nx.Graph[int | str]:
        """The network as an undirected graph: ``Graph``, or ``MultiGraph`` with ``trunking`` above 1.

        Args:
            hosts: Whether hosts are nodes too.

        Returns:
            Nodes: routers by number, with ``kind="router"`` and ``group``; hosts as ``"host_0"``, ... with
            ``kind="host"``, ``group`` and ``host`` (the number). Edges: ``kind`` (of ``port_kind``),
            ``links`` (parallel ones that the edge stands for) and ``ports``, a dict from each router at an end to its
            port.

        Raises:
            ImportError: Without the extra [analysis].

        Example:
            >>> graph = dfe.Dragonfly.preset("72").to_networkx()
            >>> graph.number_of_nodes(), graph.number_of_edges()
            (36, 90)
        """
        require_analysis("to_networkx()")
        import networkx as nx  # imported here, because most users never need it

        graph: nx.Graph[int | str] = nx.MultiGraph() if self.trunking > 1 else nx.Graph()
        groups = self.group_of_routers().tolist()
        graph.add_nodes_from(
            (router, {"kind": "router", "group": group}) for router, group in enumerate(groups)
        )
        links = self.links()
        kinds = [(self.port_kind(port), self.port_links(port)) for port in range(self.radix)]
        for router, port, peer, peer_port in links[links[:, 0] < links[:, 2]].tolist():
            kind, parallel = kinds[port]
            graph.add_edge(router, peer, kind=kind, links=parallel, ports={router: port, peer: peer_port})
        if hosts:
            ends = zip(self.router_of_hosts().tolist(), self.port_of_hosts().tolist(), strict=True)
            for host, (router, port) in enumerate(ends):
                node = f"host_{host}"
                graph.add_node(node, kind="host", group=groups[router], host=host)
                graph.add_edge(node, router, kind="host", links=1, ports={router: port})
        return graph

    def _router(self, field: str, value: int) -> int:
        return check_integer(field, value, 0, self.num_routers - 1)

    def _port(self, value: int) -> int:
        return check_integer("port", value, 0, self.radix - 1)


def read_topology(row: str, text: str) -> dict[str, Any]:
    """The table of a topology that a person types: a preset, or parameters of it and of its groups, ``"p=4,a=8,h=4"``,
    ``"p=2,h=1,g=3,rows=2,columns=3"`` or ``"p=4,h=4,group=leaf-spine:leaves=4,spines=4"``.
    """
    if "=" not in text:
        return {"preset": text.strip()}
    given: dict[str, Any] = parse_assignments(text, row)
    inside = {name: given.pop(name) for name in SETTINGS if name in given}
    shape, _, first = str(given.get("group", "")).partition(":")
    if not inside:
        return given
    settings = {**parse_assignments(first, "group"), **inside}
    typed = ",".join(f"{name}={value}" for name, value in settings.items())
    return {**given, "group": parse_group(f"{shape or SETTINGS[next(iter(inside))]}:{typed}")}


def topologies() -> tuple[str, ...]:
    """The names of all systems that ``Dragonfly.preset`` makes: host counts, smallest first, then machines.

    Example:
        >>> dfe.topologies()[:4]
        ('72', '342', '1056', '2550')
    """
    return tuple(PRESETS)
