"""Which load a figure shows that has room for only one."""

from __future__ import annotations

from dragonfly_env.checks.values import config_error
from dragonfly_env.sweeps.results import Results, aggregate
from dragonfly_env.sweeps.storage import KEYS


def representative_load(results: Results, traffic: str, load: float | None = None) -> float:
    """The load for a figure of one traffic: high, but not beyond what most policies carry.

    Args:
        results: Runs.
        traffic: One of ``results.traffic``.
        load: The load that the user named, or None.

    Returns:
        ``load`` itself, or else the highest load that at least half of the policies still carry; if there is none,
        the highest that some policy carries; else the lowest there is.

    Raises:
        ConfigError: If there are no runs with that load; those nearest are named.
    """
    part = results.table[results.table["traffic"] == traffic]
    loads = sorted(float(value) for value in part["load"].unique())
    if load is not None:
        for value in loads:
            if abs(value - load) < 1e-6:
                return value
        raise config_error("load", load, f"must be one of {', '.join(f'{x:g}' for x in loads)} for {traffic}")
    table = aggregate(results, ())
    table = table[table["traffic"] == traffic]
    fraction = table.groupby(KEYS[2])["saturated"].mean()
    by_most = [value for value in loads if fraction[value] <= 0.5]
    by_some = [value for value in loads if fraction[value] < 1.0]
    return max(by_most or by_some or loads[:1])
