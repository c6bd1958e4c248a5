"""``LinkConfig``: what one class of link is like, where it differs from all others of its kind; and what the core
restricts of a network.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS, check_mapping
from dragonfly_env.config.rows import Record, choice, integer, limits_of, real, time_ns

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly

ROWS = {row["name"]: row for row in _core.network_rows()}
"""The core's restrictions on a network, by its own names."""
MAX_BANDWIDTH = 1e6
MAX_BUFFER = int(ROWS["local_buffer_packets"]["high"] or 0)
MAX_VCS = int(ROWS["local_vcs"]["high"] or 0)
MAX_LATENCY_NS = (ROWS["local_latency_ps"]["high"] or 0) / PS_PER_NS


def of_core(name: str, default: Any, unit: str, doc: str) -> Any:
    """A field that the core reads by that name, and restricts in its row of that name. A time in ns is one in ps
    there.
    """
    row = ROWS[name]
    if row["names"]:
        return choice(default, row["names"], doc=doc, core=name)
    low, high = limits_of(row)
    if unit != "ns":
        return integer(default, int(low), int(high), unit=unit, doc=doc, core=name)
    positive = low == 1  # any time above 0 is a ps at least
    least_ns = 0.0 if positive else low / PS_PER_NS
    return time_ns(default, least_ns, high / PS_PER_NS, open_low=positive, doc=doc, core=name)


def bandwidth(
    name: str, default: float | None, doc: str, *, optional: bool = False, infinite: bool = False
) -> Any:
    """A bandwidth; the core reads the time of a packet by that name."""
    return real(
        default,
        0.0,
        MAX_BANDWIDTH,
        open_low=True,
        unit="GB/s",
        doc=doc,
        optional=optional,
        infinite=infinite,
        core=name,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LinkConfig(Record):
    """Settings of a class of link. A field that is None takes the network's value for local or global links.

    Figures are those of a single link; a port that stands for n parallel ones (``Dragonfly.port_links``) has n times
    the bandwidth and the buffer.

    Raises:
        ConfigError: If a field is out of range.

    Example:
        >>> slow = dfe.LinkConfig(bandwidth_gbytes_per_s=2.0, latency_ns=50)
        >>> slow.to_dict()
        {'bandwidth_gbytes_per_s': 2.0, 'latency_ns': 50.0}
        >>> dfe.NetworkConfig(links={"global": slow}).links[0][0]
        'global'
    """

    called: ClassVar[str] = "a class of link"
    bandwidth_gbytes_per_s: float | None = real(
        None,
        0.0,
        MAX_BANDWIDTH,
        open_low=True,
        unit="GB/s",
        optional=True,
        doc="Bandwidth of the link per direction.",
    )
    latency_ns: float | None = time_ns(
        None,
        0.0,
        MAX_LATENCY_NS,
        open_low=True,
        optional=True,
        doc="Latency of the wire; at least 1 ns between groups.",
    )
    buffer_packets: int | None = integer(
        None, 1, MAX_BUFFER, unit="packets", optional=True, doc="Input buffer of the port, per VC."
    )
    vcs: int | None = integer(
        None, 0, MAX_VCS, unit="VCs", optional=True, doc="VCs of a port; 0: as many as the policy needs."
    )


def check_links(field: str, value: object) -> tuple[tuple[str, LinkConfig], ...]:
    """Settings by class of link in the order of their names."""
    given_links = dict(value) if isinstance(value, (tuple, list)) else value
    table = check_mapping(field, given_links, "must map classes of link to their settings")
    links = {}
    for name, given in table.items():
        if not isinstance(given, LinkConfig):
            given = LinkConfig.from_dict(check_mapping(f"{field}.{name}", given))
        links[name] = given
    return tuple(sorted(links.items()))


def bundled_links(topology: Dragonfly) -> list[int]:
    """Number of links per port, by class of links between routers."""
    links = {topology.port_kind(port): topology.port_links(port) for port in range(topology.radix)}
    return [links.get(name, 1) for name in topology.link_classes[1:]]
