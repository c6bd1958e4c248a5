"""Arrays that a user passes, converted exactly or refused: nothing is cut off, wrapped round or guessed.

Taken are real numbers in any form: an array, a column of a table, nested lists. Complex numbers, text, dates, masked
values and ragged lists are none.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.outside import parsing
from dragonfly_env.checks.values import config_error

Index: TypeAlias = tuple[int, ...]

_EXACT = "must be exact in double precision"


def as_numbers(
    field: str,
    value: object,
    *,
    ndim: int,
    what: str = "an array of numbers",
    bools: bool = False,
    at: Callable[[Index], str] | None = None,
) -> npt.NDArray[np.float64]:
    """Convert numbers to float64, which holds every float16 and float32 as it is: the caller rounds, if anybody.

    Args:
        field: Name for messages.
        value: The numbers; NaN and infinity are some.
        ndim: The number of dimensions.
        what: What is expected, for messages.
        bools: Whether True and False count as 1 and 0.
        at: Names a single value by its index; None: ``field[index]``.

    Returns:
        A new array, or ``value`` itself if it is one of the right type.

    Raises:
        ConfigError: For what is none, has other dimensions, or is not exact in float64 (integers beyond 2^53, wider
            floats).
    """
    array = _of_dimensions(field, _plain(field, value, what, bools=bools), ndim, what)
    name = at or _indexed(field)
    with np.errstate(over="ignore", invalid="ignore"):
        floats = array.astype(np.float64, copy=False)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        refuse_first(name, array, (floats != array) & ~np.isnan(array), _EXACT)
    elif array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        wrong = np.abs(floats) >= 2.0**53  # whole numbers beyond have no double of their own, most of them
        wrong[wrong] = floats[wrong].astype(object) != array[wrong].astype(object)
        refuse_first(name, array, wrong, _EXACT)
    return floats


def as_integers(
    field: str,
    value: object,
    low: int,
    high: int,
    *,
    what: str = "an array of integers",
    at: Callable[[Index], str] | None = None,
) -> npt.NDArray[np.int64]:
    """Convert (N,) integers in [low, high] to int64. Floats are taken if they are whole.

    Args:
        field: Name for messages.
        value: The integers.
        low: Smallest, at least -2^53.
        high: Largest, at most 2^53.
        what: What is expected, for messages.
        at: Names a single value by its index; None: ``field[index]``.

    Raises:
        ConfigError: For anything else.
    """
    array = _of_dimensions(field, _plain(field, value, what, bools=False), 1, what)
    # Comparing in double precision is exact: the limits are, and what is rounded lies beyond them.
    with np.errstate(over="ignore", invalid="ignore"):
        floats = array.astype(np.float64)
    wrong = ~((floats >= low) & (floats <= high)) | (floats != np.floor(floats))
    refuse_first(at or _indexed(field), array, wrong, f"must be an integer from {low} to {high}")
    return floats.astype(np.int64)


def as_float32(field: str, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Round to single precision.

    Raises:
        ConfigError: For a finite number that would become infinite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float32, order="C", copy=False)
    refuse_first(
        _indexed(field), values, np.isinf(rounded) & np.isfinite(values), "must be within single precision"
    )
    return rounded


def refuse_first(
    name: Callable[[Index], str], array: npt.NDArray[Any], wrong: npt.NDArray[np.bool_], allowed: str
) -> None:
    """Raise ``ConfigError`` for the first value that is wrong, if one is.

    Args:
        name: Names a value by its index.
        array: The values.
        wrong: Of the same shape.
        allowed: What is possible.
    """
    if wrong.any():
        index = tuple(int(part) for part in np.unravel_index(int(wrong.argmax()), wrong.shape))
        value = array[index].item()
        if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
            value = int(value)  # as it was written, most likely
        raise config_error(name(index), value, allowed)


def _plain(field: str, value: object, what: str, *, bools: bool) -> npt.NDArray[Any]:
    """Real numbers in NumPy's own types."""
    allowed = f"must be {what}"
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        raise config_error(field, value, allowed)
    with parsing(field, value, allowed):
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise config_error(field, "a masked array", f"{allowed}, none of them masked")
        array = np.asarray(value)
        if array.dtype == object and array.ndim > 0:  # Python's or pandas' own numbers, possibly with gaps
            array = np.array(array.tolist())
        if array.dtype == object:
            array = _from_objects(field, array, allowed)
    if array.dtype.kind not in ("iufb" if bools else "iuf") and array.size:
        raise config_error(field, f"an array of {array.dtype}", allowed)
    return array


def _from_objects(field: str, array: npt.NDArray[Any], allowed: str) -> npt.NDArray[np.float64]:
    """Numbers that NumPy has no type for, such as fractions and huge integers."""
    converted = np.zeros(array.shape)
    name = _indexed(field)
    for index, item in np.ndenumerate(array):
        if not isinstance(item, numbers.Real) or isinstance(item, bool):
            raise config_error(name(index), item, allowed)
        with parsing(name(index), item, allowed):
            converted[index] = float(item)
            if converted[index] != item and item == item:
                raise config_error(name(index), item, _EXACT)
    return converted


def _of_dimensions(field: str, array: npt.NDArray[Any], ndim: int, what: str) -> npt.NDArray[Any]:
    if array.ndim == ndim:
        return array
    if array.shape == (0,):  # an empty list says nothing about its dimensions
        return array.reshape((0,) * ndim)
    raise config_error(field, f"{array.ndim} dimensions", f"must be {what}, with {ndim} dimensions")


def _indexed(field: str) -> Callable[[Index], str]:
    return lambda index: f"{field}[{', '.join(map(str, index))}]" if index else field
