"""``Dragonfly``: which router, port and host is connected to which.

Numbering. router = group*a + local index; host = router*p + slot. The ports of a router are numbered hosts
first (0 .. p-1), then local (p .. p+a-2, one for each other router of the group in order), then global
(p+a-1 .. radix-1). The global ports of a group have positions q = local index * h + j, 0 <= q < a*h.

Arrangements say which group position q of group i leads to (with ``trunking`` t the rule holds for the slot
s = q mod (a*h/t), once per slice of a*h/t positions, so each pair of groups has t links):

================== ==================================================================================
``palmtree``       i - (s+1) mod g: the figures of the LIA paper, FOGSim, CAMINOS
``palmtree-plus``  i + (s+1) mod g: the text of the LIA paper
``absolute``       s, or s+1 from s = i on: Kim et al., ISCA 2008; the HPDC'21 paper's simulator
``relative``       i + (s+1) mod g: Hastings et al., CLUSTER 2015. Without trunking the same wiring as
                   ``palmtree-plus``; with it, equal slices meet here, mirrored ones (k and t-1-k) there
``circulant``      i+1, i-1, i+2, i-2, ... mod g: Hastings et al., CLUSTER 2015
================== ==================================================================================

With fewer groups than the maximum only the slots s < g-1 are connected.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env._outside import check_mapping
from dragonfly_env._settings import reject_unknown
from dragonfly_env._validate import check_bool, check_choice, check_integer, config_error, unknown_name

if TYPE_CHECKING:
    import networkx as nx

PortKind = Literal["host", "local", "global"]

_MAX_RADIX = 1024  # as in the core, which checks it again

# Balanced systems a = 2p = 2h of published studies, by host count; the last one is the largest with radix 64.
_PRESETS: dict[str, tuple[int, int, int]] = {
    "72": (2, 4, 2),
    "342": (3, 6, 3),
    "1056": (4, 8, 4),
    "2550": (5, 10, 5),
    "5256": (6, 12, 6),
    "16512": (8, 16, 8),
    "83232": (12, 24, 12),
    "279040": (16, 32, 17),
}


@dataclasses.dataclass(frozen=True, slots=True, init=False)
class Dragonfly:
    """A canonical Dragonfly: groups of routers, all-to-all inside a group and between groups. Immutable.

    Two are equal if all their parameters are; they hash, copy and pickle by them.

    Args:
        p: Hosts per router, at least 1.
        a: Routers per group, at least 1.
        h: Global ports per router, at least 0.
        g: Groups, from 1 to a*h/trunking + 1; None: that maximum.
        arrangement: Which global port leads where; see the module's documentation.
        trunking: Links per pair of groups; a divisor of a*h.
        group: Links inside a group: ``"all-to-all"``. ``"2d"`` is reserved.

    Raises:
        ConfigError: If a parameter is no integer or out of range, a name is unknown (the nearest match is
            named), a router would have more than 1,024 ports, or the system would be too large to address.

    Source: Kim et al., "Technology-driven, highly-scalable Dragonfly topology", ISCA 2008.
    """

    p: int
    a: int
    h: int
    g: int
    arrangement: str
    trunking: int
    group: str
    _wiring: _core.Topology = dataclasses.field(init=False, repr=False, compare=False)

    def __init__(
        self,
        p: int,
        a: int,
        h: int,
        g: int | None = None,
        arrangement: str = "palmtree",
        trunking: int = 1,
        group: str = "all-to-all",
    ) -> None:
        p = check_integer("p", p, 1, _MAX_RADIX)
        a = check_integer("a", a, 1, _MAX_RADIX)
        h = check_integer("h", h, 0, _MAX_RADIX)
        trunking = check_integer("trunking", trunking, 1, max(1, a * h))
        if a * h % trunking:
            raise config_error("trunking", trunking, f"must divide a*h, which is {a * h}")
        groups = a * h // trunking + 1
        if g is not None:
            groups = check_integer("g", g, 1, groups)
        check_choice("arrangement", arrangement, _core.arrangements())
        if isinstance(group, str) and group == "2d":
            raise config_error("group", group, "is reserved for a later version; must be 'all-to-all'")
        check_choice("group", group, ("all-to-all",))
        wiring = _core.Topology(p, a, h, groups, arrangement, trunking)
        for name, value in (
            ("p", p),
            ("a", a),
            ("h", h),
            ("g", groups),
            ("arrangement", arrangement),
            ("trunking", trunking),
            ("group", group),
            ("_wiring", wiring),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type[Dragonfly], tuple[int, int, int, int, str, int, str]]:
        return type(self), (self.p, self.a, self.h, self.g, self.arrangement, self.trunking, self.group)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names that ``preset`` knows: host counts, smallest first."""
        return tuple(_PRESETS)

    @classmethod
    def preset(cls, name: str | int, **overrides: Any) -> Dragonfly:
        """A published system by its number of hosts, with single parameters changed.

        Args:
            name: ``"72"``, ``"342"``, ``"1056"``, ``"2550"``, ``"5256"``, ``"16512"``, ``"83232"`` (balanced:
                a = 2p = 2h) or ``"279040"`` (p=16, a=32, h=17); the number itself is accepted too.
            **overrides: Parameters of ``Dragonfly`` that differ; without ``g`` it follows from the others.

        Raises:
            ConfigError: For an unknown name or parameter (the nearest is named) or a value out of range.
        """
        key = name
        if not isinstance(key, (str, bool)):
            try:
                key = str(operator.index(key))
            except Exception:  # whatever a user's class raises
                raise unknown_name("topology", name, _PRESETS) from None
        if not isinstance(key, str) or key not in _PRESETS:
            raise unknown_name("topology", key, _PRESETS)
        reject_unknown(cls, overrides, "a topology")
        p, a, h = _PRESETS[key]
        return cls(**{"p": p, "a": a, "h": h, **overrides})

    def replace(self, **changes: Any) -> Dragonfly:
        """A copy with some parameters changed; pass ``g=None`` to have it follow from the others again.

        Raises:
            ConfigError: For an unknown parameter or a value out of range.
        """
        reject_unknown(type(self), changes, "a topology")
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, int | str]:
        """Every parameter as a plain value, for TOML and JSON."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Dragonfly:
        """The inverse of ``to_dict``; ``preset`` may name a system that the other keys change.

        Raises:
            ConfigError: For an unknown or missing key or a value out of range.
        """
        given = check_mapping("topology", values, "must be a table of parameters")
        reject_unknown(cls, given, "a topology", extra=("preset",))
        if "preset" in given:
            return cls.preset(given.pop("preset"), **given)
        missing = [name for name in ("p", "a", "h") if name not in given]
        if missing:
            raise config_error("topology", dict(values), f"lacks {', '.join(missing)} (or name a preset)")
        return cls(**given)

    def to_core(self) -> _core.Topology:
        """The core's own object (private; shared, not copied)."""
        return self._wiring

    @property
    def num_hosts(self) -> int:
        """Hosts: p*a*g."""
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
    def radix(self) -> int:
        """Ports of a router: p + a - 1 + h."""
        return self._wiring.radix

    def router_of(self, host: int) -> int:
        """The router that a host is connected to.

        Raises:
            ConfigError: If there is no such host.
        """
        return check_integer("host", host, 0, self.num_hosts - 1) // self.p

    def group_of(self, router: int) -> int:
        """The group of a router.

        Raises:
            ConfigError: If there is no such router.
        """
        return self._router("router", router) // self.a

    def port_kind(self, port: int) -> PortKind:
        """What a port of any router leads to: ``"host"``, ``"local"`` or ``"global"``.

        Raises:
            ConfigError: If a router has no such port.
        """
        return self._wiring.port_kind(self._port(port))

    def neighbor(self, router: int, port: int) -> tuple[int, int] | None:
        """The router and its port at the other end of a local or global link.

        Returns:
            ``(router, port)``, or None for a global port that nothing is connected to (g below its maximum).

        Raises:
            ConfigError: If there is no such router or port, or the port leads to a host.
        """
        far = self._wiring.neighbor(self._router("router", router), self._port(port))
        return None if far[0] < 0 else far

    def minimal_hops(self, router: int, dst_router: int) -> int:
        """Links between routers on a shortest path that uses at most one global link: 0 to 3.

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

    def links(self) -> npt.NDArray[np.uint32]:
        """Every directed link between routers.

        Returns:
            (L, 4) router, port, router at the other end, its port; sorted by the first two. A new array.
        """
        return self._wiring.links()

    def to_networkx(self, *, hosts: bool = False) -> nx.Graph[int | str]:
        """The network as an undirected graph: ``Graph``, or ``MultiGraph`` with ``trunking`` above 1.

        Args:
            hosts: Whether hosts are nodes too.

        Returns:
            Nodes: routers by number, with ``kind="router"`` and ``group``; hosts as ``"host_0"``, ... with
            ``kind="host"``, ``group`` and ``host`` (the number). Edges: ``kind`` (``"host"``, ``"local"`` or
            ``"global"``) and ``ports``, a dict from each router at an end to its port.
        """
        check_bool("hosts", hosts)
        import networkx as nx  # only here: most users never need it

        graph: nx.Graph[int | str] = nx.MultiGraph() if self.trunking > 1 else nx.Graph()
        graph.add_nodes_from(
            (router, {"kind": "router", "group": router // self.a}) for router in range(self.num_routers)
        )
        links = self.links()
        first_global = self.p + self.a - 1
        for router, port, peer, peer_port in links[links[:, 0] < links[:, 2]].tolist():
            kind = "global" if port >= first_global else "local"
            graph.add_edge(router, peer, kind=kind, ports={router: port, peer: peer_port})
        if hosts:
            for host in range(self.num_hosts):
                router, port = divmod(host, self.p)
                node = f"host_{host}"
                graph.add_node(node, kind="host", group=router // self.a, host=host)
                graph.add_edge(node, router, kind="host", ports={router: port})
        return graph

    def _router(self, field: str, value: int) -> int:
        return check_integer(field, value, 0, self.num_routers - 1)

    def _port(self, value: int) -> int:
        return check_integer("port", value, 0, self.radix - 1)
