"""The content of a rendered frame, for texts and pictures."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.metrics import Metrics

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HOT = 0.7
"""From this utilisation on a link is called hot: little above it queues grow without bound."""


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
    """A picture's content. ``utilisation`` is the fraction of the last ``window_ns`` in which a link carried bits.

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
            ("mean latency", _text(metrics.latency_mean_ns / 1000, "{:,.2f} µs")),
            ("mean hops", _text(metrics.hops_mean, "{:.2f}")),
            ("minimal paths", _text(100 * metrics.minimal_fraction, "{:.0f} %")),
            ("packets in flight", f"{metrics.packets_in_flight:,}"),
        ]


def _text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else form.format(value)
