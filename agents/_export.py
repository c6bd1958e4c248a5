"""Agents whose network can be handed to the core, as the file that ``make_policy("mlp", weights=...)`` takes."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents._network_agent import NetworkAgent
from dragonfly_env.agents._sb3 import torch
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES
from dragonfly_env.envs.options import NONMINIMAL_KINDS

_KINDS = (*NONMINIMAL_KINDS, "l")

if TYPE_CHECKING:
    from dragonfly_env.agents._trained_on import LayoutFacts


class ExportableAgent(NetworkAgent):
    """A ``NetworkAgent`` of linear layers with ReLU between them, which the core can run by itself."""

    def export_mlp(self, path: str | Path, *, max_hops: int = 5) -> Path:
        """Write the network that acts as a policy of the core: ``make_policy("mlp", weights=path)``.

        It decides as this agent does where it does not train, from the same random numbers, up to rounding: the core
        adds up in an order of its own. One that scores actions one by one fits every size of system.

        Args:
            path: Where to; ``.npz`` is added if it is missing.
            max_hops: Port actions: the longest route, as in the environment of the training.

        Returns:
            The path of the file.

        Raises:
            StateError: If there is no network yet.
            ConfigError: If the file cannot be written, or the core has no such network.

        Example:
            >>> agent = dfe.agents.make_agent("ppo", seed=1)
            >>> config = dfe.SimulationConfig(topology="72")
            >>> agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
            >>> dfe.make_policy("mlp", weights=agent.export_mlp("weights")).scope
            'source'
        """
        facts = self._built("export_mlp()")
        network, units, fields = self._acting(facts)
        fields = {"action": self.action, "scope": self.scope, "max_hops": max_hops, **fields}
        if self.scope == "all":  # forced hops have one answer, so nothing is lost
            if "traffic" in units:
                allowed = "counts other decisions in the feature 'traffic' than 'every' does"
                raise config_error("scope", "all", allowed)
            fields["scope"] = "every"
        if facts.occupancy_unit == "ns" and not OCCUPANCY_FEATURES.isdisjoint(units):
            allowed = "must be 'packets' or 'buffers' to be exported: the core's networks see packets"
            raise config_error("occupancy_unit", "ns", allowed)
        if self.action == "path":
            fields |= _candidates(facts)
        layers = tuple(
            (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy())
            for layer in network
            if isinstance(layer, torch.nn.Linear)
        )
        exported = MlpNetwork(
            layers=layers, features=tuple(units), scale=tuple(units.values()), activation="relu", **fields
        )
        return exported.save(path)

    @abstractmethod
    def _acting(self, facts: LayoutFacts) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """The layers of the network that acts; the features that it sees, each with the unit that it expects (0:
        squashed); and further fields of ``MlpNetwork``.
        """


def _candidates(facts: LayoutFacts) -> dict[str, Any]:
    """Which candidate paths there were."""
    kinds = facts.candidates
    if not kinds:
        raise config_error(
            "features", facts.names, "must show something of each candidate path to be exported"
        )
    detours = tuple(kind for kind in dict.fromkeys(kinds) if kind in _KINDS)
    return {
        "nonminimal_kinds": detours,
        "minimal_candidates": kinds.count("minimal"),
        "nonminimal_candidates": kinds.count(detours[0]) if detours else 1,
    }
