"""``LinkConfig``: what one class of link is like, where it differs from all others of its kind; and what the core
restricts of a network.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS, check_mapping, config_error, did_you_mean, ns_to_ps
from dragonfly_env.config.groups import Grid
from dragonfly_env.config.network_presets import PRESETS
from dragonfly_env.config.rows import Record, choice, integer, limits_of, real, time_ns

if TYPE_CHECKING:
    from dragonfly_env.config.network import NetworkConfig
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


@functools.cache
def _links_of_presets() -> frozenset[tuple[str, LinkConfig]]:
    """The classes of link of grids in presets, which are not used where groups are no grids."""
    return frozenset(
        link for preset in PRESETS.values() for link in check_links("links", preset.get("links", {}))
    )


def link_rows(network: NetworkConfig, topology: Dragonfly) -> list[dict[str, Any]]:
    """The classes of links between routers, local ones first, as the core takes them once times are rounded."""
    given = dict(network.links)
    classes = topology.link_classes[1:]
    for name, link in network.links:
        if name not in classes and (
            isinstance(topology.group, Grid) or (name, link) not in _links_of_presets()
        ):
            allowed = f"this topology has {', '.join(classes)}{did_you_mean(name, classes)}"
            raise config_error("network.links", name, allowed)
    bundled = bundled_links(topology)
    return [
        _row(network, name, given.get(name, LinkConfig()), links, is_global=name == classes[-1])
        for name, links in zip(classes, bundled, strict=True)
    ]


def bundled_links(topology: Dragonfly) -> list[int]:
    """Number of links per port, by class of links between routers."""
    links = {topology.port_kind(port): topology.port_links(port) for port in range(topology.radix)}
    return [links.get(name, 1) for name in topology.link_classes[1:]]


def _row(
    network: NetworkConfig, name: str, given: LinkConfig, bundled: int, *, is_global: bool
) -> dict[str, Any]:
    """Settings of a class: its own, else those of local or global links."""
    kind = "global" if is_global else "local"

    def pick(value: Any, otherwise: str) -> Any:
        return getattr(network, f"{kind}_{otherwise}") if value is None else value

    bandwidth = bundled * pick(given.bandwidth_gbytes_per_s, "bandwidth_gbytes_per_s")
    latency_ns = pick(given.latency_ns, "latency_ns")
    buffer_packets = bundled * pick(given.buffer_packets, "buffer_packets")
    field = f"network.links.{name}"
    exact_ps = network.packet_bytes * PS_PER_NS / bandwidth  # may be infinite
    if network.flit_bytes * PS_PER_NS < bandwidth or exact_ps > MAX_LATENCY_NS * PS_PER_NS + 0.5:
        low, high = network.packet_bytes / MAX_LATENCY_NS, network.flit_bytes * PS_PER_NS
        raise config_error(field, bandwidth, f"a port of {bundled} links must be in [{low:g}, {high:g}] GB/s")
    if network.switching == "cut-through" and bandwidth > network.crossbar_bandwidth_gbytes_per_s:
        raise config_error(
            "crossbar_bandwidth_gbytes_per_s",
            network.crossbar_bandwidth_gbytes_per_s,
            f"must be at least the {bandwidth:g} GB/s of a port of {name!r} with switching='cut-through'",
        )
    if is_global and latency_ns < 1.0:
        raise config_error(field, latency_ns, "latency between groups must be at least 1 ns")
    if buffer_packets > MAX_BUFFER:
        raise config_error(
            field, buffer_packets, f"a port of {bundled} links has room for at most {MAX_BUFFER} packets"
        )
    return {
        "packet_ps": exact_ps,
        "latency_ps": ns_to_ps(f"{field}.latency_ns", latency_ns),
        "buffer_packets": buffer_packets,
        "vcs": pick(given.vcs, "vcs"),
    }


def slowest_link_ns(network: NetworkConfig) -> tuple[float, float]:
    """The longest latency, and the longest time of a packet, of any link that is set."""
    links = [link for _, link in network.links]
    wires = [link.latency_ns for link in links if link.latency_ns is not None]
    rates = [link.bandwidth_gbytes_per_s for link in links if link.bandwidth_gbytes_per_s is not None]
    packets = [network.packet_bytes / rate for rate in rates]
    return (
        max(network.local_latency_ns, network.global_latency_ns, *wires),
        max(network.packet_time_ns, network.local_packet_time_ns, network.global_packet_time_ns, *packets),
    )


def fastest_link(network: NetworkConfig, *, of_classes: bool = True) -> float:
    """The rate in GB/s of the fastest link that is set, of hosts, too; ``of_classes``: of ``links``, too."""
    rates = [link.bandwidth_gbytes_per_s or 0.0 for _, link in network.links] if of_classes else []
    return max(
        network.host_bandwidth_gbytes_per_s,
        network.local_bandwidth_gbytes_per_s,
        network.global_bandwidth_gbytes_per_s,
        *rates,
    )


def scaled_crossbar(network: NetworkConfig, gbytes_per_s: float) -> float:
    """A rate of the crossbar that follows from another one, no faster than a flit in a ps."""
    return min(gbytes_per_s, float(network.flit_bytes * PS_PER_NS), MAX_BANDWIDTH)
