"""The picture of a frame: groups on a circle, and global links as chords colored by their utilisation.

Pillow draws it at twice its size, without a display and without global state, and halves it, which smooths all edges.
"""

from __future__ import annotations

import functools
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageColor, ImageDraw, ImageFont

from dragonfly_env.colors import HEAT
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.frame import HOT, FloatArray, Frame, IntArray

ImageArray = npt.NDArray[np.uint8]

WIDTH, HEIGHT, _SCALE = 1100, 800, 2
_POINT = 100 / 72  # pixels of a point of text
_INK, _QUIET, _RED = "#20262e", "#69727d", HEAT[-1]
_NAMED = 8
_MOST_CHORDS = 3000  # the busiest
_CHORD_POINTS = 33
_GAP, _WIDEST_GAP = 0.18, 0.12  # between groups: a fraction of a group's arc, at most so many radians
_RING = (0.93, 1.0)  # the radii of the ring of routers, in radii of the circle
_CENTER, _RADIUS = (365.0, 438.0), 305.0  # of the circle, in pixels from the upper left corner
_BADGE = 9  # the radius in pixels
_LEFT, _RIGHT, _LINE = 0.69, 0.97, 0.028  # of the panel, in widths and heights of the picture
_FAINTEST = 8  # of 255: what is idle


