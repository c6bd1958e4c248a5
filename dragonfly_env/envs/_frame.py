"""What one rendered frame shows: utilisation of links over a window of simulated time, the hottest links by name."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.metrics import Metrics

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HOT = 0.7
"""From this utilisation on a link is called hot: little above it queues grow without bound."""
_SHORTEST_WINDOW_NS = 500.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NamedLink:
    """A global link that is named in the picture: from router to router, in fractions of its bandwidth."""

    router: int
    group: int
    peer: int
    peer_group: int
    utilisation: float

    def __str__(self) -> str:
        return f"group {self.group} → {self.peer_group}  (router {self.router} → {self.peer})"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """One picture's content. ``utilisation`` is the fraction of the last ``window_ns`` in which a link carried bits.

    Attributes:
        topology: The wiring.
        title: What runs: system, traffic, load.
        time_ns: Simulated time.
        window_ns: What ``utilisation`` is measured over; 0 if no time has passed.
        metrics: Everything since the statistics began.
        links: (L, 4) global links: router, port, router at the other end, its port.
        utilisation: (L,) of those.
        router_utilisation: (num_routers,) mean over the local links that leave a router.
        class_utilisation: Mean and highest by class of link.
    """

    topology: Dragonfly
    title: str
    time_ns: float
    window_ns: float
    metrics: Metrics
    links: IntArray
    utilisation: FloatArray
    router_utilisation: FloatArray
    class_utilisation: dict[str, tuple[float, float]]

    def hottest(self, most: int) -> list[NamedLink]:
        """The busiest global links, at most ``most``, busiest first; idle ones are left out."""
        order = np.argsort(-self.utilisation, kind="stable")[:most]
        a = self.topology.a
        return [
            NamedLink(
                router=int(self.links[i, 0]),
                group=int(self.links[i, 0]) // a,
                peer=int(self.links[i, 2]),
                peer_group=int(self.links[i, 2]) // a,
                utilisation=float(self.utilisation[i]),
            )
            for i in order.tolist()
            if self.utilisation[i] > 0.0
        ]

    @property
    def hot_links(self) -> int:
        """Global links at or above ``HOT``."""
        return int((self.utilisation >= HOT).sum())

    @property
    def figures(self) -> list[tuple[str, str]]:
        """The numbers of interest, name and text, since the statistics began."""
        metrics = self.metrics
        return [
            ("accepted load", _text(metrics.accepted_load, "{:.3f}")),
            ("mean latency", _text(metrics.latency_mean_ns, "{:,.0f} ns")),
            ("mean hops", _text(metrics.hops_mean, "{:.2f}")),
            ("minimal paths", _text(100 * metrics.minimal_fraction, "{:.0f} %")),
            ("packets in flight", f"{metrics.packets_in_flight:,}"),
        ]


def _text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else form.format(value)


class FrameMaker:
    """Makes frames of one episode; utilisation is measured from frame to frame.

    A window is at least 500 ns long, if so much has passed: over a few packet times every link is either
    idle or full. Without any frame before, and after statistics began anew, it reaches back to their beginning.
    """

    def __init__(self, config: SimulationConfig) -> None:
        self._topology = config.topology
        self._title = _title(config)
        between = config.topology.links().astype(np.int64)
        is_global = between[:, 1] >= config.topology.p + config.topology.num_local_ports
        self._global = between[is_global]
        self._marks: list[tuple[int, IntArray]] = []  # time and counters of earlier frames, oldest first
        self._start_ps = -1

    def reset(self) -> None:
        """A new episode: forget earlier frames."""
        self._marks = []

    def frame(self, metrics: Metrics, time_ns: float | None = None) -> Frame:
        """A frame of this moment.

        Args:
            metrics: Taken now.
            time_ns: The simulated time. While decisions are pending that is not the end of the metrics, which
                then lies at the last instant that all parts of the network have passed. None: the end.
        """
        topology = self._topology
        sent = metrics.link_packets
        now_ps = metrics.end_ps if time_ns is None else max(metrics.start_ps, round(time_ns * PS_PER_NS))
        if metrics.start_ps != self._start_ps:
            self._start_ps, self._marks = metrics.start_ps, []
        since_ps, before = self._window_start(now_ps, metrics.start_ps, np.zeros_like(sent))
        width_ps = now_ps - since_ps
        kinds, names = topology.port_classes(), topology.link_classes
        busy_ps = (sent - before).reshape(-1, topology.radix) * metrics.link_busy_ps_per_packet[kinds]
        # A packet counts when it starts, so a short window may seem more than full.
        used = np.minimum(busy_ps / width_ps, 1.0) if width_ps > 0 else np.zeros(busy_ps.shape)
        self._marks.append((now_ps, sent))
        local = used[:, (kinds > 0) & (kinds < len(names) - 1)]
        by_kind = {name: used[:, kinds == kind] for kind, name in enumerate(names)}
        by_kind[names[-1]] = used[self._global[:, 0], self._global[:, 1]]  # unconnected ports are no links
        return Frame(
            topology=topology,
            title=self._title,
            time_ns=now_ps / PS_PER_NS,
            window_ns=width_ps / PS_PER_NS,
            metrics=metrics,
            links=self._global,
            utilisation=by_kind[names[-1]],
            router_utilisation=local.mean(axis=1) if local.size else np.zeros(topology.num_routers),
            class_utilisation={
                name: (float(values.mean()), float(values.max()))
                for name, values in by_kind.items()
                if values.size
            },
        )

    def _window_start(self, now_ps: int, start_ps: int, zeros: IntArray) -> tuple[int, IntArray]:
        """The last frame that lies far enough back; older ones are dropped."""
        shortest_ps = int(_SHORTEST_WINDOW_NS * PS_PER_NS)
        while len(self._marks) > 1 and now_ps - self._marks[1][0] >= shortest_ps:
            del self._marks[0]
        if self._marks and now_ps - self._marks[0][0] >= shortest_ps:
            return self._marks[0]
        return start_ps, zeros


def _title(config: SimulationConfig) -> str:
    traffic = (
        config.traffic if isinstance(config.traffic, str) else type(config.traffic_object).__name__.lower()
    )
    return f"Dragonfly, {config.topology.num_hosts:,} hosts · {traffic}, load {config.load:g}"
