"""Several Python threads on one object: each call works or says that another thread is at work, and nothing breaks.

Which of them it is depends on the machine: a fault of a race need not come again with the same input.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.agents import RandomPolicy
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.bias import BiasControl, biased_policies
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from dragonfly_env.simulation import Simulation
from tests.fuzz import settings
from tests.fuzz.outcome import Outcome, is_refusal, outcome, require

Shared: TypeAlias = "Simulation | BatchedRoutingEnv | BiasControl | PacketRouting"

_SECONDS = 0.1
_PACKETS = 500


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A simulation or an environment, and two to four threads that call it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        while True:
            yield functools.partial(_attempt, random)
    finally:
        sys.setswitchinterval(before)


def _attempt(random: Random) -> Outcome:
    made: list[Shared] = []
    make = random.choice((_simulation, _simulation, _environment, _environment, _environment, _bias, _packet))

    def build() -> None:
        config = settings.small_simulation(random).replace(threads=random.choice((1, 1, 2)))
        made.append(make(random, config))

    if outcome(build, ConfigError) is Outcome.REFUSED:
        return Outcome.REFUSED
    (shared,) = made
    if isinstance(shared, BatchedRoutingEnv):
        _all_at_once(random, _environment_calls(shared))
        _play_to_the_end(shared)
    elif isinstance(shared, Simulation):
        _all_at_once(random, _simulation_calls(random, shared))
        shared.check_invariants()
        shared.drain()
        shared.check_invariants()
        require(shared.metrics().packets_in_flight == 0, "everything arrives")
    else:
        _all_at_once(random, _single_agent_calls(shared))
        outcome(lambda: _play_an_episode(shared), ConfigError)  # in so short a time no packet may ask
    return Outcome.RUN


def _all_at_once(random: Random, calls: list[Callable[[], object]]) -> None:
    """Call at random from two to four threads for a while; raise what the first of them met."""
    errors: list[BaseException] = []
    ends = time.monotonic() + _SECONDS
    start = threading.Barrier(count := random.randint(2, 4))

    def work(seed: int) -> None:
        mine = Random(seed)
        start.wait()
        while time.monotonic() < ends and not errors:
            try:
                mine.choice(calls)()
            except (StateError, IllegalActionError):
                pass
            except BaseException as error:
                if not (isinstance(error, Exception) and is_refusal(error)):
                    errors.append(error)

    threads = [
        threading.Thread(target=work, args=(random.randrange(2**32),), daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _simulation(random: Random, config: SimulationConfig) -> Simulation:
    return Simulation(config)


def _simulation_calls(random: Random, simulation: Simulation) -> list[Callable[[], object]]:
    config = simulation.config
    step_ns = settings.time_for(random, config, _PACKETS)
    policy = config.policy_object
    calls: list[Callable[[], object]] = [
        lambda: simulation.run(step_ns),
        lambda: simulation.run(step_ns),
        simulation.metrics,
        simulation.trace_hash,
        simulation.reset_statistics,
        simulation.check_invariants,
        lambda: simulation.drain(step_ns),
        lambda: simulation.time_ns,
        lambda: simulation.num_partitions,
        lambda: simulation.set_policy(policy),
        lambda: repr(simulation),
        simulation.packet_log,
        lambda: simulation.q_table().sum(),
    ]
    if policy.learns:
        table = simulation.q_table().copy()
        calls += [lambda: simulation.load_q_table(table), lambda: table.fill(1e3)]
    return calls


def _environment(random: Random, config: SimulationConfig) -> BatchedRoutingEnv:
    options: dict[str, Any] = {"feedback": random.random() < 0.5, "action": random.choice(("port", "path"))}
    env = BatchedRoutingEnv(config, duration_ns=settings.time_for(random, config, _PACKETS), **options)
    env.reset()
    return env


def _environment_calls(env: BatchedRoutingEnv) -> list[Callable[[], object]]:
    actions = np.zeros(2_000, dtype=np.int64)
    kept = [env.pending]

    def step() -> None:
        batch = kept[0]
        mine = actions[: len(batch)]
        mine[:] = batch.minimal_actions()
        kept[0] = env.step(mine)

    def disturb() -> None:
        actions[:] = 10**12

    def step_on() -> None:
        kept[0] = env.step(env.pending.minimal_actions())

    def reset() -> None:
        kept[0] = env.reset()

    return [
        step,
        step,
        step_on,
        step_on,
        disturb,
        reset,
        lambda: kept[0].draws.sum(),
        lambda: kept[0].obs.sum(),
        lambda: env.pending.draws.sum(),
        lambda: env.pending.copy(),
        env.transitions,
        env.feedback,
        env.payments,
        env.state,
        env.metrics,
        env.trace_hash,
        env.reset_statistics,
        lambda: env.time_ns,
        lambda: env.done,
        lambda: env.extend(50.0),
        env.drain,
        lambda: repr(env),
    ]


def _play_to_the_end(env: BatchedRoutingEnv) -> None:
    while not env.done:
        env.step(env.pending.minimal_actions())
    env._core.simulation.check_invariants()
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
    env.drain()
    env._core.simulation.check_invariants()
    require(env.metrics().packets_in_flight == 0, "everything arrives")


def _bias(random: Random, config: SimulationConfig) -> BiasControl:
    step_ns = settings.time_for(random, config, _PACKETS)
    policy = config.policy_object
    given = {} if policy.name in biased_policies() else {"policy": "ugal-n"}
    env = BiasControl(config, interval_ns=step_ns, duration_ns=5 * step_ns, warmup_ns=step_ns, **given)
    env.reset()
    return env


def _packet(random: Random, config: SimulationConfig) -> PacketRouting:
    background = random.choice(("min", "ugal-n", RandomPolicy()))
    duration_ns = settings.time_for(random, config, 4 * _PACKETS)
    env = PacketRouting(config, background=background, duration_ns=duration_ns)
    env.reset()
    return env


def _single_agent_calls(env: BiasControl | PacketRouting) -> list[Callable[[], object]]:
    def step_or_reset() -> None:
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            env.reset()

    calls: list[Callable[[], object]] = [
        step_or_reset,
        step_or_reset,
        lambda: env.step(1),
        env.reset,
        lambda: env.reset(seed=7),
        lambda: env.reset(options={"load": 0.2}),
        env.close,
        lambda: repr(env),
    ]
    if isinstance(env, BiasControl):
        return [*calls, env.trace_hash]
    return [*calls, env.action_masks, lambda: env.decision, lambda: env.set_background("min")]


def _play_an_episode(env: BiasControl | PacketRouting) -> None:
    hashes = []
    for _ in range(2):
        env.reset(seed=5)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(0)
            over = terminated or truncated
        hashes.append(env.trace_hash() if isinstance(env, BiasControl) else env.core.trace_hash())
    require(hashes[0] == hashes[1], "the same seed, the same bits")
