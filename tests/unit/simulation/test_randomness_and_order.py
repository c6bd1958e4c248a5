"""Random streams belong to packets: the traffic of a seed is the same with every policy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dragonfly_env as dfe
from tests.ready import ready
from tests.routes import routes_of

TRAFFICS = ("uniform", "adv+1", "advc", "hotspot:hosts=4,fraction=0.2")
INJECTIONS = ("periodic", "bernoulli", "poisson")
Columns = dict[str, npt.NDArray[Any]]


@functools.cache
def packets_of(policy: str, **run: Any) -> Columns:
    """Source, number, destination and time of generation of every packet of a run, in this order."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        policy=ready(policy),
        packet_log=True,
        **{"network": "q-adaptive", "load": 0.6, **run},
    )
    simulation = dfe.Simulation(config)
    simulation.run(5_000)
    assert simulation.drain()
    log = simulation.packet_log()
    order = np.lexsort((log["number"], log["src"]))
    return {name: log[name][order] for name in ("src", "number", "dst", "created_ns", "hops")}


def common(a: Columns, b: Columns) -> tuple[Columns, Columns]:
    """The packets that are in both runs, matched by source and number."""

    def identity(columns: Columns) -> npt.NDArray[np.int64]:
        return columns["src"].astype(np.int64) << 32 | columns["number"].astype(np.int64)

    _, in_a, in_b = np.intersect1d(identity(a), identity(b), return_indices=True)
    return {k: v[in_a] for k, v in a.items()}, {k: v[in_b] for k, v in b.items()}


@pytest.mark.product(policy=dfe.policies(), traffic=TRAFFICS, injection=INJECTIONS)
def test_an_unbounded_queue_gives_every_policy_the_same_packets_at_the_same_times(
    policy: str, traffic: str, injection: str
) -> None:
    reference = packets_of("min", traffic=traffic, injection=injection)
    assert len(reference["src"]) > 1000
    packets = packets_of(policy, traffic=traffic, injection=injection)
    for name in ("src", "number", "dst", "created_ns"):
        np.testing.assert_array_equal(packets[name], reference[name], err_msg=name)


@pytest.mark.parametrize("traffic", TRAFFICS)
def test_a_stalled_generator_changes_times_and_never_destinations(traffic: str) -> None:
    run: dict[str, Any] = {"traffic": traffic, "load": 1.0}
    free = packets_of("min", **run)
    for policy in dfe.policies():
        stalled, reference = common(packets_of(policy, source_queue_packets=2, **run), free)
        assert len(stalled["src"]) > 1000
        np.testing.assert_array_equal(stalled["dst"], reference["dst"], err_msg=policy)
        assert (stalled["created_ns"] >= reference["created_ns"]).all()
        if policy == "min" and traffic != "uniform":
            assert (stalled["created_ns"] > reference["created_ns"]).any()


def test_nonminimal_paths_differ_between_packets_and_between_seeds() -> None:
    """Draws of a policy come from the packet's own stream: not the same non-minimal path for all, nor for all
    seeds.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"),
        network=dfe.NetworkConfig.preset("q-adaptive"),
        policy="val-n",
        load=0.1,
        packet_log=True,
    )
    taken = []
    for seed in (1, 1, 2):
        simulation = dfe.Simulation(config.replace(seed=seed, traffic="adv+1"))
        simulation.run(20_000)
        taken.append(set(map(tuple, routes_of(simulation.packet_log()))))
    assert taken[0] == taken[1] != taken[2]
    assert len(taken[0]) > 500


@pytest.mark.parametrize("injection", ["bernoulli", "poisson", "periodic"])
def test_another_seed_is_another_history(injection: str) -> None:
    hashes = []
    for seed in (0, 1, 2, 2**64 - 1):
        simulation = dfe.Simulation(
            dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), injection=injection, seed=seed)
        )
        simulation.run(3000)
        hashes.append(simulation.trace_hash())
    assert len(set(hashes)) == len(hashes)
