"""Distribution of traffic: utilisation of global links between groups, and of every port of a router."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import MISSING, NOTE
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.plots.style import HEAT_MAP, TITLE_POINTS, policy_grid, runs_at
from dragonfly_env.sweeps.results import Results

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
ToMap = Callable[[Integers, Integers, Floats], Floats]
"""Function from (router, port, utilisation) of every link to the values of one heat map."""


def global_links_figure(results: Results, load: float | None = None) -> Figure:
    """Heat maps, one per traffic and policy: row = sending group, column = receiving group.

    Light is idle and dark is full; each panel says its mean and its highest value. With several links between two
    groups their mean is shown. The diagonal is empty.
    """
    topology = _topology(results)
    leads_to, group_of_routers = _group_behind(topology), topology.group_of_routers()

    def to_map(router: Integers, port: Integers, used: Floats) -> Floats:
        receiving = leads_to[router, port]
        remote = receiving >= 0
        shape = (topology.num_groups, topology.num_groups)
        return _mean_at(shape, group_of_routers[router[remote]], receiving[remote], used[remote])

    return _heat_maps(results, load, to_map, "sending group", "receiving group")


def ports_figure(results: Results, load: float | None = None) -> Figure:
    """Heat maps, one per traffic and policy: row = router's place in its group, column = port, mean over
    groups.

    Thin lines separate the classes of links.
    """
    topology = _topology(results)
    place = topology.place_of_routers()

    def to_map(router: Integers, port: Integers, used: Floats) -> Floats:
        return _mean_at((int(place.max()) + 1, topology.radix), place[router], port, used)

    edges = tuple((np.flatnonzero(np.diff(topology.port_classes())) + 0.5).tolist())
    classes = topology.link_classes[1:]
    columns = (
        f"port: hosts |{' ' if len(classes) == 2 else chr(10)}{' | '.join(classes)}"  # one panel is narrow
    )
    return _heat_maps(results, load, to_map, "router of its group", columns, edges)


def _heat_maps(
    results: Results,
    load: float | None,
    to_map: ToMap,
    row_label: str,
    column_label: str,
    edges: tuple[float, ...] = (),
) -> Figure:
    figure, axes, chosen = policy_grid(
        results, load, (2.3, 2.25), row_label, 1.6, key=True, sharex=True, sharey=True
    )
    maps: dict[tuple[str, str], Floats] = {}
    for traffic in results.traffic:
        rows = runs_at(results, traffic, chosen[traffic])
        for policy in results.policies:
            kept = rows[(rows["policy"] == policy) & rows["link_utilisation"].notna()]
            if not kept.empty:
                maps[traffic, policy] = _mean_map(kept, to_map)
    highest = max((float(np.nanmax(values)) for values in maps.values()), default=1.0)
    top = min(
        1.0, math.ceil(highest * 10) / 10 or 1.0
    )  # full tenths, so that the scales of two figures compare
    image = None
    for row, traffic in zip(axes, results.traffic, strict=True):
        for panel, policy in zip(row, results.policies, strict=True):
            panel.grid(visible=False)
            if (traffic, policy) not in maps:
                panel.text(0.5, 0.5, "no run", ha="center", transform=panel.transAxes, color=NOTE)
                continue
            values = maps[traffic, policy]
            panel.set_title(panel.get_title(), fontsize=TITLE_POINTS, pad=16)
            told = f"mean {np.nanmean(values):.2f}, highest {np.nanmax(values):.2f}"
            panel.text(0.5, 1.02, told, ha="center", va="bottom", transform=panel.transAxes, fontsize=7)
            panel.set_facecolor(MISSING)
            image = panel.imshow(
                values, vmin=0.0, vmax=top, cmap=HEAT_MAP, interpolation="none", aspect="auto"
            )
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
            for edge in edges:
                panel.axvline(edge, color="#56b4e9", linewidth=1.2)
            if row is axes[-1]:
                panel.set_xlabel(column_label, fontsize=8)
    if image is not None:
        panels = [panel for row in axes for panel in row]
        figure.colorbar(
            image, ax=panels, label="utilisation\n(fraction of the bandwidth)", pad=0.01, aspect=30
        )
    return figure


def _mean_map(rows: pd.DataFrame, to_map: ToMap) -> Floats:
    """The mean over seeds."""
    maps = [
        to_map(np.asarray(router, np.int64), np.asarray(port, np.int64), np.asarray(used, np.float64))
        for router, port, used in zip(
            rows["link_router"], rows["link_port"], rows["link_utilisation"], strict=True
        )
    ]
    return np.asarray(np.mean(maps, axis=0), dtype=np.float64)


def _mean_at(shape: tuple[int, int], row: Integers, column: Integers, values: Floats) -> Floats:
    """The mean of the values that fall on each cell; NaN where none does."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (row, column), values)
    np.add.at(count, (row, column), 1.0)
    mean: Floats = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
    return mean


def _topology(results: Results) -> Dragonfly:
    table = results.table
    if "link_utilisation" not in table.columns:
        raise config_error("arrays", False, "must be true in the sweep for results per link")
    columns = [name for name in table.columns if name.startswith("topology_")]
    kinds = table[columns].drop_duplicates()
    if len(kinds) > 1:
        raise config_error("results", results.name, "must be of one topology for a figure of its links")
    return Dragonfly.from_dict(
        {
            str(name).removeprefix("topology_"): value if isinstance(value, str) else int(value)
            for name, value in kinds.iloc[0].items()
        }
    )


def _group_behind(topology: Dragonfly) -> Integers:
    """(routers, radix) the group that a global link leads to; -1 for other ports."""
    behind = np.full((topology.num_routers, topology.radix), -1, dtype=np.int64)
    links = topology.links().astype(np.int64)
    groups = topology.group_of_routers()[links[:, [0, 2]]]
    crosses = groups[:, 0] != groups[:, 1]
    behind[links[crosses, 0], links[crosses, 1]] = groups[crosses, 1]
    return behind
