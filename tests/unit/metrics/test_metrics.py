"""``Metrics`` against sums done by hand from counters that the core could have returned."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import Dragonfly, Metrics, NetworkConfig
from dragonfly_env.metrics.metrics import Fairness

# 3 groups of 2 routers with 1 host and 1 global link each: 6 hosts, radix 3.
TOPOLOGY = Dragonfly(p=1, a=2, h=1)
NETWORK = NetworkConfig.preset("lia")  # a packet takes 10 ns and has 10 flits
PS = 1000


def statistics(**changes: Any) -> dict[str, Any]:
    """Ten packets in a window of 1000 ns, with latencies of 100, 200, ... 1000 ns in buckets of their own."""
    values: dict[str, Any] = {
        "start_ps": 500 * PS,
        "now_ps": 1500 * PS,
        "generated": 12,
        "lost": 3,
        "injected": 11,
        "delivered": 10,
        "in_network": 4,
        "in_source_queues": 2,
        "packet_time_ps": 4_000_000,
        "latency_sum_ps": 5500 * PS,
        "network_latency_sum_ps": 5000 * PS,
        "hops_sum": 21,
        "minimal_delivered": 7,
        "latency_min_ps": 100 * PS,
        "latency_max_ps": 1000 * PS,
        "latency_histogram": np.ones(10, np.int64),
        "latency_bucket_ps": np.arange(1, 11) * 100.0 * PS,
        "hop_histogram": np.array([1, 1, 4, 4, 0, 0]),
        "router_delivered": np.array([10, 0, 0, 0, 0, 0]),
        "router_injected": np.array([1, 2, 0, 2, 4, 2]),
        "link_packets": np.arange(18),
        "link_stall_ps": np.arange(18) * 10 * PS,
        "input_stall_ps": np.arange(18) * 5 * PS,
        "host_sent": np.arange(6),
        "link_queued_packets": np.arange(18),
        "link_occupancy_packets": np.arange(18) * 2,
        "link_busy_ps_per_packet": {"host": 10 * PS, "local": 20 * PS, "global": 30 * PS},
        "packet_hops": 31,
    }
    return values | changes


def metrics(**changes: Any) -> Metrics:
    return Metrics.from_statistics(statistics(**changes), TOPOLOGY, NETWORK)


EMPTY = metrics(
    generated=0,
    lost=0,
    injected=0,
    delivered=0,
    latency_sum_ps=0,
    network_latency_sum_ps=0,
    hops_sum=0,
    minimal_delivered=0,
    latency_min_ps=0,
    latency_max_ps=0,
    latency_histogram=np.zeros(10, np.int64),
    router_injected=np.zeros(6, np.int64),
    now_ps=500 * PS,
)


def test_loads_are_packet_times_over_host_times() -> None:
    m = metrics()
    assert m.duration_ns == 1000.0
    assert m.offered_load == pytest.approx((12 + 3) * 10 / (6 * 1000))
    assert m.accepted_load == pytest.approx(10 * 10 / (6 * 1000))
    assert m.router_accepted_load == pytest.approx(np.array([1, 2, 0, 2, 4, 2]) * 10 / 1000)
    assert m.group_accepted_load == pytest.approx(np.array([3, 2, 6]) * 10 / 2000)


@pytest.mark.parametrize(
    ("q", "expected"),
    [(0, 100), (10, 100), (10.1, 200), (50, 500), (90, 900), (95, 1000), (99.9, 1000), (100, 1000)],
)
def test_a_percentile_is_the_nearest_rank(q: float, expected: float) -> None:
    assert metrics().latency_percentile_ns(q) == expected


def test_percentiles_of_many_packets_match_sorting_them() -> None:
    generator = np.random.default_rng(1)
    counts = generator.integers(0, 50, 10)
    ordered = np.repeat(np.arange(1, 11) * 100.0, counts)
    m = metrics(latency_histogram=counts, delivered=int(counts.sum()))
    for q in (0.1, 1, 25, 50, 75, 95, 99, 99.9):
        rank = math.ceil(round(q * len(ordered), 6) / 100)
        assert m.latency_percentile_ns(q) == ordered[rank - 1]


def test_fairness_is_that_of_jain() -> None:
    fairness = metrics().fairness
    assert fairness.min == 0.0
    assert fairness.max == pytest.approx(0.04)
    assert fairness.jain == pytest.approx(11**2 / (6 * (1 + 4 + 4 + 16 + 4)))
    assert metrics().group_fairness.jain == pytest.approx(11**2 / (3 * (9 + 4 + 36)))
    assert Fairness.of(np.full(7, 0.1)).jain == pytest.approx(1.0)
    assert Fairness.of(np.full(7, 0.1)).jain <= 1.0
    assert Fairness.of(np.array([0.0, 0.0, 0.3, 0.0])).jain == pytest.approx(0.25)
    assert math.isnan(Fairness.of(np.zeros(3)).jain)


def test_ports_that_send_have_their_router_kind_and_use() -> None:
    ports = metrics().ports.of(direction="out")
    assert len(ports) == 18
    assert ports.router.tolist() == [r for r in range(6) for _ in range(3)]
    assert ports.group.tolist() == [group for group in range(3) for _ in range(6)]
    assert ports.port.tolist() == [0, 1, 2] * 6
    assert ports.kind.tolist() == ["host", "local", "global"] * 6
    assert ports.packets.tolist() == list(range(18))
    assert ports.flits.tolist() == list(range(0, 180, 10))
    assert ports.utilisation == pytest.approx(np.arange(18) * np.tile([10, 20, 30], 6) / 1000)
    assert ports.stall_fraction == pytest.approx(np.arange(18) * 10 / 1000)
    assert ports.stalls == pytest.approx(
        np.arange(18) * 10 / np.tile([1, 2, 3], 6)
    )  # flits take a tenth of a packet
    assert list(ports.to_frame().columns) == list(ports.to_dict())


def test_totals_by_link_class() -> None:
    totals = metrics().link_classes
    assert list(totals) == ["host", "local", "global"]
    assert [(t.ports, t.links) for t in totals.values()] == [(6, 6)] * 3
    assert totals["local"].packets == 1 + 4 + 7 + 10 + 13 + 16
    assert totals["local"].flits == 10 * totals["local"].packets
    assert totals["global"].utilisation_max == pytest.approx(17 * 30 / 1000)
    assert totals["host"].stall_fraction_mean == pytest.approx((0 + 3 + 6 + 9 + 12 + 15) / 6 * 10 / 1000)
    assert totals["local"].stalls == pytest.approx(totals["local"].packets * 10 / 2)
    assert totals["local"].stalls_max == pytest.approx(16 * 10 / 2)
    assert totals["local"].stalls_to_flits == pytest.approx(0.5)
    assert math.isnan(dataclasses.replace(totals["local"], flits=0).stalls_to_flits)


def test_columns_of_totals_are_the_totals_of_their_rows() -> None:
    ports = metrics().ports
    sums = ports.by("kind", "direction")
    for row, (kind, direction) in enumerate(zip(sums["kind"], sums["direction"], strict=True)):
        totals = ports.of(kind=kind, direction=direction).totals()
        for name in [field.name for field in dataclasses.fields(totals)]:
            assert sums[name][row] == pytest.approx(getattr(totals, name)), (kind, direction, name)
        assert sums["stalls_to_flits"][row] == pytest.approx(totals.stalls_to_flits)
    with pytest.raises(dfe.ConfigError, match="kind"):
        ports.of(kind="rank-1")


def test_ports_receive_what_others_send() -> None:
    """Router 0: its host is port 0, router 1 port 1, and the group before (router 5) port 2."""
    ports = metrics().ports
    first = ports[(ports.router == 0) & (ports.direction == "in")]
    columns = (first.kind, first.port, first.flits, first.stalls)
    peer, port = TOPOLOGY.neighbor(0, 2)
    # Host 0: nothing sent; router 1's port 1: packet counter 4; flits are 10 a packet.
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [
        ("host", 0, 0, 0.0),
        ("local", 1, 40, pytest.approx(5 / 2)),
        ("global", 2, (peer * 3 + port) * 10, pytest.approx(10 / 3)),
    ]
    by_group = ports.tiles()["host-in"].by("group")
    assert by_group["flits"].tolist() == [10, 50, 90]
    assert metrics().hosts.sent.tolist() == [0, 1, 2, 3, 4, 5]
    assert math.isnan(metrics().hosts.latency_mean_ns[0])


def test_a_time_series_has_loads_and_means_per_bin() -> None:
    assert metrics().time_series is None
    series = metrics(
        series={
            "generated": np.array([6, 6]),
            "delivered": np.array([3, 0]),
            "latency_sum_ps": np.array([600, 0]) * PS,
            "hops_sum": np.array([6, 0]),
            "arrived": np.array([1, 2]),
            "arrived_latency_sum_ps": np.array([150, 450]) * PS,
        },
        series_bin_ps=400 * PS,
        series_start_ps=400 * PS,
    ).time_series
    assert series is not None
    # From 500 to 1500 ns in bins of 400 that start at 400; nothing happened in the last one.
    assert series["time_ns"].tolist() == [400, 800, 1200]
    assert series["duration_ns"].tolist() == [300, 400, 300]
    assert series["delivered"].tolist() == [3, 0, 0]
    assert series["accepted_load"] == pytest.approx([3 * 10 / 1800, 0, 0])
    assert series["injected_load"] == pytest.approx([6 * 10 / 1800, 6 * 10 / 2400, 0])
    assert series["latency_mean_ns"] == pytest.approx([200, math.nan, math.nan], nan_ok=True)
    assert series["hops_mean"] == pytest.approx([2, math.nan, math.nan], nan_ok=True)
    assert series["generated_latency_mean_ns"] == pytest.approx([150, 225, math.nan], nan_ok=True)


def test_without_packets_and_time_nothing_has_a_value() -> None:
    assert math.isnan(EMPTY.accepted_load)
    assert math.isnan(EMPTY.offered_load)
    assert math.isnan(EMPTY.latency_mean_ns)
    assert math.isnan(EMPTY.latency_percentile_ns(50))
    assert math.isnan(EMPTY.fairness.jain)
    row = EMPTY.to_dict()
    assert row["latency_mean_ns"] is None
    assert row["accepted_load"] is None
    assert row["packets_delivered"] == 0


@pytest.mark.parametrize("m", [metrics(), EMPTY], ids=["some", "none"])
def test_to_dict_is_one_row_of_plain_numbers(m: Metrics) -> None:
    row = m.to_dict()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert {type(value) for value in row.values()} <= {int, float, type(None)}
    for name in ("p50", "p95", "p99", "p99_9", "min", "max", "mean"):
        assert f"latency_{name}_ns" in row
    assert list(row) == list(EMPTY.to_dict())


def test_percentiles_of_short_latencies_are_within_64_ps_of_the_packets() -> None:
    fast = NetworkConfig(
        host_bandwidth_gbytes_per_s=200.0,
        local_bandwidth_gbytes_per_s=200.0,
        global_bandwidth_gbytes_per_s=200.0,
        crossbar_bandwidth_gbytes_per_s=2_000.0,
        injection_latency_ns=0.1,
        ejection_latency_ns=0.1,
        local_latency_ns=1.3,
        global_latency_ns=3.7,
        input_latency_ns=0.1,
        output_latency_ns=0.1,
        router_clock_ns=0.2,
        routing_delay_ns=0.5,
    )
    config = dfe.SimulationConfig(
        topology="72", network=fast, load=0.5, injection="poisson", packet_log=True, policy="val-n"
    )
    simulation = dfe.Simulation(config)
    simulation.run(2_000)
    measured, log = simulation.metrics(), simulation.packet_log()
    exact = np.sort(log["delivered_ns"] - log["created_ns"])
    assert exact[0] < 5
    assert exact[-1] > 32, "latencies on both sides of the limit"
    for q in (0.1, 1, 5, 20, 50, 80, 95, 99, 99.9):
        value = exact[math.ceil(q / 100 * len(exact)) - 1]
        assert abs(measured.latency_percentile_ns(q) - value) <= max(0.064, 0.002 * value) + 1e-9
