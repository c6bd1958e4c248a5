"""Networks that score one action after the other with the same weights, so that they fit every size of system.

As pointer networks do (Vinyals, Fortunato, Jaitly, NIPS 2015), and as the core's ``mlp`` with ``scoring="candidate"``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents._sb3 import torch
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES

if TYPE_CHECKING:
    from dragonfly_env.agents._layouts import LayoutFacts
    from dragonfly_env.decisions.layout import Layout

_OF_ACTION = {"path": "candidate", "port": "port"}
_UNITS = {"candidate_kind": 2.0, "hops": 2.0, "candidate_hops": 2.0}
_PACKETS = 16.0  # in which packets are counted, here and in other networks with larger buffers


class ActionRows:
    """What a network sees of each action: the columns of an observation, gathered and in fixed units.

    Args:
        layout: Of the observations.
        action: ``"path"`` or ``"port"``.
        units: See ``units_of``: those of the training, whatever the layout's are.

    Raises:
        ConfigError: If a feature is neither of the decision nor of an action, or none is of an action.
    """

    def __init__(self, layout: Layout, action: str, units: Mapping[str, float]) -> None:
        own, columns = _OF_ACTION[action], []
        for block in layout.blocks:
            if block.per not in ("decision", own):
                allowed = f"is per {block.per}; a network that scores each {action} sees what is per decision or {own}"
                raise config_error("features", block.name, allowed)
            columns.append(
                np.arange(block.columns.start, block.columns.stop)
                if block.per == own
                else np.full(layout.num_actions, block.columns.start)
            )
        if all(block.per != own for block in layout.blocks):
            names = [block.name for block in layout.blocks]
            raise config_error("features", names, f"must show something of each {action}")
        self._columns = np.stack(columns, axis=1)
        self._factors = np.array(
            [block.unit / units[block.name] if units[block.name] > 0 else 1.0 for block in layout.blocks],
            dtype=np.float32,
        )

    def of(self, obs: npt.NDArray[np.float32]) -> Any:
        """(N, A, F) tensor of observations (N, columns)."""
        return torch.from_numpy(obs[:, self._columns] * self._factors)


def units_of(facts: LayoutFacts) -> dict[str, float]:
    """The features of a training, each with the unit that the network expects (quantity / value); 0: squashed.

    Packets and hops are counted in units that do not depend on the network's buffers; other units are those of the
    training.
    """

    def unit(name: str, trained: float) -> float:
        if trained == 0:
            return 0.0
        if facts.occupancy_unit == "ns" and name in OCCUPANCY_FEATURES:
            return trained  # the same in every network
        return _UNITS.get(name, _PACKETS if name.endswith("_packets") else trained)

    return {name: unit(name, trained) for name, trained in facts.features.items()}


class ActionScores(torch.nn.Module):
    """A score for each action, and what a decision is worth: a baseline.

    The baseline is a network of the mean over the legal actions of what a hidden layer makes of each, so it does not
    depend on their number or order either (Zaheer et al., NIPS 2017).

    Args:
        inputs: F.
        hidden_units: Sizes of the hidden layers.
    """

    def __init__(self, inputs: int, hidden_units: Sequence[int]) -> None:
        super().__init__()
        self.policy = _layers((inputs, *hidden_units, 1))
        self.embedding = _layers((inputs, hidden_units[0]))
        self.value = _layers((*hidden_units, 1))
        with torch.no_grad():  # all actions alike at first
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()

    def log_probabilities(self, rows: Any, masks: Any) -> Any:
        """(N, A) of legal actions; minus infinity of others."""
        scores = self.policy(rows)[..., 0].masked_fill(~masks, -torch.inf)
        return torch.log_softmax(scores, dim=1)

    def values(self, rows: Any, masks: Any) -> Any:
        """(N,) what is to be expected of decisions."""
        legal = masks[..., None].float()
        mean = (torch.relu(self.embedding(rows)) * legal).sum(dim=1) / legal.sum(dim=1)
        return self.value(mean)[:, 0]

    def layers(self) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        """Weights (inputs, outputs) and bias of the layers that score."""
        return [
            (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy())
            for layer in self.policy
            if isinstance(layer, torch.nn.Linear)
        ]


def _layers(sizes: Sequence[int]) -> Any:
    """Dense layers with rectifiers between them."""
    parts: list[Any] = []
    for inputs, outputs in itertools.pairwise(sizes):
        parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])
