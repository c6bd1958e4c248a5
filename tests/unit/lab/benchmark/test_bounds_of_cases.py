"""The bounds of the cases of the suite: computed again, and passed by no published result."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from dragonfly_env.lab.benchmark import Benchmark, Suite, find_suite, reference_results
from dragonfly_env.lab.benchmark.bounds import CaseBounds, bound_of, cases_of, key_of
from dragonfly_env.lab.benchmark.suite import BenchmarkCase, Track
from tests.unit.lab.benchmark.tiny_suite import tiny

pytest.importorskip("scipy", reason="needs the extra [bounds]")

SUITE = find_suite("dragonfly-v3")
KNOWN = CaseBounds.read(SUITE.name)
TOO_LARGE = re.compile(
    r"uniform .* 1056 hosts(, the last| with \d %)|adv.1 .* (16512|theta)|permutation .* 5256 |lia-c1"
)
LONG_RUN = 1.005  # an accepted load of 100 us may be so much above that of the long run
CASES = [(track, case, SUITE.seeds[effort]) for track, effort, case in cases_of(SUITE)]


def some() -> list[tuple[Track, BenchmarkCase, int]]:
    """All small cases, and one of each pattern on 1,056 hosts that takes no more than a second."""
    large = ("adv+2 0.3, 1056 hosts, default", "advc 0.45, 1056 hosts, lia", "adv+1 1, 1056 hosts, default")
    changed = ("uniform to advc at 0.3, 1056 hosts, default",)
    return [row for row in CASES if row[1].machine == "72 hosts" or row[1].name in (*large, *changed)]


@pytest.mark.parametrize(("track", "case", "seeds"), some(), ids=lambda thing: getattr(thing, "name", ""))
def test_the_bound_of_a_case_is_the_one_that_is_kept(track: Track, case: BenchmarkCase, seeds: int) -> None:
    assert KNOWN.of(track, case, seeds) == pytest.approx(bound_of(track, case, seeds), rel=1e-5, nan_ok=True)


def test_every_case_has_a_bound_but_workloads_and_programs_that_are_too_large() -> None:
    assert len(some()) >= 25
    for track, case, seeds in CASES:
        assert key_of(track.quantity, case, seeds) in KNOWN.by_key, case.name
        lacks = track.quantity == "makespan" or TOO_LARGE.match(case.name)
        assert math.isnan(KNOWN.of(track, case, seeds)) == bool(lacks), case.name


def test_a_case_that_has_changed_has_no_bound() -> None:
    track, case, seeds = next(row for row in CASES if not math.isnan(KNOWN.of(*row)))
    for other in (dataclasses.replace(case, load=0.123), dataclasses.replace(case, typed="342")):
        assert math.isnan(KNOWN.of(track, other, seeds)), other
    assert math.isnan(KNOWN.of(track, case, seeds + 10))


def test_no_published_result_passes_a_bound() -> None:
    table = pd.read_parquet(reference_results.table_of(SUITE.name))
    means = table.groupby(["track", "effort", "case", "policy"])["value"].mean()
    compared = 0
    for track, effort, case in cases_of(SUITE):
        bound = KNOWN.of(track, case, SUITE.seeds[effort])
        if math.isnan(bound) or (track.name, effort, case.name) not in means.index:
            continue
        values = means.loc[(track.name, effort, case.name)]
        compared += len(values)
        if track.more_is_better:
            assert values.max() < LONG_RUN * bound, (case.name, values.idxmax())
        else:
            assert values.min() > bound, (case.name, values.idxmin())
    assert compared > 1500


def test_a_page_says_how_far_a_policy_is_from_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = Suite.from_dict(tiny())
    known = {
        key_of(track.quantity, case, suite.seeds[effort]): 100.0 for track, effort, case in cases_of(suite)
    }
    monkeypatch.setattr(CaseBounds, "read", lambda name: CaseBounds(known))
    work = Benchmark(suite=suite, effort="quick", policies=(), folder=tmp_path, published=False)
    work.execute(workers=1)
    scores = work.scores()
    board = scores.leaderboard()
    table = scores.table
    for _, row in board.iterrows():
        of_policy = table[
            (table["policy"] == row["policy"])
            & (table["track"] == row["track"])
            & (table["split"] == row["split"])
        ]
        assert row["over_bound"] == pytest.approx(math.exp((of_policy["value"] / 100.0).map(math.log).mean()))
        assert row["over_low"] <= row["over_bound"] <= row["over_high"]
