"""The benchmarks work and say what they measured; what they measure is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from benchmarks.effort import SMOKE
from benchmarks.peers import PEERS, measure

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ("core", "scale", "threads", "environment", "scenarios", "networks", "overhead")


def run(*arguments: str, module: str = "benchmarks") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result file of a run on tiny systems."""
    folder = tmp_path_factory.mktemp("bench")
    done = run("--smoke", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.json")
    assert file.name in done.stdout.replace("\n", "")
    return file


@pytest.fixture(scope="module")
def content(smoke: Path) -> dict[str, Any]:
    return dict(json.loads(smoke.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_file_says_on_what_and_with_what_it_was_measured(content: dict[str, Any]) -> None:
    assert content["format"] == 2
    assert content["effort"]["name"] == "smoke"
    assert isinstance(content["seconds"], float)
    assert set(content["machine"]) >= {"processor", "memory_bytes", "platform", "python", "load_average"}
    assert set(content["build"]) >= {"package_version", "commit", "compiler", "flags", "core_sha256"}
    assert content["build"]["compiler"]


@pytest.mark.slow
def test_every_family_gives_figures_with_their_samples(content: dict[str, Any]) -> None:
    keys = {"family", "name", "unit", "median", "min", "max", "higher_is_better", "goal", "meets_goal"}
    keys |= {"samples", "parameters", "details", "yardstick_hops_per_s", "yardsticks"}
    names = [(result["family"], result["name"]) for result in content["results"]]
    assert len(set(names)) == len(names)
    expected = set(FAMILIES)
    if content["machine"]["usable_processors"] < 2:
        expected.remove("threads")
    assert {family for family, _ in names} >= expected
    for result in content["results"]:
        assert set(result) == keys
        assert result["samples"]
        assert result["min"] <= result["median"] <= result["max"]
        assert result["parameters"]


@pytest.mark.slow
def test_the_speeds_that_the_project_promises_are_all_measured(content: dict[str, Any]) -> None:
    core = {result["name"]: result for result in content["results"] if result["family"] == "core"}
    for policy in ("min", "ugal-n", "ugal-g", "par", "val-n"):
        result = core[f"{policy} uniform 0.8"]
        assert result["goal"] == (12.0 if policy == "min" else 8.0)
        assert result["parameters"]["config"]["policy"]["name"] == policy
        rates = [
            hops / cpu / 1e6
            for hops, cpu in zip(result["details"]["packet_hops"], result["details"]["cpu_s"], strict=True)
        ]
        assert result["samples"] == pytest.approx(rates)
    environment = {
        result["name"]: result for result in content["results"] if result["family"] == "environment"
    }
    assert environment["batched, random legal actions"]["goal"] == 2.0
    assert environment["parallel, actions given"]["goal"] == 400.0
    assert environment["AEC, actions given"]["goal"] == 300.0
    goals = {result["unit"]: result["goal"] for result in content["results"] if result["goal"] is not None}
    assert goals["GB, peak"] == 8.0
    assert goals["wall-s, Python's start-up included"] == 60.0


@pytest.mark.slow
def test_the_yardstick_ran_next_to_every_measurement(content: dict[str, Any]) -> None:
    """Ratios within a round and memory need none; wall-clock times are not multiples of it."""
    assert content["yardstick"]["version"] == 1
    assert content["yardstick"]["hops_per_s"]["min"] > 0
    for result in content["results"]:
        beside, multiples = result["yardstick_hops_per_s"], result["yardsticks"]
        if result["unit"].endswith("/ CPU-s"):
            assert len(beside) == len(result["samples"])
            assert len(multiples["samples"]) == len(result["samples"])
            assert multiples["min"] <= multiples["median"] <= multiples["max"]
        elif result["unit"].startswith("CPU-"):
            assert multiples["min"] <= multiples["median"] <= multiples["max"]
        else:
            assert multiples is None


@pytest.mark.slow
def test_compare_calls_better_what_is_better(smoke: Path, content: dict[str, Any], tmp_path: Path) -> None:
    for result in content["results"]:
        factor = 2.0 if result["higher_is_better"] else 0.5
        result["samples"] = [1000 * factor * result["max"] if factor > 1 else result["min"] / 1000]
        result["median"] = result["samples"][0]
        result["yardstick_hops_per_s"] = result["yardstick_hops_per_s"][:1]
    faster = tmp_path / "faster.json"
    faster.write_text(json.dumps(content), encoding="utf-8")
    done = run("compare", str(smoke), str(faster))
    assert "better" in done.stdout
    assert "worse" not in done.stdout


def test_without_peers_nothing_is_measured_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BOOKSIM2", "CAMINOS", "FOGSIM", "HTSIM", "SST"):
        monkeypatch.delenv(f"DRAGONFLY_BENCH_{name}", raising=False)
    done = run(module="benchmarks.peers")
    assert done.returncode == 0, done.stderr
    assert "nothing measured" in done.stdout


def test_a_peer_is_measured_by_what_its_longer_run_does_more(tmp_path: Path) -> None:
    """A program that spends CPU time by the cycle and reports in the manner of CAMINOS."""
    stand_in = tmp_path / "caminos"
    stand_in.write_text(
        f"#!{sys.executable}\n"
        "import re, sys, time\n"
        "cycles = int(re.search(r'measured: (\\d+)', open(sys.argv[1]).read()).group(1))\n"
        "while time.process_time() < 0.1 + cycles * 1e-4: pass\n"
        "print('Result { accepted_load: 0.5, average_packet_hops: 2.0 }')\n",
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    results = {r.name: r for r in measure(SMOKE, lambda _: None, {"caminos": str(stand_in)})}
    speed = results["caminos, minimal, uniform 0.8"]
    assert len(speed.samples) == SMOKE.rounds
    for entry, sample in zip(speed.details["rounds"], speed.samples, strict=True):
        assert entry["packet_hops"] == [0.5 * 1_056 * cycles * 3 for cycles in (200, 1_000)]
        (short, long), (begin, end) = entry["packet_hops"], entry["cpu_s"]
        assert sample == pytest.approx((long - short) / (end - begin) / 1e6)
    ours = results["dragonfly-env, minimal, uniform 0.8, in turns with caminos"]
    times = results["dragonfly-env / caminos"]
    assert times.samples == pytest.approx([a / b for a, b in zip(ours.samples, speed.samples, strict=True)])


def packet_hops(name: str, output: str, folder: Path, length: int = 1) -> float:
    """What the parser of a peer reads."""
    (peer,) = (peer for peer in PEERS if peer.name == name)
    return peer.packet_hops(output, folder, length)


def test_packet_hops_of_booksim2_are_those_of_its_whole_run(tmp_path: Path) -> None:
    """Rates are per host and cycle; the last figures printed are the overall ones."""
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
    """Hosts 0 and 1 share a router, 0 and 4 a group; 0 reaches group 32, 4 hosts a router, by two or three links."""
    flows = [(0, 1, 1), (0, 4, 2), (0, 1_055, 3)]  # source, destination, links
    output = "Loaded 3 connections in total\n"
    output += "".join(FLOW.format(source, destination, 9_000 * 10) for source, destination, _ in flows)
    links = sum(links for *_, links in flows[:2])
    read = packet_hops("htsim", output, tmp_path) / 10 - links
    topology = dfe.Dragonfly(p=4, a=8, h=4, arrangement="absolute")
    assert read == topology.minimal_hops(0, 263) + 1
    assert read in (3, 4)


def test_a_flow_of_htsim_that_has_not_finished_is_an_error(tmp_path: Path) -> None:
    output = "Loaded 2 connections in total\n" + FLOW.format(0, 4, 9_000)
    with pytest.raises(RuntimeError, match="1 of 2 flows"):
        packet_hops("htsim", output, tmp_path)


def test_a_peer_whose_output_is_not_understood_is_an_error(tmp_path: Path) -> None:
    stand_in = tmp_path / "sst"
    stand_in.write_text("#!/bin/sh\necho done\n", encoding="utf-8")
    stand_in.chmod(0o755)
    done = run("--sst", str(stand_in), module="benchmarks.peers")
    assert done.returncode == 2
    assert "error: sst" in done.stderr
    assert "Traceback" not in done.stderr
