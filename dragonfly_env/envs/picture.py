"""The picture of a frame: groups on a circle, and global links as chords coloured by utilisation.

What no frame changes is drawn once: texts and scale, with Matplotlib's Agg canvas, which needs no display, and without
``pyplot``, which keeps global state. The pixels of a chord or of a router's cell are also found once, when a frame
first shows it. A frame then is one maximum over pixels, a table of colors, and some forty texts.
"""

from __future__ import annotations

import functools
from pathlib import Path as FilePath

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform
from PIL import Image, ImageDraw, ImageFont

from dragonfly_env.colors import HEAT
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.frame import HOT, FloatArray, Frame, IntArray

ImageArray = npt.NDArray[np.uint8]
Coverage = tuple[npt.NDArray[np.int32], ImageArray]
"""The pixels that a shape covers, and how much of each of them: up to 255."""

_PIXEL = "V3"  # three bytes at once: a third of the time of three numbers
WIDTH, HEIGHT, _DPI = 1100, 800, 100
_INK, _QUIET, _RED = "#20262e", "#69727d", HEAT[-1]
_NAMED = 8
_MOST_CHORDS = 3000  # the busiest
_CHORD_POINTS = 33
_GAP, _WIDEST_GAP = 0.18, 0.12  # gaps between groups: a share of a group's arc, and at most so many radians
_RING = (0.93, 1.0)
_CENTER, _RADIUS = (
    (365.0, 438.0),
    305.0,
)  # center and radius of the circle, in pixels from the upper left corner
_BADGE = 9  # the radius in pixels
_LEFT, _RIGHT = 0.69, 0.97  # edges of the panel, in widths of the picture
_TEXTS = 740  # texts that change are to the right of this pixel
_FAINTEST = 8  # level of an idle link, of 255


