"""The yardstick never changes and is next to every measurement."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report import comparison, yardsticks
from benchmarks.result import Result
from benchmarks.yardstick import program as yardstick
from benchmarks.yardstick.beside import Beside

SOURCE_SHA256 = "76794a87329adaab65fb7717215453de821d57236491eac9dc002268c2dc10e1"


def result(**changes: Any) -> Result:
    settings: dict[str, Any] = {
        "family": "core",
        "name": "min",
        "unit": "M packet-hops / CPU-s",
        "samples": [6.0, 9.0],
        "higher_is_better": True,
        "yardstick_hops_per_s": [8e6, 9e6],
    }
    return Result(**{**settings, **changes})


class Recorded:
    """A yardstick with given speeds."""

    def __init__(self, *speeds: float) -> None:
        self._speeds: Iterator[float] = iter(speeds)
        self.runs: list[int] = []

    def hops_per_s(self, laps: int) -> float:
        self.runs.append(laps)
        return next(self._speeds)


def test_version_1_is_this_very_source() -> None:
    """Whoever wants another yardstick writes version 2 next to it: all figures are multiples of this one."""
    assert yardstick.VERSION == 1
    assert yardstick.source_sha256() == SOURCE_SHA256


def test_it_does_the_work_that_it_always_did() -> None:
    run = json.loads(
        subprocess.run([yardstick.program().executable, "2"], capture_output=True, check=True).stdout
    )
    assert run["yardstick"] == 1
    assert run["checksum"] == yardstick.CHECKSUM == "32a142eb004d09fd"
    assert run["packet_hops"] == 2 * yardstick.LAP_PACKET_HOPS == 2 * 792_097
    assert run["cpu_s"] > 0


def test_another_program_under_its_name_is_refused(tmp_path: Path) -> None:
    impostor = tmp_path / "yardstick"
    impostor.write_text(
        f"#!{sys.executable}\n"
        'print(\'{"yardstick": 1, "laps": 1, "packet_hops": 792097, "cpu_s": 0.1, "checksum": "0"}\')\n',
        encoding="utf-8",
    )
    impostor.chmod(0o755)
    with pytest.raises(RuntimeError, match="did other work"):
        yardstick.Program(impostor, "nobody").hops_per_s(1)


def test_without_a_compiler_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no C\+\+ compiler \(tried c\+\+, g\+\+\)"):
        yardstick.find_compiler((None, "c++", "g++"))


def test_each_measurement_lies_between_two_runs_of_it() -> None:
    """The one after a measurement is the one before the next."""
    recorded = Recorded(4.0, 12.0, 12.0)
    beside = Beside(recorded, laps=3)
    assert beside.measure(lambda: "first") == ("first", pytest.approx(6.0))  # as long at 4 as at 12
    assert beside.measure(lambda: "second") == ("second", pytest.approx(12.0))
    assert recorded.runs == [3, 3, 3]


def test_a_speed_is_a_multiple_of_the_speed_next_to_it() -> None:
    assert result().yardsticks == pytest.approx([0.75, 1.0])
    stored = result().to_dict()
    assert stored["yardstick_hops_per_s"] == [8e6, 9e6]
    assert stored["yardsticks"] == {"median": 0.875, "min": 0.75, "max": 1.0, "samples": [0.75, 1.0]}
    assert yardsticks(result()) == "0.8750 (0.7500-1.000)"


def test_a_machine_twice_as_fast_changes_the_speeds_and_not_their_multiples() -> None:
    old = result()
    new = result(samples=[12.0, 18.0], yardstick_hops_per_s=[16e6, 18e6])
    table = comparison({"results": [old.to_dict()]}, {"results": [new.to_dict()]})
    cells = {str(column.header): list(column.cells) for column in table.columns}
    assert cells["B/A"] == ["2.000"]
    assert cells["in yardsticks"] == ["1.000"]


def test_the_command_prints_the_speed_of_this_machine() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.yardstick", "--runs", "1"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("yardstick 1: ")
    assert "M packet-hops / CPU-s" in done.stdout
