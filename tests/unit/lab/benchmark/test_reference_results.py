"""Published results of the references: the table, and what a benchmark takes from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.lab.benchmark import Benchmark, Suite, reference_results
from dragonfly_env.lab.benchmark.reference_results import (
    ReferenceResult,
    read_references,
    table_of,
    write_references,
)
from dragonfly_env.sweeps.results import run_file
from dragonfly_env.sweeps.runner import run_all
from tests.unit.lab.benchmark.tiny_suite import tiny

SUITE = Suite.from_dict(tiny())
RUNS = 24  # three cases, four policies, two seeds


def result(run_id: str, **changes: Any) -> ReferenceResult:
    told: dict[str, Any] = {
        "track": "steady",
        "effort": "quick",
        "case": "adv+1 0.1, 72 hosts, default",
        "policy": "min",
        "seed": 1,
        "quantity": "latency",
        "after_ns": 0.0,
        "value": 1 / 3,
        "p99_ns": math.nan,
        "accepted_load": 0.1,
        "package_version": dfe.__version__,
    }
    return ReferenceResult(run_id=run_id, **{**told, **changes})


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of published tables, empty."""
    folder = tmp_path / "published"
    folder.mkdir()
    monkeypatch.setattr(reference_results, "FOLDER", folder)
    return folder


Publish = Callable[..., Benchmark]


@pytest.fixture
def publish_all(tmp_path: Path) -> Publish:
    """Publish 1,000 ns for every run of the tiny suite's references but those of some policies."""

    def publish(*without: str, policies: tuple[str, ...] = ()) -> Benchmark:
        bare = Benchmark(suite=SUITE, effort="quick", policies=(), folder=tmp_path, published=False)
        results = []
        for run in bare.runs():
            if run.policy_label in without:
                continue
            series = run.config.series_bin_ns is not None
            track = SUITE.tracks[1] if series else SUITE.tracks[0]
            results.append(
                result(
                    run.id,
                    track=track.name,
                    policy=run.policy_label,
                    seed=run.config.seed,
                    quantity=track.quantity,
                    after_ns=track.after_ns,
                    value=1000.0,
                    p99_ns=2000.0,
                    accepted_load=run.load,
                )
            )
        write_references(results, table_of(SUITE.name))
        return Benchmark(suite=SUITE, effort="quick", policies=policies, folder=tmp_path / "results")

    return publish


# ------------------------------------------------------------------------------------------------ the table


def test_a_table_is_read_as_it_was_written_and_has_the_same_bytes_in_any_order(tables: Path) -> None:
    results = [result("b", seed=2**64 - 1), result("a", seed=2), result("c", policy="lia", after_ns=5.0)]
    write_references(results, tables / "one.parquet")
    write_references(reversed(results), tables / "other.parquet")
    assert (tables / "one.parquet").read_bytes() == (tables / "other.parquet").read_bytes()
    found = list(read_references(tables / "one.parquet").values())
    assert [reference.run_id for reference in found] == ["c", "a", "b"]  # order by policy, then by seed
    for reference, other in zip(found, (results[2], results[1], results[0]), strict=True):
        assert reference.same_as(other)
        assert repr(reference) == repr(other)


# ------------------------------------------------------------------------------------------------ what is taken


def test_published_runs_are_not_done(publish_all: Publish) -> None:
    work = publish_all()
    assert len(work.taken()) == len(work.runs()) == work.reference_runs() == RUNS
    assert work.todo() == work.todo(force=True) == ()
    assert work.execute() is None
    assert not work.folder.exists()
    assert set(work.scores().table["value"]) == {1000.0}


def test_policies_of_a_user_that_are_references_are_published_too_and_others_are_to_do(
    publish_all: Publish,
) -> None:
    work = publish_all("q-adaptive", policies=("again=min", "par"))
    assert {run.policy_label for run in work.todo()} == {"q-adaptive", "par"}
    assert (len(work.taken()), work.reference_runs(), len(work.runs())) == (18, RUNS, RUNS + 6)
    assert {"min", "again"} <= set(work.scores().table["policy"])


def test_what_the_folder_holds_goes_before_what_is_published(publish_all: Publish) -> None:
    work = publish_all()
    run = next(run for run in work.runs() if run.policy_label == "ugal-n:bias_packets=5")
    run_all([run], work.folder, workers=1)
    assert run.id not in {reference.run_id for reference in work.taken()}
    assert work.todo() == ()
    assert work.todo(force=True) == (run,)
    values = work.scores().table.set_index(["case", "policy"])["value"]
    assert sum(values != 1000.0) == 1
    measured = pd.read_parquet(run_file(work.folder, run.id))["latency_mean_ns"].item()
    assert values["adv+1 0.1, 72 hosts, default", run.policy_label] == (1000.0 + measured) / 2  # two seeds
    report = work.execute()
    assert report is not None
    assert (report.total, report.reused, report.finished) == (1, 1, 0)


def test_nothing_is_taken_for_a_case_that_has_changed(publish_all: Publish) -> None:
    work = publish_all()
    changed = Suite.from_dict(tiny(measure_ns=1501))
    assert len(replace(work, suite=changed).taken()) == 8, "the other track's"
    settings = tiny()
    settings["tracks"]["transient"]["after_ns"] = 2001  # the runs are the same, their value is not
    again = replace(work, suite=Suite.from_dict(settings))
    assert {run.id for run in again.runs()} == {run.id for run in work.runs()}
    assert len(again.taken()) == 16
    assert len(again.todo()) == 8
    assert set(again.scores().table["track"]) == {"steady"}
