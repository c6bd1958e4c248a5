"""Every fuzzer finds nothing in a small number of inputs, the same ones each time; ``make fuzz`` searches further."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.fuzz.public_calls import public_calls
from tests.fuzz.public_surface import NOT_CALLED, missing, name_of, surface
from tests.fuzz.registry import TARGETS, Target
from tests.fuzz.slices import Slice
from tests.fuzz.tampered_results import parquet, with_column

_SEED = 1
_MEMORY_BYTES = 4 * 2**30
_PATIENCE_S = 600.0  # a busy machine is no finding


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_no_input_of_the_fuzzer_goes_wrong(target: Target) -> None:
    part = Slice(
        target.name,
        seed=_SEED,
        first=0,
        count=target.inputs_in_tests,
        memory_bytes=_MEMORY_BYTES,
        patience_s=_PATIENCE_S,
    )
    try:
        part.wait()
        finding = part.finding()
        assert finding is None, f"{finding.again}\n{finding.detail or finding.summary}"
        assert part.tried == part.run + part.refused == target.inputs_in_tests
        assert part.run > 0, "a fuzzer whose inputs are all refused looks at nothing"
    finally:
        part.close()


def test_hostile_values_go_to_everything_public_that_takes_some(tmp_path: Path) -> None:
    called = [call.bind() for call in public_calls(tmp_path)]
    assert missing(called) == set(), "add a call to public_calls, or a reason to NOT_CALLED"
    assert NOT_CALLED.keys() <= surface() - {name_of(value) for value in called}, (
        "left out, and yet called or gone"
    )


def test_every_call_works_as_it_is(tmp_path: Path) -> None:
    for call in public_calls(tmp_path):
        if call.name not in ("Trace.from_file",):  # of which no file is written
            call.make({})


@pytest.mark.parametrize("value", [{}, [{}], {"a": {}}, 1j, 10**400, object(), "x", None])
def test_a_tampered_table_can_always_be_written(value: object) -> None:
    """An empty table within a table is an Arrow value, and nothing that a Parquet file can hold."""
    table = with_column(pa.table({"a": [1, 2], "b": ["x", "y"]}), 1, "b", ["x", value])
    assert parquet(table)
