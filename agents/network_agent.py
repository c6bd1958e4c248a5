"""``NetworkAgent``: the base of ``deep_q`` and ``ppo``. It knows the layout of the training, the file and the export;
the two learners know their networks and how they learn.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import torch

from dragonfly_env.agents.learner import network_of, read_agent, warn_of_mismatch, write_agent
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.checks.values import check_choice, check_integer, config_error
from dragonfly_env.config.rows import choice, setting
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import (
    ALL_NONMINIMAL_KINDS,
    NONMINIMAL_KINDS,
    OCCUPANCY_FEATURES,
    OCCUPANCY_UNITS,
)
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch
    from dragonfly_env.decisions.layout import Layout
    from dragonfly_env.envs.batched import BatchedRoutingEnv

MOST = 2**31 - 1
_LINE = 16  # weights per cache line
_Agent = TypeVar("_Agent", bound="NetworkAgent")


# Settings that both learners have.


def observed_features(unnamed: str) -> Any:
    """Row of the features that an agent observes; ``unnamed`` says what None means."""
    doc = f"Names of the observation's features; None: {unnamed}."
    return setting(None, _names, "", doc, optional=True)


def occupancy_units() -> Any:
    """Row of the unit in which an agent observes occupancies."""
    return choice(
        "buffers",
        OCCUPANCY_UNITS,
        doc="Unit of the observed occupancies, as in ``BatchedRoutingEnv``. 'packets' and 'ns' do not depend on the "
        "sizes of buffers; 'buffers' is converted if these sizes differ.",
    )


def candidate_kinds() -> Any:
    """Row of the kinds of non-minimal paths that an agent may take."""
    return setting(
        NONMINIMAL_KINDS,
        lambda name, value: tuple(check_choice(name, kind, NONMINIMAL_KINDS) for kind in _names(name, value)),
        "",
        "Kinds of non-minimal paths among the candidates; with action 'path' only.",
        optional=False,
    )


def layer_sizes(default: tuple[int, ...], doc: str) -> Any:
    """Row of one to eight sizes of hidden layers."""

    def check(field: str, value: object) -> tuple[int, ...]:
        if not isinstance(value, (tuple, list)) or not 1 <= len(value) <= 8:
            raise config_error(field, value, "must be a list of 1 to 8 numbers of units")
        return tuple(check_integer(field, size, 1, 4096) for size in value)

    return setting(default, check, "units", doc, optional=False)


def _names(field: str, value: object) -> tuple[str, ...]:
    """A tuple of names: TOML and JSON give lists."""
    if not isinstance(value, (tuple, list)) or not all(isinstance(name, str) for name in value):
        raise config_error(field, value, "must be a list of names")
    return tuple(value)


# Networks.


def dense_layers(sizes: Sequence[int]) -> Any:
    """Linear layers with ReLU between them."""
    layers: list[Any] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Adam:
    """Adam (Kingma, Ba, ICLR 2015) over all weights of a network as one vector, after gradients were shortened.

    The steps are those of ``torch.nn.utils.clip_grad_norm_`` and ``torch.optim.Adam``, with PyTorch 2.13 to the last
    bit: each parameter begins at a cache line, because products of matrices round otherwise elsewhere. For networks of
    a dozen small tensors they take a sixth of the time, and PyTorch's class takes 2 CPU-seconds to be made at first.

    Args:
        network: Its parameters and their gradients become views of the vectors.
    """

    def __init__(self, network: Any) -> None:
        parameters = list(network.parameters())
        sizes = [parameter.numel() for parameter in parameters]
        room = [-(-size // _LINE) * _LINE for size in sizes]
        self.weights, self.gradient, self.mean, self.square = (torch.zeros(sum(room)) for _ in range(4))
        weights, self.gradients = (
            [part[:size] for part, size in zip(vector.split(room), sizes, strict=True)]
            for vector in (self.weights, self.gradient)
        )
        self.steps = 0
        for parameter, part, gradient in zip(parameters, weights, self.gradients, strict=True):
            part.copy_(parameter.detach().flatten())
            parameter.data, parameter.grad = part.view_as(parameter), gradient.view_as(parameter)

    def step(self, loss: Any, rate: float, max_norm: float) -> None:
        """Lower the ``loss`` by a step of size ``rate``, along a gradient whose norm is at most ``max_norm``."""
        self.gradient.zero_()
        loss.backward()
        self.steps += 1
        with torch.no_grad():
            norm = torch.linalg.vector_norm(
                torch.stack([torch.linalg.vector_norm(g) for g in self.gradients])
            )
            self.gradient.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
            self.mean.lerp_(self.gradient, 1 - 0.9)
            self.square.mul_(0.999).addcmul_(self.gradient, self.gradient, value=1 - 0.999)
            deviation = (self.square.sqrt() / (1 - 0.999**self.steps) ** 0.5).add_(1e-8)
            self.weights.addcdiv_(self.mean, deviation, value=-rate / (1 - 0.9**self.steps))


def move_towards(average: Any, newest: Any, share: float) -> None:
    """Move the weights of the network ``average`` a share of the way to those of ``newest``; 1: all the way."""
    with torch.no_grad():
        for ours, theirs in zip(average.parameters(), newest.parameters(), strict=True):
            ours.mul_(1 - share).add_(theirs, alpha=share)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's global random state seeded inside, and as it was outside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread inside: networks this small are faster so, and results do not depend on the
    number of processors.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# The layout of the training.


@dataclasses.dataclass(frozen=True, slots=True)
class TrainedLayout:
    """The columns of the observations of a training, and the number of actions."""

    columns: tuple[str, ...]
    units: tuple[float, ...]
    num_actions: int
    occupancy_unit: str

    @classmethod
    def of(cls, layout: Layout, num_actions: int) -> TrainedLayout:
        """The facts about a layout."""
        units = tuple(layout.scale.astype(float).tolist())
        return cls(tuple(layout.names), units, num_actions, layout.occupancy_unit)

    @property
    def features(self) -> dict[str, float]:
        """The features in the order of their columns, each with its unit (quantity / value); 0: squashed."""
        units: dict[str, float] = {}
        for column, unit in zip(self.columns, self.units, strict=True):
            units.setdefault(feature_of(column), unit)
        return units

    @property
    def candidates(self) -> tuple[str, ...]:
        """The kinds of the candidate paths, as far as columns tell: ``candidate_hops[1 lgl]``."""
        columns = [column for column in self.columns if column.startswith("candidate_")]
        first = feature_of(columns[0]) if columns else ""
        return tuple(name.rstrip("]").rpartition(" ")[2] for name in columns if feature_of(name) == first)

    def check_unit(self, other: TrainedLayout, who: str) -> None:
        """Refuse occupancies in ns where the training had packets, or the reverse."""
        shown = not OCCUPANCY_FEATURES.isdisjoint(self.features)
        if shown and (self.occupancy_unit == "ns") != (other.occupancy_unit == "ns"):
            raise config_error(
                "occupancy_unit",
                other.occupancy_unit,
                f"must be {self.occupancy_unit!r}: {who} was trained with occupancies in that unit, and packets and "
                "times cannot be converted",
            )


def feature_of(column: str) -> str:
    """The feature that a column belongs to."""
    return column.partition("[")[0]


class NetworkAgent(ABC):
    """A learner with networks of linear layers with ReLU that all routers share. They are built when the first layout
    is known.

    Args:
        settings: An instance of ``settings_class``; None: its defaults.
        seed: Seed of all random numbers of the agent.

    Raises:
        ConfigError: For a seed out of range.
    """

    warns_of_mismatch: ClassVar[bool] = True  # itself, if it acts in another network than it was trained on
    kind: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    counters: ClassVar[tuple[str, ...]]  # attributes that are saved: how far the training has come

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self.settings = self.settings_class() if settings is None else settings
        self.seed = check_integer("seed", seed, 0, 2**32 - 1)
        self.training = False
        self.metadata: dict[str, Any] = {}
        self.networks: Any = None  # a module of all networks, which are saved
        self._trained: TrainedLayout | None = None
        self._layout: object = None  # the layout that was checked last
        self._trained_on: dict[str, Any] = {}  # see `network_of`; empty: nothing was learned yet
        self._here: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The kind of agent."""
        return self.kind

    @property
    def scope(self) -> str:
        """Decisions that the agent takes."""
        return str(self.settings.scope)

    @property
    def action(self) -> str:
        """The meaning of its actions."""
        return str(self.settings.action)

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        names = ["scope", "action", "reward", "features", "occupancy_unit"]
        names += ["nonminimal_kinds"] if self.action == "path" else []
        return {name: getattr(self.settings, name) for name in names}

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """See ``Learner.prepare``."""
        self._fit(env.layout, env.num_actions)
        self._here = network_of(env.config)
        warn_of_mismatch(self._trained_on, env.config, f"this {self.kind} agent")

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``."""
        self.training = bool(on)

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``; ``ConfigError`` if the layout is not that of the training."""
        self._fit(batch.layout, batch.mask.shape[1])
        if len(batch) == 0:
            return np.zeros(0, dtype=np.int64)
        with torch.no_grad(), one_thread():
            return self.choose(batch)

    def save(self, path: str | Path) -> None:
        """See ``Learner.save``. The optimizer's state is not saved: it starts anew."""
        trained = self._built("save()")
        contents = {
            "kind": self.kind,
            "metadata": self.metadata,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "layout": dataclasses.asdict(trained),
            "trained_on": self._trained_on or self._here,
            "counters": {name: getattr(self, name) for name in self.counters},
            "weights": self.networks.state_dict(),
        }
        write_agent(path, contents)

    @classmethod
    def load(cls: type[_Agent], path: str | Path) -> _Agent:
        """See ``Learner.load``."""
        saved = read_agent(path)
        if saved["kind"] != cls.kind:
            allowed = f"must be a saved agent of kind {cls.kind!r}, not {saved['kind']!r}"
            raise config_error("agent", str(path), allowed)
        agent = cls(cls.settings_class(**saved["settings"]), seed=saved["seed"])
        agent.metadata, agent._trained_on = saved["metadata"], saved["trained_on"]
        for name, value in saved["counters"].items():
            setattr(agent, name, value)
        agent._trained = TrainedLayout(**saved["layout"])
        agent.build(agent._trained)
        agent.networks.load_state_dict(saved["weights"])
        return agent

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
        trained = self._built("export_mlp()")
        network, units, fields = self.acting(trained)
        scope = self.scope
        if scope == "all":  # forced hops have one action, so nothing is lost
            if "traffic" in units:
                raise config_error(
                    "scope", "all", "counts other decisions in the feature 'traffic' than 'every' does"
                )
            scope = "every"
        if trained.occupancy_unit == "ns" and not OCCUPANCY_FEATURES.isdisjoint(units):
            allowed = "must be 'packets' or 'buffers' to be exported: the core's networks see packets"
            raise config_error("occupancy_unit", "ns", allowed)
        if self.action == "path":
            fields |= _candidate_fields(trained)
        return self.as_mlp(network, units, scope=scope, max_hops=max_hops, **fields).save(path)

    def as_mlp(self, network: Any, units: Mapping[str, float], **fields: Any) -> MlpNetwork:
        """The linear layers of ``network``, whose features have ``units``, as the core takes them."""
        return MlpNetwork(
            layers=tuple(
                (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy())
                for layer in network
                if isinstance(layer, torch.nn.Linear)
            ),
            features=tuple(units),
            scale=tuple(units.values()),
            activation="relu",
            action=self.settings.action,
            **fields,
        )

    @abstractmethod
    def build(self, trained: TrainedLayout) -> None:
        """Make ``networks``, and what goes with them, for a layout."""

    @abstractmethod
    def adapt(self, layout: Layout, here: TrainedLayout, trained: TrainedLayout) -> None:
        """Convert observations of a layout to those of the training from now on; ``ConfigError`` if that cannot be."""

    @abstractmethod
    def choose(self, batch: DecisionBatch) -> IntArray:
        """Legal actions for one decision at least, whose layout was adapted to."""

    @abstractmethod
    def acting(self, trained: TrainedLayout) -> tuple[Any, dict[str, float], dict[str, Any]]:
        """The layers of the network that acts; the features that it sees, each with the unit that it expects (0:
        squashed); and further fields of ``MlpNetwork``.
        """

    def _fit(self, layout: Any, num_actions: int) -> None:
        """Build the networks for a layout the first time; adapt to others."""
        if layout is self._layout:
            return
        here = TrainedLayout.of(layout, num_actions)
        trained = self._trained or here
        self.adapt(layout, here, trained)
        self._trained, self._layout = trained, layout
        if self.networks is None:
            self.build(trained)

    def _built(self, call: str) -> TrainedLayout:
        """The layout of the networks; ``StateError`` if there are none yet, naming the call that needs them."""
        if self._trained is None:
            raise StateError(f"{call}: there is no network yet; train the agent or call prepare(env) first")
        return self._trained

    def _learns_here(self) -> None:
        """Note that something is learned in the environment that the agent was prepared for last."""
        self._trained_on = self._here


def _candidate_fields(trained: TrainedLayout) -> dict[str, Any]:
    """The fields of ``MlpNetwork`` that say which candidate paths there were."""
    kinds = trained.candidates
    if not kinds:
        allowed = "must show something of each candidate path to be exported"
        raise config_error("features", list(trained.features), allowed)
    nonminimal_kinds = tuple(kind for kind in dict.fromkeys(kinds) if kind in ALL_NONMINIMAL_KINDS)
    return {
        "nonminimal_kinds": nonminimal_kinds,
        "minimal_candidates": kinds.count("minimal"),
        "nonminimal_candidates": kinds.count(nonminimal_kinds[0]) if nonminimal_kinds else 1,
    }
