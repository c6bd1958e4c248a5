"""Counters as an operator reads them: flits and stalls of every tile, by router, group and class.

A tile is one end of a link with the buffers of what it receives, as on Aries routers: those of links between routers
have the class of their link (``rank-1``, ``local`` ...), those of hosts are processor tiles, here two rows each,
``host-in`` for what the host sends and ``host-out`` for what it is sent. Parallel links that are one port are one row.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice, config_error
from dragonfly_env.metrics.tables import Table, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from dragonfly_env.config.topology import Dragonfly

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

HOST_IN, HOST_OUT = "host-in", "host-out"
KEYS = ("router", "group", "port", "kind")
_SUMS = ("links", "flits", "stalls", "output_stalls")


@dataclasses.dataclass(frozen=True, slots=True)
class TileTotals:
    """The tiles of one class together; ``TileTable`` says what is counted."""

    tiles: int
    """Number of tiles."""
    flits: int
    """Flits received."""
    stalls: float
    """Stalls, in times of a flit."""
    output_stalls: float
    """Output stalls, in times of a flit."""

    @property
    def stalls_to_flits(self) -> float:
        """Stalls per flit; NaN without flits."""
        return self.stalls / self.flits if self.flits else math.nan


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class TileTable(Table):
    """Counters of tiles, one row each, by router. Arrays are read-only.

    ``flits`` are those *received* at the tile (``host-out``: by the host), as ``INCOMING_FLIT`` on Aries; they count
    when they leave the other end. ``stalls``: the time in which the head of some buffer of the tile could not move on
    for lack of room, in times of a flit on that link (``ROWBUS_STALL``; requests at processor tiles are ``host-in``).
    ``output_stalls``: the time in which the port had a packet to send but no credit for it, in the same unit. Hosts
    take every packet, so both are 0 for ``host-out``. ``links``: parallel links that are this tile.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", load=0.2)
        >>> tiles = dfe.simulate(config, measure_ns=5_000).tiles
        >>> len(tiles), tiles.stalls_to_flits.shape
        (324, (324,))
        >>> list(tiles.kinds)
        ['host-in', 'local', 'global', 'host-out']
    """

    router: IntArray
    """(n,) the router of each tile."""
    group: IntArray
    """(n,) its group."""
    port: IntArray
    """(n,) the port that the tile is an end of."""
    kind: npt.NDArray[np.str_]
    """(n,) its class."""
    links: IntArray
    flits: IntArray
    stalls: FloatArray
    output_stalls: FloatArray

    @classmethod
    def build(
        cls,
        topology: Dragonfly,
        *,
        host_packets: IntArray,
        link_packets: IntArray,
        input_stall_ps: IntArray,
        output_stall_ps: IntArray,
        busy_ps_per_packet: IntArray,
        flits_per_packet: int,
    ) -> TileTable:
        """The table from what ports and hosts counted.

        Args:
            topology: Says what is connected.
            host_packets: (num_hosts,) packets that each host sent.
            link_packets: (num_routers * radix,) packets that each port sent.
            input_stall_ps: (num_routers * radix,) time with a head that found no room.
            output_stall_ps: (num_routers * radix,) time with a packet but no credit.
            busy_ps_per_packet: (classes,) by class of link.
            flits_per_packet: For ``flits``.
        """
        layout = _layout(topology)
        packets = np.where(layout.is_host_in, host_packets[layout.host], link_packets[layout.sender])
        stall_ps = np.where(layout.is_host_out, 0, input_stall_ps[layout.index])
        blocked_ps = np.where(layout.is_host_in | layout.is_host_out, 0, output_stall_ps[layout.index])
        per_ps = flits_per_packet / busy_ps_per_packet[layout.link_class]
        return cls(
            router=layout.router,
            group=layout.group,
            port=layout.port,
            kind=layout.kind,
            links=layout.links,
            flits=packets * flits_per_packet,
            stalls=stall_ps * per_ps,
            output_stalls=blocked_ps * per_ps,
        ).sealed()

    @property
    def stalls_to_flits(self) -> FloatArray:
        """(n,) stalls per flit of each tile, the ratio that operators look at; NaN where there was no flit."""
        return _ratio(self.stalls, self.flits)

    def of_routers(self, routers: Iterable[int]) -> TileTable:
        """The tiles of some routers: with those of a job's hosts, its local view."""
        return self._rows(np.isin(self.router, np.fromiter(routers, np.int64)))

    def of_kind(self, kind: str) -> TileTable:
        """The tiles of one class.

        Args:
            kind: A class of tiles, such as ``"global"`` or ``"host-in"``.
        """
        return self._rows(self.kind == check_choice("kind", kind, tuple(dict.fromkeys(self.kind.tolist()))))

    @property
    def kinds(self) -> dict[str, TileTotals]:
        """Sums by class, in the order of the classes."""
        sums = self.by("kind")
        columns = (sums[name].tolist() for name in ("tiles", "flits", "stalls", "output_stalls"))
        totals = dict(zip(sums["kind"].tolist(), map(TileTotals, *columns), strict=True))
        return {kind: totals[kind] for kind in dict.fromkeys(self.kind.tolist())}

    def by(self, *keys: str) -> dict[str, npt.NDArray[Any]]:
        """Sums over the tiles that have the same values in some columns.

        Args:
            *keys: One or more of ``router``, ``group``, ``port``, ``kind``.

        Returns:
            Columns: the keys, ascending; ``tiles`` (how many), ``links``, ``flits``, ``stalls``, ``output_stalls``
            and ``stalls_to_flits``.
        """
        if not keys:
            raise config_error("keys", keys, f"must be one or more of {', '.join(KEYS)}")
        values = [getattr(self, check_choice("keys", key, KEYS)) for key in keys]
        parts = [np.unique(column, return_inverse=True) for column in values]
        codes = np.ravel_multi_index(
            [inverse.reshape(-1) for _, inverse in parts], [max(1, len(found)) for found, _ in parts]
        )
        _, first, where = np.unique(codes, return_index=True, return_inverse=True)
        result = {key: column[first] for key, column in zip(keys, values, strict=True)}
        result["tiles"] = np.bincount(where, minlength=len(first)).astype(np.int64)
        for name in _SUMS:
            column = getattr(self, name)
            sums = np.zeros(len(first), column.dtype)
            np.add.at(sums, where, column)
            result[name] = sums
        result["stalls_to_flits"] = _ratio(result["stalls"], result["flits"])
        return result

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name, ``stalls_to_flits`` last."""
        return {**Table.to_dict(self), "stalls_to_flits": self.stalls_to_flits}

    def to_parquet(self, path: str | Path) -> None:
        """Write the table.

        Args:
            path: The file to write.
        """
        write_table(self.to_dict(), path)

    def _rows(self, chosen: npt.NDArray[np.bool_]) -> TileTable:
        fields = dataclasses.fields(self)
        return TileTable(**{field.name: getattr(self, field.name)[chosen] for field in fields}).sealed()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Columns that do not depend on the counts, (n,) each."""

    router: IntArray
    group: IntArray
    port: IntArray
    kind: npt.NDArray[np.str_]
    links: IntArray
    index: IntArray
    """The tile's own port, router * radix + port."""
    sender: IntArray
    """The port that sends to it; of no meaning for ``host-in``."""
    host: IntArray
    """Host that sends to ``host-in``; meaningless elsewhere."""
    link_class: IntArray
    is_host_in: npt.NDArray[np.bool_]
    is_host_out: npt.NDArray[np.bool_]


