"""Utilisation and stalls of links: one row per directed link, and sums by class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.metrics.tables import Table

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly

COUNTERS = ("link_packets", "link_stall_ps", "link_queued_packets", "link_occupancy_packets")
"""Quantities that the core counts at every output port, connected or not."""


@dataclasses.dataclass(frozen=True, slots=True)
class LinkClassTotals:
    """The links of one class together. Means are over links; all are NaN without links or time.

    ``stalls`` are those of an operator's counters: the time in which a port had a packet but no credit for it, in times
    of a flit on that port.
    """

    links: int
    """Number of links."""
    packets: int
    """Packets sent."""
    flits: int
    """Flits sent."""
    utilisation_mean: float
    """Mean fraction of the window in which a link carried bits."""
    utilisation_max: float
    """The largest such fraction."""
    stall_fraction_mean: float
    """Mean fraction of the window in which a port had a packet but no credit."""
    stall_fraction_max: float
    """The largest such fraction."""
    stalls: float

    @property
    def stalls_to_flits(self) -> float:
        """Stalls per flit sent; NaN if none was."""
        return self.stalls / self.flits if self.flits else math.nan

    @property
    def utilisation(self) -> float:
        """Mean utilisation of the links."""
        return self.utilisation_mean


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LinkTable(Table):
    """Connected directed links that leave a router, one row each, by router and port. Arrays are read-only.

    ``kind`` is the class of the link (``Dragonfly.port_kind``), ``"host"`` into hosts. ``utilisation`` is the fraction
    of the window in which the link carried bits, ``stall_fraction`` that in which the port had a packet but no credit
    for it; both are NaN if the window is empty. ``stalls`` is that time in times of a flit on the port: by
    ``to_frame().groupby("router")`` what a router's counters say, ``stalls / flits`` the ratio that operators look at.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", load=0.2)
        >>> links = dfe.simulate(config, measure_ns=5_000).links
        >>> len(links), float(links.utilisation.max()) < 1
        (252, True)
        >>> sorted(links.totals())
        ['global', 'host', 'local']
    """

    router: npt.NDArray[np.int64]
    """(n,) router that the link leaves."""
    port: npt.NDArray[np.int64]
    """(n,) its port there."""
    kind: npt.NDArray[np.str_]
    packets: npt.NDArray[np.int64]
    """(n,) packets sent."""
    flits: npt.NDArray[np.int64]
    """(n,) flits sent."""
    utilisation: npt.NDArray[np.float64]
    stall_fraction: npt.NDArray[np.float64]
    stalls: npt.NDArray[np.float64]

    @classmethod
    def build(
        cls,
        topology: Dragonfly,
        *,
        packets: npt.NDArray[np.int64],
        stall_ps: npt.NDArray[np.int64],
        busy_ps_per_packet: npt.NDArray[np.int64],
        duration_ps: int,
        flits_per_packet: int,
    ) -> LinkTable:
        """The table from counters by router * radix + port.

        Args:
            topology: Says which ports are connected, and their class.
            packets: (num_routers * radix,) packets sent.
            stall_ps: (num_routers * radix,) time with a packet but no credit.
            busy_ps_per_packet: (classes,) by class of link.
            duration_ps: Length of the window.
            flits_per_packet: For ``flits``.
        """
        between = topology.links().astype(np.int64)
        to_hosts = topology.router_of_hosts() * topology.radix + topology.port_of_hosts()
        index = np.sort(np.concatenate([to_hosts, between[:, 0] * topology.radix + between[:, 1]]))
        router, port = np.divmod(index, topology.radix)
        kind = topology.port_classes()[port]
        sent = packets[index]
        window = float(duration_ps) if duration_ps > 0 else math.nan
        return cls(
            router=router,
            port=port,
            kind=np.array(topology.link_classes)[kind],
            packets=sent,
            flits=sent * flits_per_packet,
            utilisation=sent * busy_ps_per_packet[kind] / window,
            stall_fraction=stall_ps[index] / window,
            stalls=stall_ps[index] * flits_per_packet / busy_ps_per_packet[kind],
        ).sealed()

    def totals(self, classes: Iterable[str] = ("host", "local", "global")) -> dict[str, LinkClassTotals]:
        """Sums and means by class.

        Args:
            classes: Classes of links to summarise (``Dragonfly.link_classes``).
        """
        result = {}
        for name in classes:
            rows = self.kind == name
            used, stalled = self.utilisation[rows], self.stall_fraction[rows]
            some = bool(rows.any())
            result[name] = LinkClassTotals(
                links=int(rows.sum()),
                packets=int(self.packets[rows].sum()),
                flits=int(self.flits[rows].sum()),
                utilisation_mean=float(used.mean()) if some else math.nan,
                utilisation_max=float(used.max()) if some else math.nan,
                stall_fraction_mean=float(stalled.mean()) if some else math.nan,
                stall_fraction_max=float(stalled.max()) if some else math.nan,
                stalls=float(self.stalls[rows].sum()),
            )
        return result
