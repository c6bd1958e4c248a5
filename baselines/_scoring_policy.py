"""What the policies share that score actions by a network: where they are asked, and their twin in NumPy."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.baselines._choices import IntArray
from dragonfly_env.baselines._mlp_arithmetic import best_legal, drawn_legal, forward, tamed
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES
from dragonfly_env.policies import Policy

if TYPE_CHECKING:
    from dragonfly_env.baselines.mlp_network import MlpNetwork
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.decisions.layout import Layout


class ScoringPolicy(Policy):
    """A policy whose decisions are those of an ``MlpNetwork``."""

    __slots__ = ()

    avoid_destination_group: bool | None

    @property
    @abstractmethod
    def network(self) -> MlpNetwork:
        """The network that scores."""

    @property
    def scope(self) -> str:
        """Which decisions the network is asked for: ``"source"`` or ``"every"``."""
        return self.network.scope

    @property
    def action(self) -> str:
        """What it answers with: a ``"path"`` or a ``"port"``."""
        return self.network.action

    def core_parameters(self) -> dict[str, Any]:
        """The network itself instead of where it comes from."""
        parameters: dict[str, Any] = {"weights": self.network.to_core()}
        if self.avoid_destination_group is not None:
            parameters["avoid_destination_group"] = self.avoid_destination_group
        return parameters

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``."""
        network = self.network
        trackers: dict[str, dict[str, Any]] = {
            tracker["name"]: {}
            for tracker in _core.trackers()
            if any(name in network.features for name in tracker["features"])
        }
        return {
            "scope": network.scope,
            "action": network.action,
            "features": network.features,
            "trackers": trackers,
            "max_hops": network.max_hops,
            "detours": network.detours,
            "minimal_candidates": network.minimal_candidates,
            "detour_candidates": network.detour_candidates,
            "avoid_destination_group": self.avoid_destination_group,
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every pending packet, as the core does.

        Args:
            batch: N decisions of an environment with ``env_options()``. With a softmax it needs draws.

        Returns:
            (N,) actions; ties go to the lowest.

        Raises:
            ConfigError: If the environment shows other features, or has other sizes than the network.

        Source: this project.
        """
        network = self.network
        scores = tamed(self.scores(batch))
        if network.second_look:
            return _at_second_sight(network, scores, batch.mask)
        if network.output == "greedy" or len(batch) == 0:
            return best_legal(scores, batch.mask)
        return drawn_legal(scores, batch.mask, network.temperature, batch.draws[:, 0])

    def scores(self, batch: DecisionBatch) -> npt.NDArray[np.float32]:
        """(N, A) what the network gives, before any choice; 0 where an action is not legal and scored by itself.

        Raises:
            ConfigError: As ``act``.
        """
        network = self.network
        legal = batch.mask
        if network.scoring == "candidate":
            x = rows_per_action(network, batch.layout, batch.obs, legal)
            weights, bias = network.layers[0]
            order = np.argsort(np.array(network.of_action), kind="stable")  # those of the decision first
            layers = ((weights[order], bias), *network.layers[1:])
            scores = np.zeros(legal.shape, dtype=np.float32)
            scores[legal] = forward(layers, network.activation, x[:, order])[:, 0]
            return scores
        x = np.concatenate(_columns(network, batch.layout, batch.obs), axis=1)
        (weights, _), (_, bias) = network.layers[0], network.layers[-1]
        for name, given, wanted in (
            ("weights_0", len(weights), x.shape[1]),
            (f"bias_{len(network.layers) - 1}", bias.size, legal.shape[1]),
        ):
            if given != wanted:
                raise config_error(f"weights: {name}", given, f"must be {wanted} in this environment")
        return forward(network.layers, network.activation, x)


def _at_second_sight(
    network: MlpNetwork, scores: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]
) -> IntArray:
    """(N,) actions: the best of all where the best of those that are shown first is a detour."""
    first = best_legal(scores, first_sight(network, mask))
    return np.where(first < network.minimal_candidates, first, best_legal(scores, mask))


def first_sight(network: MlpNetwork, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(N, A) what is legal and shown at first to a network with a second look: shortest paths, and one detour of each
    kind.
    """
    detour = np.arange(mask.shape[1]) - network.minimal_candidates
    shown: npt.NDArray[np.bool_] = mask & ((detour < 0) | (detour % network.detour_candidates == 0))
    return shown


def rows_per_action(
    network: MlpNetwork, layout: Layout, obs: npt.NDArray[np.float32], chosen: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    """(M, features) what such a network sees of the M actions that are marked in ``chosen`` (N, A), in its units.

    Raises:
        ConfigError: If the layout lacks a feature.
    """
    x = np.empty((int(chosen.sum()), len(network.features)), dtype=np.float32)
    for i, column in enumerate(_columns(network, layout, obs)):
        x[:, i] = np.broadcast_to(column, chosen.shape)[chosen]
    return x


def _require_packets(layout: Layout, name: str, scale: float) -> None:
    """Refuse occupancies that this network does not expect.

    Raises:
        ConfigError: For times, or another unit than that of the buffers where the network says none of its own.
    """
    if layout.occupancy_unit == "ns" or scale == 0:
        why = "counts packets" if scale > 0 else "says no scale, so it expects the unit 'buffers'"
        raise config_error(
            "occupancy_unit", layout.occupancy_unit, f"does not fit {name} of this network, which {why}"
        )


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
