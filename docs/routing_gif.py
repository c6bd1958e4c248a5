"""Draw ``docs/images/routing.gif``, the animation of the README: ``python docs/routing_gif.py``.

Groups are on a circle. Each directed link between two groups is a curve that bends to its right, drawn darker and
wider the more of the frame it carried bits. A group's disc grows with the packets that wait in its routers. Nothing
depends on telling hues apart: lightness and width say the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image

from dragonfly_env.colors import HEAT, REFERENCE, SeriesStyle, looks
from dragonfly_env.sweeps import Scenario
from dragonfly_env.view import Recording, record

FRAME_MS = 120
LAST_FRAME_MS = 2500
WIDTH_PX, HEIGHT_PX = 800, 600

_DPI = 100
_COLORS = 64
_CURVE_POINTS = 15
_INK = "#222222"
_USE = LinearSegmentedColormap.from_list("use", HEAT)

FloatArray = npt.NDArray[np.float64]


def write_animation(recordings: Sequence[Recording], path: Path) -> None:
    """Write one recorded run, or two of equal frames side by side, as an animated GIF."""
    pictures = _pictures(recordings)
    durations = [FRAME_MS] * (len(pictures) - 1) + [LAST_FRAME_MS]
    # The last picture has all that can be seen in any of them, so its colours do for all.
    palette = pictures[-1].quantize(
        _COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    indexed = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
    ]
    options: dict[str, Any] = {
        "duration": durations,
        "loop": 0,
        "optimize": True,
    }
    indexed[0].save(
        path, "GIF", save_all=True, append_images=indexed[1:], **options
    )


def _pictures(recordings: Sequence[Recording]) -> list[Image.Image]:
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 9.0}):
        figure = Figure(figsize=(WIDTH_PX / _DPI, HEIGHT_PX / _DPI), dpi=_DPI)
        canvas = FigureCanvasAgg(figure)
        film = _Film(figure, recordings)
        taken = []
        for frame in range(recordings[0].num_frames):
            film.show(frame)
            canvas.draw()  # type: ignore[no-untyped-call]
            pixels: Any = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
            taken.append(Image.fromarray(np.asarray(pixels)[:, :, :3].copy()))
    return taken


class _Film:
    """The drawing: circles of groups above, accepted load over time below."""

    def __init__(self, figure: Figure, recordings: Sequence[Recording]) -> None:
        count = len(recordings)
        waiting = [_waiting_by_group(recording) for recording in recordings]
        most = max(1.0, *(float(values.max(initial=0.0)) for values in waiting))
        style = looks([recording.run.policy_label for recording in recordings])
        self._panels = []
        for index, recording in enumerate(recordings):
            axes = figure.add_axes((index / count, 0.27, 1 / count, 0.66))
            self._panels.append(_Panel(axes, recording, waiting[index] / most))
        first = recordings[0].run
        load = "" if first.closed_loop else f", load {first.load:g}"
        figure.text(
            0.5,
            0.975,
            f"{first.config.topology.num_hosts:,} hosts, traffic {first.traffic_label}{load}, seed {first.config.seed}",
            ha="center",
            va="top",
            fontsize=11,
        )
        self._chart = _Chart(figure, recordings, style)
        _legend(figure)

    def show(self, frame: int) -> None:
        for panel in self._panels:
            panel.show(frame)
        self._chart.show(frame)


class _Panel:
    """One run: its groups, and the links between them."""

    def __init__(
        self, axes: Axes, recording: Recording, waiting: FloatArray
    ) -> None:
        topology = recording.run.config.topology
        self._recording = recording
        self._waiting = waiting
        self._pairs, self._use = _use_by_pair(recording)
        angle = (
            2 * np.pi * np.arange(topology.num_groups) / topology.num_groups
            - np.pi / 2
        )
        place = np.stack([np.cos(angle), -np.sin(angle)], axis=1)
        self._curves = _curves(
            place[self._pairs[:, 0]], place[self._pairs[:, 1]]
        )
        self._links = LineCollection([], capstyle="round")
        axes.add_collection(self._links)
        self._discs = axes.scatter(
            *place.T,
            zorder=3,
            color=_INK,
            edgecolor="white",
            linewidth=0.8,
        )
        axes.set(xlim=(-1.16, 1.16), ylim=(-1.3, 1.3), aspect="equal")
        axes.set_axis_off()
        axes.set_title(
            recording.run.policy_label,
            y=0.945,
            fontsize=14,
            fontweight="bold",
            color=_INK,
        )
        self._text = axes.text(
            0, -1.27, "", ha="center", va="bottom", fontsize=10
        )

    def show(self, frame: int) -> None:
        use = self._use[frame]
        order = np.argsort(use, kind="stable")  # busy links on top
        self._links.set_segments(list(self._curves[order]))
        self._links.set_color(_USE(use[order]))
        self._links.set_linewidth(0.4 + 2.2 * use[order])
        self._discs.set_sizes(20.0 + 380.0 * self._waiting[frame])
        figures = self._recording.figures
        latency = figures["latency_mean_ns"][frame]
        shown = "none yet" if np.isnan(latency) else f"{latency / 1000:.1f} µs"
        self._text.set_text(
            f"accepted {figures['accepted_load'][frame]:.0%}  ·  mean latency {shown}"
        )


class _Chart:
    """Accepted load over time, drawn as far as the animation has come."""

    def __init__(
        self,
        figure: Figure,
        recordings: Sequence[Recording],
        style: dict[str, SeriesStyle],
    ) -> None:
        axes = figure.add_axes((0.085, 0.075, 0.62, 0.165))
        first = recordings[0]
        self._us = (
            first.start_ns + first.frame_ns * np.arange(1, first.num_frames + 1)
        ) / 1000.0
        self._values = [
            recording.figures["accepted_load"] for recording in recordings
        ]
        top = max(float(np.nanmax(values)) for values in self._values)
        if not first.run.closed_loop:
            axes.axhline(
                first.run.load, color=REFERENCE, linestyle=":", linewidth=1.5
            )
            axes.text(
                self._us[-1],
                first.run.load,
                "offered",
                ha="right",
                va="bottom",
                color=_INK,
            )
            top = max(top, first.run.load)
        self._lines = [
            axes.plot(
                [],
                [],
                **style[recording.run.policy_label].line,
                linewidth=2.0,
                label=recording.run.policy_label,
            )[0]
            for recording in recordings
        ]
        axes.set(
            xlim=(first.start_ns / 1000.0, self._us[-1]),
            ylim=(0, 1.3 * max(top, 0.01)),
        )
        axes.set_xlabel("simulated time (µs)", labelpad=1)
        axes.set_ylabel("accepted load")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            handles=self._lines,
            loc="upper left",
            ncols=2,
            frameon=False,
            handlelength=3.0,
            borderaxespad=0.0,
        )

    def show(self, frame: int) -> None:
        for line, values in zip(self._lines, self._values, strict=True):
            line.set_data(self._us[: frame + 1], values[: frame + 1])


def _legend(figure: Figure) -> None:
    axes = figure.add_axes((0.76, 0.02, 0.23, 0.22))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    steps = np.linspace(0.0, 1.0, 24)
    pieces = [
        [(0.05 + 0.9 * a, 0.72), (0.05 + 0.9 * b, 0.72)]
        for a, b in itertools.pairwise(steps)
    ]
    middle = (steps[:-1] + steps[1:]) / 2
    axes.add_collection(
        LineCollection(
            pieces, colors=_USE(middle), linewidths=0.4 + 5.6 * middle
        )
    )
    axes.text(0.05, 0.98, "use of links", va="top")
    axes.text(0.05, 0.62, "0 %", va="top")
    axes.text(0.95, 0.62, "100 %", va="top", ha="right")
    axes.scatter([0.09, 0.24], [0.2, 0.2], s=[20, 200], color=_INK)
    axes.text(0.38, 0.2, "group: packets\nwaiting", va="center")


def _use_by_pair(
    recording: Recording,
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """The ordered pairs of groups that share a link, (P, 2), and the mean use of their links, (T, P)."""
    topology = recording.run.config.topology
    ends = recording.links[:, [0, 2]] // topology.a
    between = (recording.links[:, 2] >= 0) & (ends[:, 0] != ends[:, 1])
    pairs, pair = np.unique(ends[between], axis=0, return_inverse=True)
    use = np.zeros((recording.num_frames, len(pairs)))
    for frame, values in enumerate(recording.utilisation[:, between]):
        use[frame] = np.bincount(pair.ravel(), values, len(pairs))
    return pairs, np.clip(
        use / np.bincount(pair.ravel(), minlength=len(pairs)), 0.0, 1.0
    )


def _waiting_by_group(recording: Recording) -> FloatArray:
    """(T, g) packets in the queues of each group's routers when a frame ends."""
    topology = recording.run.config.topology
    group = recording.links[:, 0] // topology.a
    rows: list[Any] = [
        np.bincount(group, values, topology.num_groups)
        for values in recording.queued_packets
    ]
    return np.asarray(rows, np.float64)


def _curves(start: FloatArray, end: FloatArray) -> FloatArray:
    """(P, points, 2) quadratic curves that keep to the right of the straight line, so both directions show."""
    along = end - start
    right = np.stack([along[:, 1], -along[:, 0]], axis=1)
    control = (start + end) / 2 * 0.75 + 0.09 * right
    t = np.linspace(0.0, 1.0, _CURVE_POINTS)[None, :, None]
    return np.asarray(
        (1 - t) ** 2 * start[:, None]
        + 2 * t * (1 - t) * control[:, None]
        + t**2 * end[:, None],
        np.float64,
    )


if __name__ == "__main__":
    scenario = Scenario.from_dict(
        {
            "topology": "72",
            "policies": ["min", "neural-v1"],
            "traffic": ["adv+1"],
            "loads": [0.3],
            "warmup_ns": 0,
            "measure_ns": 12_000,
        }
    )
    runs = [record(run, frames=30) for run in scenario.runs()]
    write_animation(runs, Path(__file__).parent / "images" / "routing.gif")
