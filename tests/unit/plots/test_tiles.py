"""Figures of an operator's counters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.metrics.counters import CounterWindows
from dragonfly_env.plots.style import save
from dragonfly_env.plots.tiles import counters_figure, tiles_figure

MACHINE = dfe.Dragonfly(
    p=2, group=dfe.Grid(rows=2, columns=3, column_links=2), g=4, links_between_groups=6, arrangement="xc"
)


@pytest.fixture(scope="module")
def windows() -> CounterWindows:
    job = dfe.Job("milc:scale=0.002,gap_ns=2000", hosts=16, placement="random", iterations="endless")
    config = dfe.SimulationConfig(
        topology=MACHINE, network="aries-256", policy="ad0", jobs=[job], host_latency=True
    )
    return dfe.Simulation(config).run_in_windows(5_000, 30_000)


@pytest.mark.parametrize("value", ["stalls_to_flits", "stalls", "flits"])
def test_a_panel_for_every_class_of_tiles_shows_every_router(windows: CounterWindows, value: str) -> None:
    figure = tiles_figure(windows.whole, value=value)
    panels = [panel for panel in figure.axes if panel.images]
    assert [panel.get_title().partition(":")[0] for panel in panels] == [
        "host-in",
        "rank-1",
        "rank-2",
        "rank-3",
        "host-out",
    ]
    for panel in panels:
        assert np.asarray(panel.images[0].get_array()).shape == (4, 6)
    sent = windows.whole.ports.tiles()["rank-3"].by("router")
    if value == "flits":
        shown = np.asarray(panels[3].images[0].get_array()).ravel()
        np.testing.assert_array_equal(shown[sent["router"]], sent["flits"])


def test_the_view_of_a_job_leaves_other_routers_grey(windows: CounterWindows) -> None:
    figure = tiles_figure(windows.whole, value="flits", job=0)
    shown = np.ma.filled(np.ma.asarray(figure.axes[0].images[0].get_array()).astype(float), np.nan)
    routers = {host // 2 for host in windows.whole.jobs[0].hosts}
    assert set(np.flatnonzero(~np.isnan(shown.ravel())).tolist()) == routers


def test_counters_over_time(windows: CounterWindows, tmp_path: Path) -> None:
    figure = counters_figure(windows, job=0)
    assert len(figure.axes) == 4
    assert all(len(line.get_xdata()) == len(windows) for line in figure.axes[0].lines)
    assert save(figure, tmp_path, "counters", ("png",))[0].stat().st_size > 1000
    assert len(counters_figure(windows).axes) == 3
