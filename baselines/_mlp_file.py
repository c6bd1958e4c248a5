"""The file of an ``MlpNetwork``: an ``.npz`` of plain arrays, ``header`` (JSON), ``weights_0``, ``bias_0``, ...

Nothing in it is ever unpickled, and sizes are checked before memory is taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.archives import read_arrays
from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.files import replacing
from dragonfly_env.checks.interruption import uninterrupted
from dragonfly_env.checks.outside import check_path, parsing, read_bytes
from dragonfly_env.checks.values import check_integer, config_error

FORMAT = 1
KIND = "mlp"
FIELD = "weights"
FILE = "must be a file of MlpNetwork.save or export_mlp"
MOST_LAYERS = 9
MOST_WEIGHTS = 2**24
_MOST_HEADER_BYTES = 2**20
_MOST_FILE_BYTES = 2**28

Layer = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def _array_names(count: int) -> list[tuple[str, str]]:
    return [(f"weights_{i}", f"bias_{i}") for i in range(count)]


def write_network(path: object, fields: Mapping[str, Any], layers: Sequence[Layer]) -> Path:
    """Write a file; it appears complete or not at all. The same network gives the same bytes.

    Args:
        path: Where to; ``.npz`` is added if it is missing.
        fields: Plain values.
        layers: Weights and bias.

    Returns:
        The path of the file.

    Raises:
        ConfigError: If it cannot be written.
    """
    target = check_path("path", path)
    header = {"format": FORMAT, "kind": KIND, **fields, "layers": len(layers)}
    arrays: dict[str, npt.NDArray[Any]] = {
        "header": np.array(json.dumps(header, sort_keys=True, allow_nan=False))
    }
    for names, layer in zip(_array_names(len(layers)), layers, strict=True):
        arrays.update(zip(names, layer, strict=True))
    with parsing("path", str(target), "must be writable"):
        if target.suffix != ".npz":
            target = target.with_name(target.name + ".npz")
        target.parent.mkdir(parents=True, exist_ok=True)
        with uninterrupted(), replacing(target) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle
    return target


def read_network(path: object) -> tuple[dict[str, Any], list[tuple[Any, Any]]]:
    """The fields and the arrays in a file, as they stand there.

    Raises:
        ConfigError: If the file cannot be read, is damaged or of another kind or format, or an array is no float32.
    """
    source = check_path(FIELD, path)
    text = read_arrays(source, {"header": _MOST_HEADER_BYTES}, field=FIELD, allowed=FILE)["header"]
    fields = _parse_header(text, str(source))
    count = check_integer(f"{FIELD}: layers", fields.pop("layers", None), 1, MOST_LAYERS)
    names = _array_names(count)
    most = {name: MOST_WEIGHTS * 4 for pair in names for name in pair}
    arrays = read_arrays(source, most, field=FIELD, allowed=FILE)
    for name, array in arrays.items():
        if array.dtype != np.float32:
            raise config_error(f"{FIELD}: {name}", str(array.dtype), "must be float32")
    return fields, [(arrays[weights], arrays[bias]) for weights, bias in names]


def digest(path: object) -> str:
    """SHA-256 of a file.

    Raises:
        ConfigError: If it cannot be read.
    """
    content = read_bytes(check_path(FIELD, path), FIELD, _MOST_FILE_BYTES, FILE)
    return hashlib.sha256(content).hexdigest()


def _parse_header(array: npt.NDArray[Any], shown: str) -> dict[str, Any]:
    if array.dtype.kind != "U" or array.ndim != 0:
        raise config_error(FIELD, shown, f"{FILE} (its header is no text)")
    with parsing(FIELD, shown, FILE):
        text = str(array[()])
    header = parse_json(text, FIELD, file=shown, allowed=FILE)
    if (
        not isinstance(header, dict)
        or header.pop("kind", None) != KIND
        or header.pop("format", None) != FORMAT
    ):
        raise config_error(FIELD, shown, f"{FILE}, of format {FORMAT}")
    return header
