"""Occupancies in the unit of the option: the same queues, and the same meaning in every network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES

SMALL = dfe.SimulationConfig(topology=dfe.Dragonfly(p=2, a=4, h=2), traffic="adv+1", load=0.5)
GRID = SMALL.replace(
    topology=dfe.Dragonfly(p=2, h=2, g=4, group=dfe.Grid(rows=2, columns=3)),
    network=dfe.NetworkConfig.preset("aries"),
)
ALL = (
    *dfe.BatchedRoutingEnv(SMALL, action="path", scope="source").layout.features,
    "candidate_queue_packets",
)
PATHS: dict[str, Any] = {"action": "path", "scope": "source", "features": ALL, "duration_ns": 3_000.0}


def last_batch(config: dfe.SimulationConfig, unit: str, **options: Any) -> tuple[Any, np.ndarray]:
    """The layout, and what the last decisions of an episode along shortest paths saw."""
    env = dfe.BatchedRoutingEnv(config, occupancy_unit=unit, **{**PATHS, **options})
    batch = env.reset(seed=1)
    seen = [batch.obs.copy()]
    while not env.done:
        batch = env.step(batch.minimal_actions())
        seen.append(batch.obs.copy())
    return env.layout, np.concatenate(seen)


def packet_times_ns(config: dfe.SimulationConfig) -> np.ndarray:
    """The time of a packet on a link of each class, as the core has it: rounded to its unit of time."""
    params = config.network.to_core(config.topology)
    classes = [link["packet_ps"] for link in params["links"]]
    return np.array(classes or [params["local_packet_ps"], params["global_packet_ps"]]) / 1_000


@pytest.mark.parametrize("config", [SMALL, GRID], ids=["meshes", "grids"])
def test_every_unit_shows_the_same_packets(config: dfe.SimulationConfig) -> None:
    layout, seen = last_batch(config, "buffers")
    in_packets, packets = last_batch(config, "packets")
    in_time, times = last_batch(config, "ns")
    assert layout.names == in_packets.names == in_time.names
    topology = config.topology
    packet_ns = packet_times_ns(config)
    of_port = packet_ns[topology.port_classes()[topology.p :] - 1]
    assert len(set(of_port.tolist())) == (1 if config is SMALL else len(topology.link_classes) - 1)
    ports = layout.counts(seen, "candidate_port")
    for name, columns in layout.features.items():
        if name not in OCCUPANCY_FEATURES:
            np.testing.assert_array_equal(seen[:, columns], packets[:, columns])
            np.testing.assert_array_equal(seen[:, columns], times[:, columns])
            continue
        counts = layout.counts(seen, name)
        assert counts.max() > 1
        assert in_packets[name].unit == 16
        np.testing.assert_array_equal(counts, packets[:, columns] * 16)
        each = of_port if name in ("queue_packets", "credits_in_use") else of_port[ports - topology.p]
        np.testing.assert_allclose(in_time.quantities(times, name), counts * each, rtol=1e-6)
        for part, shown in ((in_packets, packets), (in_time, times)):
            assert (part.low[columns] <= shown[:, columns]).all()
            assert (shown[:, columns] <= part.high[columns]).all()


def test_networks_with_other_buffers_share_a_batch_in_physical_units() -> None:
    small = SMALL.replace(network=dfe.NetworkConfig(local_buffer_packets=4, global_buffer_packets=7))
    configs = [SMALL, small, SMALL.replace(network=dfe.NetworkConfig.preset("lia"))]
    for unit in ("packets", "ns"):
        together = dfe.BatchedRoutingEnv(configs, occupancy_unit=unit, **PATHS)
        batch = together.reset(seed=3)
        while not together.done:
            batch = together.step(batch.minimal_actions())
        for number, config in enumerate(configs):
            alone = dfe.BatchedRoutingEnv(config, occupancy_unit=unit, **PATHS)
            assert alone.layout == together.layout
            batch = alone.reset(seed=together.configs[number].seed)
            while not alone.done:
                batch = alone.step(batch.minimal_actions())
            assert alone.trace_hash() == together.trace_hash(scenario=number)
    with pytest.raises(dfe.ConfigError, match=r"occupancy_unit='packets' \(or 'ns'\) where buffers differ"):
        dfe.BatchedRoutingEnv(configs, **PATHS)


def test_times_are_not_counted_as_packets_and_the_state_stays_relative_to_the_buffers() -> None:
    env = dfe.BatchedRoutingEnv(SMALL, occupancy_unit="ns", **PATHS)
    usual = dfe.BatchedRoutingEnv(SMALL, **PATHS)
    batch = env.reset(seed=1)
    usual.reset(seed=1)
    np.testing.assert_array_equal(env.state(), usual.state())
    with pytest.raises(dfe.ConfigError, match=r"^occupancy_unit = 'ns': must be 'packets' or 'buffers'"):
        env.layout.counts(batch.obs, "queue_packets")
    with pytest.raises(dfe.ConfigError, match=r"^occupancy_unit = 'ns'"):
        env.layout.decode_candidates(batch.obs)
    assert dfe.DecisionBatch.from_observations(env.layout, batch.obs, batch.mask).candidates is None


def test_a_network_that_counts_packets_reports_packets_and_refuses_times(tmp_path: Path) -> None:
    network = dfe.baselines.MlpNetwork.random(seed=3)
    scaled = dfe.baselines.MlpNetwork.random(seed=3, scale=(4.0, 16.0, 16.0, 4.0, 4.0))
    for unit, given, allowed in (
        ("packets", scaled, True),
        ("packets", network, False),
        ("ns", scaled, False),
    ):
        policy = dfe.make_policy("mlp", weights=str(given.save(tmp_path / "network.npz")))
        env = dfe.BatchedRoutingEnv.for_policy(SMALL, policy, occupancy_unit=unit, duration_ns=1_000.0)
        batch = env.reset(seed=1)
        if not allowed:
            with pytest.raises(
                dfe.ConfigError, match=rf"^occupancy_unit = '{unit}': does not fit candidate_packets"
            ):
                policy.act(batch)
            continue
        while not env.done:
            batch = env.step(policy.act(batch))
        alone = dfe.Simulation(SMALL.replace(policy=policy, seed=1))
        alone.run(1_000.0)
        assert env.trace_hash() == alone.trace_hash()
