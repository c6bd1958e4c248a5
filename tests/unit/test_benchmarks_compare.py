"""Two commits take turns; what is measured is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks.cases import cases
from benchmarks.contestant import Contestant, interpreter

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.compare", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_every_case_is_measured_in_turns_and_a_commit_has_its_own_history(tmp_path: Path) -> None:
    file = tmp_path / "compared.json"
    done = run(
        *(sys.executable, "--rounds", "1", "--turns", "1"),
        *("--topology", "72", "--length", "0.02", "--out", str(file)),
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text(encoding="utf-8"))["results"]
    assert [each["case"] for each in results] == list(cases())
    for each in results:
        (taken,) = each["slices"]
        assert [s["which"] for s in taken[:4]] == ["old", "new", "new", "old"]
        assert [s["which"] for s in taken[4:8]] in ([], ["new", "old", "old", "new"])
        assert all(s["work"] > 0 and s["cpu_s"] > 0 and s["yardstick_hops_per_s"] > 0 for s in taken)
        assert each["same_history"]
        assert len(each["ratios"]) == 1
        assert each["lowest"] == each["median"] == each["highest"]
        assert each["case"] in done.stdout


def test_the_package_measured_is_that_of_the_interpreter(tmp_path: Path) -> None:
    """A stand-in for an old checkout: its Python finds another package, and benchmarks of its own, first."""
    package = tmp_path / "dragonfly_env"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the old package')\n", encoding="utf-8")
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\nPYTHONPATH='{tmp_path}' exec '{sys.executable}' -S \"$@\"\n", encoding="utf-8"
    )
    python.chmod(0o755)
    with (
        Contestant(interpreter(python), topology="72", length=0.02) as contestant,
        pytest.raises(RuntimeError, match="the old package"),
    ):
        contestant.measure("min")


def test_a_checkout_stands_for_its_environment(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    assert interpreter(tmp_path) == python


def test_one_disturbed_slice_does_not_change_a_round() -> None:
    quad = [
        {"which": which, "work": 1, "cpu_s": 2.0 if which == "old" else 1.0} for which in ("old", "new") * 2
    ]
    disturbed = [*quad[:3], {**quad[3], "cpu_s": 50.0}]
    assert compare.round_ratio([*quad, *disturbed, *quad]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([1.0], (1.0, 1.0, 0.0)),
        ([3.0, 1.0, 2.0, 5.0, 4.0], (1.0, 5.0, 0.9375)),
        ([float(i) for i in range(9)], (1.0, 7.0, 1 - 2 * 10 / 512)),
    ],
)
def test_the_interval_holds_the_median_with_the_confidence_that_it_says(
    samples: list[float], expected: tuple[float, float, float]
) -> None:
    assert compare.median_interval(samples) == pytest.approx(expected)
