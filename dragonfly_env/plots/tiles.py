"""An operator's counters: a map of all tiles by rank, and how they went over time."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dragonfly_env.checks.values import check_choice, config_error
from dragonfly_env.colors import MISSING, SERIES
from dragonfly_env.metrics.counters import Counters, CounterWindows, percentile_of
from dragonfly_env.metrics.ports import HOST_IN, HOST_OUT
from dragonfly_env.plots.style import HEAT_MAP, add_title, grid, legend_above, plain, wrapped

_SHOWN = {
    "stalls_to_flits": "stalls per flit",
    "stalls": "stalls (times of a flit)",
    "flits": "received (flits)",
}
_WIDTH_IN = 3.2  # width of a panel in inches
_OPERATIONS = 2  # the panel


def tiles_figure(counters: Counters, *, value: str = "stalls_to_flits", job: int | None = None) -> Figure:
    """Heat maps of the tiles, one per class (rank): row = group, column = router of the group.

    Light is little and dark is much. A router with several tiles of a class shows their sum (or the ratio of their
    sums). Grey: nothing was received.

    Args:
        counters: Counters of a window: ``metrics.counters``, ``sim.counters()``, or one of ``sim.run_in_windows()``.
        value: ``"stalls_to_flits"``, ``"stalls"`` or ``"flits"``.
        job: Only the routers that have hosts of this job.

    Raises:
        ConfigError: For another value, or if there is no such job.

    Example:
        >>> from dragonfly_env.plots.tiles import tiles_figure
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
        >>> metrics = dfe.simulate(config, measure_ns=5_000)
        >>> figure = tiles_figure(metrics.counters, value="stalls")
        >>> len(figure.axes)
        7
    """
    window = counters
    label = _SHOWN[check_choice("value", value, tuple(_SHOWN))]
    tiles = (window.ports if job is None else window.ports_of_job(job)).tiles()
    maps = {kind: _map(window, ports.by("router"), value) for kind, ports in tiles.items()}
    known = [values[~np.isnan(values)] for values in maps.values()]
    top = max((float(values.max()) for values in known if len(values)), default=0.0)
    columns = min(3, len(maps))
    rows = math.ceil(len(maps) / columns)
    figure, axes = grid(2.9, 2.4, rows, columns, sharex=True, sharey=True)
    panels = [panel for row in axes for panel in row]
    image = None
    for panel, (kind, values) in zip(panels, maps.items(), strict=False):
        panel.grid(visible=False)
        panel.set_facecolor(MISSING)
        image = panel.imshow(
            values, vmin=0.0, vmax=top or 1.0, cmap=HEAT_MAP, interpolation="none", aspect="auto"
        )
        ratio = tiles[kind].totals().stalls_to_flits
        mean = "no flits" if math.isnan(ratio) else f"{ratio:.3g} stalls per flit"
        panel.set_title(f"{kind}: {mean}", fontsize=9)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    for panel in panels[len(maps) :]:
        panel.set_visible(False)
    for panel in axes[-1]:
        panel.set_xlabel("router of its group", fontsize=8)
    for row in axes:
        row[0].set_ylabel("group")
    if image is not None:
        figure.colorbar(image, ax=panels, label=label, shrink=0.9)
    whose = "" if job is None else f" of job {job}"
    add_title(figure, f"Tiles{whose} by class, in {window.duration_ns / 1000.0:g} µs")
    return figure


def counters_figure(windows: CounterWindows, *, job: int | None = None) -> Figure:
    """Counters over simulated time: flits and stalls per flit by class of tiles; with a job the mean times of its
    operations, and with ``SimulationConfig.host_latency`` the means of all hosts: their median, 95th percentile and
    highest.

    Args:
        windows: From ``sim.run_in_windows()``.
        job: Only the tiles of the routers that have hosts of this job, and its operations.

    Raises:
        ConfigError: If there is no such job, or there are no windows.

    Example:
        >>> from dragonfly_env.plots.tiles import counters_figure
        >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72", load=0.3))
        >>> windows = sim.run_in_windows(500, duration_ns=3_000)
        >>> len(counters_figure(windows).axes)
        2
    """
    if not len(windows):
        raise config_error("windows", windows, "must be one or more")
    sums = windows.ports("kind", "direction", job=job)
    kinds = dict.fromkeys(windows[0].ports.kind.tolist())
    tiles = {HOST_IN if kind == "host" else kind: (kind, "in") for kind in kinds} | {
        HOST_OUT: ("host", "out")
    }
    has_latency = windows[0].host_delivered is not None
    figure, (panels,) = grid(_WIDTH_IN, 2.6, 1, 2 + (job is not None) + has_latency)
    middle_us = (windows.time_ns + windows.duration_ns / 2) / 1000.0
    marker = "o" if len(windows) == 1 else None
    for (label, (kind, direction)), color in zip(tiles.items(), SERIES, strict=False):
        rows = (sums["kind"] == kind) & (sums["direction"] == direction)
        for panel, values in (
            (panels[0], sums["flits"][rows] / windows.duration_ns),
            (panels[1], sums["stalls_to_flits"][rows]),
        ):
            panel.plot(middle_us, values, color=color, label=label, marker=marker)
    panels[0].set_ylabel("flits per ns")
    panels[1].set_ylabel("stalls per flit")
    left = list(panels[2:])
    if job is not None:
        panel = left.pop(0)
        spent = windows.operations(job)
        names = [name for name in dict.fromkeys(spent["operation"].tolist()) if name != "iteration"]
        for name, color in zip(names, SERIES * len(names), strict=False):
            rows = spent["operation"] == name
            if not np.isnan(spent["mean_ns"][rows]).all():
                panel.plot(
                    middle_us,
                    spent["mean_ns"][rows] / 1000.0,
                    color=color,
                    label=wrapped(plain(name), _WIDTH_IN - 1.2, 7.0),
                    marker=".",
                )
        panel.set_ylabel("mean of those that\nwere completed (µs)")
    if has_latency:
        means_us = windows.host_latency_mean_ns() / 1000.0
        for q, color in zip((50, 95, 100), SERIES, strict=False):
            values = [percentile_of(row, q) for row in means_us]
            left[0].plot(middle_us, values, color=color, label=f"P{q}", marker=marker)
        left[0].set_ylabel("mean latency\nof a host (µs)")
    lines = 0
    for number, panel in enumerate(panels):
        panel.set_xlabel("simulated time (µs)", fontsize=8)
        panel.set_ylim(bottom=0.0)
        title = f"operations of job {job}" if job is not None and number == _OPERATIONS else ""
        lines = max(lines, legend_above(panel, _WIDTH_IN - 0.8, title=title))
    figure.set_size_inches(_WIDTH_IN * len(panels), 2.3 + 0.16 * lines)
    add_title(
        figure,
        "Counters over simulated time" if job is None else f"Counters of job {job} over simulated time",
    )
    return figure


def _map(window: Counters, sums: dict[str, npt.NDArray[np.float64]], value: str) -> npt.NDArray[np.float64]:
    """(groups, routers of a group), NaN where nothing was received."""
    topology = window.topology
    group, place = topology.group_of_routers(), topology.place_of_routers()
    values = np.full((topology.num_groups, place.max() + 1), math.nan)
    router = sums["router"][some := sums["flits"] > 0]
    values[group[router], place[router]] = sums[value][some]
    return values
