"""A run as a film: what every link, queue and pair of groups did, frame by frame.

A frame is a window of statistics, so nothing is sampled: what the frames of a recording count adds up to what one
window over all of them would have counted. Queues are looked at when a frame ends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import PS_PER_NS, check_integer, config_error, ns_to_ps
from dragonfly_env.metrics import Metrics
from dragonfly_env.sweeps.measure import simulation_of
from dragonfly_env.sweeps.point import Run

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_FRAMES = 2000
MOST_BYTES = 128 * 2**20
"""Most bytes of one recording in memory; a browser barely opens a page with two recordings of this size."""
BYTES_PER_LINK = 7
BYTES_PER_PAIR = 6

FIGURES = (
    "offered_load",
    "accepted_load",
    "latency_mean_ns",
    "hops_mean",
    "minimal_fraction",
    "packets_in_network",
    "packets_in_source_queues",
)
"""Figures of the whole network that are kept of each frame, as `Metrics` names them."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Recording of a run, frame by frame. T frames, L directed links that leave a router, g groups; arrays by frame.

    Attributes:
        run: Run that was simulated.
        start_ns: Simulated time at which the first frame begins.
        frame_ns: Length of each frame.
        links: (L, 4) router, port, and the router and port at the other end (-1 where that is a host), by router and
            port.
        busy_ns_per_packet: (L,) how long a packet keeps the link busy.
        packets: (T, L) packets sent.
        stall_fraction: (T, L) the part of the frame in which a port had a packet, but no credit for it.
        queued_packets: (T, L) packets in the port's queues, at the frame's end.
        occupancy_packets: (T, L) those and the credits in use, which is what policies compare, at the frame's end.
        delivered: (T, g, g) packets delivered, by the groups of source and destination.
        latency_mean_ns: (T, g, g) their mean latency; NaN where there is none.
        figures: Figures of the whole network (`FIGURES`), (T,) each.
    """

    run: Run
    start_ns: float
    frame_ns: float
    links: IntArray
    busy_ns_per_packet: FloatArray
    packets: IntArray
    stall_fraction: FloatArray
    queued_packets: IntArray
    occupancy_packets: IntArray
    delivered: IntArray
    latency_mean_ns: FloatArray
    figures: dict[str, FloatArray]

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.packets)

    @property
    def utilisation(self) -> FloatArray:
        """(T, L) the part of each frame in which a link carried bits."""
        return np.asarray(self.packets * self.busy_ns_per_packet / self.frame_ns, np.float64)


def record(run: Run, *, frames: int = 60, progress: Callable[[float], None] | None = None) -> Recording:
    """Do a run and keep what is seen of it.

    Args:
        run: Run to simulate; its window is cut into frames of equal length, whole picoseconds each.
        frames: Number of frames, at most `MOST_FRAMES`.
        progress: Called now and then with the fraction done.

    Raises:
        ConfigError: If a setting is impossible, a frame would be shorter than a packet on a link of a host, or the
            system is too large for so many frames.
        DeadlockError: If the watchdog fires.
        IllegalActionError: If an agent chooses what is not legal.

    Example:
        >>> from dragonfly_env.sweeps import Scenario
        >>> from dragonfly_env.view import record
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["adv+1"],
        ...      "loads": [0.3], "warmup_ns": 0, "measure_ns": 2_000}
        ... )
        >>> record(scenario.runs()[0], frames=4).frame_ns
        500.0
    """
    frames = check_integer("frames", frames, 1, MOST_FRAMES)
    _check_size(run, frames)
    frame_ps = ns_to_ps("measure_ns", run.measure_ns) // frames
    shortest_ns = run.config.network.packet_time_ns
    if frame_ps < shortest_ns * PS_PER_NS:
        most = max(1, int(run.measure_ns // shortest_ns))
        raise config_error(
            "frames",
            frames,
            f"must be at most {most} for {run.measure_ns:g} ns: no frame may be shorter than a packet on "
            f"a host's link ({shortest_ns:g} ns)",
        )
    simulation = simulation_of(
        dataclasses.replace(run, config=run.config.replace(group_latency=True, series_bin_ns=None))
    )
    simulation.run(run.warmup_ns)
    taken: list[Metrics] = []
    for i in range(frames):
        if i > 0 or run.warmup_ns > 0:  # without a warm-up, packets of time 0 belong to the first frame
            simulation.reset_statistics()
        simulation.run(frame_ps / PS_PER_NS)
        taken.append(simulation.metrics())
        if progress is not None:
            progress((i + 1) / frames)
    return _of(run, taken, frame_ps / PS_PER_NS)


def _check_size(run: Run, frames: int) -> None:
    topology = run.config.topology
    per_frame = (
        BYTES_PER_LINK * topology.num_routers * topology.radix + BYTES_PER_PAIR * topology.num_groups**2
    )
    if frames * per_frame > MOST_BYTES:
        most = MOST_BYTES // per_frame
        allowed = (
            f"must be at most {most} for {topology.num_hosts} hosts, or the page gets too large for browsers"
        )
        if most == 0:
            allowed = f"is too large for a page: a single frame takes {per_frame / 2**20:.0f} MB"
            raise config_error("topology", f"{topology.num_hosts} hosts", allowed)
        raise config_error("frames", frames, allowed)


def _of(run: Run, frames: list[Metrics], frame_ns: float) -> Recording:
    topology = run.config.topology
    first = frames[0].ports.of(direction="out")
    leads_to = np.full((topology.num_routers, topology.radix, 2), -1, np.int64)
    between = topology.links().astype(np.int64)
    leads_to[between[:, 0], between[:, 1]] = between[:, 2:]
    rates = np.ones((topology.num_routers, topology.radix))
    rates[between[:, 0], between[:, 1]] = topology.link_rates()
    busy_ps = frames[0].counters.link_busy_ps_per_packet[topology.port_classes()[first.port]]
    links = np.concatenate(
        [np.stack([first.router, first.port], axis=1), leads_to[first.router, first.port]], axis=1
    )
    place = first.router * topology.radix + first.port
    latencies = [frame.group_latency_mean_ns for frame in frames]
    delivered = [frame.group_delivered for frame in frames]
    return Recording(
        run=run,
        start_ns=frames[0].start_ps / PS_PER_NS,
        frame_ns=frame_ns,
        links=links,
        busy_ns_per_packet=busy_ps / rates[first.router, first.port] / PS_PER_NS,
        packets=np.stack([frame.counters.link_packets[place] for frame in frames]),
        stall_fraction=np.stack([frame.ports.of(direction="out").stall_fraction for frame in frames]),
        queued_packets=np.stack([frame.link_queued_packets[place] for frame in frames]),
        occupancy_packets=np.stack([frame.link_occupancy_packets[place] for frame in frames]),
        delivered=np.stack([counted for counted in delivered if counted is not None]),
        latency_mean_ns=np.stack([mean for mean in latencies if mean is not None]),
        figures={
            name: np.array([getattr(frame, name) for frame in frames], dtype=np.float64) for name in FIGURES
        },
    )
