"""Results: read back as they were written, averaged over seeds with honest intervals, and summed up in a table."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import Results, Scenario, aggregate, load_results, run_all
from dragonfly_env.sweeps.results import student_t95
from dragonfly_env.sweeps.summary import mean_text, render_summary, verdict_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished sweep of eight runs on 72 hosts."""
    path = tmp_path_factory.mktemp("results")
    settings = {
        "name": "tiny",
        "topology": "72",
        "policies": ["ugal-n", "min"],
        "traffic": ["uniform"],
        "loads": [0.2, 0.4],
        "seeds": [1, 2],
        "warmup_ns": 1000,
        "measure_ns": 3000,
    }
    run_all(Scenario.from_dict(settings), path, workers=1)
    return path


def made_up(rows: list[tuple[str, float, int, float, float]]) -> Results:
    """Results from (policy, load, seed, accepted load, latency)."""
    table = pd.DataFrame(rows, columns=["policy", "load", "seed", "accepted_load", "latency_mean_ns"])
    table["traffic"] = "uniform"
    table["latency_p99_ns"] = 2 * table["latency_mean_ns"]
    table["hops_mean"] = 3.0
    table = table.assign(
        second_half_offered=10_000 * table["load"],
        second_half_delivered=10_000 * table["accepted_load"],
        middle_in_flight=1_000,
        packets_in_flight=1_000 + 10_000 * (table["load"] - table["accepted_load"]),
        message_packets=1,
        injection="bernoulli",
        num_hosts=72,
    )
    return Results("made up", table, tuple(dict.fromkeys(table["policy"])), ("uniform",), len(rows))


@pytest.mark.parametrize(
    ("degrees", "factor"),
    [(1, 12.7062), (2, 4.3027), (10, 2.2281), (40, 2.0211), (10**6, 1.9600)],
)
def test_student_factor_is_that_of_the_tables(degrees: int, factor: float) -> None:
    assert student_t95(degrees) == pytest.approx(factor, abs=1.1e-4)


def test_a_folder_and_its_merged_file_hold_the_same_rows(folder: Path) -> None:
    whole, merged = load_results(folder), load_results(folder / "results.parquet")
    assert whole.name == "tiny"
    assert whole.policies == ("ugal-n", "min")
    assert whole.expected == len(whole.table) == 8
    pd.testing.assert_frame_equal(whole.table, merged.table)


def test_what_are_no_results_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be the folder of a sweep"):
        load_results(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="must be the folder of a sweep"):
        load_results(tmp_path)
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_results(tmp_path / "text.parquet")


def test_seeds_are_averaged_with_a_student_interval() -> None:
    results = made_up(
        [("min", 0.5, seed, 0.5, latency) for seed, latency in enumerate((100.0, 110.0, 120.0))]
    )
    (row,) = aggregate(results, ["latency_mean_ns"]).to_dict("records")
    assert row["latency_mean_ns"] == pytest.approx(110.0)
    assert row["latency_mean_ns_ci95"] == pytest.approx(4.3027 * 10.0 / math.sqrt(3), rel=1e-4)
    assert row["seeds"] == 3
    assert not row["saturated"]


def test_rows_stand_in_the_order_of_the_scenario(folder: Path) -> None:
    table = aggregate(load_results(folder), ["latency_mean_ns"])
    assert table[["policy", "load"]].to_numpy().tolist() == [
        ["ugal-n", 0.2],
        ["ugal-n", 0.4],
        ["min", 0.2],
        ["min", 0.4],
    ]


def test_a_policy_that_leaves_part_of_the_load_is_saturated() -> None:
    results = made_up([("min", 0.5, 1, 0.474, 900.0), ("par", 0.5, 1, 0.476, 900.0)])
    assert aggregate(results, []).set_index("policy")["saturated"].to_dict() == {"min": True, "par": False}


def test_select_keeps_a_part_and_names_what_is_missing(folder: Path) -> None:
    results = load_results(folder)
    assert len(results.select(policies=["min"], loads=[0.4]).table) == 2
    assert results.select(policies=["min"]).policies == ("min",)
    with pytest.raises(ConfigError, match="did you mean 'ugal-n'"):
        results.select(policies=["ugal"])


def test_a_policy_carries_the_highest_load_up_to_which_it_is_never_saturated() -> None:
    results = made_up(
        [
            ("min", 0.1, 1, 0.1, 500.0),
            ("min", 0.2, 1, 0.15, 900.0),
            ("min", 0.3, 1, 0.3, 700.0),
            ("par", 0.1, 1, 0.05, 5000.0),
        ]
    )
    verdicts = verdict_table(results).set_index("policy")
    assert verdicts.loc["min", "carries"] == 0.1
    assert verdicts.loc["min", "accepted_max"] == 0.3
    assert verdicts.loc["min", "latency_ns"] == 500.0
    assert verdicts["carries"].isna().tolist() == [False, True]


def test_an_interval_has_the_digits_of_its_mean() -> None:
    assert mean_text(0.865, 0.0024, 3) == "0.865 ±0.002"
    assert mean_text(1234.5, math.nan, 1) == "1,234.5"
    assert mean_text(math.nan, math.nan, 1) == "-"
    results = made_up([("min", 0.2, 1, 0.2, 864.0), ("min", 0.2, 2, 0.2, 866.0)])
    console = Console(file=io.StringIO(), width=120)
    console.print(render_summary(results))
    assert "0.865 ±0.013" in console.file.getvalue()  # type: ignore[attr-defined]
