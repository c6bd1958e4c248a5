"""A neural network from a file routes packets, in the core."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.baselines._choices import IntArray
from dragonfly_env.baselines._mlp_arithmetic import best_legal, drawn_legal, forward, tamed
from dragonfly_env.baselines._mlp_file import FIELD, digest
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.checks.outside import check_path
from dragonfly_env.checks.values import check_text, config_error
from dragonfly_env.config.rows import setting
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_HOW = (
    "must be the path of a file of weights: a trained deep-q agent writes one by export_mlp(path), "
    "baselines.MlpNetwork(...).save(path) writes any network"
)


def _file(field: str, value: object) -> str:
    if value is None:
        raise config_error(field, value, _HOW)
    return str(check_path(field, value))


class _WithNetwork(Policy):
    """A place for what was read from a file, which is no field."""

    __slots__ = ("_network",)

    _network: MlpNetwork


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mlp(_WithNetwork):
    """A multi-layer perceptron scores the legal ports or paths, and the best one is taken (or drawn by a softmax).

    What it sees, where it is asked, and what it chooses among stands in its file, see ``MlpNetwork``. All decisions of
    an instant pass the network together. Sums are added up in one order, in single precision and without fused
    operations, so that a run is the same bits on every machine, for every number of threads, and from Python.

    Source: this project.
    """

    variants: ClassVar[NamedVariants] = {"mlp": {}}
    needs: ClassVar[tuple[str, ...]] = (FIELD,)
    source: ClassVar[str] = "this project"

    weights: str | None = setting(None, _file, "", "The file of the network: its path.", False)
    sha256: str | None = setting(
        None,
        check_text,
        "",
        "Of the file, so that another one is not taken for it; None: whatever is in the file.",
        True,
    )
    avoid_destination_group: bool | None = parameter()

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        self._read()

    def _read(self) -> MlpNetwork:
        network = MlpNetwork.load(str(self.weights))
        found = digest(self.weights)
        if self.sha256 not in (None, found):
            raise config_error(
                "sha256", self.sha256, f"must be that of {self.weights!r}, which is {found}: another file?"
            )
        object.__setattr__(self, "sha256", found)
        object.__setattr__(self, "_network", network)
        return network

    @property
    def network(self) -> MlpNetwork:
        """What was in the file."""
        try:
            return self._network
        except AttributeError:  # unpickled
            return self._read()

    @property
    def name(self) -> str:
        """``"mlp"``."""
        return "mlp"

    @property
    def scope(self) -> str:
        """Which decisions the network is asked for: ``"source"`` or ``"every"``."""
        return self.network.scope

    @property
    def action(self) -> str:
        """What it answers with: a ``"path"`` or a ``"port"``."""
        return self.network.action

    def core_parameters(self) -> dict[str, Any]:
        """The network instead of its file."""
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
            x = _rows_per_action(network, batch)
            weights, bias = network.layers[0]
            order = np.argsort(np.array(network.of_action), kind="stable")  # those of the decision first
            layers = ((weights[order], bias), *network.layers[1:])
            scores = np.zeros(legal.shape, dtype=np.float32)
            scores[legal] = forward(layers, network.activation, x[:, order])[:, 0]
            return scores
        x = _rows_per_decision(network, batch)
        (weights, _), (_, bias) = network.layers[0], network.layers[-1]
        for name, given, wanted in (
            ("weights_0", len(weights), x.shape[1]),
            (f"bias_{len(network.layers) - 1}", bias.size, legal.shape[1]),
        ):
            if given != wanted:
                raise config_error(f"weights: {name}", given, f"must be {wanted} in this environment")
        return forward(network.layers, network.activation, x)


def _columns(network: MlpNetwork, batch: DecisionBatch) -> list[npt.NDArray[np.float32]]:
    """(N, width) per feature, in the units that the network expects."""
    columns = []
    for name, scale in zip(network.features, network.scale or (0.0,) * len(network.features), strict=True):
        block = batch.layout[name]
        factor = np.float32(1)
        if scale > 0 and block.unit > 0:
            factor = np.float32(block.unit) / np.float32(scale)
        columns.append(np.asarray(batch.obs)[:, block.columns] * factor)
    return columns


def _rows_per_decision(network: MlpNetwork, batch: DecisionBatch) -> npt.NDArray[np.float32]:
    return np.concatenate(_columns(network, batch), axis=1)


def _rows_per_action(network: MlpNetwork, batch: DecisionBatch) -> npt.NDArray[np.float32]:
    """(M, features), a row per legal action."""
    legal = batch.mask
    x = np.empty((int(legal.sum()), len(network.features)), dtype=np.float32)
    for i, column in enumerate(_columns(network, batch)):
        x[:, i] = np.broadcast_to(column, legal.shape)[legal]
    return x
