"""The benchmark: suites as data, scores against the best reference, and the command from end to end."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dragonfly_env.lab.benchmark as benchmark
from dragonfly_env.lab.benchmark import Benchmark, Suite, find_suite, suites
from dragonfly_env.lab.benchmark.measured import Measured, measured_of
from dragonfly_env.lab.benchmark.report import digits, interval_text
from dragonfly_env.lab.benchmark.scores import Outcome, outcome_of, score
from dragonfly_env.lab.benchmark.suite import EFFORTS, KINDS
from dragonfly_env.policy import policies
from tests.unit.cli_arguments import run as command
from tests.unit.lab.benchmark.tiny_suite import tiny

SUITE = find_suite("dragonfly-v3")


run_command = functools.partial(command, "benchmark")


# ------------------------------------------------------------------------------------------------ suites


@pytest.mark.parametrize("name", suites())
def test_every_suite_of_the_package_can_be_run(name: str) -> None:
    suite = find_suite(name)
    assert suite.name == name
    for effort in EFFORTS:
        work = Benchmark(suite=suite, effort=effort, policies=(), folder=Path("nowhere"), seeds=1)
        cases = [case for track in suite.tracks for case in track.cases[effort]]
        refused = [(case, label) for case in cases for label in work.labels if work.refusal(case, label)]
        assert {label for _, label in refused} <= {"vlb-gl", "vlb-g"}
        assert all("leaf-spine" in case.machine for case, _ in refused)
        assert len(work.runs()) == len(cases) * len(work.labels) - len(refused) > 0


def test_no_case_of_the_test_split_is_in_the_train_split() -> None:
    for effort in EFFORTS:
        splits: dict[str, set[tuple[str, str, str, float]]] = {"train": set(), "test": set()}
        for track in SUITE.tracks:
            for case in track.cases[effort]:
                splits[case.split].add((case.network, case.machine, case.traffic.label, case.load))
        assert splits["train"]
        assert splits["test"]
        assert not splits["train"] & splits["test"]


def test_references_are_every_heuristic_once_and_every_learner() -> None:
    untuned = set(SUITE.references["untuned"])
    assert {"min", "val-n", "ugal-g", "par", "pb", "tpr", "lia"} <= untuned <= set(policies())
    learners = {name for name in policies() if name.startswith("q-")}
    assert set(SUITE.references["online"]) == learners >= {"q-routing", "q-adaptive"}
    assert sum(map(len, SUITE.references.values())) == len(SUITE.reference_specs)
    assert all(SUITE.references[kind] for kind in KINDS)


def test_a_suite_may_be_narrowed_to_a_split_and_to_sizes() -> None:
    def cases(suite: Suite) -> set[tuple[str, int, str]]:
        return {
            (case.split, case.hosts, case.name)
            for track in suite.tracks
            for some in track.cases.values()
            for case in some
        }

    every, some = cases(SUITE), cases(SUITE.narrowed(("test",), (1056, 2550)))
    assert some == {case for case in every if case[0] == "test" and case[1] in (1056, 2550)}
    assert 0 < len(some) < len(every)
    assert cases(SUITE.narrowed()) == every


# ------------------------------------------------------------------------------------------------ scores


def outcome(policy: str, value: float, *, saturated: bool = False) -> Outcome:
    suite = Suite.from_dict(tiny())
    return Outcome(
        track=suite.tracks[0],
        case=suite.tracks[0].cases["quick"][0],
        policy=policy,
        seeds=1,
        value=value,
        values=(value,),
        bound=math.nan,
        link_class="",
        reason="",
        ci95=math.nan,
        p99_ns=2 * value,
        accepted_load=0.1,
        saturated=saturated,
    )


def scored(*outcomes: Outcome) -> pd.DataFrame:
    kinds = {"min": "untuned", "val-g": "untuned", "q-adaptive": "online"}
    policies = tuple(dict.fromkeys(outcome.policy for outcome in outcomes))
    return score(outcomes, Suite.from_dict(tiny()).tracks, "quick", kinds, policies).table.set_index("policy")


def test_a_ratio_is_to_the_best_reference_that_carries_the_load() -> None:
    table = scored(
        outcome("min", 500.0, saturated=True),
        outcome("val-g", 1000.0),
        outcome("mine", 900.0),
        outcome("q-adaptive", 2000.0),
    )
    assert table.loc["mine", "ratio"] == pytest.approx(0.9)
    assert table.loc["mine", "best_reference"] == "val-g"
    assert table.loc["mine", "ratio_online"] == pytest.approx(0.45)
    assert math.isnan(table.loc["mine", "ratio_tuned"])
    assert table.loc["mine", "p99_ratio"] == pytest.approx(1.8)  # ratio to the lowest of all policies


def test_the_leaderboard_counts_cases_and_ranks_who_was_measured_everywhere_first() -> None:
    suite = Suite.from_dict(tiny())
    first, second = suite.tracks[0].cases["quick"]

    def of(policy: str, case: Any, value: float, saturated: bool = False) -> Outcome:
        made = outcome(policy, value, saturated=saturated)
        return Outcome(**{**{name: getattr(made, name) for name in made.__slots__}, "case": case})

    found = [
        *(of("min", first, 100.0), of("min", second, 100.0)),
        *(of("mine", first, 101.0), of("mine", second, 400.0, True)),
        of("other", first, 50.0),
    ]
    scores = score(found, suite.tracks[:1], "quick", {"min": "untuned"}, ("min", "mine", "other"))
    ranked = scores.leaderboard().set_index("policy")
    assert list(ranked.index) == ["min", "mine", "other"]
    assert ranked.loc["mine", "geometric_mean"] == pytest.approx(math.sqrt(1.01 * 4))
    assert ranked.loc["mine", "worst"] == pytest.approx(4)
    assert ranked.loc["mine", "worst_case"] == second.name
    assert ranked.loc["mine", "close_share"] == 0.5
    assert ranked.loc["mine", "saturated"] == 1
    assert (ranked.loc["other", "cases"], ranked.loc["other", "of"]) == (1, 2)


def test_more_is_better_for_accepted_loads_only() -> None:
    settings = tiny()
    settings["tracks"]["steady"]["quantity"] = "accepted-load"
    suite = Suite.from_dict(settings)
    case = suite.tracks[0].cases["quick"][0]
    found = [
        outcome_of(suite.tracks[0], case, name, [Measured(value=load, p99_ns=math.nan, accepted_load=load)])
        for name, load in (("min", 0.4), ("val-g", 0.5), ("mine", 0.25))
    ]
    table = score(
        found, suite.tracks, "quick", {"min": "untuned", "val-g": "untuned"}, ("min", "val-g", "mine")
    ).table
    assert table.set_index("policy")["ratio"].to_dict() == pytest.approx(
        {"min": 1.25, "val-g": 1.0, "mine": 2.0}
    )


def test_after_a_change_the_packets_generated_since_count() -> None:
    suite = Suite.from_dict(tiny())
    track, case = suite.tracks[1], suite.tracks[1].cases["quick"][0]
    row = {
        "series_time_ns": [1500.0, 2000.0, 3500.0, 4000.0],
        "series_generated_latency_mean_ns": [9e9, 100.0, 300.0, 9e9],
        "accepted_load": 0.2,
        "latency_p99_ns": 500.0,
    }
    assert measured_of(track, case, row).same_as(Measured(value=200.0, p99_ns=500.0, accepted_load=0.2))
    row["series_generated_latency_mean_ns"] = [9e9, math.nan, math.nan, 9e9]
    assert math.isnan(measured_of(track, case, row).value)


# ------------------------------------------------------------------------------------------------ the command


@pytest.fixture
def tiny_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "find_suite", lambda name: Suite.from_dict(tiny()))


@pytest.mark.usefixtures("tiny_suite")
def test_the_command_measures_policies_of_ones_own_and_goes_on_where_it_was(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import numpy as np\n"
        "class Straight:\n"
        "    name, scope, action = 'straight', 'source', 'path'\n"
        "    def act(self, batch):\n"
        "        return batch.mask.argmax(axis=1)\n"
    )
    folder = tmp_path / "results"
    result = run_command("par", f"{mine}:Straight", "--out", str(folder))
    assert result.exit_code == 0, result.output
    assert "straight" in result.output
    table = pd.read_parquet(folder / "scores.parquet")
    assert set(table["policy"]) == {"min", "val-g", "ugal-n:bias_packets=5", "q-adaptive", "par", "straight"}
    assert set(table["seeds"]) == {2}
    same = table[table["policy"].isin(["min", "straight"])].pivot(
        index="case", columns="policy", values="value"
    )
    assert same["min"].tolist() == pytest.approx(same["straight"].tolist())
    assert table[table["kind"] != ""].groupby("case")["ratio"].min().tolist() == pytest.approx(
        [1.0, 1.0, 1.0]
    )
    assert (folder / "heatmap.png").stat().st_size > 10_000
    assert "straight" in (folder / "benchmark.html").read_text()
    assert "| par |" in (folder / "benchmark.md").read_text()
    again = run_command("par", f"{mine}:Straight", "--out", str(folder))
    assert "36 in the folder" in again.output


def test_bad_options_are_refused_before_anything_runs(tmp_path: Path) -> None:
    for arguments, message in (
        (("--track", "stead"), "steady"),
        (("lia=min",), "must not be called 'lia'"),
        (("--hosts", "99"), "--hosts 99: "),
        (("--split", "seen"), "--split seen: "),
        (("--split", "train", "--hosts", "2550"), "--split train --hosts 2550: no quick case"),
    ):
        result = run_command(*arguments, "--out", str(tmp_path / "none"))
        assert result.exit_code == 2, result.output
        assert message in result.output
    assert not (tmp_path / "none").exists()


def test_an_interval_of_a_ratio_has_the_digits_of_the_ratio() -> None:
    assert interval_text(0.9986, 1.2341, digits(1.1)) == "0.999 to 1.234"
    assert interval_text(7.556, 16.426, digits(11.2)) == "8 to 16"
