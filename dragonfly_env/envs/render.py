"""Rendering of the environments: as text, or as a picture drawn without a display.

A frame shows the utilisation of links over a window of simulated time, and names the hottest. Its picture has groups
on a circle, and global links as chords coloured by utilisation. It is drawn with Matplotlib's Agg canvas, which needs
no display, and without ``pyplot``, which keeps global state.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import import_matplotlib, require_analysis
from dragonfly_env.checks.values import PS_PER_NS, check_choice
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ImageArray = npt.NDArray[np.uint8]

RENDER_MODES = ("human", "ansi", "rgb_array")
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
            ("mean latency", _text(metrics.latency_mean_ns, "{:,.0f} ns")),
            ("mean hops", _text(metrics.hops_mean, "{:.2f}")),
            ("minimal paths", _text(100 * metrics.minimal_fraction, "{:.0f} %")),
            ("packets in flight", f"{metrics.packets_in_flight:,}"),
        ]


def _text(value: float, form: str) -> str:
    return "–" if math.isnan(value) else form.format(value)


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
        f"links (last {frame.window_ns:,.0f} ns)   mean    max",
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


# Pictures.

_WIDTH_IN, _HEIGHT_IN, _DPI = 11.0, 8.0, 100
_COLORS = ("#dfe4ea", "#a9cbdc", "#f3cf63", "#ea7e2c", "#b3131b")
_INK, _QUIET = "#20262e", "#69727d"
_NAMED = 8
_MOST_CHORDS = 1500  # the busiest; more are a grey disc
_CHORD_POINTS = 33
_GAP, _WIDEST_GAP = 0.18, 0.12  # between groups: a fraction of a group's arc, at most so many radians
_RING = (0.93, 1.0)


def draw_image(frame: Frame) -> ImageArray:
    """The frame as an image.

    Args:
        frame: What to show.

    Returns:
        (800, 1100, 3) red, green, blue. A new array.
    """
    require_analysis("render()")
    import_matplotlib()
    # Matplotlib is imported when it is used: it takes half a second to import, and most users never render.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    colors = LinearSegmentedColormap.from_list("utilisation", _COLORS)
    with rc_context({"font.family": "DejaVu Sans", "font.size": 10.0, "axes.unicode_minus": False}):
        figure = Figure(figsize=(_WIDTH_IN, _HEIGHT_IN), dpi=_DPI, facecolor="white")
        canvas = FigureCanvasAgg(figure)
        _titles(figure, frame)
        circle = figure.add_axes((0.005, 0.01, 0.655, 0.885))
        circle.set(xlim=(-1.16, 1.16), ylim=(-1.16, 1.16), aspect="equal")
        circle.axis("off")
        _ring(circle, frame, colors)
        badges = _chords(circle, frame, colors)
        _badges(circle, badges)
        _panel(figure, frame, colors)
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.array(canvas.buffer_rgba(), np.uint8)[:, :, :3].copy()  # type: ignore[no-untyped-call]


def _titles(figure: Figure, frame: Frame) -> None:
    figure.text(0.03, 0.945, frame.title, size=16, weight="bold", color=_INK)
    figure.text(
        0.97, 0.945, f"t = {frame.time_ns / 1000:.3f} µs", size=16, weight="bold", color=_INK, ha="right"
    )
    window = (
        f"utilisation over the last {frame.window_ns:,.0f} ns" if frame.window_ns else "no time has passed"
    )
    figure.text(0.03, 0.912, window, size=10, color=_QUIET)


def _cells(frame: Frame) -> tuple[FloatArray, FloatArray]:
    """(num_routers,) angles where the cell of each router begins and how wide it is: clockwise from the top."""
    groups, a = frame.topology.num_groups, frame.topology.a
    arc = 2.0 * np.pi / groups
    gap = min(_GAP * arc, _WIDEST_GAP) if groups > 1 else 0.0
    width = (arc - gap) / a
    router = np.arange(frame.topology.num_routers)
    return (router // a) * arc + gap / 2.0 + (router % a) * width, np.full(len(router), width)


def _on_circle(angle: FloatArray, radius: float) -> FloatArray:
    """(..., 2) points; angles run clockwise from the top."""
    return radius * np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def _ring(axes: Axes, frame: Frame, colors: Colormap) -> None:
    """A cell per router, coloured by its local links; groups are apart and numbered."""
    from matplotlib.collections import PolyCollection

    begin, width = _cells(frame)
    inner, outer = _RING
    steps = np.linspace(0.0, 1.0, 2 + 240 // len(begin))
    angle = begin[:, None] + width[:, None] * steps
    outlines = np.concatenate([_on_circle(angle, outer), _on_circle(angle[:, ::-1], inner)], axis=1)
    edge = 0.6 if len(begin) <= 600 else 0.0
    axes.add_collection(
        PolyCollection(
            list(outlines), facecolors=colors(frame.router_utilisation), edgecolors="white", linewidths=edge
        )
    )
    groups, a = frame.topology.num_groups, frame.topology.a
    every = max(1, -(-groups // 48))
    size = 12 if groups <= 20 else 10 if groups <= 40 else 8
    middle = begin.reshape(groups, a).mean(axis=1) + width[0] / 2.0
    for group, (x, y) in enumerate(_on_circle(middle, 1.075).tolist()):
        if group % every == 0:
            axes.text(x, y, str(group), ha="center", va="center", size=size, color=_INK, weight="bold")


def _chords(axes: Axes, frame: Frame, colors: Colormap) -> list[tuple[float, float]]:
    """A curve per global link and direction, the busiest on top.

    Returns:
        Where the badges of the named links belong: near the sending end, busiest first.
    """
    from matplotlib.collections import LineCollection

    order = np.argsort(-frame.utilisation, kind="stable")[:_MOST_CHORDS][::-1]  # as frame.hottest() has it
    links, used = frame.links[order], frame.utilisation[order]
    if not len(links):
        return []
    curves = _curves(frame, links)
    # The more chords, the thinner and paler, except for the busiest few dozen: else a thousand are one blot.
    sparse = min(1.0, 80.0 / len(links))
    busiest = np.linspace(0.0, 1.0, len(links)) ** (0.02 * len(links))
    rgba = colors(used)
    rgba[:, 3] = np.clip(
        used * (sparse + (1.0 - sparse) * (0.16 + 0.84 * busiest)) + 0.35 * sparse + 0.06, 0.0, 1.0
    )
    widths = (0.5 + 1.2 * used) * (0.55 + 1.45 * np.sqrt(sparse) + 1.1 * busiest * (1.0 - sparse))
    axes.add_collection(LineCollection(list(curves), colors=rgba, linewidths=widths, capstyle="round"))
    named = min(_NAMED, int((used > 0.0).sum()))
    # At different distances from the ring, so that the badges of neighbours do not hide each other.
    return [(float(x), float(y)) for rank in range(named) for x, y in [curves[-1 - rank, 4 + 2 * (rank % 4)]]]


def _curves(frame: Frame, links: npt.NDArray[np.int64]) -> FloatArray:
    """(L, points, 2) arcs that bend towards the middle. The two directions of a link run side by side."""
    begin, width = _cells(frame)
    first_global = frame.topology.p + frame.topology.num_local_ports
    slots = 2.0 * max(1, frame.topology.h)

    def at(router: npt.NDArray[np.int64], port: npt.NDArray[np.int64], sends: bool) -> FloatArray:
        # Every port has two slots of its router's cell, for what leaves and for what comes in.
        slot = 2.0 * (port - first_global) + (0.5 if sends else 1.5)
        return np.asarray(begin[router] + width[router] * slot / slots, np.float64)

    start_angle, end_angle = at(links[:, 0], links[:, 1], True), at(links[:, 2], links[:, 3], False)
    start, end = _on_circle(start_angle, _RING[0] - 0.01), _on_circle(end_angle, _RING[0] - 0.01)
    # Neighbours are joined by flat arcs along the ring, opposite groups almost straight through the middle.
    apart = np.abs((start_angle - end_angle + np.pi) % (2.0 * np.pi) - np.pi) / np.pi
    pull = (0.75 - 0.65 * apart)[:, None]
    bend_start, bend_end = start * pull, end * pull
    t = np.linspace(0.0, 1.0, _CHORD_POINTS)[None, :, None]
    return np.asarray(
        (1 - t) ** 3 * start[:, None]
        + 3 * (1 - t) ** 2 * t * bend_start[:, None]
        + 3 * (1 - t) * t**2 * bend_end[:, None]
        + t**3 * end[:, None],
        np.float64,
    )


def _badges(axes: Axes, places: list[tuple[float, float]]) -> None:
    for rank, (x, y) in reversed(list(enumerate(places, start=1))):
        axes.text(
            x,
            y,
            str(rank),
            size=8,
            weight="bold",
            ha="center",
            va="center",
            color=_INK,
            bbox={
                "boxstyle": "circle,pad=0.22",
                "facecolor": "white",
                "edgecolor": _COLORS[-1],
                "linewidth": 1.2,
            },
        )


def _panel(figure: Figure, frame: Frame, colors: Colormap) -> None:
    """The right-hand side: colours, figures, link classes, the hottest links."""
    left, right = 0.69, 0.97
    bar = figure.add_axes((left, 0.845, right - left, 0.022))
    bar.imshow(np.linspace(0.0, 1.0, 256)[None], aspect="auto", cmap=colors, extent=(0.0, 100.0, 0.0, 1.0))
    bar.set_yticks([])
    bar.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100"], size=9, color=_QUIET)
    bar.tick_params(length=0)
    for spine in bar.spines.values():
        spine.set_visible(False)
    figure.text(left, 0.878, "utilisation, %", size=10, color=_QUIET)

    y = 0.765
    drawn = min(_MOST_CHORDS, len(frame.links))
    which = "one per direction" if drawn == len(frame.links) else f"the busiest {drawn:,}"
    figure.text(left, y, f"chords: global links, {which}", size=9, color=_QUIET)
    figure.text(left, y - 0.024, "ring: routers, mean of their local links", size=9, color=_QUIET)
    y = _rows(figure, 0.685, "since statistics began", frame.figures)
    classes = [
        (kind, f"{100 * mean:.0f} %  /  {100 * most:.0f} %")
        for kind, (mean, most) in frame.class_utilisation.items()
    ]
    y = _rows(figure, y - 0.03, "links: mean / highest", classes)
    if not len(frame.links):
        return
    y -= 0.03
    figure.text(left, y, "hottest global links", size=10, weight="bold", color=_INK)
    hot = f"{frame.hot_links:,} above {100 * HOT:.0f} %"
    figure.text(right, y, hot, size=9, color=_QUIET, ha="right")
    for rank, link in enumerate(frame.hottest(_NAMED), start=1):
        y -= 0.03
        color = _COLORS[-1] if link.utilisation >= HOT else _INK
        figure.text(left, y, f"{rank}", size=9, weight="bold", color=_COLORS[-1])
        figure.text(left + 0.022, y, f"group {link.group} → {link.peer_group}", size=10, color=_INK)
        figure.text(left + 0.128, y, f"router {link.router} → {link.peer}", size=8, color=_QUIET)
        figure.text(
            right, y, f"{100 * link.utilisation:.0f} %", size=10, weight="bold", color=color, ha="right"
        )


def _rows(figure: Figure, y: float, title: str, rows: list[tuple[str, str]]) -> float:
    """A title and a table of two columns; the height where it ends."""
    figure.text(0.69, y, title, size=10, weight="bold", color=_INK)
    for name, text in rows:
        y -= 0.028
        figure.text(0.69, y, name, size=10, color=_QUIET)
        figure.text(0.97, y, text, size=10, color=_INK, ha="right")
    return y - 0.012


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
            return draw_image(frame)
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
