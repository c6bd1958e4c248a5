"""``MlpNetwork``: a small neural network that scores actions, its fields checked, and its file.

The file is an ``.npz`` of plain arrays: ``header`` (JSON), ``weights_0``, ``bias_0``, ... Nothing in it is ever
unpickled, and sizes are checked before memory is taken.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.files import parse_json, read_arrays, refusing, write_arrays
from dragonfly_env.checks.values import (
    as_numbers,
    check_choice,
    check_integer,
    check_items,
    check_real,
    config_error,
    refuse_first,
    unknown_name,
)
from dragonfly_env.config.help import documented
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, reject_unknown, setting
from dragonfly_env.decisions.layout import ALL_FEATURES, PER_ACTION, check_nonminimal_kinds
from dragonfly_env.errors import ConfigError
from dragonfly_env.policies import highest

if TYPE_CHECKING:
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_FORMAT = 1
_KIND = "mlp"
FIELD = "weights"
_FILE = "must be a file of MlpNetwork.save or export_mlp"
_MOST_LAYERS = 9
_MOST_WEIGHTS = 2**24
_MOST_UNITS = 2**16
_MOST_CANDIDATES = int(highest("ugal-n", "minimal_candidates"))
_LEAST_SCALE, _MOST_SCALE = 1e-9, 1e9
_LEAST_TEMPERATURE, _MOST_TEMPERATURE = 1e-6, 1e6
_OF_PATHS = ("source-all", "minimal-path", "progressive")
SCOPES = ("source", "every", *_OF_PATHS)
"""Which routers may decide by a network of the core; the last three with paths only."""
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
    if scope in _OF_PATHS and action != "path":
        raise config_error("scope", scope, "must be 'source' or 'every' with action='port'")


def _names(field: str, value: object) -> tuple[str, ...]:
    names = check_items(field, value, "must be a list of names of features")
    if not names:
        raise config_error(field, names, "must name at least one feature")
    for i, name in enumerate(names):
        if name not in ALL_FEATURES:
            raise unknown_name(field, name, ALL_FEATURES)
        if name in names[:i]:
            raise config_error(field, name, "must be named once")
    return tuple(names)


def _scales(field: str, value: object) -> tuple[float, ...]:
    items = check_items(field, value, "must be a list of numbers, one per feature")
    return tuple(check_real(field, item, 0.0 if item == 0 else _LEAST_SCALE, _MOST_SCALE) for item in items)


def _layers(field: str, value: object) -> tuple[Layer, ...]:
    layers = check_items(field, value, "must be a list of pairs of arrays")
    if not 1 <= len(layers) <= _MOST_LAYERS:
        raise config_error(field, f"{len(layers)} layers", f"must be 1 to {_MOST_LAYERS}")
    checked: list[Layer] = []
    for i, layer in enumerate(layers):
        pair = check_items(field, layer, "must be pairs of arrays")
        if len(pair) != 2:
            raise config_error(field, f"{len(pair)} arrays", "must be two per layer: weights and bias")
        weights, bias = _finite(f"weights_{i}", pair[0], 2), _finite(f"bias_{i}", pair[1], 1)
        rows, columns = weights.shape
        if not (1 <= rows <= _MOST_UNITS and 1 <= columns <= _MOST_UNITS):
            raise config_error(
                f"weights_{i}", weights.shape, f"must have 1 to {_MOST_UNITS} inputs and outputs"
            )
        if checked and rows != checked[-1][1].size:
            raise config_error(
                f"weights_{i}",
                weights.shape,
                f"must have {checked[-1][1].size} rows, one per output of the layer before",
            )
        if bias.size != columns:
            raise config_error(f"bias_{i}", bias.shape, f"must have {columns} numbers, one per output")
        checked.append((weights, bias))
    if sum(weights.size for weights, _ in checked) > _MOST_WEIGHTS:
        raise config_error(
            field, "too many weights", f"must be at most {_MOST_WEIGHTS} in all layers together"
        )
    return tuple(checked)


def _finite(name: str, value: object, ndim: int) -> npt.NDArray[np.float32]:
    """A read-only array of its own."""
    array = as_numbers(name, value, ndim=ndim).astype(np.float32)
    refuse_first(
        lambda index: f"{name}[{', '.join(map(str, index))}]", array, ~np.isfinite(array), "must be finite"
    )
    array.flags.writeable = False
    return array


@documented
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MlpNetwork:
    """A multi-layer perceptron in single precision that scores the legal actions of a decision.

    ``scoring="candidate"``: one pass per legal action, with the same weights, over the features of the decision and of
    that action (of its port, or of its candidate path); the last layer has one output. Such a network fits every size
    of system. ``scoring="all"``: one pass per decision, over all columns of all features, with one output per action;
    it fits systems with as many columns and actions as that in which it was trained.

    Raises:
        ConfigError: On construction, for whatever is out of range or does not fit together.

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
    action: str = choice("path", ("path", "port"), doc="What it chooses.")
    scope: str = choice(
        "source",
        SCOPES,
        doc="Which routers decide, as in ``BatchedRoutingEnv``; the last three with paths only.",
    )
    scoring: str = choice("candidate", ("candidate", "all"), doc="One pass per action, or one per decision.")
    activation: str = choice("relu", ("relu", "tanh"), doc="Of the hidden layers.")
    output: str = choice("greedy", ("greedy", "softmax"), doc="The best score, or a draw among all.")
    temperature: float = real(
        1.0,
        _LEAST_TEMPERATURE,
        _MOST_TEMPERATURE,
        doc="Of the softmax: scores are divided by it.",
    )
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
    minimal_candidates: int = integer(
        1, 1, _MOST_CANDIDATES, unit="paths", doc="Shortest paths that are drawn."
    )
    nonminimal_candidates: int = integer(
        1, 1, _MOST_CANDIDATES, unit="paths", doc="Non-minimal paths drawn of each kind."
    )
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
        if self.scale is not None and len(self.scale) != len(self.features):
            raise config_error(
                "scale", self.scale, f"must have {len(self.features)} numbers, one per feature"
            )
        check_scope(self.scope, self.action)
        greedy_paths = (self.action, self.scoring, self.output) == ("path", "candidate", "greedy")
        if self.second_stage and not (greedy_paths and self.nonminimal_candidates > 1):
            allowed = (
                "must be False unless action is 'path', scoring 'candidate', output 'greedy' and "
                "nonminimal_candidates 2 or more"
            )
            raise config_error("second_stage", True, allowed)
        for name in self.features:
            self._check_feature(name)
        if self.scoring == "all":
            return
        (weights, _), (_, bias) = self.layers[0], self.layers[-1]
        if len(weights) != len(self.features):
            raise config_error(
                "weights_0", weights.shape, f"must have {len(self.features)} rows, one per feature"
            )
        if bias.size != 1:
            raise config_error(
                f"bias_{len(self.layers) - 1}",
                bias.shape,
                "must be one number: the last layer gives the score",
            )

    def _check_feature(self, name: str) -> None:
        per, own = _PER[name], PER_ACTION[self.action]
        readable = ("decision", own) if self.scoring == "candidate" else (*_SHARED, own)
        if per not in readable:
            raise config_error(
                "features",
                name,
                f"is per {per}; with these actions and scoring it must be per {' or '.join(readable)}",
            )

    def __repr__(self) -> str:
        sizes = " x ".join(str(bias.size) for _, bias in self.layers)
        return f"<MlpNetwork {self.scoring}/{self.action} of {len(self.features)} features, layers of {sizes} units>"

    @property
    def of_action(self) -> tuple[bool, ...]:
        """For each feature whether it has a column per action."""
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
        fields, layers = _read_network(path)
        reject_unknown(cls, fields, f"a file of {FIELD}")
        try:
            return cls(**{**fields, "layers": layers})
        except (TypeError, ConfigError) as error:
            raise config_error(FIELD, str(path), f"{_FILE} ({error})") from None

    @classmethod
    def random(
        cls,
        *,
        seed: int = 0,
        hidden_units: tuple[int, ...] = (32, 32),
        env: BatchedRoutingEnv | None = None,
        **fields: Any,
    ) -> MlpNetwork:
        """An untrained network: something to start from, and to test with.

        Args:
            seed: Of the weights.
            hidden_units: Sizes of the hidden layers.
            env: With ``scoring="all"``: where it shall run; its layout says how many columns and actions there are.
            **fields: Of the class, but ``layers``.

        Raises:
            ConfigError: For a field out of range.

        Example:
            >>> network = dfe.baselines.MlpNetwork.random(seed=1, hidden_units=(8,))
            >>> [bias.size for _, bias in network.layers]
            [8, 1]
        """
        generator = np.random.default_rng(check_integer("seed", seed, 0, 2**63 - 1))
        action = check_choice("action", fields.get("action", "path"), PER_ACTION)
        given: dict[str, Any] = {"features": _EXAMPLE_FEATURES[action], **fields}
        inputs, outputs = len(_names("features", given["features"])), 1
        if given.get("scoring") == "all":
            if env is None:
                raise config_error("env", None, "must be an environment of the system if scoring is 'all'")
            blocks = [env.layout[name].columns for name in given["features"]]
            inputs = sum(columns.stop - columns.start for columns in blocks)
            outputs = env.num_actions
        sizes = (
            inputs,
            *(
                check_integer("hidden_units", size, 1, _MOST_UNITS)
                for size in check_items("hidden_units", hidden_units, "must be a list of whole numbers")
            ),
            outputs,
        )
        layers = tuple(
            (
                (generator.standard_normal((rows, columns)) * np.sqrt(2.0 / rows)).astype(np.float32),
                (generator.standard_normal(columns) * 0.1).astype(np.float32),
            )
            for rows, columns in itertools.pairwise(sizes)
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


_RENAMED = {
    "detours": "nonminimal_kinds",
    "detour_candidates": "nonminimal_candidates",
    "detour_level": "nonminimal_level",
    "second_look": "second_stage",
}
"""Names in the headers of older files, as that of the shipped network: a file is known by its SHA-256."""


def _array_names(count: int) -> list[tuple[str, str]]:
    return [(f"weights_{i}", f"bias_{i}") for i in range(count)]


def _read_network(path: str | Path) -> tuple[dict[str, Any], list[tuple[Any, Any]]]:
    """The fields and the arrays in a file, as they are there."""
    text = read_arrays(path, ["header"], field=FIELD, allowed=_FILE)["header"]
    fields = _parse_header(text, str(path))
    count = check_integer(f"{FIELD}: layers", fields.pop("layers", None), 1, _MOST_LAYERS)
    names = _array_names(count)
    arrays = read_arrays(path, [name for pair in names for name in pair], field=FIELD, allowed=_FILE)
    for name, array in arrays.items():
        if array.dtype != np.float32:
            raise config_error(f"{FIELD}: {name}", str(array.dtype), "must be float32")
    return fields, [(arrays[weights], arrays[bias]) for weights, bias in names]


def digest(path: str | Path) -> str:
    """SHA-256 of a file."""
    with refusing(FIELD, Path(path), _FILE):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _parse_header(array: npt.NDArray[Any], shown: str) -> dict[str, Any]:
    text = re.sub(r'"(\w+)"', lambda name: f'"{_RENAMED.get(name[1], name[1])}"', str(array))
    header = parse_json(text, FIELD, file=shown, allowed=_FILE)
    if (
        not isinstance(header, dict)
        or header.pop("kind", None) != _KIND
        or header.pop("format", None) != _FORMAT
    ):
        raise config_error(FIELD, shown, f"{_FILE}, of format {_FORMAT}")
    return header
