"""A time series that would fill the memory is refused before it is allocated."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

SMALL = dfe.Dragonfly.preset("72")
# A long message over a slow link takes longer than a series of 1 ns may reach.
SLOW = dfe.SimulationConfig(
    topology=SMALL,
    network=dfe.NetworkConfig(host_bandwidth_gbytes_per_s=0.128),
    traffic=Trace.from_columns(time_ns=[0], src=[0], dst=[71], bytes=[128 * 1_100]),
    series_bin_ns=1,
)


def test_a_time_series_cannot_fill_the_memory() -> None:
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=SMALL, series_bin_ns=1, load=0.01))
    with pytest.raises(
        dfe.ConfigError, match=r"^series_bin_ns = 1.0: must be at least 10 for a run to 1e\+07"
    ):
        simulation.run(1e7)
    simulation.run(1000)


def test_nor_can_that_of_an_episode_or_of_its_extension() -> None:
    config = dfe.SimulationConfig(topology=SMALL, series_bin_ns=1, load=0.01)
    wrong = (
        r"^series_bin_ns = 1.0: must be at least 2 for a run to 2e\+06 ns: the series may have 1000000 bins$"
    )
    with pytest.raises(dfe.ConfigError, match=wrong):
        dfe.BatchedRoutingEnv(config, warmup_ns=1e6, duration_ns=1e6)
    env = dfe.BatchedRoutingEnv(config, duration_ns=100)
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
    with pytest.raises(dfe.ConfigError, match=wrong):
        env.extend(2e6 - 100)
    batch = env.extend(100)
    while not env.done:
        batch = env.step(batch.minimal_actions())
    env.drain()
    assert env.metrics().packets_in_flight == 0


def test_a_drain_stops_where_the_series_must_end() -> None:
    wrong = (
        r"^series_bin_ns = 1.0: must be wider for so long a drain: .* not empty when it comes to 1e\+06 ns"
    )
    simulation = dfe.Simulation(SLOW)
    simulation.run(100)
    assert simulation.drain(1_000) is False  # drains for the given time
    with pytest.raises(dfe.ConfigError, match=wrong):
        simulation.drain()
    assert simulation.time_ns == 1e6
    simulation.check_invariants()
    env = dfe.BatchedRoutingEnv(SLOW, duration_ns=100)
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
    for again in (env.drain, lambda: env.step(env.pending.minimal_actions())):
        with pytest.raises(dfe.ConfigError, match=wrong):
            again()
    assert 9e5 < env.time_ns <= 1e6
    env._core.simulation.check_invariants()
    wide = dfe.Simulation(SLOW.replace(series_bin_ns=10))
    assert wide.drain() is True
    assert wide.time_ns > 1e6
