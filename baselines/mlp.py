"""Policies whose decisions are those of a neural network: one from a file, and the one that comes with the package."""

from __future__ import annotations

import dataclasses
import functools
import json
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import policy_parameters as core
from dragonfly_env.baselines._mlp_arithmetic import best_legal, drawn_legal, forward, tamed
from dragonfly_env.baselines.mlp_network import FIELD, MlpNetwork, digest
from dragonfly_env.checks.values import check_text, config_error
from dragonfly_env.config.rows import integer, setting
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES
from dragonfly_env.policies import NamedVariants, Policy

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.decisions.layout import Layout

_SHIPPED = Path(__file__).resolve().parent / "weights"
_HOW = (
    "must be the path of a file of weights: a trained deep-q agent writes one by export_mlp(path), "
    "baselines.MlpNetwork(...).save(path) writes any network"
)


def _file(field: str, value: object) -> str:
    if not isinstance(value, (str, Path)):
        raise config_error(field, value, _HOW)
    return str(value)


class ScoringPolicy(core.NeuralV1):
    """A policy whose decisions are those of an ``MlpNetwork``."""

    __slots__ = ()

    @property
    @abstractmethod
    def network(self) -> MlpNetwork:
        """The network that scores."""

    @property
    def scope(self) -> str:
        """Which decisions the network takes: ``"source"`` or ``"every"``."""
        return self.network.scope

    @property
    def action(self) -> str:
        """What it chooses: a ``"path"`` or a ``"port"``."""
        return self.network.action

    def core_parameters(self) -> dict[str, Any]:
        """The network itself instead of where it comes from."""
        parameters: dict[str, Any] = {"weights": self.network.to_core()}
        if self.avoid_destination_group is not None:
            parameters["avoid_destination_group"] = self.avoid_destination_group
        return parameters

    def env_options(self) -> dict[str, Any]:
        """See ``Policy.env_options``; the network says all of it, and trackers have their defaults."""
        network = self.network
        return {
            "scope": network.scope,
            "action": network.action,
            "features": network.features,
            "trackers": {name: {} for name in self._trackers(network.features)},
            "max_hops": network.max_hops,
            "nonminimal_kinds": network.nonminimal_kinds,
            "minimal_candidates": network.minimal_candidates,
            "nonminimal_candidates": network.nonminimal_candidates,
            "avoid_destination_group": self.avoid_destination_group,
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every pending packet, as the core does.

        Args:
            batch: N decisions of an environment with ``env_options()``. With a softmax it needs random numbers.

        Returns:
            (N,) actions; ties go to the lowest.

        Raises:
            ConfigError: If the environment shows other features, or has other sizes than the network.

        Source: this project.
        """
        network = self.network
        scores = tamed(self.scores(batch))
        if network.second_stage:
            return _second_stage(network, scores, batch.mask)
        if network.output == "greedy" or len(batch) == 0:
            return best_legal(scores, batch.mask)
        return drawn_legal(scores, batch.mask, network.temperature, batch.draws[:, 0])

    def scores(self, batch: DecisionBatch) -> npt.NDArray[np.float32]:
        """(N, A) what the network gives, before any choice; 0 where an action is not legal and scored by itself.

        Raises:
            ConfigError: As ``act``.

        Example:
            >>> policy = dfe.make_policy("neural-v1")
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
            >>> env = dfe.BatchedRoutingEnv.for_policy(config, policy)
            >>> batch = env.reset(seed=1)
            >>> policy.scores(batch).shape == batch.mask.shape
            True
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


class _WithNetwork(ScoringPolicy):
    """A place for what was read from a file, which is no field."""

    __slots__ = ("_network",)

    _network: MlpNetwork


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mlp(_WithNetwork):
    """A multi-layer perceptron scores the legal ports or paths, and the best one is taken (or drawn by a softmax).

    What it sees, where it decides, and what it chooses among is in its file, see ``MlpNetwork``. All decisions of
    one time pass the network together. Sums are added up in one order, in single precision and without fused
    operations, so that a run is the same bits on every machine, for every number of threads, and from Python.

    Source: this project.

    Example:
        >>> file = dfe.baselines.MlpNetwork.random(seed=1).save("weights")
        >>> policy = dfe.baselines.Mlp(weights=str(file))
        >>> config = dfe.SimulationConfig(topology="72", policy=policy)
        >>> dfe.simulate(config, measure_ns=2_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"mlp": {}}
    needs: ClassVar[tuple[str, ...]] = (FIELD,)

    weights: str | None = setting(None, _file, "", "The file of the network: its path.", False)
    sha256: str | None = setting(
        None,
        check_text,
        "",
        "Of the file, so that another one is not taken for it; None: whatever is in the file.",
        True,
    )

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        self._read()

    def _read(self) -> MlpNetwork:
        network = MlpNetwork.load(str(self.weights))
        found = digest(str(self.weights))
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Neural(ScoringPolicy):
    """A small neural network that comes with its weights scores a shortest path and non-minimal paths of some kinds.

    ``neural-v1`` decides at the source router, ``neural-v2`` also behind it, and knows paths by another router of a
    group. Both were trained on a mixture of scenarios that shares nothing with the test split of the suite
    ``dragonfly-v1``. They score one candidate path after the other with the same weights, so they run on every size of
    system. What they see does not depend on the size either: occupancies of the router's own port and of the global
    link by which the path leaves the group, and the time that the path takes on idle links. They also see how much the
    group offers to the destination group, which links its packets crossed lately and how full those make them, what
    acknowledgements tell, and how long the packet has waited. How they were trained, how good they are and where they
    fail: ``docs/neural.md``.

    Source: this project.

    Example:
        >>> policy = dfe.make_policy("neural-v1")
        >>> policy.network.scoring, policy.scope, policy.action
        ('candidate', 'source', 'path')
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=2_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"neural-v1": {"version": 1}, "neural-v2": {"version": 2}}

    version: int = integer(1, 1, 2, doc="Which network of the package.")

    @property
    def network(self) -> MlpNetwork:
        """The network with its weights."""
        return _network(self.name)

    @property
    def training_cpu_s(self) -> float:
        """CPU-seconds of the rounds of its training, without references and validation."""
        return float(_facts(self.name)["cpu_seconds_of_rounds"])


@functools.cache
def _network(name: str) -> MlpNetwork:
    return MlpNetwork.load(_SHIPPED / f"{name}.npz")


@functools.cache
def _facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((_SHIPPED / f"{name}.json").read_text(encoding="utf-8"))
    return facts


def _second_stage(
    network: MlpNetwork, scores: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]
) -> IntArray:
    """(N,) actions: the best of all where the best of those that are shown first is a non-minimal path."""
    first = best_legal(scores, first_stage(network, mask))
    return np.where(first < network.minimal_candidates, first, best_legal(scores, mask))


def first_stage(network: MlpNetwork, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(N, A) what is legal and scored in the first stage: shortest paths, and one non-minimal path of each kind."""
    detour = np.arange(mask.shape[1]) - network.minimal_candidates
    shown: npt.NDArray[np.bool_] = mask & ((detour < 0) | (detour % network.nonminimal_candidates == 0))
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
