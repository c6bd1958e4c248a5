"""Draw ``docs/images/outage.png`` and print its table of ``failures.md``: ``python docs/outage_figure.py``.

A share of the links between the groups of 1,056 hosts fails at 50 µs and returns at 100 µs, under five policies.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

import dragonfly_env as dfe
from dragonfly_env.colors import REFERENCE, looks

PICTURE = Path(__file__).parent / "images" / "outage.png"
POLICIES = ("min", "ugal-n", "par", "q-adaptive", "neural-v1")
FAILED = dfe.Failures(global_links=0.15, seed=1)
DOWN_US, UP_US, END_US, BIN_US = 50.0, 100.0, 150.0, 1.0
LOAD, NEAR = 0.6, 1.1
Floats = npt.NDArray[np.float64]


def config_of(policy: str) -> dfe.SimulationConfig:
    """A run with the outage."""
    topology = dfe.Dragonfly.preset("1056")
    links, _ = FAILED.drawn_on(topology.to_core())
    events = [
        dfe.LinkEvent(time_ns=1000.0 * time_us, link=link, up=up)
        for time_us, up in ((DOWN_US, False), (UP_US, True))
        for link in links
    ]
    return dfe.SimulationConfig(
        topology=topology,
        traffic="uniform",
        load=LOAD,
        policy=policy,
        events=events,
        series_bin_ns=1000.0 * BIN_US,
    )


def recovery(latency: Floats, before_ns: float) -> str:
    """Time after the return from which on the latency of every bin is near the one before the outage."""
    after = latency[int(UP_US / BIN_US) :]
    above = np.flatnonzero(after > NEAR * before_ns)
    bins = 0 if len(above) == 0 else int(above[-1]) + 1
    return (
        f"more than {END_US - UP_US:.0f} µs"
        if bins == len(after)
        else f"{bins * BIN_US:.0f} µs"
    )


def main() -> None:
    look = looks(POLICIES)
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    print(
        "| policy | packets sent | delivered | mean latency before, at the end of and after the outage "
        "| highest | recovers within |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for policy in sys.argv[1:] or POLICIES:
        simulation = dfe.Simulation(config_of(policy))
        simulation.run(1000.0 * END_US)
        metrics = simulation.metrics()
        series = metrics.time_series
        assert series is not None
        time_us = series["time_ns"] / 1000.0
        latency = series["latency_mean_ns"]
        for panel, values in zip(
            panels, (series["accepted_load"], latency / 1000.0), strict=True
        ):
            panel.plot(
                time_us,
                values,
                **look[policy].line,
                label=policy,
                linewidth=1.3,
            )
        before, during, after = (
            float(np.nanmean(latency[(time_us > end - 20.0) & (time_us < end)]))
            for end in (DOWN_US, UP_US, END_US)
        )
        drained = simulation.drain()
        total = simulation.metrics()
        assert drained
        assert total.packets_delivered == total.packets_injected
        print(
            f"| `{policy}` | {total.packets_injected:,} | {total.packets_delivered:,} "
            f"| {before:,.0f}, {during:,.0f}, {after:,.0f} ns | {np.nanmax(latency):,.0f} ns "
            f"| {recovery(latency, before)} |",
            flush=True,
        )
    for panel, label in zip(
        panels, ("accepted load", "mean latency (µs)"), strict=True
    ):
        for time_us in (DOWN_US, UP_US):
            panel.axvline(
                time_us, color=REFERENCE, linestyle="--", linewidth=0.8
            )
        panel.set(xlabel="simulated time (µs)", ylabel=label, ylim=(0, None))
        panel.margins(x=0.01)
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=5,
        fontsize="small",
    )
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
