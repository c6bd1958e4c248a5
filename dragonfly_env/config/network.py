"""``NetworkConfig``: what links, routers and buffers are like; the only place with their defaults.

Presets: ``default`` (for learning), ``q-adaptive`` (the simulator of the HPDC'21 paper), ``lia`` (the network
of the TACO'25 paper), and ``aries`` and ``aries-256`` (Cray's Aries, with 64 and 256 bytes of payload in a
packet). One engine runs them all; a preset is nothing but values of these fields.

Sources: Kang, Wang, Lan, "Q-adaptive", HPDC 2021, section 5.1, and the behaviour of the authors' simulator
(SST/Merlin), called *Q* below; "LIA", TACO 2025, table 1, and the simulators FOGSim and CAMINOS, called *L*.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.values import (
    PS_PER_NS,
    check_mapping,
    config_error,
    did_you_mean,
    ns_to_ps,
    parse_assignment,
    parse_time,
    unknown_name,
)
from dragonfly_env.config.groups import ALL_TO_ALL, Grid
from dragonfly_env.config.links import (
    MAX_BANDWIDTH,
    MAX_BUFFER,
    MAX_LATENCY_NS,
    LinkConfig,
    bandwidth,
    bundled_links,
    check_links,
    of_core,
)
from dragonfly_env.config.network_presets import PRESETS
from dragonfly_env.config.rows import Record, boolean, choice, core_values, integer, setting
from dragonfly_env.config.time_unit import largest_error, rounded
from dragonfly_env.config.topology import Dragonfly

Arbitration: TypeAlias = Literal[
    "round-robin",
    "age",
    "least-recently-served",
    "transit-first-round-robin",
    "transit-first-age",
    "transit-first-least-recently-served",
]
PeriodicIntervals: TypeAlias = Literal["exact", "whole-ns"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig(Record):
    """Links, routers and buffers. ``NetworkConfig()`` is ``NetworkConfig.preset("default")``.

    1 GB/s is 10^9 bytes a second, which is one byte per ns. Every field is checked on construction.

    Raises:
        ConfigError: If a field is out of range or two fields contradict each other.

    Example:
        >>> network = dfe.NetworkConfig(global_latency_ns=500, global_buffer_packets=36)
        >>> network.packet_time_ns, network.round_trip_ns
        (32.0, 1316.8000000000002)
    """

    called: ClassVar[str] = "a network"
    listed: ClassVar[str] = "'dragonfly-env info default'"

    # Packets.
    packet_bytes: int = integer(128, 1, 2**20, unit="bytes", doc="Size of a packet, headers included.")
    payload_bytes: int | None = integer(
        None,
        1,
        2**20,
        unit="bytes",
        optional=True,
        doc="Bytes of a message per packet; unset: the whole packet.",
    )
    flit_bytes: int = integer(
        128,
        1,
        2**20,
        unit="bytes",
        doc="Size of a flit (phit); a divisor of packet_bytes. It sets the head latency of cut-through switching and "
        "the trial period of Bernoulli injection.",
    )

    # Links: bandwidth per direction; latency of the wire.
    host_bandwidth_gbytes_per_s: float = bandwidth(
        "host_packet_ps", 4.0, "Link from router to host. Loads are fractions of this bandwidth."
    )
    local_bandwidth_gbytes_per_s: float = bandwidth("local_packet_ps", 4.0, "Link inside a group.")
    global_bandwidth_gbytes_per_s: float = bandwidth("global_packet_ps", 4.0, "Link between groups.")
    injection_bandwidth_gbytes_per_s: float | None = bandwidth(
        "injection_packet_ps",
        None,
        "Link from host to router; unset: as host_bandwidth_gbytes_per_s; infinite: the whole packet arrives at one "
        "time.",
        optional=True,
        infinite=True,
    )
    injection_latency_ns: float = of_core("injection_latency_ps", 10.0, "ns", "Wire from host to router.")
    ejection_latency_ns: float = of_core("ejection_latency_ps", 10.0, "ns", "Wire from router to host.")
    local_latency_ns: float = of_core("local_latency_ps", 30.0, "ns", "Wire inside a group, above 0.")
    global_latency_ns: float = of_core(
        "global_latency_ps",
        300.0,
        "ns",
        "Wire between groups, at least 1, because groups are simulated independently for this time.",
    )

    # Routers.
    input_latency_ns: float = of_core(
        "input_latency_ps", 10.0, "ns", "Delay from the end of a wire into the input buffer."
    )
    output_latency_ns: float = of_core(
        "output_latency_ps", 10.0, "ns", "Delay from the link arbiter onto the wire."
    )
    crossbar_latency_ns: float = of_core(
        "crossbar_latency_ps", 0.0, "ns", "Pipeline delay from the grant of the crossbar to the output queue."
    )
    crossbar_bandwidth_gbytes_per_s: float = bandwidth(
        "crossbar_packet_ps",
        None,
        "Crossbar, for one packet per input port and per output port at a time; unset: 10 times the fastest link. If "
        "you change links of a preset, the ratio to the fastest link stays.",
        optional=True,
    )
    router_clock_ns: float = of_core(
        "router_clock_ps", 3.2, "ns", "Period of the clock on whose edges the crossbar is granted."
    )
    host_buffer_packets: int = of_core(
        "host_buffer_packets", 20, "packets", "Input buffer of a host port, per VC."
    )
    local_buffer_packets: int = of_core(
        "local_buffer_packets", 20, "packets", "Input buffer of a local port, per VC."
    )
    global_buffer_packets: int = of_core(
        "global_buffer_packets", 20, "packets", "Input buffer of a global port, per VC."
    )
    output_buffer_packets: int = of_core(
        "output_buffer_packets", 20, "packets", "Output queue, per VC or per port (see output_queue)."
    )
    output_queue: Literal["per-vc", "shared"] = of_core(
        "output_queue", "per-vc", "", "Output queues of a port: one per VC, or one that all VCs share."
    )
    link_start: Literal["timer", "immediate"] = of_core(
        "link_start",
        "timer",
        "",
        "Time at which an idle output port starts to send: at the end of its timer of one packet time, or immediately. "
        "A credit starts the timer, too; the credit of a host comes 1 ns later than its wires take, as in SST/Merlin.",
    )
    switching: Literal["store-and-forward", "cut-through"] = of_core(
        "switching",
        "store-and-forward",
        "",
        "Cut-through: the head of a packet may leave before its tail has arrived.",
    )
    arbitration: Arbitration = of_core(
        "arbitration",
        "least-recently-served",
        "",
        "Order in which input VCs get the crossbar. 'transit-first-..': packets from other routers always before "
        "packets from the router's own hosts (FOGSim's default).",
    )

    # Virtual channels.
    vc_scheme: Literal["stage", "ladder", "hop"] = choice(
        "stage",
        ("stage", "ladder", "hop"),
        doc="Rule for the VC of a packet: by the stage of its path, by its class of hops on a shared ladder, or by the "
        "number of hops taken.",
        core="vc_scheme",
    )
    local_vcs: int = of_core("local_vcs", 0, "VCs", "VCs of a local port; 0: as many as the policy needs.")
    global_vcs: int = of_core("global_vcs", 0, "VCs", "VCs of a global port; 0: as many as the policy needs.")

    # Classes of links that differ from the other local or global ones.
    links: tuple[tuple[str, LinkConfig], ...] = setting(
        (),
        check_links,
        "",
        "Settings by class of link, if a topology has several classes: {'rank-2': LinkConfig(latency_ns=15)}.",
        optional=False,
    )

    # Decisions.
    decide_at: Literal["arrival", "head", "attempt", "retry-same-paths", "by-policy"] = of_core(
        "decide_at",
        "arrival",
        "",
        "Time of the router's decision. 'arrival': when the packet arrives. 'head': when the packet is the first of "
        "its VC. "
        "'attempt': as 'head', and the source router decides again whenever the crossbar refuses the packet (not in "
        "environments). 'retry-same-paths': as 'attempt', but between the same two paths that were drawn first "
        "(FOGSim's default). 'by-policy': 'attempt' for lia; 'head' for acor, pb-acor, learned policies and "
        "environments; 'retry-same-paths' for all others.",
    )
    routing_delay_ns: float = of_core(
        "routing_delay_ps",
        100.0,
        "ns",
        "Time from a decision to its effect. An environment gets all decisions of one delay as one batch.",
    )
    congestion_metric: Literal["port", "vc"] = of_core(
        "congestion_metric",
        "port",
        "",
        "Occupancy that Piggyback (pb, pb-acor) compares: of whole ports, or of the VC that a path would use first. "
        "With 'vc' the flags of congested links use the mean over a link's VCs.",
    )
    nonminimal_avoid_destination_group: bool = boolean(
        True,
        doc="Whether non-minimal paths avoid the destination group, too, not only the source group.",
        core="nonminimal_avoid_destination_group",
    )
    uniform_excludes_sender: bool = boolean(
        False, doc="Whether uniform traffic never draws the sender itself as the destination."
    )
    periodic_intervals: PeriodicIntervals = choice(
        "exact",
        PeriodicIntervals,
        doc="Time between messages of periodic injection: exact, or rounded to whole ns as in the HPDC'21 simulator. "
        "Rounding changes the load by up to 2 %; a larger change is a ConfigError of the simulation.",
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.crossbar_bandwidth_gbytes_per_s is None:
            object.__setattr__(self, _CROSSBAR, self._scaled_crossbar(_SPEEDUP * self._fastest_link()))
        if self.message_bytes_of_packet > self.packet_bytes:
            allowed = f"must be at most packet_bytes, which is {self.packet_bytes}"
            raise config_error("payload_bytes", self.payload_bytes, allowed)
        if self.packet_bytes % self.flit_bytes:
            allowed = f"must divide packet_bytes, which is {self.packet_bytes}"
            raise config_error("flit_bytes", self.flit_bytes, allowed)
        for name in ("host", "local", "global", "injection", "crossbar"):
            field = f"{name}_bandwidth_gbytes_per_s"
            value = getattr(self, field)
            if value is None or value == math.inf:
                continue
            packet_ps = self.packet_bytes * PS_PER_NS / value
            if self._flit_ps(value) < 1 or packet_ps > MAX_LATENCY_NS * PS_PER_NS + 0.5:
                low = self.packet_bytes / MAX_LATENCY_NS
                raise config_error(
                    field,
                    value,
                    f"must be in [{low:g}, {self.flit_bytes * PS_PER_NS}] GB/s, so that a flit of "
                    f"{self.flit_bytes} bytes takes at least 1 ps and a packet at most 1 ms",
                )
        fastest = self._fastest_link(of_classes=False)
        if self.switching == "cut-through" and self.link_start == "timer":
            allowed = "must be 'store-and-forward' with link_start='timer'"
            raise config_error("switching", self.switching, allowed)
        if self.switching == "cut-through" and self.crossbar_bandwidth_gbytes_per_s < fastest:
            allowed = f"must be at least the fastest link's {fastest:g} GB/s with switching='cut-through'"
            raise config_error(_CROSSBAR, self.crossbar_bandwidth_gbytes_per_s, allowed)
        for kind in ("local", "global"):
            self._warn_of_a_short_buffer(kind)

    def __repr__(self) -> str:
        """The call of the nearest preset, with the fields that differ from it."""
        changes = {name: self._changes_from(NetworkConfig(**preset)) for name, preset in PRESETS.items()}
        nearest = min(changes, key=lambda name: len(changes[name]))
        given = [f"{name}={value!r}" for name, value in changes[nearest].items()]
        if nearest == "default":
            return f"NetworkConfig({', '.join(given)})"
        return f"NetworkConfig.preset({', '.join([repr(nearest), *given])})"

    def _changes_from(self, other: NetworkConfig) -> dict[str, Any]:
        """The fields that differ; with any rate also that of the crossbar, which would follow from it."""
        names = [field.name for field in dataclasses.fields(self)]
        changed = [name for name in names if getattr(self, name) != getattr(other, name)]
        if any("bandwidth" in name or name == "links" for name in changed):
            changed = list(dict.fromkeys([*changed, _CROSSBAR]))
        return {name: getattr(self, name) for name in changed}

    def _warn_of_a_short_buffer(self, kind: str) -> None:
        """Warn if one virtual channel cannot fill the links of a kind: there is no credit for part of a round trip.
        What a preset has is published, and not warned about; what ``links`` sets for one class is not looked at.
        """
        field, latency, bandwidth = (f"{kind}_{name}" for name in _OF_A_BUFFER)
        buffer, packet_ns = getattr(self, field), self.packet_bytes / getattr(self, bandwidth)
        wires_ns = 2 * (getattr(self, latency) + self.input_latency_ns + self.output_latency_ns)
        credit_ns = wires_ns + self.routing_delay_ns + self.crossbar_latency_ns + self.router_clock_ns
        needed = math.ceil(credit_ns / packet_ns)
        if buffer >= needed:
            return
        given = {name: getattr(self, name) for name in (field, latency, bandwidth, *_OF_A_ROUND_TRIP)}
        usual = {name: type(self).__dataclass_fields__[name].default for name in given}
        if any(
            given == {name: preset.get(name, usual[name]) for name in given} for preset in PRESETS.values()
        ):
            return
        warnings.warn(
            f"{field} = {buffer}: a credit of a {kind} link is back after {credit_ns:g} ns, so one virtual channel "
            f"carries at most {buffer * packet_ns / credit_ns:.0%} of the link's bandwidth; {field} = {needed} or more "
            f"lifts this limit (a packet takes {packet_ns:g} ns)",
            UserWarning,
            stacklevel=4,
        )

    def _flit_ps(self, gbytes_per_s: float) -> float:
        return self.flit_bytes * PS_PER_NS / gbytes_per_s

    def _packet_ps(self, gbytes_per_s: float | None) -> int:
        return round(self._exact_packet_ps(gbytes_per_s))

    @property
    def message_bytes_of_packet(self) -> int:
        """Bytes of a message that a packet carries: ``payload_bytes``, or the whole packet."""
        return self.packet_bytes if self.payload_bytes is None else self.payload_bytes

    @property
    def flits_per_packet(self) -> int:
        """Flits of a packet."""
        return self.packet_bytes // self.flit_bytes

    @property
    def packet_time_ns(self) -> float:
        """Time of a packet on the link from router to host, to the nearest ps: the unit of load."""
        return self._packet_ps(self.host_bandwidth_gbytes_per_s) / PS_PER_NS

    @property
    def local_packet_time_ns(self) -> float:
        """Time of a packet on a local link, to the nearest ps."""
        return self._packet_ps(self.local_bandwidth_gbytes_per_s) / PS_PER_NS

    @property
    def global_packet_time_ns(self) -> float:
        """Time of a packet on a global link, to the nearest ps."""
        return self._packet_ps(self.global_bandwidth_gbytes_per_s) / PS_PER_NS

    @property
    def injection_packet_time_ns(self) -> float:
        """Time of a packet on the link from host to router, to the nearest ps; 0: whole at once."""
        return self._packet_ps(self.injection_bandwidth_gbytes_per_s) / PS_PER_NS

    @property
    def crossbar_packet_time_ns(self) -> float:
        """Time of a packet through the crossbar, to the nearest ps."""
        return self._packet_ps(self.crossbar_bandwidth_gbytes_per_s) / PS_PER_NS

    @property
    def flit_time_ns(self) -> float:
        """Time of a flit on the link from router to host, to the nearest ps: Bernoulli's trial period."""
        return round(self._flit_ps(self.host_bandwidth_gbytes_per_s)) / PS_PER_NS

    @property
    def round_trip_ns(self) -> float:
        """The longest time from a packet's arrival at a router until its credit is back from the next one.

        Without any queueing, over the slower of local and global links: the natural unit of patience.
        """
        links = [link for _, link in self.links]
        wires = [link.latency_ns for link in links if link.latency_ns is not None]
        rates = [link.bandwidth_gbytes_per_s for link in links if link.bandwidth_gbytes_per_s is not None]
        latency = max(self.local_latency_ns, self.global_latency_ns, *wires)
        packet = max(
            self.packet_time_ns,
            self.local_packet_time_ns,
            self.global_packet_time_ns,
            *(self.packet_bytes / rate for rate in rates),
        )
        wire = latency + self.input_latency_ns + self.output_latency_ns
        inside = self.routing_delay_ns + self.crossbar_latency_ns + self.crossbar_packet_time_ns
        return 2 * (wire + packet + inside + self.router_clock_ns)

    @property
    def speedup(self) -> float:
        """Crossbar bandwidth over that of a local link."""
        return self.crossbar_bandwidth_gbytes_per_s / self.local_bandwidth_gbytes_per_s

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> NetworkConfig:
        """A published network by name, with single fields changed.

        Args:
            name: ``"default"``, ``"q-adaptive"``, ``"lia"``, ``"aries"`` or ``"aries-256"``.
            **overrides: Fields that differ from the preset.

        Raises:
            ConfigError: For an unknown name or field (the nearest match is named) or a value out of range.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise unknown_name("network", name, PRESETS)
        return cls(**PRESETS[name]).replace(**overrides)

    def replace(self, **changes: Any) -> NetworkConfig:
        """A copy with some fields changed; the crossbar keeps its ratio to the fastest link unless it is among them.

        Raises:
            ConfigError: For an unknown field or a value out of range.
        """
        self._check_names(changes)
        if changes.get(_CROSSBAR) is None:
            made = dataclasses.replace(self, **{**changes, _CROSSBAR: None})
            ratio = made._fastest_link() / self._fastest_link()
            changes[_CROSSBAR] = made._scaled_crossbar(ratio * self.crossbar_bandwidth_gbytes_per_s)
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Every field as a plain value for TOML and JSON; infinity is ``"inf"``, a field that is None is absent."""
        values: dict[str, Any] = Record.to_dict(self)
        links = dict(values.pop("links"))
        return {**values, "links": links} if links else values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkConfig:
        """The inverse of ``to_dict``. Absent fields come from the preset named by ``preset`` (``"default"``).

        Args:
            values: Fields by name, as ``to_dict`` gives them.

        Raises:
            ConfigError: For an unknown key or a value out of range.
        """
        given = check_mapping("network", values)
        name = given.pop("preset", "default")
        cls._check_names(given, extra=("preset",))
        key = "injection_bandwidth_gbytes_per_s"
        if isinstance(given.get(key), str) and given[key] == "inf":
            given[key] = math.inf
        return cls.preset(name, **given)

    def to_core(
        self, topology: Dragonfly | None = None, *, watchdog_ns: float = 1_000_000.0
    ) -> _core.NetworkParams:
        """Convert the settings for the core: whole picoseconds, times of packets rounded (``time_unit``).

        Args:
            topology: Topology with the classes of links; None: local and global ones, as all-to-all groups have.
            watchdog_ns: Time without progress after which the core raises ``DeadlockError``.

        Raises:
            ConfigError: If ``topology`` is neither, ``watchdog_ns`` is no time above 0 or finer than a ps, or ``links``
                do not fit the topology, or a delay is too fine for the longest of them.
        """
        exact = self._exact(topology, watchdog_ns)
        bundled = bundled_links(topology) if topology is not None and exact["links"] else []
        return rounded(exact, [links > 1 for links in bundled])

    def rounding(self, topology: Dragonfly | None = None) -> float:
        """The largest relative error of a rate, of links and the crossbar, in the simulation.

        The simulator counts time in whole units, and rounds the time of a packet to them. The error is at most 0.001
        for rates at which a packet takes 500 ps or more.

        Args:
            topology: Its classes of links are looked at; None: local and global ones, as all-to-all groups have.

        Example:
            >>> dfe.NetworkConfig().rounding()
            0.0
            >>> round(dfe.NetworkConfig(local_bandwidth_gbytes_per_s=12.0).rounding(), 6)
            0.000625
        """
        return largest_error(self._exact(topology), self.to_core(topology))

    def _exact(self, topology: Dragonfly | None, watchdog_ns: float = 1_000_000.0) -> dict[str, Any]:
        """The parameters for the core, before times of packets are rounded."""
        apart = topology is not None and (self.links or topology.group != ALL_TO_ALL)
        return {
            **core_values(self, {"GB/s": self._exact_packet_ps}),
            "watchdog_ps": ns_to_ps("watchdog_ns", watchdog_ns),
            "links": link_rows(self, topology) if topology is not None and apart else [],
        }

    def _fastest_link(self, *, of_classes: bool = True) -> float:
        """The rate in GB/s of the fastest link that is set, of hosts, too; ``of_classes``: of ``links``, too."""
        rates = [link.bandwidth_gbytes_per_s or 0.0 for _, link in self.links] if of_classes else []
        return max(
            self.host_bandwidth_gbytes_per_s,
            self.local_bandwidth_gbytes_per_s,
            self.global_bandwidth_gbytes_per_s,
            *rates,
        )

    def _scaled_crossbar(self, gbytes_per_s: float) -> float:
        """A rate of the crossbar that follows from another one, no faster than a flit in a ps."""
        return min(gbytes_per_s, float(self.flit_bytes * PS_PER_NS), MAX_BANDWIDTH)

    def _exact_packet_ps(self, gbytes_per_s: float | None) -> float:
        """Time per packet; None: as on the link from router to host."""
        rate = self.host_bandwidth_gbytes_per_s if gbytes_per_s is None else gbytes_per_s
        return self.packet_bytes * PS_PER_NS / rate


_CROSSBAR = "crossbar_bandwidth_gbytes_per_s"
_SPEEDUP = 10.0
_OF_A_BUFFER = ("buffer_packets", "latency_ns", "bandwidth_gbytes_per_s")
_OF_A_ROUND_TRIP = (
    "packet_bytes",
    "input_latency_ns",
    "output_latency_ns",
    "routing_delay_ns",
    "crossbar_latency_ns",
    "router_clock_ns",
)


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


def read_field(row: str, text: str) -> dict[str, Any]:
    """The field of a network that a person types as ``"packet_bytes=256"``; a time may have a unit."""
    name, value = parse_assignment(text, row)
    NetworkConfig._check_names({name: value})
    if isinstance(value, str) and name.endswith("_ns"):
        value = parse_time(name, value)
    return {name: value}


def networks() -> tuple[str, ...]:
    """The names of all networks that ``NetworkConfig.preset`` makes.

    Example:
        >>> dfe.networks()
        ('default', 'q-adaptive', 'lia', 'aries', 'aries-256')
    """
    return tuple(PRESETS)
