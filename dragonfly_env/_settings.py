"""Fields of settings dataclasses that carry their own check, unit and documentation.

A settings class declares each field once::

    load: float = real(0.5, 0.0, 1.0, open_low=True, doc="Fraction of the host link that hosts offer.")

and calls ``normalise(self)`` in ``__post_init__``, which checks every field and stores it in its plain type.
``describe(cls)`` lists fields for help texts; ``reject_unknown`` guards dictionaries.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dragonfly_env._validate import (
    MAX_SETTING_NS,
    check_bool,
    check_choice,
    check_integer,
    check_real,
    check_time_ns,
    config_error,
    did_you_mean,
)

Check = Callable[[str, object], object]


@dataclasses.dataclass(frozen=True, slots=True)
class SettingInfo:
    """One field of a settings class: its name, default, unit and meaning."""

    name: str
    default: object
    unit: str
    doc: str


# These return ``Any`` because a dataclass field stands where a default value does.


def setting(default: object, check: Check, unit: str, doc: str, optional: bool) -> Any:
    def checked(name: str, value: object) -> object:
        return None if optional and value is None else check(name, value)

    return dataclasses.field(default=default, metadata={"check": checked, "unit": unit, "doc": doc})


def integer(
    default: int | None, low: int, high: int, *, unit: str = "", doc: str, optional: bool = False
) -> Any:
    """A whole number in [low, high]; None too if ``optional``."""
    return setting(default, lambda name, v: check_integer(name, v, low, high), unit, doc, optional)


def real(
    default: float | None,
    low: float,
    high: float,
    *,
    unit: str = "",
    doc: str,
    open_low: bool = False,
    infinite: bool = False,
    optional: bool = False,
) -> Any:
    """A number in [low, high], never NaN; see ``check_real`` for the options."""

    def check(name: str, value: object) -> float:
        return check_real(name, value, low, high, unit=unit, open_low=open_low, infinite=infinite)

    return setting(default, check, unit, doc, optional)


def time_ns(
    default: float | None,
    low: float = 0.0,
    high: float = MAX_SETTING_NS,
    *,
    doc: str,
    open_low: bool = False,
    optional: bool = False,
) -> Any:
    """A time in ns that is a whole number of picoseconds."""
    return setting(
        default,
        lambda name, value: check_time_ns(name, value, low, high, open_low=open_low),
        "ns",
        doc,
        optional,
    )


def choice(default: str | None, names: Iterable[str], *, doc: str, optional: bool = False) -> Any:
    """One of some names."""
    known = tuple(names)
    return setting(default, lambda name, value: check_choice(name, value, known), "", doc, optional)


def boolean(default: bool | None, *, doc: str, optional: bool = False) -> Any:
    """True or False; None too if ``optional``."""
    return setting(default, check_bool, "", doc, optional)


def normalise(settings: Any) -> None:
    """Check every field of a (frozen) settings dataclass and store it in its plain type.

    Raises:
        ConfigError: For the first field that is out of range.
    """
    for field in dataclasses.fields(settings):
        check = field.metadata.get("check")
        if check is not None:
            object.__setattr__(settings, field.name, check(field.name, getattr(settings, field.name)))


def describe(settings: Any) -> tuple[SettingInfo, ...]:
    """Every documented field of a settings class, in order of declaration."""
    return tuple(
        SettingInfo(field.name, field.default, field.metadata["unit"], field.metadata["doc"])
        for field in dataclasses.fields(settings)
        if "doc" in field.metadata
    )


def reject_unknown(
    settings: Any, given: Mapping[str, object], owner: str, *, extra: Iterable[str] = ()
) -> None:
    """Raise ``ConfigError`` with the nearest match for keys of ``given`` that are no field of the class."""
    names = [field.name for field in dataclasses.fields(settings) if field.init]
    names += list(extra)
    for name, value in given.items():
        if name not in names:
            listed = ", ".join(names) or "no setting"
            raise config_error(
                str(name), value, f"{owner} has no such setting, only {listed}{did_you_mean(name, names)}"
            )
