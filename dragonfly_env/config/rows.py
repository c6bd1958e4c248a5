"""Rows of settings: a field of a dataclass that carries its own check, unit, meaning and name in the core.

A settings class declares each field once::

    @dataclasses.dataclass(frozen=True, slots=True, repr=False)
    class Hosts(Record):
        load: float = real(0.5, 0.0, 1.0, open_low=True, doc="Fraction of the host link that hosts offer.")

``Record`` derives everything else: it checks every field and stores it in its plain type, shows what differs from the
defaults, goes to dictionaries and back, and to the core. ``describe(cls)`` lists the rows for help texts. A range that
the core itself restricts is in the core's own row: see ``links.of_core`` (a field of a network) and
``parameter_field`` (a parameter of a policy).
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args

import numpy as np

from dragonfly_env.checks.values import (
    MAX_SETTING_NS,
    check_bool,
    check_choice,
    check_integer,
    check_mapping,
    check_real,
    check_time_ns,
    config_error,
    no_such_setting,
    ns_to_ps,
    parse_time,
    parse_value,
    reading,
)

if TYPE_CHECKING:
    from dragonfly_env import _core

Check = Callable[[str, object], object]
Made = TypeVar("Made", bound="Record")


@dataclasses.dataclass(frozen=True, slots=True)
class SettingInfo:
    """Row of a settings class."""

    name: str
    """The name of the field."""
    default: object
    """Its default."""
    unit: str
    """Its unit; empty: none."""
    doc: str
    """Meaning of the setting."""
    allowed: str = ""
    """Its values in words; empty where there is more to say than a range."""


SYSTEM, TRAFFIC, TIME, MACHINE = "The system", "The traffic", "What is measured", "How it is done"
"""The panels of a help page."""


@dataclasses.dataclass(frozen=True, slots=True)
class Flag:
    """Options of a row on the command line. Their text becomes the value that a TOML file would have."""

    names: str
    """Its names, separated by spaces: ``"--load -l"``, ``"--arrays/--no-arrays"``."""
    help: str
    """Meaning of the option, on the line of a help page."""
    panel: str = TIME
    """The part of the help page."""
    metavar: str = "NAME"
    """The text in the help page; empty: the flag takes no text."""
    usual: str = ""
    """Value that a help page shows as the default; empty: the default of the row."""
    split: Callable[[str], list[str]] | None = None
    """Splits a text into items. A flag with items may be repeated, and its value is the list of all of them."""
    read: Callable[[str, str], Any] = lambda row, text: parse_value(text)
    """Makes the value, or an item, of the name of the row and the text."""
    is_part: bool = False
    """Whether the value is a table that changes only some keys of the row's own table."""
    decides: tuple[str, ...] = ()
    """Names of other settings, in messages, that this flag decides."""
    names_of_values: Callable[[], Iterable[str]] | None = None
    """Lists the values that a shell completes."""


def as_typed(row: str, text: str) -> str:
    """The text itself, which the check of its row parses."""
    return text


def time_flag(names: str, help: str, usual: str = "") -> Flag:
    """The flag of a time that may have a unit."""
    return Flag(names, help, TIME, "TIME", usual, read=parse_time)


def change(settings: Mapping[str, Any], row: str, keys: Mapping[str, Any], usual: str) -> dict[str, Any]:
    """Settings in which the table of ``row`` has other ``keys``; a name instead of a table is that of a preset."""
    table = settings.get(row, usual)
    return {**settings, row: {**(table if isinstance(table, Mapping) else {"preset": table}), **keys}}


# The functions return ``Any`` because a dataclass field stands where a default value does. ``core``: the name that
# the core has for it; empty: it is not for the core. A time in ns is one in ps there, see ``core_values``.


def setting(
    default: object,
    check: Check,
    unit: str,
    doc: str,
    optional: bool = False,
    *,
    allowed: str = "",
    core: str = "",
    flags: Sequence[Flag] = (),
) -> Any:
    """A field with a check of its own."""

    def checked(name: str, value: object) -> object:
        return None if optional and value is None else check(name, value)

    metadata = {
        "check": checked,
        "unit": unit,
        "doc": doc,
        "allowed": allowed,
        "core": core,
        "flags": tuple(flags),
    }
    return dataclasses.field(default=default, metadata=metadata)


def integer(
    default: int | None,
    low: int,
    high: int,
    *,
    unit: str = "",
    doc: str,
    optional: bool = False,
    core: str = "",
    flags: Sequence[Flag] = (),
) -> Any:
    """A whole number in [low, high]; None too if ``optional``."""
    return setting(
        default,
        lambda name, v: check_integer(name, v, low, high),
        unit,
        doc,
        optional,
        allowed=_interval(low, high),
        core=core,
        flags=flags,
    )


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
    core: str = "",
) -> Any:
    """A number in [low, high], never NaN; see ``check_real`` for the options."""

    def check(name: str, value: object) -> float:
        return check_real(name, value, low, high, unit=unit, open_low=open_low, infinite=infinite)

    return setting(default, check, unit, doc, optional, allowed=_interval(low, high, open_low), core=core)


