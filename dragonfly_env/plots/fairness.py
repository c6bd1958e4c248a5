"""Fairness of injection: accepted load by the router's place in its group."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import NOTE, REFERENCE, looks
from dragonfly_env.metrics.metrics import Fairness
from dragonfly_env.plots.style import policy_grid, runs_at
from dragonfly_env.sweeps.results import Results


def fairness_figure(results: Results, load: float | None = None) -> Figure:
    """Draw a panel per traffic and policy: a bar for each router of a group, the mean over all groups.

    The thin line on a bar spans the lowest to the highest group. Jain's index is over all routers.
    """
    if "router_accepted_load" not in results.table.columns:
        raise config_error("arrays", False, "must be true in the sweep for results per router")
    look = looks(results.policies)
    figure, axes, shown = policy_grid(results, load, (2.15, 2.2), "accepted load", 1.5, sharey="row")
    for row, traffic in zip(axes, results.traffic, strict=True):
        chosen = shown[traffic]
        rows = runs_at(results, traffic, chosen)
        for panel, policy in zip(row, results.policies, strict=True):
            loads = _by_group(rows[rows["policy"] == policy])
            panel.grid(visible=False, axis="x")
            if loads is None:
                panel.text(
                    0.5, 0.5, "no run", ha="center", va="center", transform=panel.transAxes, color=NOTE
                )
                continue
            mean = loads.mean(axis=0)
            spread = np.stack([mean - loads.min(axis=0), loads.max(axis=0) - mean])
            slots = np.arange(loads.shape[1])
            panel.bar(slots, mean, color=look[policy].color, alpha=0.8, width=0.78)
            panel.errorbar(
                slots, mean, yerr=np.maximum(spread, 0.0), fmt="none", ecolor="black", elinewidth=0.8
            )
            panel.axhline(chosen, color=REFERENCE, linestyle=":", linewidth=1.0)
            panel.set_xticks(slots[:: max(1, len(slots) // 8)])
            panel.tick_params(axis="x", labelsize=7)
            panel.set_xlabel(f"router of its group (Jain {Fairness.of(loads).jain:.3f})", fontsize=7.5)
        row[0].set_ylim(bottom=0.0)
    return figure


def _by_group(rows: pd.DataFrame) -> npt.NDArray[np.float64] | None:
    """(groups, routers with hosts per group) accepted loads, the mean over seeds; None without runs."""
    kept = rows[rows["router_accepted_load"].notna()]
    if kept.empty:
        return None
    if kept["router_accepted_load"].map(len).nunique() > 1:
        raise config_error("results", "routers", "must be of one topology for a figure of its routers")
    mean = np.mean([np.asarray(values, dtype=np.float64) for values in kept["router_accepted_load"]], axis=0)
    by_group = np.asarray(mean.reshape(-1, int(kept["topology_a"].iloc[0])), dtype=np.float64)
    return by_group[:, ~np.isnan(by_group).all(axis=0)]  # routers with hosts
