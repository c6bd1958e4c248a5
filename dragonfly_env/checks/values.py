"""Checks of single settings; every failure is a ``ConfigError`` of the form ``field = value: allowed``."""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.errors import ConfigError

PS_PER_NS = 1000
# The longest single time that a setting may have: one simulated second, far below the core's clock range.
MAX_SETTING_NS = 1e9
# The end of the clock, and so the longest time of one call: the core's clock ends at 2^61 ps.
MAX_RUN_NS = 1e15
MAX_TIME_PS = int(MAX_RUN_NS) * PS_PER_NS
MAX_SEED = 2**64 - 1
_ROUNDING_PS = Decimal("1e-6")
_SHORT_LIST = 8  # names that a message lists; more are behind a command
INFO = "'dragonfly-env info'"


def config_error(field: str, value: object, allowed: str) -> ConfigError:
    """The error for an impossible ``value`` of ``field``; ``allowed`` says what is possible."""
    error = ConfigError(f"{field} = {shown(value)}: {allowed}")
    vars(error).update(field=field, allowed=allowed)  # the command line names an option instead
    return error


@contextmanager
def reading(row: str) -> Iterator[None]:
    """Note on a ``ConfigError`` that the value of ``row`` caused it; the innermost row comes first."""
    try:
        yield
    except ConfigError as error:
        vars(error).setdefault("rows", []).append(row)
        raise


