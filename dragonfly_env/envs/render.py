"""Rendering of the environments: as text (`frame.py`), or as a picture drawn without a display (`picture.py`).

A frame shows the utilisation of links over a window of simulated time, and names the hottest.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import import_matplotlib, require_analysis
from dragonfly_env.checks.values import PS_PER_NS, check_choice
from dragonfly_env.envs.frame import Frame, IntArray, draw_text
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from dragonfly_env.envs.picture import Picture

RENDER_MODES = ("human", "ansi", "rgb_array")
_SHORTEST_WINDOW_NS = 500.0


class Renderer:
    """Makes and renders the frames of one environment; utilisation is measured from frame to frame.

    A window is at least 500 ns long, if so much has passed: over a few packet times every link is either
    idle or full. Without any frame before, and after statistics began anew, it reaches back to their beginning.

    Args:
        config: Configuration of the run.
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
    def _connected(self) -> npt.NDArray[np.bool_]:
        """(num_routers, radix) whether a link leaves a port."""
        topology = self._config.topology
        connected = np.zeros((topology.num_routers, topology.radix), np.bool_)
        connected[topology.router_of_hosts(), topology.port_of_hosts()] = True
        connected[topology.links()[:, 0], topology.links()[:, 1]] = True
        return connected

    @functools.cached_property
    def _global(self) -> IntArray:
        """(L, 4) the global links: router, port, router at the other end, its port."""
        topology = self._config.topology
        between = topology.links().astype(np.int64)
        return between[between[:, 1] >= topology.p + topology.num_local_ports]

    def frame(
        self, metrics: Metrics, time_ns: float | None = None, packet: tuple[int, int] | None = None
    ) -> Frame:
        """A frame of this moment.

        Args:
            metrics: Taken now.
            time_ns: The simulated time. While decisions are pending that is not the end of the metrics, which
                then lies at the last time that all parts of the network have passed. None: the end.
            packet: Routers of the tagged packet and of its destination.
        """
        topology = self._config.topology
        sent = metrics.counters.link_packets
        now_ps = metrics.end_ps if time_ns is None else max(metrics.start_ps, round(time_ns * PS_PER_NS))
        if metrics.start_ps != self._start_ps:
            self._start_ps, self._marks = metrics.start_ps, []
        since_ps, before = self._window_start(now_ps, metrics.start_ps, np.zeros_like(sent))
        width_ps = now_ps - since_ps
        kinds, names = topology.port_classes(), topology.link_classes
        busy_ps = (sent - before).reshape(-1, topology.radix) * metrics.counters.link_busy_ps_per_packet[
            kinds
        ]
        # A packet counts when it starts, so a short window may seem more than full.
        used = np.minimum(busy_ps / width_ps, 1.0) if width_ps > 0 else np.zeros(busy_ps.shape)
        self._marks.append((now_ps, sent))
        connected = self._connected
        local = connected & ((kinds > 0) & (kinds < len(names) - 1))
        by_kind = {name: used[connected & (kinds == kind)] for kind, name in enumerate(names)}
        return Frame(
            topology=topology,
            title=_title(self._config),
            time_ns=now_ps / PS_PER_NS,
            window_ns=width_ps / PS_PER_NS,
            metrics=metrics,
            links=self._global,
            utilisation=by_kind[names[-1]],
            router_utilisation=np.where(local, used, 0.0).sum(axis=1) / np.maximum(1, local.sum(axis=1)),
            class_utilisation={
                name: (float(values.mean()), float(values.max()))
                for name, values in by_kind.items()
                if values.size
            },
            packet=packet,
        )

    def render(
        self, metrics: Metrics, time_ns: float | None = None, packet: tuple[int, int] | None = None
    ) -> str | npt.NDArray[np.uint8] | None:
        """A frame of this moment; what links did since the frame before.

        Args:
            metrics: The environment's, taken now.
            time_ns: The environment's; None: the end of the metrics.
            packet: Routers of the tagged packet and of its destination.
        """
        if self.mode is None:
            modes = " or ".join(repr(mode) for mode in RENDER_MODES)
            raise StateError(f"render(): the environment was made with render_mode=None; give it {modes}")
        frame = self.frame(metrics, time_ns, packet)
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


def _title(config: SimulationConfig) -> str:
    traffic = (
        config.traffic if isinstance(config.traffic, str) else type(config.traffic_object).__name__.lower()
    )
    return f"Dragonfly, {config.topology.num_hosts:,} hosts · {traffic}, load {config.load:g}"
