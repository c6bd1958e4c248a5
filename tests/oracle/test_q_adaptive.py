"""Q-adaptive against its authors' simulator: the same figures with the same settings (whole nanoseconds in the tables).

A published row is one run. Of learners, runs differ by more than of heuristics: a table that sends one host the wrong
way fills its source queue for some microseconds. So two rows have wider tolerances, with what our own seeds scatter:

- 72 hosts, adv+1 0.45: windows of 250 us of one run have means between 850 and 1,170 ns for milliseconds on; six seeds
  of the published window 983 to 1,111 (published 959).
- 1,056 hosts, adv+1 0.45 at 450 us: still converging (published: "latency still falling"); four seeds 1,226 to 1,410
  (published 1,275).
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import dragonfly_env as dfe

DATA = Path(__file__).parent / "data" / "q_adaptive.csv"
PROMISED = {"latency_mean_ns": 0.05, "latency_p99_ns": 0.12, "hops_mean": 0.01}
ACCEPTED = 0.008
# (hosts, traffic, load): tolerances of mean and p99
WIDER = {(72, "adv+1", 0.45): (0.18, 0.65), (1056, "adv+1", 0.45): (0.15, 0.25)}
# More where a run is short.
SEEDS = {72: (1, 2, 3)}


def rows() -> list[dict[str, str]]:
    with DATA.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['hosts']}-{row['traffic']}-{row['load']}")
def test_q_adaptive_learns_what_the_published_one_learns(row: dict[str, str]) -> None:
    hosts, load = int(row["hosts"]), float(row["load"])
    runs = []
    for seed in SEEDS.get(hosts, (1,)):
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset(row["hosts"], arrangement="absolute"),
            network="q-adaptive",
            traffic=row["traffic"],
            load=load,
            policy=dfe.make_policy("q-adaptive", integer_values=True),
            source_queue_packets=20,
            seed=seed,
        )
        warmup_ns = float(row["warmup_ns"])
        runs.append(dfe.simulate(config, warmup_ns=warmup_ns, measure_ns=float(row["stop_ns"]) - warmup_ns))
    figures = {
        "accepted_load": [run.accepted_load for run in runs],
        "latency_mean_ns": [run.latency_mean_ns for run in runs],
        "latency_p99_ns": [run.latency_percentile_ns(99) for run in runs],
        "hops_mean": [run.hops_mean for run in runs],
    }
    means = {name: sum(values) / len(values) for name, values in figures.items()}
    tolerances = dict(PROMISED)
    if (key := (hosts, row["traffic"], load)) in WIDER:
        tolerances["latency_mean_ns"], tolerances["latency_p99_ns"] = WIDER[key]
    # The published simulator rounds the interval of injection to whole nanoseconds, as ours does.
    assert means["accepted_load"] == pytest.approx(float(row["accepted_load"]), abs=ACCEPTED)
    for name, tolerance in tolerances.items():
        assert means[name] == pytest.approx(float(row[name]), rel=tolerance), name


def test_the_transient_under_adversarial_traffic_collapses_and_recovers() -> None:
    """From an empty network at adv+1 0.45: the tables first send everything into the wall, then learn.

    Source: the authors' simulator accepts about 3 % at first and passes 0.40 near 320 us; 1,056 hosts.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("1056", arrangement="absolute"),
        network="q-adaptive",
        traffic="adv+1",
        load=0.45,
        policy=dfe.make_policy("q-adaptive", integer_values=True),
        source_queue_packets=20,
        series_bin_ns=20_000.0,
    )
    simulation = dfe.Simulation(config)
    simulation.run(400_000)
    series = simulation.metrics().time_series
    assert series is not None
    accepted = series["accepted_load"]
    assert accepted[1:6].min() < 0.12
    passed = next(i for i in range(6, len(accepted)) if (accepted[i : i + 2] > 0.40).all()) * 20.0
    assert 220.0 <= passed <= 400.0
