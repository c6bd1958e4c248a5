"""Tables in files that somebody changed: refused, or the simulation runs with them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.agents import load_q_table, save_q_table
from dragonfly_env.checks.archives import parse_npy, write_npy
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation import Simulation
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import as_json, in_archive, in_array, in_bytes, in_npy, in_value, refused_or_run

_POLICIES = ("q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A saved table with one thing changed, for the learner that it is of, on a system with unconnected ports."""
    contents = {}
    for policy in _POLICIES:
        simulation = _simulation(policy)
        simulation.run(3_000)
        contents[policy] = save_q_table(simulation, folder / policy).read_bytes()
    while True:
        policy = random.choice(_POLICIES)
        if random.random() < 0.3:
            changed = in_bytes(random, contents[policy], list(contents.values()))
        else:
            changed = in_archive(random, contents[policy], _change)
        file = folder / "changed.npz"
        file.write_bytes(changed)
        yield functools.partial(refused_or_run, functools.partial(_load_and_run, policy, file))


def _simulation(policy: str) -> Simulation:
    return Simulation(SimulationConfig(topology=Dragonfly(2, 4, 2, g=5), policy=policy, load=0.8))


def _load_and_run(policy: str, file: Path) -> None:
    simulation = _simulation(policy)
    load_q_table(simulation, file)
    simulation.run(2_000)
    simulation.check_invariants()


def _change(random: Random, name: str, data: bytes) -> bytes:
    if name == "about.npy" and random.random() < 0.7:
        about = json.loads(str(parse_npy(data, field="", shown="", allowed="")[()]))
        text = as_json(in_value(random, about)).decode("utf-8", "replace")
        return write_npy(np.array(text.replace("\0", "") or "x"))
    if name == "values.npy" and random.random() < 0.4:
        return in_array(random, data)
    return in_npy(random, data)
