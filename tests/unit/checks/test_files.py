"""Documents and arrays in files: one clear error that names the file, and nothing is unpickled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.agents import load_q_table, save_q_table
from dragonfly_env.checks.files import dump_toml, open_output, parse_toml, read_arrays, read_json, read_toml

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=4))
def test_a_table_is_read_back_as_it_was_written(table: dict[str, Any]) -> None:
    assert parse_toml(dump_toml(table)) == table


def test_tables_come_after_scalars_and_none_is_left_out() -> None:
    text = dump_toml({"b": {"x": 1, "c": {"y": [1.5, "z"]}}, "a": True, "n": None})
    assert text == 'a = true\n\n[b]\nx = 1\n\n[b.c]\ny = [1.5, "z"]\n'


@pytest.mark.parametrize(("read", "text"), [(read_json, '{"load": 0.2}'), (read_toml, "load = 0.2")])
def test_a_document_may_begin_with_a_byte_order_mark(
    read: Callable[..., Any], text: str, tmp_path: Path
) -> None:
    (tmp_path / "marked").write_text("\ufeff" + text, "utf-8")
    assert read(tmp_path / "marked") == {"load": 0.2}


@pytest.mark.parametrize("read", [read_json, read_toml])
def test_a_file_that_is_no_document_is_refused_by_name(read: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nonsense").write_text("{=")
    for name in ("binary", "nonsense", "missing", ""):
        with pytest.raises(dfe.ConfigError, match=rf"^file = '{tmp_path / name}"):
            read(tmp_path / name)


def test_a_mistake_in_a_text_is_shown_with_its_line() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^toml = .*must be TOML \(.*line 2"):
        dfe.SimulationConfig.from_toml("load = 0.5\nload = 0.6\n")
    with pytest.raises(dfe.ConfigError, match=r"^json = .*must be JSON \(.*line 1"):
        dfe.SimulationConfig.from_json("{")


def test_a_file_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "results.txt"
    target.write_text("before")

    def interrupted() -> None:
        with open_output(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("results.txt", "before")]
    with open_output(target) as file:
        file.write(b"after")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("results.txt", "after")]


def test_arrays_that_are_damaged_or_missing_are_refused_by_file(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    np.savez(path, x=np.zeros(3))
    assert read_arrays(path, ["x"], field="path", allowed="must be good")["x"].tolist() == [0, 0, 0]
    with pytest.raises(dfe.ConfigError, match=rf"^path = '{path}': must be good"):
        read_arrays(path, ["y"], field="path", allowed="must be good")
    for content in (b"", b"nothing", path.read_bytes()[:-30]):
        path.write_bytes(content)
        with pytest.raises(dfe.ConfigError, match=rf"^path = '{path}': must be good"):
            read_arrays(path, ["x"], field="path", allowed="must be good")


def test_a_table_with_pickled_objects_is_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return sys.exit, (1,)

    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", policy="q-routing"))
    path = save_q_table(simulation, tmp_path / "table")
    with np.load(path) as saved:
        np.savez(path, about=saved["about"], values=np.array([[[Trap()]]], dtype=object))
    with pytest.raises(dfe.ConfigError, match="allow_pickle=False"):
        load_q_table(simulation, path)
