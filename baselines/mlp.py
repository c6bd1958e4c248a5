"""``mlp``: a neural network from a file scores the legal ports or paths, and the best one is taken, or drawn by a
softmax. ``neural-v1``, ``neural-v2`` and ``neural-v3`` are such networks that come with the package.

The file says what the network sees, where it decides, and what it chooses among, see ``MlpNetwork``. Sums are added up
in one order, in single precision and without fused operations, so that a run is the same bits on every machine, for
every number of threads, and from Python.

Source: this project; docs/neural.md for the networks of the package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dragonfly_env.baselines.mlp_arithmetic import best_legal, drawn_legal, forward, tamed
from dragonfly_env.baselines.mlp_network import MlpNetwork, load_network
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray
    from dragonfly_env.decisions.layout import Layout

_WEIGHTS = Path(__file__).resolve().parent / "weights"
SHIPPED = {name: str(_WEIGHTS / f"{name}.npz") for name in ("neural-v1", "neural-v2", "neural-v3")}
"""The files of the networks that come with the package, by the name of their policy."""


def training_cpu_s(name: str) -> float:
    """CPU-seconds of the training rounds of a shipped network, without references and validation."""
    facts = json.loads((_WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))
    return float(facts["cpu_seconds_of_rounds"])


def act(batch: DecisionBatch, *, weights: str, sha256: str | None = None, **_: object) -> IntArray:
    """(N,) the action with the best score, the lowest of equals; with a softmax a draw, which needs ``batch.draws``."""
    network, _digest = load_network(weights, sha256)
    found = tamed(scores(network, batch))
    if network.second_stage:
        first = best_legal(found, first_stage(network, batch.mask))
        return np.where(first < network.minimal_candidates, first, best_legal(found, batch.mask))
    if network.output == "greedy" or len(batch) == 0:
        return best_legal(found, batch.mask)
    return drawn_legal(found, batch.mask, network.temperature, batch.draws[:, 0])


def scores(network: MlpNetwork, batch: DecisionBatch) -> npt.NDArray[np.float32]:
    """(N, A) scores of the network, before any choice; 0 where an action is not legal and scored by itself."""
    legal = batch.mask
    if network.scoring == "candidate":
        x = rows_per_action(network, batch.layout, batch.obs, legal)
        weights, bias = network.layers[0]
        order = np.argsort(np.array(network.of_action), kind="stable")  # those of the decision first
        layers = ((weights[order], bias), *network.layers[1:])
        found = np.zeros(legal.shape, dtype=np.float32)
        found[legal] = forward(layers, network.activation, x[:, order])[:, 0]
        return found
    x = np.concatenate(_columns(network, batch.layout, batch.obs), axis=1)
    (weights, _), (_, bias) = network.layers[0], network.layers[-1]
    for name, given, wanted in (
        ("weights_0", len(weights), x.shape[1]),
        (f"bias_{len(network.layers) - 1}", bias.size, legal.shape[1]),
    ):
        if given != wanted:
            raise config_error(f"weights: {name}", given, f"must be {wanted} in this environment")
    return forward(network.layers, network.activation, x)


def first_stage(network: MlpNetwork, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(N, A) legal actions of the first stage: shortest paths, and one non-minimal path of each kind."""
    nonminimal = np.arange(mask.shape[1]) - network.minimal_candidates
    shown: npt.NDArray[np.bool_] = mask & (
        (nonminimal < 0) | (nonminimal % network.nonminimal_candidates == 0)
    )
    return shown


def rows_per_action(
    network: MlpNetwork, layout: Layout, obs: npt.NDArray[np.float32], chosen: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    """(M, features) inputs of a network that scores candidates, for the M actions in ``chosen`` (N, A), scaled."""
    x = np.empty((int(chosen.sum()), len(network.features)), dtype=np.float32)
    for i, column in enumerate(_columns(network, layout, obs)):
        x[:, i] = np.broadcast_to(column, chosen.shape)[chosen]
    return x


def _columns(
    network: MlpNetwork, layout: Layout, obs: npt.NDArray[np.float32]
) -> list[npt.NDArray[np.float32]]:
    """(N, width) per feature, in the units that the network expects."""
    columns = []
    for name, scale in zip(network.features, network.scale or (0.0,) * len(network.features), strict=True):
        block = layout[name]
        factor = np.float32(1)
        if name in OCCUPANCY_FEATURES and layout.occupancy_unit != "buffers":
            _require_packets(layout, name, scale)
        if scale > 0 and block.unit > 0:
            factor = np.float32(block.unit) / np.float32(scale)
        columns.append(np.asarray(obs)[:, block.columns] * factor)
    return columns


def _require_packets(layout: Layout, name: str, scale: float) -> None:
    """Refuse times, and another unit than that of the buffers where the network says none of its own."""
    if layout.occupancy_unit == "ns" or scale == 0:
        why = "counts packets" if scale > 0 else "says no scale, so it expects the unit 'buffers'"
        raise config_error(
            "occupancy_unit", layout.occupancy_unit, f"does not fit {name} of this network, which {why}"
        )
