"""``MlpNetwork``: a small neural network that scores actions, its fields checked, and its file.

The file is an ``.npz`` of plain arrays: ``header`` (JSON), ``weights_0``, ``bias_0``, ... Nothing in it is ever
unpickled, and sizes are checked before memory is taken.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.files import parse_json, read_arrays, refusing, write_arrays
from dragonfly_env.checks.values import (
    as_numbers,
    check_choice,
    check_items,
    check_real,
    config_error,
    refuse_first,
)
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, setting
from dragonfly_env.decisions.layout import ALL_FEATURES, PER_ACTION, check_nonminimal_kinds
from dragonfly_env.errors import ConfigError

_FORMAT = 1
_KIND = "mlp"
FIELD = "weights"
_FILE = "must be a file of MlpNetwork.save or export_mlp"
_LEAST_SCALE, _MOST_SCALE = 1e-9, 1e9
Scope: TypeAlias = Literal["source", "every", "source-all", "minimal-path", "progressive", "progressive-busy"]
SCOPES: tuple[str, ...] = get_args(Scope)
"""Scopes of networks that run in the core; from the third on they choose paths only."""
_SHARED = ("decision", "port", "link", "group", "peer")
_PER: dict[str, str] = {row["name"]: row["per"] for row in _core.features()} | {
    feature["name"]: feature["per"] for tracker in _core.trackers() for feature in tracker["shown"]
}
_EXAMPLE_FEATURES = {
    "port": ("queue_packets", "credits_in_use", "link_class", "is_minimal", "hops"),
    "path": ("candidate_kind", "candidate_packets", "candidate_vc_packets", "candidate_hops", "hops"),
}

Layer = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def check_scope(scope: str, action: str) -> None:
    """Refuse to choose ports where routers decide that only choose paths.

    Raises:
        ConfigError: For such a scope.
    """
    if scope not in ("source", "every") and action != "path":
        raise config_error("scope", scope, "must be 'source' or 'every' with action='port'")


def _names(field: str, value: object) -> tuple[str, ...]:
    names = check_items(field, value, "must be a list of names of features")
    return tuple(check_choice(field, name, ALL_FEATURES) for name in names)


def _scales(field: str, value: object) -> tuple[float, ...]:
    items = check_items(field, value, "must be a list of numbers, one per feature")
    return tuple(check_real(field, item, 0.0 if item == 0 else _LEAST_SCALE, _MOST_SCALE) for item in items)


def _layers(field: str, value: object) -> tuple[Layer, ...]:
    """The layers as read-only arrays of their own; the core reads them without another look at their shapes."""
    pairs = check_items(field, value, "must be a list of pairs of arrays")
    layers = tuple(
        (_finite(f"weights_{i}", weights, 2), _finite(f"bias_{i}", bias, 1))
        for i, (weights, bias) in enumerate(pairs)
    )
    rows = len(layers[0][0]) if layers else 0
    for i, (weights, bias) in enumerate(layers):
        if weights.shape != (rows, bias.size) or weights.size == 0:
            allowed = f"must be ({rows}, {bias.size}): outputs of the layer before, numbers of bias_{i}"
            raise config_error(f"weights_{i}", weights.shape, allowed)
        rows = bias.size
    if not layers:
        raise config_error(field, value, "must have at least one layer")
    return layers


def _finite(name: str, value: object, ndim: int) -> npt.NDArray[np.float32]:
    array = as_numbers(name, value, ndim=ndim).astype(np.float32)
    refuse_first(
        lambda index: f"{name}[{', '.join(map(str, index))}]", array, ~np.isfinite(array), "must be finite"
    )
    array.flags.writeable = False
    return array


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MlpNetwork:
    """A multi-layer perceptron in single precision that scores the legal actions of a decision.

    ``scoring="candidate"``: one pass per legal action, with the same weights, over the features of the decision and of
    that action (of its port, or of its candidate path); the last layer has one output. Such a network fits every size
    of system. ``scoring="all"``: one pass per decision, over all columns of all features, with one output per action;
    it fits systems with as many columns and actions as that in which it was trained.

    Raises:
        ConfigError: On construction, for a value that is out of range or does not fit the others.

    Example:
        >>> weights = np.zeros((2, 1), np.float32)
        >>> network = dfe.baselines.MlpNetwork(
        ...     layers=[(weights, np.zeros(1, np.float32))],
        ...     features=["candidate_packets", "candidate_hops"],
        ... )
        >>> network.of_action, network.scoring
        ((True, True), 'candidate')
    """

    layers: tuple[Layer, ...] = setting(
        None,
        _layers,
        "",
        "Pairs of weights (inputs, outputs) and bias (outputs,), first layer first. Inputs are in the order of the "
        "features.",
        False,
    )
    features: tuple[str, ...] = setting(None, _names, "", "Names of the features that it sees.", False)
    action: Literal["path", "port"] = choice("path", ("path", "port"), doc="What it chooses.")
    scope: Scope = choice(
        "source",
        Scope,
        doc="Which routers decide, as in ``BatchedRoutingEnv``; from the third on with paths only.",
    )
    scoring: Literal["candidate", "all"] = choice(
        "candidate", ("candidate", "all"), doc="One pass per action, or one per decision."
    )
    activation: Literal["relu", "tanh"] = choice("relu", ("relu", "tanh"), doc="Of the hidden layers.")
    output: Literal["greedy", "softmax"] = choice(
        "greedy", ("greedy", "softmax"), doc="The best score, or a draw among all."
    )
    temperature: float = real(1.0, 1e-6, 1e6, doc="Of the softmax: scores are divided by it.")
    scale: tuple[float, ...] | None = setting(
        None,
        _scales,
        "",
        "The unit (quantity / value, see Layout) in which it expects each feature; 0, or None for all: that of the "
        "network in which it runs. Squashed features have none.",
        True,
    )
    nonminimal_kinds: tuple[str, ...] = setting(
        ("lgl",), check_nonminimal_kinds, "", "Kinds of non-minimal path among the candidate paths.", False
    )
    minimal_candidates: int = integer(1, 1, 16, unit="paths", doc="Shortest paths that are drawn.")
    nonminimal_candidates: int = integer(1, 1, 16, unit="paths", doc="Non-minimal paths drawn of each kind.")
    second_stage: bool = boolean(
        False,
        doc="Whether non-minimal paths behind the first of each kind count only where the best of the first ones and "
        "of the shortest paths is a non-minimal path. Most packets of traffic that needs no non-minimal paths "
        "then cost no more than with one non-minimal path of each kind. Needs paths, one pass per action, the "
        "best score, and several non-minimal paths of each kind.",
    )
    max_hops: int = integer(5, 3, 15, unit="hops", doc="Ports: the longest route, and the number of VCs.")

    def __post_init__(self) -> None:
        normalise(self)
        count = len(self.features)
        if self.scale is not None and len(self.scale) != count:
            raise config_error("scale", self.scale, f"must have {count} numbers, one per feature")
        check_scope(self.scope, self.action)
        greedy_paths = (self.action, self.scoring, self.output) == ("path", "candidate", "greedy")
        if self.second_stage and not (greedy_paths and self.nonminimal_candidates > 1):
            allowed = (
                "must be False unless action is 'path', scoring 'candidate', output 'greedy' and "
                "nonminimal_candidates 2 or more"
            )
            raise config_error("second_stage", True, allowed)
        per_action = PER_ACTION[self.action]
        readable = ("decision", per_action) if self.scoring == "candidate" else (*_SHARED, per_action)
        for name in self.features:
            if _PER[name] not in readable:
                allowed = f"with these actions and scoring features are per {' or '.join(readable)}"
                raise config_error("features", name, f"is per {_PER[name]}; {allowed}")
        (weights, _), (_, bias) = self.layers[0], self.layers[-1]
        if self.scoring == "candidate" and (len(weights), bias.size) != (count, 1):
            allowed = f"must be {count} inputs, one per feature, and 1 output, the score"
            raise config_error("layers", f"{len(weights)} inputs, {bias.size} outputs", allowed)

    def __repr__(self) -> str:
        sizes = " x ".join(str(bias.size) for _, bias in self.layers)
        return f"<MlpNetwork {self.scoring}/{self.action} of {len(self.features)} features, layers of {sizes} units>"

    @property
    def of_action(self) -> tuple[bool, ...]:
        """Whether each feature has a column per action."""
        return tuple(_PER[name] == PER_ACTION[self.action] for name in self.features)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, in plain values.

        Example:
            >>> dfe.baselines.MlpNetwork.random(seed=1).to_dict()["activation"]
            'relu'
        """
        names = (field.name for field in dataclasses.fields(self) if field.name != "layers")
        values = {name: getattr(self, name) for name in names}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def save(self, path: str | Path) -> Path:
        """Write the file that ``make_policy("mlp", weights=...)`` takes; it appears complete or not at all. The same
        network gives the same bytes.

        Args:
            path: Where to; ``.npz`` is added if it is missing.

        Returns:
            The path of the file.

        Raises:
            ConfigError: If the file cannot be written.

        Example:
            >>> dfe.baselines.MlpNetwork.random(seed=1).save("weights").name
            'weights.npz'
        """
        header = {"format": _FORMAT, "kind": _KIND, **self.to_dict(), "layers": len(self.layers)}
        arrays: dict[str, Any] = {"header": json.dumps(header, sort_keys=True, allow_nan=False)}
        for names, layer in zip(_array_names(len(self.layers)), self.layers, strict=True):
            arrays.update(zip(names, layer, strict=True))
        with refusing("path", Path(path), "must be writable"):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        return write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | Path) -> MlpNetwork:
        """Read what ``save`` or ``export_mlp`` wrote.

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be read or holds anything else; the message names the field in it, its
                value and what is allowed.

        Example:
            >>> file = dfe.baselines.MlpNetwork.random(seed=1).save("weights.npz")
            >>> dfe.baselines.MlpNetwork.load(file).features[0]
            'candidate_kind'
        """
        text = str(read_arrays(path, ["header"], field=FIELD, allowed=_FILE)["header"])
        for before, now in _RENAMED.items():
            text = text.replace(f'"{before}"', f'"{now}"')
        header = parse_json(text, FIELD, file=path, allowed=_FILE)
        if (header.pop("kind", None), header.pop("format", None)) != (_KIND, _FORMAT):
            raise config_error(FIELD, str(path), f"{_FILE}, of format {_FORMAT}")
        names = _array_names(header.pop("layers"))
        arrays = read_arrays(path, [name for pair in names for name in pair], field=FIELD, allowed=_FILE)
        try:
            return cls(layers=tuple((arrays[weights], arrays[bias]) for weights, bias in names), **header)
        except (TypeError, ConfigError) as error:
            raise config_error(FIELD, str(path), f"{_FILE} ({error})") from None

    @classmethod
    def random(
        cls,
        *,
        seed: int = 0,
        hidden_units: tuple[int, ...] = (32, 32),
        env: Any = None,
        **fields: Any,
    ) -> MlpNetwork:
        """An untrained network: something to start from, and to test with.

        Args:
            seed: Seed of the weights.
            hidden_units: Sizes of the hidden layers.
            env: The ``BatchedRoutingEnv`` where it shall run, with ``scoring="all"``; its layout says how many columns
                and actions there are.
            **fields: Fields of the class, but ``layers``.

        Example:
            >>> network = dfe.baselines.MlpNetwork.random(seed=1, hidden_units=(8,))
            >>> [bias.size for _, bias in network.layers]
            [8, 1]
        """
        generator = np.random.default_rng(seed)
        given: dict[str, Any] = {"features": _EXAMPLE_FEATURES[fields.get("action", "path")], **fields}
        inputs, outputs = len(given["features"]), 1
        if given.get("scoring") == "all":
            if env is None:
                raise config_error("env", None, "must be an environment of the system if scoring is 'all'")
            blocks = [env.layout[name].columns for name in given["features"]]
            inputs = sum(columns.stop - columns.start for columns in blocks)
            outputs = env.num_actions
        layers: Any = tuple(
            (
                generator.standard_normal((rows, columns)) * np.sqrt(2.0 / rows),
                generator.standard_normal(columns) * 0.1,
            )
            for rows, columns in itertools.pairwise((inputs, *hidden_units, outputs))
        )
        return cls(layers=layers, **given)

    def to_core(self) -> _core.ScoringNetwork:
        """The network as the core takes it."""
        return _core.ScoringNetwork(
            {
                "scope": self.scope,
                "action": self.action,
                "max_hops": self.max_hops,
                "nonminimal_kinds": list(self.nonminimal_kinds),
                "minimal_candidates": self.minimal_candidates,
                "nonminimal_candidates": self.nonminimal_candidates,
                "second_stage": self.second_stage,
            },
            self.scoring == "candidate",
            self.activation,
            self.temperature if self.output == "softmax" else 0.0,
            list(self.features),
            list(self.scale or (0.0,) * len(self.features)),
            [weights for weights, _ in self.layers],
            [bias for _, bias in self.layers],
        )


def load_network(path: str, sha256: str | None = None) -> tuple[MlpNetwork, str]:
    """The network in a file, and the file's SHA-256.

    Args:
        path: The file.
        sha256: The digest that the file must have; None: any. A file is read once per path and digest.
    """
    if sha256 is None:
        with refusing(FIELD, Path(path), _FILE):
            sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return _load(path, sha256), sha256


@functools.lru_cache(maxsize=64)
def _load(path: str, sha256: str) -> MlpNetwork:
    with refusing(FIELD, Path(path), _FILE):
        found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if found != sha256:
        allowed = f"must be the digest of {path!r}, which is {found}: another file?"
        raise config_error("sha256", sha256, allowed)
    return MlpNetwork.load(path)


_RENAMED = {
    "detours": "nonminimal_kinds",
    "detour_candidates": "nonminimal_candidates",
    "detour_level": "nonminimal_level",
    "second_look": "second_stage",
}
"""Names in the headers of older files, as that of the shipped network: a file is known by its SHA-256."""


def _array_names(count: int) -> list[tuple[str, str]]:
    return [(f"weights_{i}", f"bias_{i}") for i in range(count)]
