"""Jobs next to other traffic: a run ends at the time of its last completion, and nothing depends on how it is run."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.point import Run
from tests.partitions import cut_into
from tests.property.test_job_properties import MESSAGE, RANKS, operations_of

SMALL = dfe.Dragonfly(p=2, a=4, h=2)  # a machine that is simulated in one partition
WIDE = dfe.Dragonfly(p=101, a=3, h=1, g=3)
POLICIES = ("min", "ugal-n", "par", "acor")
OF_THE_MACHINE = ("_seconds", "_per_cpu_s", "date")
CUTS = st.lists(st.sampled_from([0.1, 1.0, 50.0, 333.3, 777.7, 1000.0]), min_size=1, max_size=4)


@st.composite
def jobs_next_to_traffic(draw: st.DrawFn, topology: dfe.Dragonfly) -> dfe.SimulationConfig:
    """A random program, next to open-loop traffic, an endless job, both or neither."""
    messages = draw(st.lists(MESSAGE, min_size=1, max_size=12))
    ranks = operations_of(messages)
    placement = draw(st.sampled_from(["consecutive", "random", "random-groups"]))
    drawn_job = dfe.Job(
        lambda rank, _: iter(ranks[rank]),
        RANKS,
        placement,
        start_ns=draw(st.sampled_from([0, 0, 700.5])),
        iterations=draw(st.integers(1, 2)),
        policy=draw(st.sampled_from([None, *POLICIES[:3]])),
    )
    endless = dfe.Job("nek5000:gap_ns=500,scale=0.1", hosts=8, iterations="endless", placement="random")
    beside = draw(st.sampled_from(["nothing", "sources", "endless", "both"]))
    loads = {SMALL: [0.05, 0.3, 0.9], WIDE: [0.01, 0.05]}[topology]
    return dfe.SimulationConfig(
        topology=topology,
        network=draw(st.sampled_from(["q-adaptive", "aries", "lia"])),
        policy=draw(st.sampled_from(POLICIES)),
        jobs=[drawn_job, *([endless] if beside in ("endless", "both") else [])],
        traffic=draw(st.sampled_from(["uniform", "adv+1"])) if beside in ("sources", "both") else None,
        load=draw(st.sampled_from(loads)),
        injection="poisson" if beside in ("sources", "both") else "auto",
        seed=draw(st.integers(0, 2**64 - 1)),
        packet_log=True,
        series_bin_ns=100,
    )


def observed(simulation: dfe.Simulation) -> dict[str, Any]:
    """All that a run shows."""
    m = simulation.metrics()
    return {
        "hash": simulation.trace_hash(),
        "time": simulation.time_ns,
        "metrics": m.to_dict(),
        "jobs": [job.to_dict() for job in m.jobs],
        "links": m.counters.link_stall_ps.tolist() + m.counters.link_packets.tolist(),
        "latencies": m.latency_histogram.tolist(),
        "series": {name: str(values.tolist()) for name, values in (m.time_series or {}).items()},
        "log": {name: values.tolist() for name, values in simulation.packet_log().items()},
    }


def whole(config: dfe.SimulationConfig) -> dict[str, Any]:
    simulation = dfe.Simulation(config)
    m = simulation.run_to_completion()
    assert simulation.time_ns == m.makespan_ns == m.duration_ns
    simulation.check_invariants()
    return observed(simulation)


def in_pieces(config: dfe.SimulationConfig, cuts: list[float]) -> dict[str, Any]:
    simulation = dfe.Simulation(config)
    for cut in cycle([*cuts, 200.0]):
        if not math.isnan(simulation.run_to_completion(cut).makespan_ns):
            break
        simulation.check_invariants()
    return observed(simulation)


def in_runs(config: dfe.SimulationConfig, cuts: list[float], makespan_ns: float) -> dict[str, Any]:
    simulation = dfe.Simulation(config)
    for cut in cuts:
        if simulation.time_ns + cut < makespan_ns:
            simulation.run(cut)
    simulation.run_to_completion()
    return observed(simulation)


def in_windows(config: dfe.SimulationConfig, window_ns: float) -> dict[str, Any]:
    simulation = dfe.Simulation(config)
    simulation.run_in_windows(window_ns)
    return observed(simulation)


def check_every_way(config: dfe.SimulationConfig, cuts: list[float], threads: tuple[int, ...]) -> None:
    expected = whole(config)
    makespan_ns = expected["metrics"]["makespan_ns"]
    for several in threads:
        assert whole(config.replace(threads=several)) == expected
        assert in_pieces(config.replace(threads=several), cuts) == expected
    assert in_runs(config, cuts, makespan_ns) == expected
    assert in_windows(config, max(cuts[0], 25.0)) == expected


@settings(max_examples=30)
@given(jobs_next_to_traffic(SMALL), CUTS)
def test_a_run_to_completion_does_not_depend_on_cuts(config: dfe.SimulationConfig, cuts: list[float]) -> None:
    check_every_way(config, cuts, (1,))


@settings(max_examples=10)
@given(jobs_next_to_traffic(WIDE), CUTS)
def test_a_run_to_completion_does_not_depend_on_cuts_and_threads(
    config: dfe.SimulationConfig, cuts: list[float]
) -> None:
    with cut_into(1):  # a partition per group
        assert dfe.Simulation(config).num_partitions == 3
        check_every_way(config, cuts, (2, 3))


@settings(max_examples=10)
@given(jobs_next_to_traffic(SMALL))
def test_a_measurement_is_the_same_with_and_without_progress(config: dfe.SimulationConfig) -> None:
    run = Run(
        config=config,
        policy_label="policy",
        traffic_label="traffic",
        warmup_ns=0.0,
        measure_ns=1e6,
        arrays=True,
    )
    rows = []
    shares: list[float] = []
    shown: Callable[[float], None] = shares.append
    for progress in (None, shown):
        row = measure(run, progress=progress)
        rows.append({name: str(value) for name, value in row.items() if not name.endswith(OF_THE_MACHINE)})
    assert rows[0] == rows[1]
    assert shares == sorted(shares)
    expected = whole(config)
    assert row["trace_hash"] == f"{expected['hash']:016x}"
    assert row["duration_ns"] == expected["time"]
