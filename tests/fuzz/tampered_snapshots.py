"""Snapshots that somebody changed and signed again: refused, or the run goes on. And whole ones: the same history."""

from __future__ import annotations

import functools
import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.errors import ConfigError, DeadlockError
from tests.fuzz import settings
from tests.fuzz.outcome import Outcome, outcome, require
from tests.fuzz.tampering import as_json, in_bytes, in_value

_MAGIC = b"dragonfly-env snapshot\n"
_LENGTHS = struct.Struct("<IQ")
_PACKETS = 300
_STEPS = 6


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A run of any kind, saved in the middle, and its file: whole, or with something changed."""
    while True:
        yield functools.partial(_attempt, random, folder)


def _attempt(random: Random, folder: Path) -> Outcome:
    made: list[Any] = []

    def make() -> None:
        config = settings.small_simulation(random)
        if random.random() < 0.3:
            env = dfe.BatchedRoutingEnv(config, **_options(random))
            env.reset(seed=random.randrange(2**64))
            made.append(env)
        else:
            made.append(dfe.Simulation(config))
            made[0].run(settings.time_for(random, config, _PACKETS))

    if outcome(make, ConfigError) is Outcome.REFUSED:
        return Outcome.REFUSED
    (run,) = made
    if isinstance(run, dfe.BatchedRoutingEnv):
        _play(run, random.randrange(30))
    file = folder / "run"
    run.snapshot().save(file)
    if random.random() < 0.35:
        other = type(run).restore(dfe.Snapshot.load(file))
        histories = [_go_on(one) for one in (run, other)]
        require(histories[0] == histories[1], "a restored run has the same history")
        states = [_saved(one, file) for one in (run, other)]
        require(states[0] == states[1], "a restored run has the same state later on")
        return Outcome.RUN
    file.write_bytes(_changed(random, file.read_bytes()))
    try:
        _go_on(type(run).restore(dfe.Snapshot.load(file)))
    except (ConfigError, DeadlockError, MemoryError):
        return Outcome.REFUSED
    return Outcome.RUN


def _options(random: Random) -> dict[str, Any]:
    scope = random.choice(("source", "every", "all"))
    return {
        "duration_ns": 3_000.0,
        "warmup_ns": random.choice((0.0, 300.0)),
        "scope": scope,
        "action": "path" if scope == "source" else "port",
        "reward": random.choice(("hop", "delivery", "team")),
        "feedback": random.random() < 0.3,
    }


def _play(env: dfe.BatchedRoutingEnv, steps: int) -> None:
    for _ in range(steps):
        if env.done:
            return
        batch = env.pending
        order = np.arange(env.num_actions) * (1 + batch.decision_ids[:, None] % 3)
        env.step(np.where(batch.mask, order % max(env.num_actions, 1), -1).argmax(axis=1))


def _go_on(run: Any) -> list[Any]:
    if isinstance(run, dfe.Simulation):
        run.run(500)
    else:
        _play(run, _STEPS)
        run.transitions()
        run.payments()
    return [run.trace_hash(), str(run.metrics().to_dict())]


def _saved(run: Any, file: Path) -> bytes:
    run.snapshot().save(file)
    return file.read_bytes()


def _changed(random: Random, content: bytes) -> bytes:
    """Something changed, mostly with a checksum that is right."""
    if random.random() < 0.1:
        return in_bytes(random, content)
    form, length = _LENGTHS.unpack_from(content, len(_MAGIC))
    begin = len(_MAGIC) + _LENGTHS.size
    text, state = content[begin : begin + length], bytearray(content[begin + length : -32])
    if random.random() < 0.15:
        text = as_json(in_value(random, json.loads(text)))
    else:
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            width = random.choice((1, 2, 4, 8))
            at = random.randrange(max(len(state) - 8, 1)) // width * width
            old = int.from_bytes(state[at : at + width], "little")
            near = (
                0,
                1,
                2,
                255,
                65_535,
                2**31,
                2**32 - 1,
                2**63,
                random.randrange(300),
                random.randrange(2**32),
            )
            new = random.choice((old + 1, old - 1, old ^ 1 << random.randrange(8 * width), *near))
            state[at : at + width] = (new % 2 ** (8 * width)).to_bytes(width, "little")
    whole = _MAGIC + _LENGTHS.pack(form, len(text)) + text + bytes(state)
    return whole + hashlib.sha256(whole).digest()
