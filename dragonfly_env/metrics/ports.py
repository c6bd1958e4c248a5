"""Counters of ports: one table, two rows per connected port, one for each direction of its link."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice, config_error
from dragonfly_env.metrics.tables import Table

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

IN, OUT = "in", "out"
HOST_IN, HOST_OUT = "host-in", "host-out"
KEYS = ("router", "group", "port", "kind", "direction")


@dataclasses.dataclass(frozen=True, slots=True)
class PortTotals:
    """Rows of a ``PortTable`` together. Means and maxima are over rows, and NaN without rows or time."""

    ports: int
    """Number of rows."""
    links: int
    """Parallel links of these ports."""
    packets: int
    """Packets that crossed the links."""
    flits: int
    """Flits of these packets."""
    utilisation_mean: float
    """Mean fraction of the window in which a link carried bits."""
    utilisation_max: float
    """The largest such fraction."""
    stall_fraction_mean: float
    """Mean fraction of the window in which a port stalled."""
    stall_fraction_max: float
    """The largest such fraction."""
    stalls: float
    """Stalls, in times of a flit."""
    stalls_max: float
    """Stalls of the port that has most."""

    @property
    def stalls_to_flits(self) -> float:
        """Stalls per flit, the ratio that operators look at; NaN without flits."""
        return self.stalls / self.flits if self.flits else math.nan


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PortTable(Table):
    """Counters of connected ports, by router, direction and port. Arrays are read-only.

    Each port has two rows. ``"out"`` counts what the router sends through the port, when it is sent; its stalls are the
    time in which the port had a packet but no credit for it, which is 0 into hosts, because they take every packet.
    ``"in"`` counts what the router receives there, when the other end sends it; its stalls are the time in which the
    head of some buffer of the port found no room to move on to, as an operator's counters of a tile do.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", load=0.2)
        >>> ports = dfe.simulate(config, measure_ns=5_000).ports
        >>> len(ports), len(ports[ports.kind == "global"])
        (504, 144)
        >>> 0 < ports.of(kind="global", direction="out").totals().utilisation_mean < 1
        True
        >>> ports.by("kind", "direction")["ports"].tolist()
        [72, 72, 72, 72, 108, 108]
    """

    router: IntArray
    """(n,) the router of each port."""
    group: IntArray
    """(n,) its group."""
    port: IntArray
    """(n,) the number of the port there."""
    kind: npt.NDArray[np.str_]
    """(n,) the class of its link (``Dragonfly.port_kind``), ``"host"`` next to hosts."""
    direction: npt.NDArray[np.str_]
    """(n,) ``"in"`` or ``"out"`` of the router."""
    links: IntArray
    """(n,) parallel links that are this port."""
    packets: IntArray
    """(n,) packets that crossed the link."""
    flits: IntArray
    """(n,) flits of these packets."""
    utilisation: FloatArray
    """(n,) fraction of the window in which the link carried bits, at its own rate if it is degraded; NaN if the window
    is empty."""
    stall_fraction: FloatArray
    """(n,) fraction of the window in which the port stalled; NaN if the window is empty."""
    stalls: FloatArray
    """(n,) stalling time in times of a flit on the link."""

    @property
    def stalls_to_flits(self) -> FloatArray:
        """(n,) stalls per flit; NaN where there was no flit."""
        return _ratio(self.stalls, self.flits)

    def of(self, *, kind: str | None = None, direction: Literal["in", "out"] | None = None) -> PortTable:
        """The rows of one class of link, of one direction, or of both.

        Args:
            kind: A class of link, such as ``"global"``.
            direction: ``"in"`` or ``"out"``.
        """
        rows = np.ones(len(self), np.bool_)
        if kind is not None:
            rows &= self.kind == check_choice("kind", kind, tuple(dict.fromkeys(self.kind.tolist())))
        if direction is not None:
            rows &= self.direction == check_choice("direction", direction, (IN, OUT))
        return self[rows]

    def tiles(self) -> dict[str, PortTable]:
        """The rows as an operator's tiles, by class. A tile is one end of a link with the buffers of what it receives,
        as on Aries routers: each class of links between routers, and processor tiles, ``host-in`` for what hosts send
        and ``host-out`` for what they are sent.
        """
        received = self.of(direction="in")
        kinds = dict.fromkeys(received.kind.tolist())
        named = {HOST_IN if kind == "host" else kind: received[received.kind == kind] for kind in kinds}
        return {**named, HOST_OUT: self.of(kind="host", direction="out")}

    def totals(self) -> PortTotals:
        """Sums, means and maxima over all rows."""
        used, stalled = self.utilisation, self.stall_fraction
        return PortTotals(
            ports=len(self),
            links=int(self.links.sum()),
            packets=int(self.packets.sum()),
            flits=int(self.flits.sum()),
            utilisation_mean=float(used.mean()) if len(self) else math.nan,
            utilisation_max=float(used.max()) if len(self) else math.nan,
            stall_fraction_mean=float(stalled.mean()) if len(self) else math.nan,
            stall_fraction_max=float(stalled.max()) if len(self) else math.nan,
            stalls=float(self.stalls.sum()),
            stalls_max=float(self.stalls.max()) if len(self) else math.nan,
        )

    def by(self, *keys: str) -> dict[str, npt.NDArray[Any]]:
        """Totals of the rows that have the same values in some columns.

        Args:
            *keys: One or more of ``router``, ``group``, ``port``, ``kind``, ``direction``.

        Returns:
            Columns: the keys, ascending; and those of ``PortTotals``.
        """
        if not keys:
            raise config_error("keys", keys, f"must be one or more of {', '.join(KEYS)}")
        columns = [getattr(self, check_choice("keys", key, KEYS)) for key in keys]
        parts = [np.unique(column, return_inverse=True) for column in columns]
        codes = np.ravel_multi_index(
            [inverse.reshape(-1) for _, inverse in parts], [max(1, len(found)) for found, _ in parts]
        )
        _, first, where = np.unique(codes, return_index=True, return_inverse=True)

        def added(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            sums = np.zeros(len(first), column.dtype)
            np.add.at(sums, where, column)
            return sums

        def highest(column: FloatArray) -> FloatArray:
            most = np.full(len(first), -math.inf)
            np.maximum.at(most, where, column)
            return most

        ports = np.bincount(where, minlength=len(first)).astype(np.int64)
        flits, stalls = added(self.flits), added(self.stalls)
        return {
            **{key: column[first] for key, column in zip(keys, columns, strict=True)},
            "ports": ports,
            "links": added(self.links),
            "packets": added(self.packets),
            "flits": flits,
            "utilisation_mean": added(self.utilisation) / ports,
            "utilisation_max": highest(self.utilisation),
            "stall_fraction_mean": added(self.stall_fraction) / ports,
            "stall_fraction_max": highest(self.stall_fraction),
            "stalls": stalls,
            "stalls_max": highest(self.stalls),
            "stalls_to_flits": _ratio(stalls, flits),
        }

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name, ``stalls_to_flits`` last."""
        return {**Table.to_dict(self), "stalls_to_flits": self.stalls_to_flits}


