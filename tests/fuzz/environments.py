"""Environments of every kind: random actions, some of them illegal, and calls in any order.

What is refused has changed nothing, arrays that were kept may be read for good, and the recorded actions give the same
history once more, with another number of threads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import SimulationConfig, dragonfly_v0
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from tests.fuzz import settings
from tests.fuzz.draws import fields_of, odd, some_of
from tests.fuzz.outcome import Outcome, WrongError, outcome, require

_PACKETS = 300
_STEPS = 60
_LONG_NS = 1e6


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """An environment and an episode or two."""
    while True:
        play = random.choices((_batched, _several, _parallel, _aec), (3, 2, 1, 1))[0]
        yield functools.partial(_attempt, random, play)


def _attempt(random: Random, play: Callable[[Random, SimulationConfig, dict[str, Any]], None]) -> Outcome:
    made: list[tuple[SimulationConfig, dict[str, Any]]] = []

    def make() -> None:
        config = settings.small_simulation(random)
        options = _options(random, config)
        BatchedRoutingEnv(config, **options)
        made.append((config, options))

    if outcome(make) is Outcome.REFUSED:
        return Outcome.REFUSED
    play(random, *made[0])
    return Outcome.RUN


@functools.cache
def _option_fields() -> tuple[Any, ...]:
    return fields_of(EnvOptions, "duration_ns", "warmup_ns", "features", "nonminimal_kinds", "trackers")


def _options(random: Random, config: SimulationConfig) -> dict[str, Any]:
    """Settings of an environment, now and then impossible ones."""
    options = some_of(random, _option_fields(), 0.3 * random.random(), random.choice((0.0, 0.0, 0.0, 0.3)))
    options["duration_ns"] = settings.time_for(random, config, _PACKETS)
    if random.random() < 0.3:
        options["warmup_ns"] = settings.time_for(random, config, _PACKETS)
    if random.random() < 0.3:
        options["features"] = random.sample(list(FEATURES), random.randint(0, len(FEATURES)))
    if random.random() < 0.3:
        options["nonminimal_kinds"] = random.sample(("lgl", "lg", "gl", "g"), random.randint(0, 4))
    return options


# The batched environment.


def _batched(random: Random, config: SimulationConfig, options: dict[str, Any]) -> None:
    for array in _played(random, config, options):
        array.tobytes()  # the environment is gone, the memory is there, whatever it holds


def _played(random: Random, config: SimulationConfig, options: dict[str, Any]) -> list[npt.NDArray[Any]]:
    """Use an environment up; some arrays that it gave."""
    env = BatchedRoutingEnv(config.replace(threads=random.choice((1, 2))), **options)
    for name in ("step", "extend", "drain", "pending", "transitions", "feedback"):
        call = functools.partial(_call, env, name)
        require(outcome(call, StateError) is Outcome.REFUSED, f"{name} before reset")
    kept: list[npt.NDArray[Any]] = []
    for _ in range(random.randint(1, 2)):
        seed = random.randrange(2**64)
        steps = _episode(random, env, env.reset(seed), kept)
        again = BatchedRoutingEnv(config.replace(threads=random.choice((1, 3))), **options)
        batch = again.reset(seed)
        for seen, answer in steps:
            require(_seen(batch) == seen, "the same decisions with the same observations, in the same order")
            batch = again.step(answer)
        require(_seen(batch) == _seen(env.pending), "the same decisions are pending")
        if env.done:
            require(again.done and again.trace_hash() == env.trace_hash(), "the same actions, the same bits")
    if env.done:
        _after_the_end(random, env)
    return kept


def _several(random: Random, config: SimulationConfig, options: dict[str, Any]) -> None:
    """The network next to others: each has the history that it has alone, whatever the number of threads."""
    configs = [
        config.replace(seed=random.randrange(2**64), threads=random.choice((1, 2, 5))) for _ in range(3)
    ]
    try:
        if random.random() < 0.3:
            configs[1] = settings.small_simulation(random)
    except ConfigError:
        return  # what is drawn may be impossible by itself
    try:
        env = BatchedRoutingEnv(configs, **options)
    except ConfigError:
        require(
            configs[1].topology != config.topology or configs[1].network != config.network, "equal ones fit"
        )
        return
    batch = env.reset(options=_changes(random))
    present = env.configs
    for _ in range(_STEPS):
        if env.done:
            break
        if random.random() < 0.2:
            _refuse_what_is_illegal(random, env, batch)
        if random.random() < 0.2:
            outcome(lambda: env.metrics(odd(random)))
        batch = env.step(batch.minimal_actions())
    if not env.done:
        return
    env.drain()
    for number, one in enumerate(present):
        alone = BatchedRoutingEnv(one, **options)
        batch = alone.reset()
        while not alone.done:
            batch = alone.step(batch.minimal_actions())
        alone.drain()
        require(alone.trace_hash() == env.trace_hash(number), "the same history as alone")
        env._core.simulation_of(number).check_invariants()


def _changes(random: Random) -> Any:
    """Options of a reset that are possible everywhere."""
    changes = [None, {}, {"load": random.choice((0.1, 0.7))}, {"seed": random.randrange(2**64)}]
    return random.choice([*changes, random.choices(changes, k=3)])


def _call(env: BatchedRoutingEnv, name: str) -> object:
    """A call that needs an episode."""
    calls: dict[str, Callable[[], object]] = {
        "step": lambda: env.step([]),
        "extend": lambda: env.extend(1.0),
        "drain": env.drain,
        "pending": lambda: env.pending,
        "transitions": env.transitions,
        "feedback": env.feedback,
    }
    return calls[name]()


def _episode(
    random: Random, env: BatchedRoutingEnv, batch: DecisionBatch, kept: list[npt.NDArray[Any]]
) -> list[tuple[bytes, npt.NDArray[np.int64]]]:
    """Play an episode, or a part of one; what was seen and answered in each step."""
    steps = []
    for _ in range(random.choice((3, _STEPS))):
        if env.done:
            break
        if random.random() < 0.2:
            kept += [batch.obs, batch.mask, batch.packets, batch.time_ns]
        if random.random() < 0.2:
            _refuse_what_is_illegal(random, env, batch)
        if random.random() < 0.3:
            _look_around(random, env)
        answer = batch.minimal_actions() if random.random() < 0.3 else _legal(random, batch)
        steps.append((_seen(batch), np.array(answer)))
        batch = env.step(answer)
    return steps


def _seen(batch: DecisionBatch) -> bytes:
    """What a batch shows, row by row."""
    arrays = (batch.obs, batch.mask, batch.agents, batch.decision_ids, batch.packets, batch.time_ns)
    return b"".join(array.tobytes() for array in arrays)


def _legal(random: Random, batch: DecisionBatch) -> npt.NDArray[np.int64]:
    """(N,) actions drawn among those that each row's mask allows."""
    drawn = np.random.default_rng(random.randrange(2**32)).random(batch.mask.shape)
    return np.where(batch.mask, drawn, -1.0).argmax(axis=1)


