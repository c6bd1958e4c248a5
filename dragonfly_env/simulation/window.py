"""``simulate``: a warm-up and a window in one call. Jobs and traces start after the warm-up; what is never measured is
refused.
"""

from __future__ import annotations

from dragonfly_env.checks.values import PS_PER_NS, config_error, duration_ps_of, ns_to_ps
from dragonfly_env.jobs import Job
from dragonfly_env.jobs.mix import BackgroundMix
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation.config import FIRST_MESSAGE_NS, SimulationConfig
from dragonfly_env.simulation.simulation import Simulation
from dragonfly_env.traffic import Trace


def simulate(config: SimulationConfig, *, warmup_ns: float = 0.0, measure_ns: float) -> Metrics:
    """Run a warm-up that is not counted, then a window that is.

    Args:
        config: The configuration. Jobs that end, and traces, start after the warm-up: ``start_ns`` of jobs and times of
            messages count from its end.
        warmup_ns: Simulated time before the window, 0 or more.
        measure_ns: Length of the window, above 0.

    Returns:
        The metrics of the window.

    Raises:
        ConfigError: If a time is out of range, or the window would not measure a job or a trace: one that starts after
            it, or closed-loop traffic behind a warm-up.
        DeadlockError: If nothing moved for ``watchdog_ns``.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> metrics = dfe.simulate(config, warmup_ns=5_000, measure_ns=5_000)
        >>> metrics.duration_ns, metrics.saturated
        (5000.0, True)
    """
    duration_ps_of("warmup_ns", warmup_ns)
    duration_ps_of("measure_ns", measure_ns, above_0=True)
    warmed_up = after_warmup(config, warmup_ns)
    check_window(warmed_up, warmup_ns, measure_ns)
    simulation = Simulation(warmed_up)
    simulation.run(warmup_ns)
    if warmup_ns > 0.0:  # messages at time 0 belong to a run that is measured from there
        simulation.reset_statistics()
    simulation.run(measure_ns)
    return simulation.metrics()


def after_warmup(config: SimulationConfig, warmup_ns: float) -> SimulationConfig:
    """Shift the jobs and the trace of a run behind a warm-up: their times count from its end. Endless jobs and mixes
    are part of what warms the network up: theirs count from time 0. A trace begins 1 ns later, as all generators do:
    a message at the end of the warm-up would count as part of the warm-up.
    """
    if warmup_ns == 0.0:
        return config
    traffic = config.traffic_object
    if isinstance(traffic, Trace):
        config = config.replace(traffic=traffic.delayed(warmup_ns + FIRST_MESSAGE_NS))
    if not config.jobs:
        return config
    warmup_ps = ns_to_ps("warmup_ns", warmup_ns)
    jobs = tuple(
        job.replace(start_ns=(ns_to_ps("start_ns", job.start_ns) + warmup_ps) / PS_PER_NS)
        if isinstance(job, Job) and not job.is_endless
        else job
        for job in config.jobs
    )
    return config.replace(jobs=jobs)


def check_window(config: SimulationConfig, warmup_ns: float, measure_ns: float) -> None:
    """Refuse a run that would not measure its jobs or its trace, or only the end of them."""
    if isinstance(trace := config.traffic_object, Trace) and len(trace):
        first_ns, last_ns = trace.time_ps[[0, -1]] / PS_PER_NS
        if last_ns < warmup_ns:
            allowed = f"ends before the measured window, which begins at warmup_ns = {warmup_ns:g}"
            raise config_error("traffic", f"{trace.spec} until {last_ns:g} ns", allowed)
        if first_ns >= warmup_ns + measure_ns:
            allowed = f"must begin before {warmup_ns + measure_ns:g} ns, where the measured window ends"
            raise config_error("traffic", f"{trace.spec} from {first_ns:g} ns", allowed)
    if config.traffic_object.is_closed_loop and not config.jobs and warmup_ns > 0.0:
        raise config_error(
            "warmup_ns", warmup_ns, "must be 0 for closed-loop traffic, which starts at time 0"
        )
    for index, job in enumerate(config.jobs):
        if isinstance(job, BackgroundMix):
            continue
        if job.start_ns < warmup_ns and not job.is_endless:
            allowed = f"must be at least warmup_ns = {warmup_ns:g}: what happens before it is not measured"
            raise config_error(f"jobs[{index}].start_ns", job.start_ns, allowed)
        if job.start_ns >= warmup_ns + measure_ns:
            allowed = f"must be below {warmup_ns + measure_ns:g} ns, where the measured window ends"
            raise config_error(f"jobs[{index}].start_ns", job.start_ns, allowed)
