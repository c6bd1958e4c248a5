"""The one place where outside values come in: documents, and the errors of foreign code."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.checks import outside
from dragonfly_env.checks.documents import parse_json, parse_toml, read_json, read_toml
from dragonfly_env.checks.outside import MOST_LEVELS, check_levels, check_path, parsing
from dragonfly_env.checks.values import check_integer, check_real, config_error
from dragonfly_env.traffic import parse_traffic


class Failing:
    """Every method that might be called raises an error of its own."""

    def _fail(self, *_: object, **__: object) -> Any:
        raise OSError("my own")

    __float__ = __index__ = __len__ = __iter__ = __getitem__ = __array__ = __fspath__ = __repr__ = _fail


# What foreign code raises.


@pytest.mark.parametrize(
    "error",
    [
        *(ValueError("x"), KeyError("x"), TypeError("x"), AttributeError("x"), EOFError(), OSError(2, "x")),
        RuntimeError("x"),
        RecursionError("x"),
        zipfile.BadZipFile("x"),
        UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
        *(MemoryError(), SyntaxError("x"), UserWarning("x"), AssertionError("x")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_parser_raises_on_bad_data_is_a_config_error(error: Exception) -> None:
    def parser() -> None:
        exec("raise error", {"__name__": "somebody.else", "error": error})  # a frame of another package

    with (
        pytest.raises(dfe.ConfigError, match=r"^file = 'x': must be good \("),
        parsing("file", "x", "must be good"),
    ):
        parser()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_what_is_no_fault_of_the_data_passes(error: BaseException) -> None:
    with pytest.raises(type(error)), parsing("file", "x", "must be good"):
        raise error


def test_a_real_lack_of_memory_is_told_from_an_absurd_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dfe.ConfigError), parsing("file", "x", "must be good"):
        np.empty(2**60)
    monkeypatch.setattr(outside, "_memory_is_left", lambda: False)
    with pytest.raises(MemoryError), parsing("file", "x", "must be good"):
        raise MemoryError


def test_what_the_package_raises_on_purpose_passes_as_it_is() -> None:
    with (
        pytest.raises(dfe.ConfigError, match=r"^inner = 1: must be 2$"),
        parsing("file", "x", "must be good"),
    ):
        raise config_error("inner", 1, "must be 2")
    with pytest.raises(dfe.StateError), parsing("file", "x", "must be good"):
        raise dfe.StateError("later")


@pytest.mark.parametrize(
    "value", [Failing(), 10**5000, "\ud800", [[[]]] * 9999], ids=["fails", "huge", "half", "long"]
)
def test_any_value_can_be_named_in_a_message(value: Any) -> None:
    message = str(config_error("field\ud800\n" + "x" * 999, value, "must be short"))
    assert len(message) < 400
    message.encode("utf-8")
    assert "\n" not in message


@pytest.mark.parametrize("check", [check_integer, check_real])
def test_a_number_whose_own_methods_fail_is_none(check: Callable[..., Any]) -> None:
    class Number(Fraction):
        __float__ = __index__ = Failing._fail

    for value in (Failing(), Number(1, 2)):
        with pytest.raises(dfe.ConfigError, match=r"^x = "):
            check("x", value, 0, 9)


@pytest.mark.parametrize(
    "bad", [None, 5, b"x", "a\0b", "\ud800", [], Failing()], ids=lambda bad: type(bad).__name__
)
def test_what_no_file_can_be_called_is_refused(bad: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^file = "):
        check_path("file", bad)


# Documents.

_DEEP_JSON = "[" * 3_000 + "]" * 3_000
_DEEP_TOML = "a = " + _DEEP_JSON


@pytest.mark.parametrize(
    "text",
    [
        *(None, 5, b"{}", ["x"], "", "{", "nonsense", "\ud800", _DEEP_JSON),
        '{"a":' * 3_000 + "1" + "}" * 3_000,
        *("[" * 100 + "]" * 100, '{"a": 1, "a": 2}', "NaN", "[Infinity]", "1e999", "-1e999"),
        *("9" * 5_000, '"\\ud800"'),
    ],
    ids=lambda text: str(text)[:20] or "empty",
)
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^json = "):
        parse_json(text)
    with pytest.raises(dfe.ConfigError, match=r"^json = "):
        dfe.SimulationConfig.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        b"a = 1",
        "=",
        "a = 1\na = 2",
        "a = 1e999",
        "a = " + "9" * 5_000,
        _DEEP_TOML,
        "\0",
        'a = "\ud800"',
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_is_no_toml_is_refused(text: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^toml = "):
        parse_toml(text)
    with pytest.raises(dfe.ConfigError, match=r"^toml = "):
        dfe.SimulationConfig.from_toml(text)


def test_toml_knows_infinity_by_its_name_alone() -> None:
    assert parse_toml("a = [inf, -inf, 1e300]") == {"a": [float("inf"), float("-inf"), 1e300]}


@pytest.mark.parametrize("read", [read_json, read_toml])
def test_a_file_that_is_no_document_is_refused(read: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep").write_text(_DEEP_TOML if read is read_toml else _DEEP_JSON)
    for path in (
        *(tmp_path / "binary", tmp_path / "deep", tmp_path / "missing", tmp_path, Path("/dev/zero"), 5),
    ):
        with pytest.raises(dfe.ConfigError, match=r"^file = "):
            read(path)


def test_tables_are_nested_so_deep_and_no_deeper() -> None:
    value: Any = "x"
    for _ in range(MOST_LEVELS - 1):
        value = [value]
    check_levels("x", value)
    cyclic: list[Any] = []
    cyclic += [cyclic, cyclic]
    for deep in ([[value]], {"a": {"b": value}}, cyclic):
        with pytest.raises(dfe.ConfigError, match=r"^x = .*must not be nested"):
            check_levels("x", deep)


def test_mixtures_within_mixtures_end_somewhere() -> None:
    value: Any = "uniform"
    for _ in range(3_000):
        value = {"pattern": "weighted", "parts": [{"weight": 1, "traffic": value}]}
    with pytest.raises(dfe.ConfigError, match="nested"):
        parse_traffic(value)
