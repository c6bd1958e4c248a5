"""Files of neural networks that somebody changed: refused, or the simulation runs with them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np

from dragonfly_env import SimulationConfig
from dragonfly_env.baselines import Mlp, MlpNetwork
from dragonfly_env.checks.archives import parse_npy, write_npy
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.simulation import Simulation
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import as_json, in_archive, in_array, in_bytes, in_npy, in_value, refused_or_run

_FIELDS = (
    {"action": "path", "scope": "every", "output": "softmax", "nonminimal_kinds": ("lgl", "g")},
    {"action": "port", "scope": "every", "activation": "tanh"},
    {"action": "port", "scoring": "all", "scope": "source"},
    {"action": "path", "features": ("candidate_hops", "candidate_congested", "traffic"), "hidden_units": ()},
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A saved network with one thing changed, on a system with unconnected ports."""
    contents = []
    for i, fields in enumerate(_FIELDS):
        env = BatchedRoutingEnv(_config(), action=str(fields["action"]))
        network = MlpNetwork.random(**{"hidden_units": (6, 5), "env": env, **fields})  # type: ignore[arg-type]
        contents.append(network.save(folder / f"network-{i}").read_bytes())
    while True:
        content = random.choice(contents)
        in_general = random.random() < 0.3
        changed = in_bytes(random, content, contents) if in_general else in_archive(random, content, _change)
        file = folder / "changed.npz"
        file.write_bytes(changed)
        yield functools.partial(refused_or_run, functools.partial(_load_and_run, file))


def _config() -> SimulationConfig:
    return SimulationConfig(topology=Dragonfly(2, 4, 2, g=5), load=0.8)


def _load_and_run(file: Path) -> None:
    simulation = Simulation(_config().replace(policy=Mlp(weights=str(file))))
    simulation.run(1_500)
    simulation.check_invariants()


def _change(random: Random, name: str, data: bytes) -> bytes:
    if name == "header.npy":
        if random.random() < 0.8:
            header = json.loads(str(parse_npy(data, field="", shown="", allowed="")[()]))
            text = as_json(in_value(random, header)).decode("utf-8", "replace")
            return write_npy(np.array(text.replace("\0", "") or "x"))
    elif random.random() < 0.4:
        return in_array(random, data)
    return in_npy(random, data)
