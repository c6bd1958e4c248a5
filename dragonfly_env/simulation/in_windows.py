"""Runs that are looked at again and again; ``Simulation.run_in_windows``."""

from __future__ import annotations

import math
import platform
from typing import TYPE_CHECKING

from dragonfly_env._version import installed_version
from dragonfly_env.checks.values import PS_PER_NS, config_error
from dragonfly_env.metrics.windows import CounterWindows, most_windows
from dragonfly_env.simulation.durations import duration_ps_of

if TYPE_CHECKING:
    from dragonfly_env.simulation.simulation import Simulation


def run_in_windows(simulation: Simulation, window_ns: float, duration_ns: float | None) -> CounterWindows:
    """See ``Simulation.run_in_windows``."""
    window_ps = duration_ps_of("window_ns", window_ns, above_0=True)
    left_ps = None if duration_ns is None else duration_ps_of("duration_ns", duration_ns)
    readings = [simulation.counters()]
    most = most_windows(readings[0])
    too_many = f"must be wider: of a system of this size {most} windows can be kept"
    if left_ps is not None and left_ps > most * window_ps:
        raise config_error("window_ns", window_ns, too_many)
    complete = False
    while not complete if left_ps is None else left_ps > 0:
        if len(readings) > most:
            raise config_error("window_ns", window_ns, too_many)
        if left_ps is None:
            complete = not math.isnan(simulation.run_to_completion(window_ps / PS_PER_NS).makespan_ns)
        else:
            step_ps = min(window_ps, left_ps)
            simulation.run(step_ps / PS_PER_NS)
            left_ps -= step_ps
        reading = simulation.counters()
        if reading.end_ps > readings[-1].end_ps:
            readings.append(reading)
    about = {
        "package_version": installed_version(),
        "platform": platform.platform(),
        "configuration": simulation.config.to_dict(),
    }
    return CounterWindows(readings, about)