def time_ns(
    default: float | None,
    low: float = 0.0,
    high: float = MAX_SETTING_NS,
    *,
    doc: str,
    open_low: bool = False,
    optional: bool = False,
    core: str = "",
    flags: Sequence[Flag] = (),
) -> Any:
    """A time in ns that is a whole number of picoseconds."""
    return setting(
        default,
        lambda name, value: check_time_ns(name, value, low, high, open_low=open_low),
        "ns",
        doc,
        optional,
        allowed=_interval(low, high, open_low),
        core=core,
        flags=flags,
    )


def choice(
    default: str | None,
    names: Any,
    *,
    doc: str,
    optional: bool = False,
    core: str = "",
    flags: Sequence[Flag] = (),
) -> Any:
    """Row whose value is one of some names: those of a ``Literal``, which is the type of the field too, or a list."""
    known = get_args(names) or tuple(names)
    return setting(
        default,
        lambda name, value: check_choice(name, value, known),
        "",
        doc,
        optional,
        allowed=", ".join(known),
        core=core,
        flags=flags,
    )


def boolean(
    default: bool | None,
    *,
    doc: str,
    optional: bool = False,
    core: str = "",
    flags: Sequence[Flag] = (),
) -> Any:
    """True or False; None too if ``optional``."""
    return setting(default, check_bool, "", doc, optional, allowed="true, false", core=core, flags=flags)


def record(default: object, kind: Any, *, doc: str, flags: Sequence[Flag] = ()) -> Any:
    """A record of its own, which may be given as its table or by the name of its preset."""

    def check(row: str, value: object) -> object:
        if isinstance(value, (str, int)):
            return kind.preset(value)
        if isinstance(value, Mapping):
            return kind.from_dict(value)
        if isinstance(value, kind):
            return value
        raise config_error(row, value, f"must be a {kind.__name__} or the name of a preset")

    return setting(default, check, "", doc, flags=flags)


def usually(owner: type[Record], name: str, default: object) -> Any:
    """The row of another class with a default of its own."""
    field = next(field for field in dataclasses.fields(owner) if field.name == name)  # type: ignore[arg-type]
    return dataclasses.field(default=default, metadata=field.metadata)


def parameter_field(row: _core.ParameterInfo) -> Any:
    """A field that is a parameter in the core: all of it is in its row there."""
    default: Any = row["default"]
    doc = row["doc"][:1].upper() + row["doc"][1:] + "."
    match row["type"]:
        case "flag" | "network":
            return boolean(default, doc=doc, optional=row["type"] == "network")
        case "name":
            return choice(default, row["names"], doc=doc)
        case "whole":
            low, high = limits_of(row)
            return integer(int(default), int(low), int(high), unit=row["unit"], doc=doc)
        case "network-real":
            return real(default, *limits_of(row), unit=row["unit"], doc=doc, optional=True)
    return real(default, *limits_of(row), unit=row["unit"], doc=doc)


def limits_of(row: _core.ValueRange) -> tuple[float, float]:
    low, high = row["low"], row["high"]
    most = sys.float_info.max
    return -most if low is None else low, most if high is None else high


def _interval(low: float, high: float, open_low: bool = False) -> str:
    return f"{'above ' if open_low else ''}{low:g} to {high:g}"


def normalise(settings: Any) -> None:
    """Check every field of a (frozen) settings dataclass and store it in its plain type."""
    for field in dataclasses.fields(settings):
        check = field.metadata.get("check")
        if check is not None:
            with reading(field.name):
                value = read_only(check(field.name, getattr(settings, field.name)))
            object.__setattr__(settings, field.name, value)


class ReadOnlyDict(dict[str, Any]):
    """A mapping in a record: a dictionary that cannot be changed, but compared, copied and written as any other."""

    __slots__ = ()

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "a mapping in a record cannot be changed: make another record, for example with replace()"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


def read_only(value: Any) -> Any:
    """A value of a record: the mappings in it are read-only, and so are its arrays."""
    if isinstance(value, Mapping):
        return ReadOnlyDict({key: read_only(item) for key, item in value.items()})
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    return value


def to_fields(record: Any) -> tuple[Any, ...]:
    """The ``__reduce__`` of a record: copies and pickles hold the fields, and nothing that follows from them."""
    return _of_fields, (type(record), values_of(record))


def _of_fields(cls: type[Any], values: Mapping[str, Any]) -> Any:
    record = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(record, name, read_only(value))
    return record