class Picture:
    """Draws the frames of one network.

    Args:
        topology: The wiring.
        title: The text above.
    """

    def __init__(self, topology: Dragonfly, title: str) -> None:
        self._topology = topology
        self._title = title
        self._begin, self._width = _cells(topology)
        self._covered: dict[tuple[int, int, bool], Coverage] = {}
        self._shown: tuple[bytes, tuple[IntArray, npt.NDArray[np.uint16], IntArray]] | None = None
        self._background: ImageArray | None = None
        self._colors = _palette()

    def draw(self, frame: Frame) -> ImageArray:
        """The frame as an image.

        Returns:
            (800, 1100, 3) red, green, blue. A new array.
        """
        order = np.argsort(-frame.utilisation, kind="stable")[:_MOST_CHORDS]  # the order of frame.hottest()
        named = order[: min(_NAMED, np.count_nonzero(frame.utilisation))]
        chosen = np.sort(order)
        shades = np.zeros(HEIGHT * WIDTH, np.uint8)
        pixels, cover, counts = self._shapes(frame.links, chosen)
        values = np.concatenate([frame.router_utilisation, frame.utilisation[chosen]])
        level = np.maximum(values * 255.0, _FAINTEST).astype(np.uint16)
        np.maximum.at(shades, pixels, (np.repeat(level, counts) * cover >> 8).astype(np.uint8))
        for link in named:
            at, part = self._chord(frame.links[link], True)
            shades[at] = np.maximum(shades[at], (frame.utilisation[link] * part).astype(np.uint8))
        if self._background is None:
            self._background = self._draw_background(tuple(frame.class_utilisation), len(frame.links))
        image = self._background.copy()
        shown = shades > 0
        image.view(_PIXEL).ravel()[shown] = self._colors.view(_PIXEL).ravel()[shades[shown]]
        for router, letter in zip(frame.packet or (), "PD", strict=False):
            angle = self._begin[router] + self._width / 2.0
            _put(_badge(letter), image, _on_circle(angle, sum(_RING) / 2.0))
        for rank in reversed(
            range(len(named))
        ):  # distances from the ring differ, so that neighbors do not hide each other
            _put(_badge(f"{rank + 1}"), image, self._curve(frame.links[named[rank]])[4 + 2 * (rank % 4)])
        texts = Image.fromarray(image[:, _TEXTS:])
        _numbers(ImageDraw.Draw(texts), frame)
        image[:, _TEXTS:] = np.asarray(texts)
        return image

    def _shapes(self, links: IntArray, chosen: IntArray) -> tuple[IntArray, npt.NDArray[np.uint16], IntArray]:
        """Pixels and coverage of all routers' cells and the chosen chords, and how many pixels each has."""
        key = chosen.tobytes()
        if self._shown is None or self._shown[0] != key:
            shapes = [self._cell(router) for router in range(self._topology.num_routers)]
            shapes += [self._chord(links[link], False) for link in chosen]
            pixels, cover = (np.concatenate(part) for part in zip(*shapes, strict=True))
            counts = np.array([len(part) for part, _ in shapes])
            self._shown = key, (pixels.astype(np.int64), cover.astype(np.uint16), counts)
        return self._shown[1]

    def _draw_background(self, classes: tuple[str, ...], links: int) -> ImageArray:
        """Titles, numbers of the groups, scale, and names of the figures."""
        with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 10.0, "axes.unicode_minus": False}):
            figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor="white")
            canvas = FigureCanvasAgg(figure)
            figure.text(0.03, 0.945, self._title, size=16, weight="bold", color=_INK)
            groups, group_of_routers = self._topology.num_groups, self._topology.group_of_routers()
            every = max(1, -(-groups // 48))
            size = 12 if groups <= 20 else 10 if groups <= 40 else 8
            begin = [self._begin[group_of_routers == group].mean() for group in range(groups)]
            middle = np.array(begin) + self._width / 2.0
            for group, (x, y) in enumerate(_on_circle(middle, 1.075).tolist()):
                if group % every == 0:
                    figure.text(
                        x / WIDTH, 1.0 - y / HEIGHT, str(group), ha="center", va="center", size=size, color=_INK,
                        weight="bold",
                    )  # fmt: skip
            bar = figure.add_axes((_LEFT, 0.845, _RIGHT - _LEFT, 0.022))
            colors = self._colors[_FAINTEST:][None]
            bar.imshow(colors, aspect="auto", extent=(0.0, 100.0, 0.0, 1.0))
            bar.set_yticks([])
            bar.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100"], size=9, color=_QUIET)
            bar.tick_params(length=0)
            for spine in bar.spines.values():
                spine.set_visible(False)
            which = "one per direction" if links <= _MOST_CHORDS else f"the busiest {_MOST_CHORDS:,}"
            figure.text(_LEFT, 0.765, f"chords: global links, {which}", size=9, color=_QUIET)
            figure.text(_LEFT, 0.741, "ring: routers, mean of their local links", size=9, color=_QUIET)
            for y, text, bold in _names(classes, links):
                figure.text(
                    _LEFT, y, text, size=10, weight="bold" if bold else "normal", color=_INK if bold else _QUIET
                )  # fmt: skip
            canvas.draw()  # type: ignore[no-untyped-call]
            return np.array(canvas.buffer_rgba(), np.uint8)[:, :, :3].copy()  # type: ignore[no-untyped-call]

    def _cell(self, router: int) -> Coverage:
        """The cell of a router in the ring."""
        key = (-1, router, False)
        if key not in self._covered:
            steps = np.linspace(0.0, 1.0, 2 + 240 // len(self._begin))
            few = len(self._begin) <= 600
            angle = self._begin[router] + self._width * (0.02 + 0.96 * steps if few else steps)
            inner, outer = (_on_circle(angle, radius) for radius in _RING)
            self._covered[key] = _covered(np.concatenate([outer, inner[::-1], outer[:1]]), None)
        return self._covered[key]

    def _chord(self, link: IntArray, wide: bool) -> Coverage:
        """The chord of a global link; wide for a named one."""
        key = (int(link[0]), int(link[1]), wide)
        if key not in self._covered:
            links = self._topology.num_groups * self._topology.global_ports_per_group
            width = 3.6 if wide else 0.3 + 2.3 * min(1.0, 80.0 / max(1, links)) ** 0.5
            self._covered[key] = _covered(self._curve(link), width)
        return self._covered[key]

    def _curve(self, link: IntArray) -> FloatArray:
        """(points, 2) an arc that bends towards the middle. The two directions of a link run side by side."""
        start_angle, end_angle = self._angle(link[0], link[1], True), self._angle(link[2], link[3], False)
        start, end = _unit(start_angle) * (_RING[0] - 0.01), _unit(end_angle) * (_RING[0] - 0.01)
        # Neighbours are joined by flat arcs along the ring, opposite groups almost straight through the middle.
        apart = abs((start_angle - end_angle + np.pi) % (2.0 * np.pi) - np.pi) / np.pi
        pull = 0.75 - 0.65 * apart
        t = np.linspace(0.0, 1.0, _CHORD_POINTS)[:, None]
        curve = (1 - t) ** 3 * start + 3 * (1 - t) * t * pull * ((1 - t) * start + t * end) + t**3 * end
        return _in_pixels(curve)

    def _angle(self, router: np.int64, port: np.int64, sends: bool) -> float:
        """Every port has two slots of its router's cell, for what leaves and for what comes in."""
        slot = 2.0 * (port - self._topology.p - self._topology.num_local_ports) + (0.5 if sends else 1.5)
        return float(self._begin[router] + self._width * slot / (2.0 * max(1, self._topology.h)))


def _cells(topology: Dragonfly) -> tuple[FloatArray, float]:
    """(num_routers,) angles where the cell of each router begins, clockwise from the top, and the width of a cell."""
    groups, place = topology.num_groups, topology.place_of_routers()
    arc = 2.0 * np.pi / groups
    gap = min(_GAP * arc, _WIDEST_GAP) if groups > 1 else 0.0
    width = float((arc - gap) / (place.max() + 1))
    return topology.group_of_routers() * arc + gap / 2.0 + place * width, width


def _unit(angle: FloatArray | float) -> FloatArray:
    """(..., 2) points of the unit circle; angles run clockwise from the top."""
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def _in_pixels(points: FloatArray) -> FloatArray:
    return np.asarray(_CENTER) + points * [_RADIUS, -_RADIUS]


def _on_circle(angle: FloatArray | float, radius: float) -> FloatArray:
    """(..., 2) points in pixels."""
    return _in_pixels(radius * _unit(angle))


def _covered(points: FloatArray, width: float | None) -> Coverage:
    """The pixels of a line of a width, or of the area within it."""
    renderer = _renderer()
    alpha = np.asarray(renderer.buffer_rgba())[:, :, 3]  # type: ignore[no-untyped-call]
    margin = 1.0 + (width or 0.0)
    left, top = np.maximum(0, np.floor(points.min(axis=0) - margin)).astype(int)
    right, bottom = np.ceil(points.max(axis=0) + margin).astype(int)
    graphics = renderer.new_gc()
    graphics.set_linewidth((width or 0.0) * 72.0 / _DPI)
    path = Path(points * [1.0, -1.0] + [0.0, HEIGHT])
    fill = (0.0, 0.0, 0.0) if width is None else None
    renderer.draw_path(graphics, path, IdentityTransform(), fill)  # type: ignore[no-untyped-call]
    part = alpha[top:bottom, left:right]
    rows, columns = np.nonzero(part)
    cover = part[rows, columns]
    np.asarray(renderer.buffer_rgba())[top:bottom, left:right] = 0  # type: ignore[no-untyped-call]
    return ((rows + top) * WIDTH + columns + left).astype(np.int32), cover


@functools.cache
def _renderer() -> RendererAgg:
    """An empty canvas, to find pixels with."""
    renderer = RendererAgg(WIDTH, HEIGHT, _DPI)  # type: ignore[no-untyped-call]
    renderer.clear()  # type: ignore[no-untyped-call]
    np.asarray(renderer.buffer_rgba())[:] = 0  # type: ignore[no-untyped-call]
    return renderer


def _palette() -> ImageArray:
    """(256, 3) the colors of utilisations from 0 to 1 on white; the first ones fade."""
    share = np.linspace(0.0, 1.0, 256)
    colors = LinearSegmentedColormap.from_list("heat", HEAT)(share)[:, :3]
    opaque = np.minimum(1.0, share / 0.1)[:, None]
    return np.rint(255.0 * (colors * opaque + 1.0 - opaque)).astype(np.uint8)


@functools.cache
def _font(points: float, bold: bool) -> ImageFont.FreeTypeFont:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(FilePath(mpl.get_data_path()) / "fonts" / "ttf" / name, points * _DPI / 72.0)


@functools.cache
def _badge(text: str) -> ImageArray:
    """The number of a named link, or the letter of a router, in a ring."""
    scale = 4
    size = 2 * (_BADGE + 1) * scale
    badge = Image.new("RGBA", (size, size), (255, 255, 255, 0))
    pen = ImageDraw.Draw(badge)
    pen.ellipse(
        (scale, scale, size - scale, size - scale), fill="white", outline=_RED, width=int(1.6 * scale)
    )
    font = _font(8.0 * scale, True)
    pen.text((size / 2, size / 2), text, fill=_INK, font=font, anchor="mm")
    return np.array(badge.resize((size // scale, size // scale), Image.Resampling.LANCZOS))


def _put(badge: ImageArray, image: ImageArray, at: FloatArray) -> None:
    """Draw a badge with its middle at a point."""
    left, top = np.rint(at - len(badge) / 2).astype(int)
    part = image[top : top + len(badge), left : left + len(badge)]
    opaque = badge[:, :, 3:] / 255.0
    part[:] = np.rint(opaque * badge[:, :, :3] + (1.0 - opaque) * part)


def _names(classes: tuple[str, ...], links: int) -> list[tuple[float, str, bool]]:
    """Height, text, and whether it is a heading, of the lines of the panel that have the same name in every frame."""
    figures = ("accepted load", "mean latency", "mean hops", "minimal paths", "packets in flight")
    lines = [(0.685, "since statistics began", True)]
    lines += [(0.685 - 0.028 * row, name, False) for row, name in enumerate(figures, start=1)]
    y = 0.685 - 0.028 * len(figures) - 0.042
    lines += [(y, "links: mean / highest", True)]
    lines += [(y - 0.028 * row, name, False) for row, name in enumerate(classes, start=1)]
    if links:
        lines += [(y - 0.028 * len(classes) - 0.042, "hottest global links", True)]
    return lines


def _numbers(pen: ImageDraw.ImageDraw, frame: Frame) -> None:
    """The texts that change from frame to frame."""

    def text(
        x: float, y: float, words: str, size: float, color: str = _INK, bold: bool = False, anchor: str = "ls"
    ) -> None:
        pen.text(
            (x * WIDTH - _TEXTS, (1.0 - y) * HEIGHT), words, fill=color, font=_font(size, bold), anchor=anchor
        )

    text(_RIGHT, 0.945, f"t = {frame.time_ns / 1000:.3f} µs", 16, bold=True, anchor="rs")
    for row, (letter, (name, router)) in enumerate(zip("PD", frame.journey, strict=False)):
        text(_LEFT, 0.055 - 0.028 * row, f"{letter}: {name} {router}", 10)
    text(_LEFT, 0.878, f"utilisation in the last {frame.window_ns / 1000:.3f} µs, %", 10, _QUIET)
    classes = {
        name: f"{100 * mean:.0f} %  /  {100 * most:.0f} %"
        for name, (mean, most) in frame.class_utilisation.items()
    }
    values = {**dict(frame.figures), **classes}
    lines = _names(tuple(classes), len(frame.links))
    for y, name, is_heading in lines:
        if not is_heading:
            text(_RIGHT, y, values[name], 10, anchor="rs")
    if not len(frame.links):
        return
    y = lines[-1][0]
    text(_RIGHT, y, f"{frame.hot_links:,} above {100 * HOT:.0f} %", 9, _QUIET, anchor="rs")
    for rank, link in enumerate(frame.hottest(_NAMED), start=1):
        y -= 0.03
        text(_LEFT, y, f"{rank}", 9, _RED, bold=True)
        text(_LEFT + 0.022, y, f"group {link.group} → {link.peer_group}", 10)
        text(_LEFT + 0.128, y, f"router {link.router} → {link.peer}", 8, _QUIET)
        color = _RED if link.utilisation >= HOT else _INK
        text(_RIGHT, y, f"{100 * link.utilisation:.0f} %", 10, color, bold=True, anchor="rs")