class Picture:
    """Draws the frames of one network.

    Args:
        topology: The wiring.
        title: The text above.
    """

    def __init__(self, topology: Dragonfly, title: str) -> None:
        self._topology = topology
        self._title = title
        # Angles run clockwise from the top: where the cell of each router begins, and the width of a cell.
        groups, a = topology.num_groups, topology.a
        arc = 2.0 * np.pi / groups
        gap = min(_GAP * arc, _WIDEST_GAP) if groups > 1 else 0.0
        self._width = (arc - gap) / a
        router = np.arange(topology.num_routers)
        self._begin: FloatArray = router // a * arc + gap / 2.0 + router % a * self._width

    def draw(self, frame: Frame) -> ImageArray:
        """The frame as an image.

        Returns:
            (800, 1100, 3) red, green, blue. A new array.
        """
        image = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), "white")
        pen = ImageDraw.Draw(image)
        self._draw_ring(pen, frame)
        self._draw_chords(pen, frame)
        _write(pen, 0.03, 0.945, self._title, 16, bold=True)
        _draw_panel(pen, frame)
        return np.array(image.reduce(_SCALE))

    def _draw_ring(self, pen: ImageDraw.ImageDraw, frame: Frame) -> None:
        """The numbers of the groups, and a cell for each router."""
        groups, a = self._topology.num_groups, self._topology.a
        size = 12 if groups <= 20 else 10 if groups <= 40 else 8
        middle = self._begin.reshape(groups, a).mean(axis=1) + self._width / 2.0
        for group in range(0, groups, -(-groups // 48)):
            x, y = _on_circle(middle[group], 1.075)
            _write(pen, x / WIDTH, 1.0 - y / HEIGHT, str(group), size, bold=True, anchor="mm")
        space = 0.02 if len(self._begin) <= 600 else 0.0
        steps = self._width * np.linspace(space, 1.0 - space, 2 + 240 // len(self._begin))
        for begin, used in zip(self._begin, frame.router_utilisation.tolist(), strict=True):
            inner, outer = (_on_circle(begin + steps, radius) for radius in _RING)
            pen.polygon(_points(np.concatenate([outer, inner[::-1]])), fill=_color(used))

    def _draw_chords(self, pen: ImageDraw.ImageDraw, frame: Frame) -> None:
        """The busiest links on top; those that the panel names are wide, and have their number."""
        order = np.argsort(-frame.utilisation, kind="stable")[:_MOST_CHORDS]  # as frame.hottest() has it
        named = min(_NAMED, int(np.count_nonzero(frame.utilisation)))
        curves, used = self._curves(frame.links[order]), frame.utilisation[order].tolist()
        links = self._topology.num_groups * self._topology.a * self._topology.h
        usual = 0.3 + 2.3 * min(1.0, 80.0 / max(1, links)) ** 0.5
        for rank in reversed(range(len(order))):
            width = round(_SCALE * (3.6 if rank < named else usual))
            pen.line(_points(curves[rank]), fill=_color(used[rank]), width=width)
        for rank in reversed(range(named)):  # at different distances from the ring: else neighbors hide
            x, y = curves[rank, 4 + 2 * (rank % 4)]
            box = _points(np.array([x - _BADGE, y - _BADGE, x + _BADGE, y + _BADGE]))
            pen.ellipse(box, fill="white", outline=_RED, width=3)
            _write(pen, x / WIDTH, 1.0 - y / HEIGHT, str(rank + 1), 8, bold=True, anchor="mm")

    def _curves(self, links: IntArray) -> FloatArray:
        """(L, points, 2) arcs that bend towards the middle. The two directions of a link run side by side."""
        start_angle, end_angle = self._angle(links[:, :2], 0.5), self._angle(links[:, 2:], 1.5)
        start, end = (_unit(angle)[:, None] * (_RING[0] - 0.01) for angle in (start_angle, end_angle))
        # Neighbors are joined by flat arcs along the ring, opposite groups almost straight through the middle.
        apart = np.abs((start_angle - end_angle + np.pi) % (2.0 * np.pi) - np.pi) / np.pi
        pull = (0.75 - 0.65 * apart)[:, None, None]
        t = np.linspace(0.0, 1.0, _CHORD_POINTS)[:, None]
        bend = 3 * (1 - t) * t * pull * ((1 - t) * start + t * end)
        return _in_pixels((1 - t) ** 3 * start + bend + t**3 * end)

    def _angle(self, ends: IntArray, slot: float) -> FloatArray:
        """(L,) angles of router and port. A port has two slots of its router's cell: what leaves, and what comes in."""
        port = ends[:, 1] - self._topology.p - self._topology.num_local_ports
        angle: FloatArray = self._begin[ends[:, 0]] + self._width * (port + slot / 2.0) / max(
            1, self._topology.h
        )
        return angle


def _unit(angle: FloatArray) -> FloatArray:
    """(..., 2) points of the unit circle."""
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def _in_pixels(points: FloatArray) -> FloatArray:
    return np.asarray(_CENTER) + points * [_RADIUS, -_RADIUS]


def _on_circle(angle: FloatArray, radius: float) -> FloatArray:
    """(..., 2) points in pixels."""
    return _in_pixels(radius * _unit(angle))


def _points(pixels: FloatArray) -> list[float]:
    """The coordinates in the form and at the scale of Pillow's shapes."""
    points: list[float] = (pixels * _SCALE).ravel().tolist()
    return points


def _color(used: float) -> tuple[int, ...]:
    return _palette()[max(_FAINTEST, int(255.0 * used))]


@functools.cache
def _palette() -> list[tuple[int, ...]]:
    """The 256 colors of utilisations from 0 to 1 on white; the first ones fade."""
    share = np.linspace(0.0, 1.0, 256)
    heat = np.array([ImageColor.getrgb(color) for color in HEAT])
    colors = [np.interp(share, np.linspace(0.0, 1.0, len(HEAT)), channel) for channel in heat.T]
    faded = 255.0 + np.minimum(1.0, share / 0.1) * (np.array(colors) - 255.0)
    return list(map(tuple, np.rint(faded).astype(int).T.tolist()))


@functools.cache
def _font(points: float, bold: bool) -> ImageFont.FreeTypeFont:
    file = Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")
    return ImageFont.truetype(file, points * _POINT * _SCALE)


def _write(
    pen: ImageDraw.ImageDraw,
    x: float,
    y: float,
    text: str,
    points: float,
    color: str = _INK,
    *,
    bold: bool = False,
    anchor: str = "ls",
) -> None:
    """Write a text at a place in widths and heights of the picture, from its lower left corner."""
    place = (x * WIDTH * _SCALE, (1.0 - y) * HEIGHT * _SCALE)
    pen.text(place, text, fill=color, font=_font(points, bold), anchor=anchor)


def _draw_panel(pen: ImageDraw.ImageDraw, frame: Frame) -> None:
    """The scale, the figures, and the names of the hottest links."""
    write = functools.partial(_write, pen)
    write(_RIGHT, 0.945, f"t = {frame.time_ns / 1000:.3f} µs", 16, bold=True, anchor="rs")
    write(_LEFT, 0.878, f"utilisation in the last {frame.window_ns / 1000:.3f} µs, %", 10, _QUIET)
    colors = _palette()[_FAINTEST:]
    left, right, top, bottom = _LEFT * WIDTH, _RIGHT * WIDTH, 0.133 * HEIGHT, 0.155 * HEIGHT
    for x, color in zip(np.linspace(left, right, len(colors)).tolist(), colors, strict=True):
        pen.rectangle(_points(np.array([x, top, right, bottom])), fill=color)
    for percent in (0, 25, 50, 75, 100):
        write(_LEFT + (_RIGHT - _LEFT) * percent / 100, 0.828, str(percent), 9, _QUIET, anchor="ms")
    links = len(frame.links)
    which = "one per direction" if links <= _MOST_CHORDS else f"the busiest {_MOST_CHORDS:,}"
    write(_LEFT, 0.765, f"chords: global links, {which}", 9, _QUIET)
    write(_LEFT, 0.741, "ring: routers, mean of their local links", 9, _QUIET)
    classes = {
        name: f"{100 * mean:.0f} %  /  {100 * most:.0f} %"
        for name, (mean, most) in frame.class_utilisation.items()
    }
    y = 0.685
    for heading, figures in (
        ("since statistics began", frame.figures),
        ("links: mean / highest", classes.items()),
    ):
        write(_LEFT, y, heading, 10, bold=True)
        for name, value in figures:
            y -= _LINE
            write(_LEFT, y, name, 10, _QUIET)
            write(_RIGHT, y, value, 10, anchor="rs")
        y -= 1.5 * _LINE
    if not links:
        return
    write(_LEFT, y, "hottest global links", 10, bold=True)
    write(_RIGHT, y, f"{frame.hot_links:,} above {100 * HOT:.0f} %", 9, _QUIET, anchor="rs")
    for rank, link in enumerate(frame.hottest(_NAMED), start=1):
        y -= 0.03
        write(_LEFT, y, f"{rank}", 9, _RED, bold=True)
        write(_LEFT + 0.022, y, f"group {link.group} → {link.peer_group}", 10)
        write(_LEFT + 0.128, y, f"router {link.router} → {link.peer}", 8, _QUIET)
        ink = _RED if link.utilisation >= HOT else _INK
        write(_RIGHT, y, f"{100 * link.utilisation:.0f} %", 10, ink, bold=True, anchor="rs")