@functools.lru_cache(maxsize=8)
def _layout(topology: Dragonfly) -> _Layout:
    radix, classes = topology.radix, topology.port_classes().astype(np.int64)
    between = topology.links().astype(np.int64)
    hosts = np.arange(topology.num_hosts, dtype=np.int64)
    own_of_host = topology.router_of_hosts() * radix + topology.port_of_hosts()
    index = np.concatenate([own_of_host, between[:, 0] * radix + between[:, 1], own_of_host])
    sender = np.concatenate([own_of_host, between[:, 2] * radix + between[:, 3], own_of_host])
    # Per router: flits from hosts, from routers, and to hosts.
    part = np.repeat(np.arange(3), [len(hosts), len(between), len(hosts)])
    order = np.lexsort((index, part, index // radix))
    host = np.concatenate([hosts, np.zeros(len(between), np.int64), hosts])[order]
    index, sender, part = index[order], sender[order], part[order]
    router, port = np.divmod(index, radix)
    names = np.array(topology.link_classes)
    kind = np.where(part == 0, HOST_IN, np.where(part == 2, HOST_OUT, names[classes[port]]))
    links = np.array([topology.port_links(one) for one in range(radix)], np.int64)
    layout = _Layout(
        router=router,
        group=topology.group_of_routers()[router],
        port=port,
        kind=kind,
        links=links[port],
        index=index,
        sender=sender,
        host=host,
        link_class=classes[port],
        is_host_in=part == 0,
        is_host_out=part == 2,
    )
    for field in dataclasses.fields(layout):
        getattr(layout, field.name).setflags(write=False)
    return layout


def _ratio(stalls: FloatArray, flits: IntArray) -> FloatArray:
    ratio: FloatArray = np.divide(stalls, flits, out=np.full(len(flits), math.nan), where=flits > 0)
    return ratio
