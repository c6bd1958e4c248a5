"""The content of a rendered frame, and the frame as text."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.metrics import Metrics

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HOT = 0.7
"""Utilisation from which a link is called hot: little above it queues grow without bound."""


class NamedLink(NamedTuple):
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
        title: Title of the run: system, traffic, load.
        time_ns: Simulated time.
        window_ns: Time over which ``utilisation`` is measured; 0 if no time has passed.
        metrics: Everything since the statistics began.
        links: (L, 4) global links: router, port, router at the other end, its port.
        utilisation: (L,) of those.
        router_utilisation: (num_routers,) mean over the local links that leave a router.
        class_utilisation: Mean and highest by class of link.
        packet: Router where the tagged packet of ``PacketRouting`` waits, and its destination router; None: no packet
            is tagged.
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
    packet: tuple[int, int] | None = None

    def hottest(self, most: int) -> list[NamedLink]:
        """The busiest global links, at most ``most``, busiest first; idle ones are left out."""
        order = np.argsort(-self.utilisation, kind="stable")[:most]
        groups = self.topology.group_of_routers().tolist()
        links = zip(self.links[order].tolist(), self.utilisation[order].tolist(), strict=True)
        return [
            NamedLink(router, groups[router], peer, groups[peer], used)
            for (router, _, peer, _), used in links
            if used > 0.0
        ]

    @property
    def hot_links(self) -> int:
        """Global links at or above ``HOT``."""
        return int((self.utilisation >= HOT).sum())

    @property
    def journey(self) -> list[tuple[str, str]]:
        """The routers between which the tagged packet travels, name and text; empty if no packet is tagged."""
        if self.packet is None:
            return []
        here, there = (f"group {self.topology.group_of(router)}, router {router}" for router in self.packet)
        return [("packet at", here), ("destination", there)]

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


_SHADES = "·▁▂▃▄▅▆▇█"
_MOST_GROUPS = 64  # groups on the map; no terminal is wide enough for more
_NAMED_IN_TEXT = 5


def draw_text(frame: Frame) -> str:
    """The frame as lines of text without escape sequences.

    Args:
        frame: Content of the picture.

    Returns:
        About 15 lines, and one more per group if there are at most 64.
    """
    figures = "   ".join(f"{name} {text}" for name, text in frame.figures)
    lines = [
        f"{frame.title} · t = {frame.time_ns / 1000:.3f} µs",
        figures,
        *([f"{name}: {text}" for name, text in frame.journey]),
        "",
        f"links (last {frame.window_ns / 1000:.3f} µs)   mean    max",
    ]
    for kind, (mean, most) in frame.class_utilisation.items():
        lines.append(f"  {kind:<20}{100 * mean:>7.1f}%{100 * most:>6.1f}%")
    hottest = frame.hottest(_NAMED_IN_TEXT)
    if hottest:
        lines += ["", f"hottest global links   ({frame.hot_links} hot of {len(frame.links)})"]
        lines += [f"  {100 * link.utilisation:5.1f}%  {link}" for link in hottest]
    if 1 < frame.topology.num_groups <= _MOST_GROUPS:
        lines += ["", *_map(frame)]
    return "\n".join(lines) + "\n"


def _map(frame: Frame) -> list[str]:
    """A row per sending group, one character per receiving group: the mean of the links between them."""
    groups, group_of_routers = frame.topology.num_groups, frame.topology.group_of_routers()
    total, count = np.zeros((groups, groups)), np.zeros((groups, groups))
    pair = (group_of_routers[frame.links[:, 0]], group_of_routers[frame.links[:, 2]])
    np.add.at(total, pair, frame.utilisation)
    np.add.at(count, pair, 1.0)
    used = total / np.maximum(count, 1.0)
    # A link that carried anything is told from an idle one; the last shade means full or nearly so.
    shade = np.where(used > 0.0, np.clip(np.ceil(used * (len(_SHADES) - 1)), 1, len(_SHADES) - 1), 0).astype(
        int
    )
    tens = "".join(str(group // 10) if group % 10 == 0 else " " for group in range(groups))
    units = "".join(str(group % 10) for group in range(groups))
    lines = [f"global links by group: row sends, column receives   {_SHADES[1]} busy … {_SHADES[-1]} full"]
    if groups > 10:
        lines.append(f"     {tens}")
    lines.append(f"     {units}")
    for group in range(groups):
        cells = "".join(
            _SHADES[level] if count[group, other] else " "
            for other, level in enumerate(shade[group].tolist())
        )
        lines.append(f"{group:>4} {cells}")
    return lines
