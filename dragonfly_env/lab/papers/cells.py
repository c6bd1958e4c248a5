"""Cells: what a figure needs simulated, one point or one curve each, before seeds multiply it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.policies import make_policy, policies
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.run import Run
from dragonfly_env.traffic import parse_traffic

Step = tuple[float, str, float]
"""(time_ns, pattern, load) of a schedule."""


@dataclass(frozen=True, slots=True)
class Routing:
    """A policy as a paper uses it.

    Attributes:
        label: Its name in figures and claims.
        name: Its name in the registry.
        settings: Parameters that differ from the defaults, as (name, value) pairs.
        learns: Whether it needs the long warm-up.
    """

    label: str
    name: str = ""
    settings: tuple[tuple[str, Any], ...] = ()
    learns: bool = False

    @property
    def registered(self) -> str:
        """The name in the registry."""
        return self.name or self.label

    def with_settings(self, changes: Mapping[str, Any]) -> Routing:
        """The same with other parameters."""
        return replace(self, settings=tuple(sorted({**dict(self.settings), **changes}.items())))


Settings = tuple[tuple[str, Any], ...]
"""(name, value) pairs."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What all simulations of a paper share.

    Attributes:
        arrangement: Of the global links.
        network: Name of the network preset.
        source_queue_packets: Room in a host's source queue, or None for unbounded.
        source_queue_full: What a full one does to the next packet: ``stall`` or ``lose``.
        injection: How hosts generate packets, unless the user says otherwise.
        network_settings: Of the network, what differs from the preset.
    """

    arrangement: str
    network: str
    source_queue_packets: int | None
    source_queue_full: str = "stall"
    injection: str = "periodic"
    network_settings: Settings = ()

    def topology(self, hosts: int) -> Dragonfly:
        """The system with this many hosts."""
        return Dragonfly.preset(str(hosts), arrangement=self.arrangement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One simulation up to its seed.

    Attributes:
        hosts: Size of the system.
        traffic: A pattern's spec, or the name of a schedule.
        load: Offered load; of a schedule: its first.
        routing: The policy.
        warmup_ns: Simulated time before measuring.
        measure_ns: Simulated time that is measured.
        series_bin_ns: Width of the bins of a time series, or None.
        schedule: Steps, if the traffic changes.
        network_settings: What differs from the network of the paper's setup.
        packet_log: Whether results say what was delivered of each router's hosts.
        most_seeds: Seeds that are enough for it, whatever the effort; None: as many as the effort has.
    """

    hosts: int
    traffic: str
    load: float
    routing: Routing
    warmup_ns: float
    measure_ns: float
    series_bin_ns: float | None = None
    schedule: tuple[Step, ...] = field(default=())
    network_settings: Settings = ()
    packet_log: bool = False
    most_seeds: int | None = None

    @property
    def policy(self) -> str:
        """The policy's label."""
        return self.routing.label

    def describe(self) -> str:
        """One line for people."""
        load = "" if self.closed_loop else f" at load {self.load:g}"
        return f"{self.policy} under {self.traffic}{load} on {self.hosts} hosts"

    @property
    def closed_loop(self) -> bool:
        """Whether it runs a workload to its end: without a load, for at most ``measure_ns``."""
        return not self.schedule and parse_traffic(self.traffic).is_closed_loop

    def missing(self) -> str:
        """Why this version of the package cannot do it, or an empty string."""
        if self.routing.registered not in policies():
            return f"policy {self.routing.registered} is not available in this version"
        try:
            for spec in self._specs():
                parse_traffic(spec)
        except ConfigError:
            return f"traffic {self.traffic} is not available in this version"
        return ""

    def run(self, setup: Setup, injection: str, seed: int) -> Run:
        """The simulation with a seed.

        Raises:
            ConfigError: If a setting is impossible.
        """
        routing = self.routing
        settings = {**dict(setup.network_settings), **dict(self.network_settings)}
        offered: dict[str, Any] = {
            "load": self.load,
            "injection": injection,
            "source_queue_packets": setup.source_queue_packets,
            "source_queue_full": setup.source_queue_full,
        }
        return Run(
            config=SimulationConfig(
                topology=setup.topology(self.hosts),
                network=NetworkConfig.preset(setup.network, **settings),
                traffic=[list(step) for step in self.schedule] if self.schedule else self.traffic,
                policy=make_policy(routing.registered, **dict(routing.settings)),
                seed=seed,
                series_bin_ns=self.series_bin_ns,
                packet_log=self.packet_log,
                **({} if self.closed_loop else offered),
            ),
            policy_label=self.policy,
            traffic_label=self.traffic,
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
            arrays=True,
        )

    def _specs(self) -> tuple[str, ...]:
        return tuple(step[1] for step in self.schedule) or (self.traffic,)