def _refuse_what_is_illegal(random: Random, env: BatchedRoutingEnv, batch: DecisionBatch) -> None:
    before = (batch.obs.tobytes(), batch.decision_ids.tobytes(), env.time_ns, _hashes(env))
    good = batch.minimal_actions()
    bad: Any = odd(random)
    if random.random() < 0.7 and len(batch):
        bad = np.array(good)
        row = random.randrange(len(batch))
        forbidden = np.flatnonzero(~batch.mask[row])
        outside = [-1, batch.mask.shape[1], 2**31, -(2**62)]
        bad[row] = random.choice(outside if len(forbidden) == 0 else [*outside, *forbidden.tolist()])
    elif random.random() < 0.5:
        bad = random.choice(
            (good[:-1], np.append(good, 0), good.reshape(-1, 1), good.astype(float), good > 0)
        )
        if len(good) == 0 and np.size(bad) == 0:
            return
    elif isinstance(bad, range) and len(bad) == len(batch):  # these may be actions
        return
    try:
        env.step(bad)
    except IllegalActionError:
        pass
    else:
        raise WrongError(f"{bad!r} must be refused")
    pending = env.pending
    after = (pending.obs.tobytes(), pending.decision_ids.tobytes(), env.time_ns, _hashes(env))
    require(before == after, "what is refused changes nothing")


