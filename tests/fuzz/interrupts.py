"""Ctrl-C at random moments of every call: afterwards the object is free, whole, and gives the same history as ever."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.errors import ConfigError
from dragonfly_env.simulation import Simulation
from tests.fuzz import settings
from tests.fuzz.alarm import Alarm
from tests.fuzz.outcome import Outcome, outcome, require

_CALLS = 40
_LATEST_S = 3e-3
_PACKETS = 2_000


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A simulation or an environment, and many calls that are interrupted."""
    alarm = Alarm(KeyboardInterrupt)
    while True:
        play = random.choice((_simulation, _environment))
        yield functools.partial(_attempt, random, alarm, play)


def _attempt(
    random: Random, alarm: Alarm, play: Callable[[Random, Alarm, SimulationConfig], None]
) -> Outcome:
    drawn: list[SimulationConfig] = []

    def make() -> None:
        config = settings.small_simulation(random).replace(threads=random.choice((1, 2)))
        Simulation(config)
        drawn.append(config)

    if outcome(make, ConfigError) is Outcome.REFUSED:
        return Outcome.REFUSED
    before = signal.getsignal(signal.SIGINT)
    play(random, alarm, drawn[0])
    require(signal.getsignal(signal.SIGINT) is before, "the answer to Ctrl-C is what it was")
    return Outcome.RUN


def _delay_s(random: Random) -> float:
    return max(1e-6, _LATEST_S * random.random() ** 3)


def _simulation(random: Random, alarm: Alarm, config: SimulationConfig) -> None:
    simulation = Simulation(config)
    end_ns = settings.time_for(random, config, _PACKETS)
    calls: list[Callable[[], Any]] = [
        lambda: simulation.run(min(end_ns / 10, end_ns - simulation.time_ns)),
        lambda: simulation.run(min(1.0, end_ns - simulation.time_ns)),
        simulation.metrics,
        simulation.trace_hash,
        simulation.check_invariants,
        simulation.reset_statistics,
        lambda: simulation.set_policy(config.policy),
        lambda: Simulation(config),
        lambda: repr(simulation),
    ]
    for _ in range(_CALLS):
        alarm.during(_rounded(random.choice(calls)), _delay_s(random))
        simulation.check_invariants()  # nobody holds it
    _run_to(simulation, end_ns)
    reference = Simulation(config)
    _run_to(reference, end_ns)
    require(simulation.trace_hash() == reference.trace_hash(), "the same history as without Ctrl-C")
    while not _drained(simulation, alarm, random):
        simulation.check_invariants()
    require(simulation.metrics().packets_in_flight == 0, "everything arrives")


def _rounded(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call; a time that floats made finer than a picosecond is not what is tried here."""
    return lambda: outcome(call, ConfigError)


def _run_to(simulation: Simulation, end_ns: float) -> None:
    left_ps = round(end_ns * 1000) - round(simulation.time_ns * 1000)
    simulation.run(left_ps / 1000)


def _drained(simulation: Simulation, alarm: Alarm, random: Random) -> bool:
    done: list[bool] = []
    alarm.during(lambda: done.append(simulation.drain()), _delay_s(random) * 3)
    return done == [True]


def _environment(random: Random, alarm: Alarm, config: SimulationConfig) -> None:
    try:
        env = BatchedRoutingEnv(config, duration_ns=settings.time_for(random, config, _PACKETS // 5))
    except ConfigError:
        return
    reference = _history(env)
    calls: list[Callable[[], Any]] = [
        *(env.transitions, env.metrics, env.state, env.payments, lambda: env.pending.draws),
        lambda: repr(env),
    ]
    for _ in range(_CALLS):
        if not alarm.during(lambda: env.reset(config.seed), _delay_s(random) * 3):
            break
    else:  # nothing that is short enough
        env.reset(config.seed)
    for _ in range(_CALLS):
        if env.done:
            break
        if random.random() < 0.3:
            alarm.during(random.choice(calls), _delay_s(random))
        else:
            alarm.during(lambda: env.step(env.pending.minimal_actions()), _delay_s(random))
    require(_play(env) == reference, "the same history as without Ctrl-C")
    env.reset()


def _history(env: BatchedRoutingEnv) -> int:
    env.reset(env.config.seed)
    return _play(env)


def _play(env: BatchedRoutingEnv) -> int:
    while not env.done:
        env.step(env.pending.minimal_actions())
    env._core.simulation.check_invariants()
    return env.trace_hash()
