"""Messages of a trace are generated at the given times, to the picosecond."""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
import pytest

import dragonfly_env as dfe

TIMES_NS = (1000.25, 1000.75, 2500.123, 7000.0)


@pytest.mark.parametrize("network", ["default", "lia", "aries"])
def test_latencies_count_from_the_given_times(network: str) -> None:
    trace = dfe.traffic.Trace.from_columns(
        time_ns=TIMES_NS, src=[0, 9, 30, 0], dst=[40, 60, 31, 40], bytes=[64] * len(TIMES_NS)
    )
    config = dfe.SimulationConfig(
        topology="72", network=network, traffic=trace, policy="min", packet_log=True, seed=1
    )
    simulation = dfe.Simulation(config)
    simulation.run(10_000)
    log = simulation.packet_log()
    assert sorted(log["created_ns"]) == list(TIMES_NS)
    latencies = log["delivered_ns"] - log["created_ns"]
    assert simulation.metrics().latency_mean_ns == pytest.approx(latencies.mean())
    alone = [
        dfe.bounds.zero_load_latency_ns(
            config.network, config.topology, _kinds(config, routers), created_ns=created
        )
        for created, routers in zip(log["created_ns"], _routes(log), strict=True)
    ]
    assert latencies.tolist() == pytest.approx(alone, abs=5e-4)


def test_times_since_1970_count_from_the_first(tmp_path: Path) -> None:
    first = 1_795_000_000_000_000_123
    rows = {
        "time_ns": [first, first + 1, first + 77],
        "src": [0, 1, 2],
        "dst": [9, 9, 9],
        "bytes": [0, 1, 128],
    }
    trace = dfe.traffic.Trace.from_columns(**rows, start="first")
    assert trace.time_ps.tolist() == [0, 1_000, 77_000]
    file = tmp_path / "now.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    config = dfe.SimulationConfig(topology="72", traffic=f"trace:{file},start=first")
    assert config.traffic_object == trace
    assert dfe.SimulationConfig.from_dict(config.to_dict()).traffic_object == trace
    with pytest.raises(
        dfe.ConfigError, match=r"^trace row 0 time_ns = .*start='first' counts from the first"
    ):
        dfe.traffic.Trace.from_columns(**rows)


def test_a_message_of_0_bytes_is_a_packet_as_in_programs() -> None:
    trace = dfe.traffic.Trace.from_columns(time_ns=[0, 5], src=[0, 1], dst=[9, 9], bytes=[0, 129])
    config = dfe.SimulationConfig(topology="72", traffic=trace)
    assert dfe.simulate(config, measure_ns=5_000).packets_delivered == 1 + 2


def _routes(log: dict[str, object]) -> list[list[int]]:
    offsets, routers = log["route_offsets"], log["routers"]
    return [routers[a:b].tolist() for a, b in itertools.pairwise(offsets)]  # type: ignore[index]


def _kinds(config: dfe.SimulationConfig, routers: list[int]) -> list[str]:
    links = config.topology.links()
    found = [links[(links[:, 0] == a) & (links[:, 2] == b)][0][1] for a, b in itertools.pairwise(routers)]
    return [config.topology.port_kind(int(port)) for port in found]
