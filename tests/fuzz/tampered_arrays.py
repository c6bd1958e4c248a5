"""Files of arrays that somebody changed, Q-tables and neural networks: refused, or the simulation runs with them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.agents import load_q_table, save_q_table
from dragonfly_env.baselines import Mlp, MlpNetwork
from dragonfly_env.checks.archives import parse_npy, write_npy
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.simulation import Simulation
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import as_json, in_archive, in_array, in_bytes, in_npy, in_value, refused_or_run

_CONFIG = SimulationConfig(topology=Dragonfly(2, 4, 2, g=5), load=0.8)  # with unconnected ports
_LEARNERS = ("q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")
_NETWORKS = (
    {"action": "path", "scope": "every", "output": "softmax", "nonminimal_kinds": ("lgl", "g")},
    {"action": "port", "scope": "every", "activation": "tanh"},
    {"action": "port", "scoring": "all", "scope": "source"},
    {"action": "path", "features": ("candidate_hops", "candidate_congested", "traffic"), "hidden_units": ()},
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A file with one thing changed, for the learner that it is of, or as the weights of a policy."""
    tables, networks = {}, []
    for name in _LEARNERS:
        simulation = Simulation(_CONFIG.replace(policy=name))
        simulation.run(3_000)
        tables[name] = save_q_table(simulation, folder / name).read_bytes()
    for i, fields in enumerate(_NETWORKS):
        env = BatchedRoutingEnv(_CONFIG, action=str(fields["action"]))
        network = MlpNetwork.random(**{"hidden_units": (6, 5), "env": env, **fields})  # type: ignore[arg-type]
        networks.append(network.save(folder / f"network-{i}").read_bytes())
    file = folder / "changed.npz"
    while True:
        learner = random.choice((*_LEARNERS, *[None] * len(_LEARNERS)))
        content = tables[learner] if learner else random.choice(networks)
        if random.random() < 0.3:
            changed = in_bytes(random, content, [*tables.values()] if learner else networks)
        else:
            changed = in_archive(random, content, _change)
        file.write_bytes(changed)
        yield functools.partial(refused_or_run, functools.partial(_load_and_run, learner, file))


def _load_and_run(learner: str | None, file: Path) -> None:
    simulation = Simulation(_CONFIG.replace(policy=learner or Mlp(weights=str(file))))
    if learner:
        load_q_table(simulation, file)
    simulation.run(2_000)
    simulation.check_invariants()


def _change(random: Random, name: str, data: bytes) -> bytes:
    if name in ("about.npy", "header.npy"):  # JSON
        if random.random() < 0.75:
            told = json.loads(str(parse_npy(data, field="", shown="", allowed="")[()]))
            text = as_json(in_value(random, told)).decode("utf-8", "replace")
            return write_npy(np.array(text.replace("\0", "") or "x"))
    elif random.random() < 0.4:
        return in_array(random, data)
    return in_npy(random, data)