@functools.lru_cache(maxsize=8)
def rows_of(
    topology: Dragonfly,
) -> tuple[Mapping[str, npt.NDArray[Any]], IntArray, FloatArray, IntArray, IntArray]:
    """Make the rows, without counts, of a topology.

    Returns:
        The first columns of the table; and, by row, the class of the link as an index into
        ``Dragonfly.link_classes``; the share of its rate that the link carries; the index of the sender, router * radix
        + port, and above these the hosts; the index of the stalls, router * radix + port of outputs, and above these
        those of inputs.
    """
    radix, counted = topology.radix, topology.num_routers * topology.radix
    ends = topology.links().astype(np.int64)
    to_hosts = topology.router_of_hosts() * radix + topology.port_of_hosts()
    place = np.concatenate([to_hosts, ends[:, 0] * radix + ends[:, 1]])
    other_end = np.concatenate([counted + np.arange(topology.num_hosts), ends[:, 2] * radix + ends[:, 3]])
    is_out = np.repeat([False, True], len(place))
    place, sender = np.tile(place, 2), np.concatenate([other_end, place])
    order = np.lexsort((place, is_out, place // radix))
    place, sender, is_out = place[order], sender[order], is_out[order]
    rates = np.tile(np.concatenate([np.ones(topology.num_hosts), topology.link_rates()]), 2)[order]
    router, port = np.divmod(place, radix)
    link_class = topology.port_classes().astype(np.int64)[port]
    columns = {
        "router": router,
        "group": topology.group_of_routers()[router],
        "port": port,
        "kind": np.array(topology.link_classes)[link_class],
        "direction": np.where(is_out, OUT, IN),
        "links": np.array([topology.port_links(number) for number in range(radix)], np.int64)[port],
    }
    return columns, link_class, rates, sender, np.where(is_out, place, counted + place)


def _ratio(stalls: FloatArray, flits: IntArray) -> FloatArray:
    ratio: FloatArray = np.divide(stalls, flits, out=np.full(len(flits), math.nan), where=flits > 0)
    return ratio