def describe(settings: Any) -> tuple[SettingInfo, ...]:
    """Every documented field of a settings class, in order of declaration."""
    return tuple(
        info_of(field.name, field) for field in dataclasses.fields(settings) if "doc" in field.metadata
    )


def info_of(name: str, field: dataclasses.Field[Any]) -> SettingInfo:
    """The row of a field that one of the functions above made."""
    about = field.metadata
    return SettingInfo(name, field.default, about["unit"], about["doc"], about["allowed"])


def core_values(settings: Any, by_unit: Mapping[str, Callable[[Any], Any]] | None = None) -> dict[str, Any]:
    """Values for the core: every field that has a name there, times as whole picoseconds, None as 0."""
    convert = by_unit or {}
    values: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        if name := field.metadata.get("core"):
            value, unit = getattr(settings, field.name), field.metadata["unit"]
            if unit in convert:
                value = convert[unit](value)
            elif value is None:
                value = 0
            elif unit == "ns":
                value = ns_to_ps(field.name, value)
            values[name] = value
    return values


def values_of(settings: Any) -> dict[str, Any]:
    """The values of all fields by name."""
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}


def changed(settings: Any, **implied: object) -> dict[str, Any]:
    """The fields of a settings object that differ from their defaults, or from ``implied`` values, by name."""
    values = {}
    for field in dataclasses.fields(settings):
        usual = field.default
        if field.default_factory is not dataclasses.MISSING:
            usual = field.default_factory()
        value = getattr(settings, field.name)
        if value != implied.get(field.name, usual):
            values[field.name] = value
    return values


def show_changes(settings: Any, **implied: object) -> str:
    """The call that makes a settings object: fields at their defaults, or at ``implied`` values, are left out."""
    hidden = {field.name for field in dataclasses.fields(settings) if not field.repr}
    shown = [
        f"{name}={value!r}" for name, value in changed(settings, **implied).items() if name not in hidden
    ]
    return f"{type(settings).__name__}({', '.join(shown)})"


def plain(value: Any) -> Any:
    """A value of a field as TOML and JSON have it: infinity is ``"inf"``, a sequence a list, a record its table."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return "inf" if isinstance(value, float) and value == math.inf else value


def reject_unknown(
    settings: Any,
    given: Mapping[str, object],
    owner: str,
    *,
    extra: Iterable[str] = (),
    meant: Mapping[str, str] | None = None,
    where: str = "",
) -> None:
    """Raise ``ConfigError`` for keys of ``given`` that are no field of the class."""
    names = [field.name for field in dataclasses.fields(settings) if field.init]
    names += list(extra)
    for name, value in given.items():
        if name not in names:
            listed = where or f"help({settings.__name__})"
            raise config_error(str(name), value, no_such_setting(owner, name, names, meant, listed))


class Record:
    """Base of settings classes, which are frozen dataclasses of rows.

    A class keeps the ``repr`` that shows changes if it is declared with ``repr=False``.
    """

    __slots__ = ()

    called: ClassVar[str] = "this record"
    """The record in messages, such as ``"a network"``."""
    listed: ClassVar[str] = ""
    """The place that lists its fields; empty: ``help()``."""

    def __post_init__(self) -> None:
        normalise(self)

    def __repr__(self) -> str:
        return show_changes(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return to_fields(self)

    def to_dict(self) -> Any:
        """Every field as a plain value for TOML and JSON; fields that are None are absent. ``from_dict`` is the
        inverse.
        """
        return {name: plain(value) for name, value in values_of(self).items() if value is not None}

    @classmethod
    def from_dict(cls: type[Made], values: Mapping[str, Any]) -> Made:
        """The record that ``to_dict`` described as ``values``; absent fields have their defaults.

        Raises:
            ConfigError: For an unknown key (the nearest one is named) or a value out of range.
        """
        given = check_mapping(cls.called, values)
        cls._check_names(given)
        return cls(**given)

    @classmethod
    def _check_names(
        cls, given: Mapping[str, Any], *, extra: Iterable[str] = (), meant: Mapping[str, str] | None = None
    ) -> None:
        """Raise ``ConfigError`` for a key that is neither a field nor one of ``extra``. ``meant`` gives the field that
        another word means.
        """
        reject_unknown(cls, given, cls.called, extra=extra, meant=meant, where=cls.listed)

    @staticmethod
    def changed(settings: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
        """Settings for ``from_dict`` in which rows have the values that a person typed.

        Args:
            settings: Rows by name, as text, numbers, lists and tables.
            typed: The rows that were typed.
        """
        return {**settings, **typed}

    def replace(self: Made, **changes: Any) -> Made:
        """A copy with some fields changed.

        Raises:
            ConfigError: For an unknown field or a value out of range.
        """
        self._check_names(changes)
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # subclasses are dataclasses