def _hashes(env: BatchedRoutingEnv) -> list[int]:
    return [env.trace_hash(number) for number in range(env.num_scenarios)]


def _look_around(random: Random, env: BatchedRoutingEnv) -> None:
    calls: list[Callable[[], Any]] = [
        *(env.payments, env.state, env.metrics, env.reset_statistics, lambda: env.pending.draws),
        lambda: repr(env),
        lambda: outcome(env.transitions, StateError),
        lambda: outcome(env.feedback, StateError),
        lambda: outcome(env.packet_log, StateError),
        lambda: _refused_before_the_end(env),
    ]
    random.choice(calls)()


def _refused_before_the_end(env: BatchedRoutingEnv) -> None:
    for call in (lambda: env.extend(10.0), env.drain):
        require(outcome(call, StateError) is Outcome.REFUSED, "only after the end")


def _is_long(time: object) -> bool:
    """Whether it is a time that can be simulated, but not now."""
    if not isinstance(time, (int, float, np.number)):
        return False
    return _LONG_NS < (time if isinstance(time, int) else float(time)) < 1e15


def _after_the_end(random: Random, env: BatchedRoutingEnv) -> None:
    require(outcome(lambda: env.step([]), StateError) is Outcome.REFUSED, "the episode is over")
    env._core.simulation.check_invariants()
    for _ in range(random.randint(0, 3)):
        if random.random() < 0.2:
            time = odd(random)
            if not _is_long(time):
                outcome(functools.partial(env.extend, time))
            if not env.done:  # one of them was a time
                break
        batch = env.extend(random.choice((0.001, 50.0, 333.333)))
        while not env.done:
            batch = env.step(_legal(random, batch))
    if not env.done:
        return
    env._core.simulation.check_invariants()
    env.drain()
    env._core.simulation.check_invariants()
    require(env.metrics().packets_in_flight == 0, "nothing is under way after a drain")
    for call in (lambda: env.extend(1.0), env.drain, lambda: env.step([])):
        require(outcome(call, StateError) is Outcome.REFUSED, "a drained episode is over for good")


# PettingZoo's views.


def _view_settings(random: Random, config: SimulationConfig, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "config": config,
        **options,
        "illegal_action": random.choice(("remap", "raise")),
        "max_cycles": random.choice((None, 1, 7)),
    }


def _action(random: Random, mask: npt.NDArray[Any]) -> Any:
    """A legal action; seldom anything at all."""
    if random.random() < 0.02:
        return odd(random)
    if random.random() < 0.05:
        return random.randrange(-1, len(mask) + 1)
    return int(random.choice(np.flatnonzero(mask).tolist()))


def _view(make: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """The view; None if it is refused, as it may be: its defaults are others, and may need more VCs."""
    try:
        return make(**settings)
    except ConfigError:
        return None


def _parallel(random: Random, config: SimulationConfig, options: dict[str, Any]) -> None:
    env = _view(dragonfly_v0.parallel_env, _view_settings(random, config, options))
    if env is None:
        return
    _, infos = env.reset(seed=random.randrange(2**32))
    for _ in range(_STEPS):
        if not env.agents:
            break
        actions = {agent: _action(random, infos[agent]["action_mask"]) for agent in env.agents}
        if random.random() < 0.1:
            actions[random.choice(("router_0", "router_999", "nobody"))] = odd(random)
        if random.random() < 0.02:
            outcome(lambda: env.step(odd(random)), IllegalActionError)
            continue
        try:
            _, _, _, _, infos = env.step(actions)
        except IllegalActionError:
            continue
    env.close()
    require(outcome(lambda: env.step({}), StateError) is Outcome.REFUSED, "closed is closed")


def _aec(random: Random, config: SimulationConfig, options: dict[str, Any]) -> None:
    env = _view(dragonfly_v0.raw_env, _view_settings(random, config, options))
    if env is None:
        return
    env.reset(seed=random.randrange(2**32))
    for _ in range(_STEPS * 5):
        if not env.agents:
            break
        _, _, _, truncated, info = env.last()
        action = None if truncated else _action(random, info["action_mask"])
        outcome(lambda: env.step(action), IllegalActionError)  # noqa: B023
    env.close()
