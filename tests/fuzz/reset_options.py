"""Options of the next episode in every view: what is possible is what the episode has, everything else is refused.

After a refusal the environment is as usable as before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dragonfly_env import SimulationConfig, dragonfly_v0
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.bias import BiasControl
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.envs.vec import RouterVecEnv
from tests.fuzz.draws import mutated, odd
from tests.fuzz.outcome import Outcome, outcome, require

_CONFIG = SimulationConfig(topology=Dragonfly(1, 2, 1), policy="ugal-n", load=0.3)
_SHORT = {"duration_ns": 200.0, "warmup_ns": 0.0}
_POSSIBLE: tuple[dict[str, Any], ...] = (
    {},
    {"load": 0.1},
    {"traffic": "adv+1"},
    {"seed": 2**64 - 1},
    {"traffic": {"pattern": "uniform"}, "load": 1.0},
    {"seed": np.int64(3)},
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A view, options for its next episode, and that episode."""
    plays = (_vec, _vec, _vec, _batched, _parallel, _bias, _packet)
    while True:
        yield functools.partial(random.choice(plays), random)


def _changes(random: Random) -> Any:
    """Options, often possible."""
    possible = random.choice(_POSSIBLE)
    kind = random.random()
    if kind < 0.4:
        return dict(possible)
    return mutated(random, possible) if kind < 0.7 else odd(random)


def _of_slots(random: Random, slots: int) -> Any:
    """Options for the slots of an environment: one for all, or a list that need not have their number."""
    same = _changes(random)
    match random.randrange(5):
        case 0:
            return same
        case 1:
            return [same] * slots
        case 2:
            return [same] * random.choice((0, 1, slots - 1, slots + 1))
        case 3:
            return [_changes(random) for _ in range(slots)]
        case _:
            return random.choice((tuple, iter, dict.fromkeys, list))(list("remap"))


def _tried(reset: Callable[[], object], again: Callable[[], object]) -> Outcome:
    """Reset with options; if they are refused, once more without."""
    end = outcome(reset)
    if end is Outcome.REFUSED:
        again()
    return end


def _vec(random: Random) -> Outcome:
    networks = random.choice((1, 1, 2))
    env = RouterVecEnv([_CONFIG.replace(seed=seed) for seed in range(networks)], **_SHORT)
    env.reset()
    options = _of_slots(random, env.num_envs)

    def reset() -> None:
        env.set_options(options)
        env.reset()

    def again() -> None:
        env.set_options()
        env.reset()

    end = _tried(reset, again)
    if end is Outcome.RUN and options and isinstance(options, (dict, list)):
        given = options if isinstance(options, dict) else options[0] or {}
        _require_in(env.core.configs[0], given)
    for _ in range(3):
        masks = env.action_masks()
        env.step(masks.argmax(axis=1))
    return end


def _require_in(config: SimulationConfig, given: dict[str, Any]) -> None:
    """Raise ``WrongError`` if an option is not what the episode has."""
    for name, value in given.items():
        found, wanted = getattr(config, name), getattr(_CONFIG.replace(**{name: value}), name)
        require(found == wanted, f"{name} = {found!r} is {wanted!r}, as the options say")


def _batched(random: Random) -> Outcome:
    env = BatchedRoutingEnv([_CONFIG, _CONFIG], **_SHORT)
    options = _of_slots(random, 2)
    end = _tried(lambda: env.reset(options=options), env.reset)
    if not env.done:
        env.step(env.pending.minimal_actions())
    return end


def _parallel(random: Random) -> Outcome:
    env = dragonfly_v0.parallel_env(config=_CONFIG, **_SHORT)
    options = _changes(random)
    end = _tried(lambda: env.reset(options=options), env.reset)
    env.step(dict.fromkeys(env.agents, 0))
    return end


def _bias(random: Random) -> Outcome:
    env = BiasControl(_CONFIG, interval_ns=100.0, duration_ns=200.0, warmup_ns=0.0)
    options = _changes(random)
    end = _tried(lambda: env.reset(options=options), env.reset)
    env.step(0)
    return end


def _packet(random: Random) -> Outcome:
    env = PacketRouting(_CONFIG, **_SHORT)
    options = _changes(random)
    end = _tried(lambda: env.reset(options=options), env.reset)
    env.step(0)
    return end
