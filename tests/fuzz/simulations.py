"""Small systems of every kind, run twice: with other splits and other numbers of threads, the same history.

Nothing may be lost, stuck or measured out of range, and a drained network is empty.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.checks.values import ns_to_ps
from dragonfly_env.errors import ConfigError
from dragonfly_env.metrics import Metrics
from dragonfly_env.policies import make_policy
from dragonfly_env.simulation import Simulation
from tests.fuzz import settings
from tests.fuzz.draws import some_of
from tests.fuzz.outcome import Outcome, outcome, require

_PACKETS = 600


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A system and what is done with it."""
    while True:
        yield functools.partial(_attempt, random)


def _attempt(random: Random) -> Outcome:
    config: SimulationConfig | None = None

    def make() -> None:
        nonlocal config
        config = settings.small_simulation(random)
        Simulation(config)  # too few VCs for the policy, say

    if outcome(make, ConfigError) is Outcome.REFUSED:
        return Outcome.REFUSED
    assert config is not None
    plan = [_event(random, config) for _ in range(random.randint(1, 6))]
    threads = random.sample((1, 2, 3), 2)
    one, other = (_history(random, config.replace(threads=count), plan) for count in threads)
    require(len(one) == len(other), "histories are of one length")
    for first, second in zip(one, other, strict=True):
        require(first == second, f"the same with {threads} threads and other splits: {first} != {second}")
    return Outcome.RUN


@dataclasses.dataclass(frozen=True, slots=True)
class _Event:
    """Run for so long, then call something."""

    duration_ps: int
    call: Callable[[Simulation], Any]


def _parameters(random: Random, name: str) -> dict[str, Any]:
    given = some_of(random, settings.policy_fields(name), 0.5, 0.0)
    return given | dict(settings.needed(random, name))


def _event(random: Random, config: SimulationConfig) -> _Event:
    duration_ps = ns_to_ps("duration", settings.time_for(random, config, _PACKETS))
    name = config.policy_object.name
    calls: list[Callable[[Simulation], Any]] = [
        lambda simulation: simulation.reset_statistics(),
        lambda simulation: _checked(simulation.metrics()),
        lambda simulation: simulation.trace_hash(),
        lambda simulation: simulation.check_invariants(),
    ]
    if config.traffic_object.is_closed_loop:
        limit_ns = random.choice((0.0, 100.0, 2_000.0))
        calls += [lambda simulation: _some_of_the_way(simulation, limit_ns)] * 2
    if config.packet_log:
        calls.append(_packet_log)
    if config.policy_object.learns:
        calls.append(_round_trip_of_tables)
    else:
        parameters = _parameters(random, name)  # which may not go together
        calls.append(
            lambda simulation: outcome(
                lambda: simulation.set_policy(make_policy(name, **parameters)), ConfigError
            )
        )
    return _Event(duration_ps, random.choice(calls))


def _history(random: Random, config: SimulationConfig, plan: list[_Event]) -> list[Any]:
    """What each call of the plan gave, and the end, with the runs split at random."""
    simulation = Simulation(config)
    seen: list[Any] = []
    for event in plan:
        left = event.duration_ps
        while left > 0:
            part = left if random.random() < 0.4 else random.choice((1, random.randint(1, left)))
            simulation.run(part / 1000)
            left -= part
            if left and random.random() < 0.2:
                simulation.run(0)
        seen.append(event.call(simulation))
        simulation.check_invariants()
    metrics = simulation.metrics()
    _require_the_load(config, metrics)
    seen += [_checked(metrics), simulation.time_ns, simulation.trace_hash()]
    while not simulation.drain(None if random.random() < 0.5 else 10_000.0):
        pass
    simulation.check_invariants()
    drained = simulation.metrics()
    require(drained.packets_in_flight == 0, "nothing is under way after a drain")
    under_way = metrics.packets_in_flight + (drained.packets_generated - metrics.packets_generated)
    delivered = drained.packets_delivered - metrics.packets_delivered
    require(delivered == under_way, f"every packet arrives: {delivered} of {under_way}")
    seen += [drained.packets_delivered, simulation.trace_hash()]
    simulation.run(100.0)
    return seen


def _require_the_load(config: SimulationConfig, metrics: Metrics) -> None:
    """Where everybody sends at exact intervals and nothing stalls, what is offered is known."""
    exact = config.injection == "periodic" and config.network.periodic_intervals == "exact"
    if config.traffic != "uniform" or not exact or config.source_queue_packets or metrics.start_ps > 0:
        return
    hosts = config.topology.num_hosts
    expected = hosts * config.load * metrics.duration_ns / config.network.packet_time_ns
    slack = 2 * hosts * config.message_packets
    offered = metrics.packets_generated
    require(abs(offered - expected) <= slack, f"load {config.load}: {offered} packets, not {expected:.0f}")


def _some_of_the_way(simulation: Simulation, limit_ns: float) -> list[Any]:
    before = simulation.progress()
    metrics = simulation.run_to_completion(limit_ns)
    share = simulation.progress()
    require(before <= share <= 1.0, "progress never goes back")
    require((share == 1.0) == (not math.isnan(metrics.makespan_ns)), "a complete workload has a makespan")
    return [_checked(metrics), share, simulation.time_ns]


def _packet_log(simulation: Simulation) -> str:
    log = simulation.packet_log()
    require(np.all(log["created_ns"] <= log["injected_ns"]), "no packet leaves before it is made")
    require(np.all(log["injected_ns"] < log["delivered_ns"]), "no packet arrives before it leaves")
    require(np.all(np.diff(log["delivered_ns"]) >= 0), "the log is in order of delivery")
    require(np.array_equal(np.diff(log["route_offsets"]), log["hops"] + 1), "a route has its hops")
    return repr({name: column.tolist() for name, column in log.items()})


def _round_trip_of_tables(simulation: Simulation) -> bytes:
    table = simulation.q_table().copy()
    require(not np.isnan(table).any(), "no table learns NaN")
    simulation.load_q_table(table)
    require(np.array_equal(simulation.q_table(), table), "a table that was loaded is there")
    return table.tobytes()


def _checked(metrics: Metrics) -> str:
    """The figures as text, once they are found to be possible."""
    row = metrics.to_dict()
    text = json.dumps(row, allow_nan=False)
    slack = 1e-9
    for name, value in row.items():
        require(value is None or value >= 0, f"{name} = {value} is not below 0")
    if metrics.packets_delivered:
        order = ("min", "p50", "p95", "p99", "p99_9", "max")
        latencies = [float(row[f"latency_{name}_ns"] or 0.0) for name in order]
        require(latencies == sorted(latencies), f"percentiles rise: {latencies}")
        mean = metrics.latency_mean_ns
        require(latencies[0] - slack <= mean <= latencies[-1] + slack, "the mean is between the extremes")
        require(metrics.network_latency_mean_ns <= mean + slack, "the network is a part of the way")
        require(0 <= metrics.minimal_fraction <= 1, "a fraction is one")
        require(int(metrics.hop_histogram.sum()) == metrics.packets_delivered, "every packet has its hops")
    balance = metrics.packets_generated - metrics.packets_delivered - metrics.packets_in_flight
    require(metrics.start_ps > 0 or balance == 0, f"from 0 on nothing is lost or invented: {balance}")
    series = metrics.time_series
    if series is not None:
        require(int(series["delivered"].sum()) == metrics.packets_delivered, "bins add up")
        require(math.isclose(float(series["duration_ns"].sum()), metrics.duration_ns), "bins fill the window")
    return text
