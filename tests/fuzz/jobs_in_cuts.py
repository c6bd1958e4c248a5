"""Jobs next to open-loop traffic and endless jobs, and closed loops: however a run is cut, it is the same run.

Cut by limits, windows, a progress bar, Ctrl-C and SIGSTOP, with any number of threads: hash, time and measurements are
those of one call.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError, StateError
from dragonfly_env.jobs import Job
from dragonfly_env.policies import parse_policy
from dragonfly_env.simulation import Simulation
from dragonfly_env.sweeps.measure import jobs_text, measure, tiles_text
from dragonfly_env.sweeps.run import Run
from tests.fuzz import settings
from tests.fuzz.alarm import Alarm
from tests.fuzz.outcome import Outcome, outcome, require
from tests.fuzz.programs import rank_program
from tests.fuzz.stopper import Stopper

_LIMIT_NS = 50_000.0  # programs of a few messages end long before
_LATEST_S = 3e-3
_MOST_INTERRUPTS = 40
_TIMES = {"date", "wall_seconds", "cpu_seconds", "measured_cpu_seconds", "packet_hops_per_cpu_s"}


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A system with jobs and other traffic, run at once and in pieces."""
    alarm, stopper = Alarm(KeyboardInterrupt), Stopper()
    try:
        while True:
            yield functools.partial(_attempt, random, alarm, stopper)
    finally:
        stopper.close()


def _attempt(random: Random, alarm: Alarm, stopper: Stopper) -> Outcome:
    made: list[SimulationConfig] = []
    if outcome(lambda: made.append(_config(random)), ConfigError) is Outcome.REFUSED:
        return Outcome.REFUSED
    (config,) = made
    whole = Simulation(config.replace(threads=1))
    if not config.ends:
        require(outcome(whole.run_to_completion, StateError) is Outcome.REFUSED, "endless traffic has no end")
        return Outcome.RUN
    if math.isnan(whole.run_to_completion(_LIMIT_NS).makespan_ns):
        return Outcome.RUN  # the other traffic keeps the job from its end
    expected = seen(whole)
    cuts = (_limited, _limited, _begun, _in_windows, functools.partial(_interrupted, alarm=alarm), _stopped)
    for cut in random.sample(cuts, 2):
        stopper.soon(random.randint(0, 3) if cut is _stopped else 0, _delay_s(random), _delay_s(random))
        simulation = Simulation(config.replace(threads=random.randint(1, 3)))
        cut(random, simulation, whole.time_ns)
        simulation.check_invariants()
        found = seen(simulation)
        for name, value in expected.items():
            require(found[name] == value, f"{name} {found[name]} is {value}, as in one call")
    if random.random() < 0.3:
        _require_same_rows(random, config, stopper, f"{whole.trace_hash():016x}")
    return Outcome.RUN


def _config(random: Random) -> SimulationConfig:
    parts = random.random() < 0.25
    topology = Dragonfly(**(settings.partitioned_topology if parts else settings.topology_arguments)(random))
    policy = settings.policy(random)
    background = settings.pattern(random, topology.num_hosts)
    if random.random() < 0.2 and not parts:
        background = settings.schedule(random, topology.num_hosts)
    jobs: list[Job] = []
    if random.random() < 0.1 and not parts:
        background = settings.all_to_all(random)
    else:
        jobs = _jobs(random, topology.num_hosts)
        background = random.choice(("none", background, background, background))
    config = SimulationConfig(
        topology=topology,
        network=settings.small_network(random, parts=parts),
        policy=policy if not parse_policy(policy).learns or random.random() < 0.1 else "min",
        traffic=background,
        load=random.choice((0.003, 0.01, 0.03) if parts else (0.05, 0.2, 0.5)),
        jobs=jobs,
        message_packets=random.choice((1, 1, 2)) if jobs else 1,
        seed=random.randrange(2**64),
        group_latency=random.random() < 0.3,
        host_latency=random.random() < 0.3,
        series_bin_ns=random.choice((None, None, 100.0, 33.3)),
    )
    Simulation(config)  # too few VCs for the policy, say
    return config


