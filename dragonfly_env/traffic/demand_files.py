"""Demand matrices in files: NumPy's ``.npy``, or text with commas (CSV).

A CSV has a line per row. A line of column labels may come first, and then a column of row labels, too, which must be
the same in the same order (as pandas writes a square table with its index). Labels are not used: rows and columns are
numbered from 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.archives import parse_npy
from dragonfly_env.checks.outside import check_path, parsing, read_bytes
from dragonfly_env.checks.values import config_error
from dragonfly_env.traffic.demand import MAX_DEMAND_SIZE, DemandMatrix, check_unit

_MOST_BYTES = 2**33  # 20,000 hosts squared, and more
_NPY = b"\x93NUMPY"
_UNIT = "demand_unit="
_FILE = "must name a NumPy .npy file or a CSV file"


def parse_demand(text: str) -> DemandMatrix:
    """A matrix from ``"FILE"`` or ``"FILE,demand_unit=GB/s"``.

    Raises:
        ConfigError: If the file cannot be read or holds no demand matrix. A wrong cell is named by row and column and,
            in a CSV, by its line.
    """
    path, comma, setting = text.rpartition(",")
    unit = None
    if comma and setting.strip().lower().startswith(_UNIT):
        value = setting.strip()[len(_UNIT) :]
        unit = check_unit({"gb/s": "GB/s"}.get(value.lower(), value))
    else:
        path = text
    content = read_bytes(check_path("traffic", path), "traffic", _MOST_BYTES, _FILE)
    if content.startswith(_NPY):
        return DemandMatrix(parse_npy(content, field="traffic", shown=f"demand:{path}", allowed=_FILE), unit)
    return DemandMatrix(_parse_csv(content, path), unit)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a CSV that is not blank."""

    number: int  # from 1
    values: npt.NDArray[np.float64]  # NaN for text
    text: dict[int, str]  # what is no number, by column


def _parse_csv(content: bytes, path: str) -> npt.NDArray[np.float64]:
    shown = f"demand:{path}"
    with parsing("traffic", shown, _FILE):
        text = content.decode("utf-8-sig")
    lines = _lines_of(text, shown)
    if not lines:
        raise config_error("traffic", shown, f"{_FILE} (it is empty)")
    width = len(lines[0].values)
    for index, line in enumerate(lines):
        if len(line.values) != width:
            allowed = f"must have {width}, as line {lines[0].number} of {path}"
            raise config_error(f"row {index}, line {line.number}", f"{len(line.values)} cells", allowed)
    labels_above, labels_beside = _labels_of(lines)
    rows = lines[labels_above:]
    columns = width - labels_beside
    if len(rows) != columns:
        raise config_error("traffic", shown, f"must be square; it has {len(rows)} rows of {columns} cells")
    matrix = np.empty((columns, columns))
    for row, line in enumerate(rows):
        matrix[row] = line.values[labels_beside:]
        wrong = ~(np.isfinite(matrix[row]) & (matrix[row] >= 0))
        if wrong.any():
            column = int(wrong.argmax())
            value = line.text.get(column + labels_beside, float(matrix[row, column]))
            allowed = f"must be a finite number of at least 0 (line {line.number} of {path})"
            raise config_error(f"demand.matrix[{row}, {column}]", value, allowed)
    return matrix


def _lines_of(text: str, shown: str) -> list[_Line]:
    lines: list[_Line] = []
    most = MAX_DEMAND_SIZE + 1
    with parsing("traffic", shown, _FILE):
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                values = [_number(cell) for cell in stripped]
                no_numbers = {i: cell for i, cell in enumerate(stripped) if values[i] is None}
                known = np.array([math.nan if value is None else value for value in values])
                lines.append(_Line(reader.line_num, known, no_numbers))
            if max(len(lines), len(cells)) > most:
                raise config_error("traffic", shown, f"must have at most {MAX_DEMAND_SIZE} rows and columns")
    return lines


def _labels_of(lines: Sequence[_Line]) -> tuple[int, int]:
    """Lines and columns of labels: (0, 0), (1, 0) or (1, 1).

    Labels that are numbers count from 0 or 1: others could be demands.
    """
    first = lines[0]
    width = len(first.values)
    if len(lines) == width + 1:
        counts = not first.text and any(
            np.array_equal(first.values, np.arange(start, start + width)) for start in (0, 1)
        )
        return int(bool(first.text) or counts), 0
    if len(lines) == width > 1 and 0 in first.text:
        above = [first.text.get(column, first.values[column]) for column in range(1, width)]
        beside = [line.text.get(0, line.values[0]) for line in lines[1:]]
        if above == beside:
            return 1, 1
    return 0, 0


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
