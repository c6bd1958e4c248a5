"""``simulate``: a warm-up and a window, in one call."""

from __future__ import annotations

from dragonfly_env.checks.values import check_instance
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.durations import duration_ps_of
from dragonfly_env.simulation.simulation import Simulation
from dragonfly_env.simulation.window import after_warmup, check_window


def simulate(config: SimulationConfig, *, warmup_ns: float = 0.0, measure_ns: float) -> Metrics:
    """Run a warm-up that is not counted, then a window that is.

    Args:
        config: What to simulate. Jobs that end start after the warm-up: their ``start_ns`` counts from its end.
        warmup_ns: Simulated time before the window, 0 or more.
        measure_ns: Length of the window, above 0.

    Returns:
        The metrics of the window.

    Raises:
        ConfigError: If a time is out of range, or the window would not measure a job: one that starts after it, or
            closed-loop traffic behind a warm-up.
        DeadlockError: If nothing moved for ``watchdog_ns``.
    """
    check_instance("config", config, SimulationConfig)
    duration_ps_of("warmup_ns", warmup_ns)
    duration_ps_of("measure_ns", measure_ns, above_0=True)
    warmed_up = after_warmup(config, warmup_ns)
    check_window(warmed_up, warmup_ns, measure_ns)
    simulation = Simulation(warmed_up)
    simulation.run(warmup_ns)
    simulation.reset_statistics()
    simulation.run(measure_ns)
    return simulation.metrics()
