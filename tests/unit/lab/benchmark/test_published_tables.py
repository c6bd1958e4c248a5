"""The published results that come with the package are those that this version of the core gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragonfly_env.lab.benchmark import Benchmark, Suite, find_suite
from dragonfly_env.lab.benchmark.measured import measured_of
from dragonfly_env.lab.benchmark.reference_results import ReferenceResult, read_references, table_of
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.scenario import parse_policy_choice

SUITE = find_suite("dragonfly-v3")
TABLE = read_references(table_of(SUITE.name)).values()
PUBLISH = (
    "do the references again ('dragonfly-env benchmark --rerun-references --out FOLDER', with and without --full) and "
    "publish them ('python -m dragonfly_env.lab.benchmark.publish FOLDER{}'), see docs/benchmark.md"
)
CHANGED = (
    f"the core gives other results than those published; if it is meant to: {PUBLISH.format(' --replace')}"
)
LACKING = (
    f"cases, presets or references are not what they were when they were published: {PUBLISH.format('')}"
)
PER_TRACK = 5


def small() -> list[ReferenceResult]:
    """For each track a few quick runs on 72 hosts, no two of the same policy, in the order of their ids."""
    found = []
    used: set[str] = set()
    for track in SUITE.tracks:
        runs = [
            row
            for row in TABLE
            if (row.track, row.effort) == (track.name, "quick") and ", 72 hosts," in row.case
        ]
        of_track: dict[str, ReferenceResult] = {}
        for row in sorted(runs, key=lambda row: row.run_id):
            if row.policy not in used and len(of_track) < PER_TRACK:
                used.add(row.policy)
                of_track[row.policy] = row
        found += of_track.values()
    return found


def ids_of(suite: Suite, result: ReferenceResult) -> set[str]:
    """The ids that a published run may have by what the table says for people."""
    (track,) = suite.choose((result.track,))
    return {
        case.point(*parse_policy_choice(result.policy)).run(result.seed).id
        for cases in track.cases.values()
        for case in cases
        if case.name == result.case
    }


@pytest.mark.parametrize("published", small(), ids=lambda row: f"{row.track}-{row.policy}")
def test_a_published_run_gives_the_same_bits_here(published: ReferenceResult) -> None:
    (track,) = SUITE.choose((published.track,))
    cases = [case for case in track.cases["quick"] if case.name == published.case]
    runs = {
        (run := case.point(*parse_policy_choice(published.policy)).run(published.seed)).id: (case, run)
        for case in cases
    }
    assert published.run_id in runs, LACKING
    case, run = runs[published.run_id]
    row = measure(run)
    found = measured_of(track, case, row)
    assert found.same_as(published), f"{found} instead of {published}: {CHANGED}"


def test_every_quick_run_of_a_reference_is_published() -> None:
    work = Benchmark(suite=SUITE, effort="quick", policies=(), folder=Path("nowhere"))
    assert work.todo() == (), LACKING
    assert len(work.taken()) == len(work.runs()) == 24 * 22 - 4  # two policies refuse leaf-spine groups


def test_what_is_published_is_what_cases_of_the_suite_still_are() -> None:
    some = [*TABLE][:: max(1, len(TABLE) // 500)]
    assert len(some) >= 400
    assert [row.describe() for row in some if row.run_id not in ids_of(SUITE, row)] == [], LACKING


def test_every_published_policy_is_in_the_package() -> None:
    assert {row.policy for row in TABLE} == {*SUITE.reference_specs, *SUITE.shown_specs}