def _jobs(random: Random, hosts: int) -> list[Job]:
    jobs = []
    for number in range(random.choice((1, 1, 2))):
        program = rank_program(random, ranks=random.randint(1, min(6, max(1, hosts // 3))))
        given = {
            "program": program.function,
            "hosts": program.ranks,
            "iterations": "endless" if random.random() < (0.1, 0.7)[number] else random.choice((1, 1, 3)),
        }
        if random.random() < 0.1 and hosts > 6:
            given = {"program": "all-to-all:message_bytes=300", "hosts": 4}
        jobs.append(
            Job(
                **given,
                placement=random.choice(("consecutive", "random", "random-routers")),
                start_ns=random.choice((0, 0, 0.001, 333.3, 2_000)),
            )
        )
    return jobs


def seen(simulation: Simulation) -> dict[str, Any]:
    """All that a run gives, by name."""
    metrics = simulation.metrics()
    series = {name: values.tolist() for name, values in (metrics.time_series or {}).items()}
    return {
        "time_ns": simulation.time_ns,
        "trace_hash()": f"{simulation.trace_hash():016x}",
        "metrics": json.dumps(metrics.to_dict()),
        "jobs": jobs_text(metrics),
        "tiles": tiles_text(metrics),
        "links": repr((metrics.links.utilisation.tolist(), metrics.links.stall_fraction.tolist())),
        "latencies": repr(metrics.latency_histogram.tolist()),
        "series": json.dumps(series),
        "progress()": simulation.progress(),
    }


# Cuts: each runs a simulation to its completion.


def _limited(random: Random, simulation: Simulation, end_ns: float) -> None:
    longest_ns = max(0.001, end_ns * random.choice((0.01, 0.1, 0.5, 2)))
    limits = [round(random.uniform(0.001, longest_ns), 3) for _ in range(random.choice((1, 5)))]
    for number in range(1_000_000):
        limit_ns = limits[number % len(limits)]
        if not math.isnan(simulation.run_to_completion(limit_ns).makespan_ns):
            return


def _begun(random: Random, simulation: Simulation, end_ns: float) -> None:
    simulation.run(round(random.uniform(0, end_ns) * 1000 // 1) / 1000)
    simulation.run_to_completion()


def _in_windows(random: Random, simulation: Simulation, end_ns: float) -> None:
    width_ns = round(max(0.001, end_ns * random.uniform(0.01, 1.5)), 3)
    windows = simulation.run_in_windows(width_ns, None)
    require(windows.whole.end_ps == round(simulation.time_ns * 1000), "windows end with the run")


def _interrupted(random: Random, simulation: Simulation, end_ns: float, *, alarm: Alarm) -> None:
    for _ in range(_MOST_INTERRUPTS):
        if not alarm.during(simulation.run_to_completion, _delay_s(random)):
            return
        simulation.check_invariants()
    simulation.run_to_completion()


def _stopped(random: Random, simulation: Simulation, end_ns: float) -> None:
    simulation.run_to_completion()  # the stopper is at work


def _delay_s(random: Random) -> float:
    return max(1e-6, _LATEST_S * random.random() ** 3)


def _require_same_rows(random: Random, config: SimulationConfig, stopper: Stopper, trace_hash: str) -> None:
    """As ``simulate`` does it: with a progress bar and SIGSTOP, and without."""
    warmup_ns = random.choice((0.0, 0.0, 500.0))
    rows: list[dict[str, str]] = []

    def add(progress: Callable[[float], None] | None) -> None:
        run = Run(
            config=config,
            policy_label="a policy",
            traffic_label="traffic",
            warmup_ns=warmup_ns,
            measure_ns=_LIMIT_NS,
            arrays=False,
        )
        row, _ = measure(run, progress=progress)
        rows.append({name: repr(np.asarray(value).tolist()) for name, value in row.items()})

    if outcome(lambda: add(None), ConfigError) is Outcome.REFUSED:
        return
    stopper.soon(random.randint(0, 3), _delay_s(random), _delay_s(random))
    add(lambda _: None)
    for name, value in rows[0].items():
        require(
            name in _TIMES or rows[1][name] == value, f"{name} {rows[1][name]} is {value}, without progress"
        )
    if warmup_ns == 0.0:
        found = rows[0]["trace_hash"]
        require(found == repr(trace_hash), f"trace_hash {found} is {trace_hash}, without 'measure'")
