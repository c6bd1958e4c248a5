"""Writing TOML: whatever is written is read back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragonfly_env.checks import toml
from dragonfly_env.checks.documents import parse_toml

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
def test_what_is_written_is_read_back(table: dict[str, Any]) -> None:
    assert parse_toml(toml.dumps(table)) == table


def test_tables_come_after_scalars_and_none_is_left_out() -> None:
    text = toml.dumps({"b": {"x": 1, "c": {"y": [1.5, "z"]}}, "a": True, "n": None})
    assert text == 'a = true\n\n[b]\nx = 1\n\n[b.c]\ny = [1.5, "z"]\n'


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="complex"):
        toml.dumps({"a": 1j})
