"""Agents whose network can be handed to the core, as the file that ``make_policy("mlp", weights=...)`` takes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents._network_agent import NetworkAgent
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines.mlp_network import Layer
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES
from dragonfly_env.envs.options import DETOURS

_DETOURS = (*DETOURS, "l")

if TYPE_CHECKING:
    from dragonfly_env.agents._layouts import LayoutFacts


class ExportableAgent(NetworkAgent):
    """A ``NetworkAgent`` of linear layers with ReLU between them, which the core can run by itself."""

    def export_mlp(self, path: str | Path, *, max_hops: int = 5) -> Path:
        """Write the network that acts as a policy of the core: ``make_policy("mlp", weights=path)``.

        It decides as this agent does where it does not train, from the same draws, up to rounding: the core adds up in
        an order of its own. One that scores actions one by one fits every size of system.

        Args:
            path: Where to; ``.npz`` is added if it is missing.
            max_hops: Port actions: the longest route, as in the environment of the training.

        Returns:
            The path of the file.

        Raises:
            StateError: If there is no network yet.
            ConfigError: If the file cannot be written, or the core has no such network.
        """
        facts = self._built("export_mlp()")
        return self._write_mlp(
            path, facts, action=self.action, scope=self.scope, activation="relu", max_hops=max_hops
        )

    @abstractmethod
    def _write_mlp(self, path: str | Path, facts: LayoutFacts, **fields: Any) -> Path:
        """Write the network that acts, with these and further fields of ``MlpNetwork``."""


def export_network(path: str | Path, facts: LayoutFacts, layers: list[Layer], **fields: Any) -> Path:
    """Write the file of a network with one output per action that was trained in an environment.

    Args:
        path: Where to; ``.npz`` is added if it is missing.
        facts: The layout of that environment.
        layers: Weights (inputs, outputs) and bias of every layer.
        **fields: Of ``MlpNetwork``: ``action``, ``scope``, ``activation``, ``max_hops``, ...

    Returns:
        The path of the file.

    Raises:
        ConfigError: If the file cannot be written, or the core has no such network.
    """
    units = facts.features
    if fields["scope"] == "all":  # forced hops have one answer, so nothing is lost
        if "traffic" in units:
            raise config_error(
                "scope", "all", "counts other decisions in the feature 'traffic' than 'every' does"
            )
        fields["scope"] = "every"
    return _write(path, facts, units, layers, scoring="all", **fields)


def export_scores(
    path: str | Path, facts: LayoutFacts, layers: list[Layer], units: Mapping[str, float], **fields: Any
) -> Path:
    """Write the file of a network that scores one action after the other.

    Args:
        path: Where to; ``.npz`` is added if it is missing.
        facts: The layout of the environment in which it was trained.
        layers: Weights (inputs, outputs) and bias of every layer.
        units: In which it expects each feature, in the order of its inputs; 0: squashed.
        **fields: Of ``MlpNetwork``: ``action``, ``scope``, ``activation``, ``output``, ...

    Returns:
        The path of the file.

    Raises:
        ConfigError: If the file cannot be written, or the core has no such network.
    """
    return _write(path, facts, units, layers, scoring="candidate", **fields)


def _write(
    path: str | Path, facts: LayoutFacts, units: Mapping[str, float], layers: list[Layer], **fields: Any
) -> Path:
    if facts.occupancy_unit == "ns" and not OCCUPANCY_FEATURES.isdisjoint(units):
        raise config_error(
            "occupancy_unit",
            "ns",
            "must be 'packets' or 'buffers' to be exported: the core's networks see packets",
        )
    if fields["action"] == "path":
        fields.update(_candidates(facts))
    network = MlpNetwork(features=tuple(units), scale=tuple(units.values()), layers=tuple(layers), **fields)
    return network.save(path)


def _candidates(facts: LayoutFacts) -> dict[str, Any]:
    """Which candidate paths there were."""
    kinds = facts.candidates
    if not kinds:
        raise config_error(
            "features", facts.names, "must show something of each candidate path to be exported"
        )
    detours = tuple(kind for kind in dict.fromkeys(kinds) if kind in _DETOURS)
    return {
        "detours": detours,
        "minimal_candidates": kinds.count("minimal"),
        "detour_candidates": kinds.count(detours[0]) if detours else 1,
    }
