"""Rendering of the environments: as text, or as a picture drawn without a display (`picture.py`).

A frame shows the utilisation of links over a window of simulated time, and names the hottest.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import import_matplotlib, require_analysis
from dragonfly_env.checks.values import PS_PER_NS, check_choice
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from dragonfly_env.envs.picture import Picture

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ImageArray = npt.NDArray[np.uint8]

HOT = 0.7
"""From this utilisation on a link is called hot: little above it queues grow without bound."""


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
        links = zip(self.links[order].tolist(), self.utilisation[order].tolist(), strict=True)
        return [
            NamedLink(router, router // a, peer, peer // a, used)
            for (router, _, peer, _), used in links
            if used > 0.0
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


RENDER_MODES = ("human", "ansi", "rgb_array")
_SHORTEST_WINDOW_NS = 500.0


def _title(config: SimulationConfig) -> str:
    traffic = (
        config.traffic if isinstance(config.traffic, str) else type(config.traffic_object).__name__.lower()
    )
    return f"Dragonfly, {config.topology.num_hosts:,} hosts · {traffic}, load {config.load:g}"


# Text.

_SHADES = "·▁▂▃▄▅▆▇█"
_MOST_GROUPS = 64  # of the map; wider than this no terminal shows it
_NAMED_IN_TEXT = 5


def draw_text(frame: Frame) -> str:
    """The frame as lines of text without escape sequences.

    Args:
        frame: What to show.

    Returns:
        About 15 lines, and one more per group if there are at most 64.
    """
    figures = "   ".join(f"{name} {text}" for name, text in frame.figures)
    lines = [
        f"{frame.title} · t = {frame.time_ns / 1000:.3f} µs",
        figures,
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
    groups, a = frame.topology.num_groups, frame.topology.a
    total, count = np.zeros((groups, groups)), np.zeros((groups, groups))
    pair = (frame.links[:, 0] // a, frame.links[:, 2] // a)
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


class Renderer:
    """Makes and renders the frames of one environment; utilisation is measured from frame to frame.

    A window is at least 500 ns long, if so much has passed: over a few packet times every link is either
    idle or full. Without any frame before, and after statistics began anew, it reaches back to their beginning.

    Args:
        config: What is simulated.
        mode: ``"ansi"``: frames are strings; ``"rgb_array"``: (800, 1100, 3) arrays of uint8; ``"human"``: the text
            is printed. None: rendering is an error.
    """

    def __init__(self, config: SimulationConfig, mode: str | None) -> None:
        self.mode = mode if mode is None else check_choice("render_mode", mode, RENDER_MODES)
        self._config = config
        self._marks: list[tuple[int, IntArray]] = []  # time and counters of earlier frames, oldest first
        self._start_ps = -1

    def reset(self) -> None:
        """A new episode has begun: forget earlier frames."""
        self._marks = []

    @functools.cached_property
    def _picture(self) -> Picture:
        require_analysis("render()")
        import_matplotlib()
        # Matplotlib takes half a second to import, and most users never render.
        from dragonfly_env.envs.picture import Picture

        return Picture(self._config.topology, _title(self._config))

    @functools.cached_property
    def _global(self) -> IntArray:
        """(L, 4) the global links: router, port, router at the other end, its port."""
        topology = self._config.topology
        between = topology.links().astype(np.int64)
        return between[between[:, 1] >= topology.p + topology.num_local_ports]

    def frame(self, metrics: Metrics, time_ns: float | None = None) -> Frame:
        """A frame of this moment.

        Args:
            metrics: Taken now.
            time_ns: The simulated time. While decisions are pending that is not the end of the metrics, which
                then lies at the last time that all parts of the network have passed. None: the end.
        """
        topology = self._config.topology
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
            title=_title(self._config),
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

    def render(self, metrics: Metrics, time_ns: float | None = None) -> str | npt.NDArray[np.uint8] | None:
        """A frame of this moment; what links did since the frame before.

        Args:
            metrics: The environment's, taken now.
            time_ns: The environment's; None: the end of the metrics.
        """
        if self.mode is None:
            modes = " or ".join(repr(mode) for mode in RENDER_MODES)
            raise StateError(f"render(): the environment was made with render_mode=None; give it {modes}")
        frame = self.frame(metrics, time_ns)
        if self.mode == "rgb_array":
            return self._picture.draw(frame)
        if self.mode == "ansi":
            return draw_text(frame)
        print(draw_text(frame))
        return None

    def _window_start(self, now_ps: int, start_ps: int, zeros: IntArray) -> tuple[int, IntArray]:
        """The last frame that lies far enough back; older ones are dropped."""
        shortest_ps = int(_SHORTEST_WINDOW_NS * PS_PER_NS)
        while len(self._marks) > 1 and now_ps - self._marks[1][0] >= shortest_ps:
            del self._marks[0]
        if self._marks and now_ps - self._marks[0][0] >= shortest_ps:
            return self._marks[0]
        return start_ps, zeros