def shown(value: object, longest: int = 200) -> str:
    """A value as messages show it."""
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def did_you_mean(value: object, names: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the name that is nearest to ``value``, or an empty string."""
    if not isinstance(value, str):
        return ""
    known, text = list(names), value.lower()
    short = [name for name in known if len(text) > 1 and _initials(name) == text]
    longer = [name for name in known if len(text) > 2 and name.startswith(text)]
    nearest = short or difflib.get_close_matches(text, known, n=1, cutoff=0.6) or longer
    if value.isdecimal():  # a number of hosts
        nearest = sorted(filter(str.isdecimal, known), key=lambda name: abs(int(name) - int(value)))[:1]
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def _initials(name: str) -> str:
    """Return the short form of a name: of ``"learning_rate"``, ``"lr"``."""
    return "".join(word[:1] for word in name.replace("-", "_").split("_")).lower()


def one_of(value: object, names: Iterable[str], where: str = INFO) -> str:
    """``"must be one of NAMES"`` for a message, with the name that was probably meant; ``where`` lists many names."""
    known = list(names)
    hint = did_you_mean(value, known)
    if len(known) > _SHORT_LIST:
        return f"is unknown{hint or ';'} {where} lists all {len(known)}"
    return f"must be one of {', '.join(map(repr, known)) or 'nothing'}{hint}"


def no_such_setting(
    owner: str,
    name: str,
    names: Iterable[str],
    meant: Mapping[str, str] | None = None,
    where: str = INFO,
) -> str:
    """``"OWNER has no such setting"`` for a message, with the setting that was probably meant, or all that it has.

    ``meant`` gives the setting that another word means; ``where`` lists many settings.
    """
    known = list(names)
    if not known:
        return f"{owner} has no settings"
    same = (meant or {}).get(name.lower())
    hint = f"; did you mean {same!r}?" if same else did_you_mean(name, known)
    if len(known) > _SHORT_LIST:
        return f"{owner} has no such setting{hint or ';'} {where} lists all {len(known)}"
    return f"{owner} has no such setting{hint}{' It has' if hint else ', only'} {', '.join(known)}"


def unknown_name(
    field: str,
    value: object,
    names: Iterable[str],
    where: str = INFO,
    meant: Mapping[str, str] | None = None,
) -> ConfigError:
    """The error for a name that is not one of ``names``: points at the nearest one, and at where many are listed.

    ``meant`` gives the name that another word of the field means.
    """
    same = (meant or {}).get(str(value).strip().lower())
    return config_error(field, value, f"is called {same!r} here" if same else one_of(value, names, where))


def check_choice(field: str, value: object, names: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``names``."""
    known = list(names)
    if isinstance(value, str) and value in known:
        return value
    raise unknown_name(field, value, known)


def check_text(field: str, value: object) -> str:
    """Return ``value`` if it is a string."""
    if isinstance(value, str):
        return value
    raise config_error(field, value, "must be a string")


def check_bool(field: str, value: object) -> bool:
    """Return ``value`` if it is True or False; 0 and 1 are not accepted."""
    if isinstance(value, bool):
        return value
    raise config_error(field, value, "must be True or False")


def check_integer(field: str, value: object, low: int, high: int) -> int:
    """Return ``value`` as an int in [low, high]. NumPy integers are integers; floats and bools are not."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    raise config_error(field, value, f"must be an integer from {low} to {high}")


def check_real(
    field: str,
    value: object,
    low: float,
    high: float,
    *,
    unit: str = "",
    open_low: bool = False,
    infinite: bool = False,
) -> float:
    """Return ``value`` as a float in [low, high], or in (low, high] with ``open_low``; ``infinite`` allows +inf, too.

    Bools and NaN are no numbers here.
    """
    interval = f"{'(' if open_low else '['}{low:g}, {high:g}]"
    allowed = (
        f"must be a number in {interval}{' ' + unit if unit else ''}{' or infinite' if infinite else ''}"
    )
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise config_error(field, value, allowed)
    number: Any = value  # an integer may be larger than any float
    if infinite and number == math.inf:
        return math.inf
    if not low <= number <= high or (open_low and number == low):
        raise config_error(field, value, allowed)
    return float(number)


_LEAST_PERCENT = 2  # a smaller number was hardly meant as a percentage


def check_load(field: str, value: object) -> float:
    """Return ``value`` as an offered load, a fraction of the host links' bandwidth in (0, 1]."""
    try:
        return check_real(field, value, 0.0, 1.0, open_low=True)
    except ConfigError:
        allowed = "must be a fraction of the host links' bandwidth, in (0, 1]"
        if isinstance(value, (int, float)) and _LEAST_PERCENT <= value <= 100:
            allowed += f"; did you mean {value / 100:g}?"
        raise config_error(field, value, allowed) from None


def ns_to_ps(field: str, value: float) -> int:
    """A time in nanoseconds as whole picoseconds, as its decimal digits say. A difference of times in double precision
    is that whole number from which rounding alone keeps it.
    """
    picoseconds = Decimal(str(value)) * PS_PER_NS
    whole = picoseconds.to_integral_value()
    if abs(picoseconds - whole) > _ROUNDING_PS:
        raise config_error(field, value, "must be a whole number of picoseconds (at most 3 decimals of a ns)")
    return int(whole)


def check_time_ns(
    field: str, value: object, low: float = 0.0, high: float = MAX_SETTING_NS, *, open_low: bool = False
) -> float:
    """Return ``value`` as a time in ns within [low, high] that is a whole number of picoseconds."""
    number = check_real(field, value, low, high, unit="ns", open_low=open_low)
    return ns_to_ps(field, number) / PS_PER_NS


def duration_ps_of(field: str, value: object, *, above_0: bool = False) -> int:
    """A time by which a call advances the clock, in picoseconds."""
    number = check_real(field, value, 0.0, MAX_RUN_NS, unit="ns")
    duration_ps = ns_to_ps(field, number)
    if above_0 and duration_ps == 0:
        raise config_error(field, value, "must be above 0")
    return duration_ps


def check_mapping(field: str, value: object, allowed: str = "must be a table of settings") -> dict[str, Any]:
    """Return a table of a document as a dictionary of its own."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise config_error(field, value, allowed)


def check_items(field: str, value: object, allowed: str) -> list[Any]:
    """Return a list of a document, or any other sequence that is no string, as a list of its own."""
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes)):
        return list(value)
    raise config_error(field, value, allowed)


def as_numbers(
    field: str, value: object, *, ndim: int, what: str = "an array of numbers"
) -> npt.NDArray[np.float64]:
    """Return an array of ``ndim`` dimensions in double precision."""
    allowed = f"must be {what}"
    try:
        array = np.asarray(value)
        if array.size and array.dtype.kind not in "biufO":
            raise TypeError(f"an array of {array.dtype}")
        numbers = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise config_error(field, value, f"{allowed} ({error})") from None
    if array.ndim != ndim:
        raise config_error(field, f"{array.ndim} dimensions", f"{allowed}, with {ndim} dimensions")
    return numbers


def refuse_first(
    name: Callable[[tuple[int, ...]], str],
    array: npt.NDArray[Any],
    wrong: npt.NDArray[np.bool_],
    allowed: str,
) -> None:
    """Raise ``ConfigError`` for the first value of an array that is wrong; ``name`` names a value by its index."""
    if wrong.any():
        index = tuple(int(part) for part in np.unravel_index(int(wrong.argmax()), wrong.shape))
        value = array[index].item()
        whole = isinstance(value, float) and value.is_integer()
        raise config_error(name(index), int(value) if whole else value, allowed)


def differences(first: Any, second: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The dotted name and both values of everything that differs in two tables, in the order of the first one."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in (*first, *(key for key in second if key not in first)):
            yield from differences(first.get(key), second.get(key), f"{name}.{key}" if name else str(key))
    elif first != second:
        yield name, first, second


_SEED_RANGE = re.compile(r"\s*(\d+)\s*:\s*(\d+)\s*")
_MOST_SEEDS = 100_000


def check_seeds(field: str, value: object) -> tuple[int, ...]:
    """Return seeds, of which there is at least one, and none twice; ``"1:5"`` in a list is five."""
    seeds: tuple[int, ...] = ()
    for item in check_items(field, value, "must be a list of seeds"):
        if not isinstance(item, str):
            seeds += (check_integer(field, item, 0, MAX_SEED),)
            continue
        ends = _SEED_RANGE.fullmatch(item)
        first, last = map(int, ends.groups()) if ends else (1, 0)
        if not first <= last <= min(MAX_SEED, first + _MOST_SEEDS - 1):
            raise config_error(
                field, item, f"must be a seed, or a range of at most {_MOST_SEEDS}, such as 1:5"
            )
        seeds += tuple(range(first, last + 1))
    if not seeds:
        raise config_error(field, value, "must have at least one seed")
    if len(set(seeds)) < len(seeds):
        twice = next(seed for seed in seeds if seeds.count(seed) > 1)
        raise config_error(field, twice, "must be listed once: a seed that is listed twice is one run")
    return seeds


# Texts that a person types.

_NS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SETTING = re.compile(r"[^:=,]+=")


def split_items(text: str) -> list[str]:
    """Split ``"uniform,hotspot:hosts=4"`` at its commas; NAME=VALUE behind an item with a colon belongs to it."""
    items: list[str] = []
    for part in text.split(","):
        if items and ":" in items[-1] and _SETTING.match(part):
            items[-1] += f",{part}"
        elif part.strip():
            items.append(part.strip())
    return items


def split_settings(text: str) -> list[str]:
    """Split ``"hidden_units=64,64,gamma=0.9"`` into its settings. A value without a name continues a list."""
    settings: list[str] = []
    for part in text.split(","):
        if settings and "=" not in part:
            settings[-1] += f",{part}"
        else:
            settings.append(part)
    return settings


def parse_time(field: str, text: str) -> float:
    """A time in ns: ``"10us"``, ``"300 ns"``, ``"0.1ms"``; ns without a unit."""
    number, unit = re.fullmatch(r"\s*(.*?)\s*([a-zµμ]*)\s*", text, re.DOTALL).groups()  # type: ignore[union-attr]
    try:
        return float(Decimal(number) * _NS[unit])
    except (InvalidOperation, KeyError):
        raise config_error(field, text, "must be a time such as 10us; units: ns, us, µs, ms, s") from None


def parse_value(text: str) -> int | float | bool | str:
    """The value in ``name=value`` on a command line: an integer, a number, true or false, or the text
    itself.
    """
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    for kind in (int, float):
        try:
            return kind(lowered)
        except ValueError:
            continue
    return text.strip()


def parse_assignment(text: str, field: str) -> tuple[str, int | float | bool | str]:
    """``name=value`` as a pair."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise config_error(field, text, "must have the form name=value")
    return name.strip(), parse_value(value)


def parse_assignments(text: str, field: str) -> dict[str, int | float | bool | str]:
    """``name=value`` pairs, separated by commas."""
    return dict(parse_assignment(part, field) for part in text.split(",") if part.strip())
