"""Saved agents that somebody changed: refused, or they act, learn and can be saved again."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.agents import AGENTS, load_agent, make_agent, make_env, read_metadata
from dragonfly_env.config.topology import Dragonfly
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import as_json, in_archive, in_array, in_bytes, in_npy, in_value, refused_or_run

_CONFIG = SimulationConfig(topology=Dragonfly(1, 2, 1), load=0.5)
_SMALL: dict[str, dict[str, Any]] = {
    "deep-q": {
        "hidden_units": (4,),
        "batch_transitions": 4,
        "first_transitions": 4,
        "train_every_transitions": 4,
        "buffer_transitions": 50,
    },
    "ppo": {"hidden_units": (4,)},
}


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A tiny agent, trained a little, with one thing in its file changed."""
    contents = {}
    for kind in AGENTS:
        agent = make_agent(kind, **_SMALL[kind])
        agent.prepare(make_env(_CONFIG, agent, duration_ns=3_000))
        if kind == "deep-q":
            _use(agent)
        agent.save(folder / "agent.zip")
        contents[kind] = (folder / "agent.zip").read_bytes()
    file = folder / "changed.zip"
    while True:
        content = contents[random.choice(list(AGENTS))]
        if random.random() < 0.3:
            file.write_bytes(in_bytes(random, content, list(contents.values())))
        else:
            file.write_bytes(in_archive(random, content, _change))
        yield functools.partial(refused_or_run, functools.partial(_load_and_use, file))


def _load_and_use(file: Path) -> None:
    read_metadata(file)
    agent = load_agent(file)
    _use(agent)
    agent.save(file.with_name("again.zip"))


def _use(agent: Any) -> None:
    learns = agent.name == "deep-q" and agent.settings.buffer_transitions <= 1_000
    env = make_env(_CONFIG, agent, duration_ns=3_000)
    agent.prepare(env)
    agent.set_training(learns)
    batch = env.reset(seed=1)
    for _ in range(20):
        if env.done:
            break
        batch = env.step(agent.act(batch))
        if learns:
            agent.learn(env.transitions())
    agent.set_training(False)


def _change(random: Random, name: str, data: bytes) -> bytes:
    if name.endswith(".json"):
        return (
            as_json(in_value(random, json.loads(data))) if random.random() < 0.8 else in_bytes(random, data)
        )
    return in_array(random, data) if random.random() < 0.5 else in_npy(random, data)
