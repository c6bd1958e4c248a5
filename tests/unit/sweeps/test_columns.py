"""Results of all kinds of sweeps have one schema, and every column of it is explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import Scenario, load_results, run_all
from dragonfly_env.sweeps.columns import COLUMNS, LINK_CLASSES, SCHEMA, table_of
from dragonfly_env.sweeps.results import is_done, run_file

LOADED: dict[str, Any] = {
    "topology": "72",
    "policies": ["min"],
    "traffic": ["uniform"],
    "loads": [0.2],
    "warmup_ns": 500,
    "measure_ns": 1_000,
}
SWEEPS: dict[str, dict[str, Any]] = {
    "loads": LOADED,
    "grid groups": {**LOADED, "topology": "theta-m8", "policies": ["ad0"], "arrays": False},
    "no packets": {**LOADED, "warmup_ns": 0, "measure_ns": 10, "seeds": [2**64 - 1]},
    "time series": {**LOADED, "series_bin_ns": 500},
    "closed loop": {"topology": "72", "policies": ["min"], "traffic": ["all-to-all"], "measure_ns": 100_000},
    "jobs": {
        "topology": "72",
        "policies": ["min"],
        "traffic": ["none"],
        "jobs": ["milc:hosts=16,scale=0.01"],
        "measure_ns": 20_000,
    },
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {name: tmp_path_factory.mktemp("sweep") for name in SWEEPS}
    for name, settings in SWEEPS.items():
        run_all(Scenario.from_dict(settings), made[name], workers=1)
    return made


def test_files_of_every_kind_of_sweep_have_the_declared_schema(folders: dict[str, Path]) -> None:
    for name, folder in folders.items():
        schema = pq.read_schema(folder / "results.parquet")
        assert schema.names == SCHEMA.names, name
        for declared, written in zip(SCHEMA, schema, strict=True):
            assert written.type == declared.type or pa.types.is_list(declared.type), (name, declared.name)


def test_results_of_every_kind_of_sweep_are_read_together(folders: dict[str, Path]) -> None:
    files = [folder / "results.parquet" for folder in folders.values()]
    for order in (files, files[::-1]):
        table = pd.read_parquet(order)
        assert len(table) == len(files)
        assert table["seed"].max() == 2**64 - 1
        pa.concat_tables([pq.read_table(file) for file in order])
        assert table["saturated"].dropna().map(type).eq(bool).all()


def test_results_in_memory_have_the_columns_with_values(folders: dict[str, Path]) -> None:
    loads = load_results(folders["loads"]).table
    assert "global_link_packets" in loads
    assert "rank_1_link_packets" not in loads
    assert "jobs" not in loads
    assert "jobs" in load_results(folders["jobs"]).table


def test_a_column_is_declared_once_with_a_sentence() -> None:
    assert len(set(SCHEMA.names)) == len(COLUMNS)
    assert all(column.doc.endswith(".") for column in COLUMNS)


@pytest.mark.parametrize("topology", ["72", "theta-m8"])
def test_every_key_of_metrics_is_a_declared_column(topology: str) -> None:
    config = dfe.SimulationConfig(topology=topology)
    metrics = dfe.simulate(config, measure_ns=100)
    assert metrics.to_dict().keys() <= set(SCHEMA.names)
    assert {name.replace("-", "_") for name in config.topology.link_classes} <= LINK_CLASSES.keys()


def test_a_value_without_a_declared_column_is_not_written() -> None:
    with pytest.raises(AssertionError, match="latency_of_the_moon"):
        table_of({"run_id": "0", "latency_of_the_moon": 1.0})


def test_a_run_with_other_columns_is_done_again(folders: dict[str, Path], tmp_path: Path) -> None:
    (run_id,) = load_results(folders["loads"]).table["run_id"]
    assert is_done(folders["loads"], run_id)
    old = run_file(tmp_path, run_id)
    old.parent.mkdir()
    pq.write_table(pq.read_table(run_file(folders["loads"], run_id)).drop_columns(["saturated"]), old)
    assert not is_done(tmp_path, run_id)
