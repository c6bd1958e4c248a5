"""The benchmarks work; their speeds are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks.cases import cases
from benchmarks.contestant import Contestant, interpreter
from benchmarks.peers import PEERS

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_family_gives_figures_with_their_samples(tmp_path: Path) -> None:
    run("benchmarks", "--smoke", "--out", str(tmp_path))
    (file,) = tmp_path.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    names = [(result["family"], result["name"]) for result in content["results"]]
    assert len(set(names)) == len(names)
    families = {"core", "scale", "threads", "environment", "networks"}
    if content["machine"]["usable_processors"] < 2:
        families.remove("threads")
    assert {family for family, _ in names} >= families
    assert all(min(result["samples"]) <= result["median"] for result in content["results"])
    assert content["build"]["compiler"]


def packet_hops(peer: str, output: str, folder: Path) -> float:
    (read,) = (each.packet_hops for each in PEERS if each.name == peer)
    return read(output, folder)


def test_packet_hops_of_booksim2_are_those_of_the_last_block(tmp_path: Path) -> None:
    output = (
        "Accepted packet rate average = 0.1 (1 samples)\nTime taken is 10 cycles\nHops average = 1 (1 samples)\n"
        "Accepted packet rate average = 0.75 (1 samples)\nHops average = 3.5 (1 samples)\n"
        "Time taken is 600 cycles\n"
    )
    assert packet_hops("booksim2", output, tmp_path) == 0.75 * 1_056 * 600 * 3.5


def test_packet_hops_of_fogsim_include_its_warm_up(tmp_path: Path) -> None:
    counted = "Packets Received: 300\nLocal Hops: 500\nGlobal Hops: 250\nCycles: 2000 (warmup: 1000)\n"
    (tmp_path / "result").write_text(counted, encoding="utf-8")
    assert packet_hops("fogsim", "", tmp_path) == 2 * 1_050


FLOW = "Flow ndp_{}_{}(0) flow_id 7 finished at 42.1 total bytes {}\n"


def test_packet_hops_of_htsim_are_packets_times_links_of_the_minimal_path(tmp_path: Path) -> None:
    """Hosts 0 and 1 share a router, 0 and 4 a group."""
    output = "Loaded 2 connections in total\n" + FLOW.format(0, 1, 90_000) + FLOW.format(0, 4, 90_000)
    assert packet_hops("htsim", output, tmp_path) == 10 * (1 + 2)


def test_two_interpreters_take_turns_in_every_case(tmp_path: Path) -> None:
    file = tmp_path / "compared.json"
    settings = ("--rounds", "1", "--topology", "72", "--length", "0.02", "--out", str(file))
    shown = run("benchmarks.compare", sys.executable, *settings)
    results = json.loads(file.read_text(encoding="utf-8"))["results"]
    assert [each["case"] for each in results] == list(cases())
    for each in results:
        (taken,) = each["slices"]
        assert [s["which"] for s in taken[:8]] == ["old", "new", "new", "old", "new", "old", "old", "new"]
        assert all(s["work"] > 0 and s["cpu_s"] > 0 for s in taken)
        assert each["same_history"]
        assert each["case"] in shown


def test_the_package_measured_is_that_of_the_interpreter(tmp_path: Path) -> None:
    """A stand-in for an old checkout: its Python finds another package first."""
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
