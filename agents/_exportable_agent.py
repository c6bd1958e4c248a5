"""Agents whose network can be handed to the core."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents._network_agent import NetworkAgent

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
