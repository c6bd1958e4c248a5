"""No policy, however bad, can harm the network: it never deadlocks, never loses a packet, always drains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.decisions.batch import DecisionBatch

Chooser = Callable[[dfe.BatchedRoutingEnv, DecisionBatch], np.ndarray]

TOPOLOGIES = {
    "balanced": dfe.Dragonfly.preset("72"),
    "absolute": dfe.Dragonfly.preset("72", arrangement="absolute"),
    "trunked": dfe.Dragonfly(p=2, a=4, h=2, trunking=2),
    "partial": dfe.Dragonfly(p=2, a=4, h=2, g=5),
    "odd": dfe.Dragonfly(p=3, a=3, h=1),
}


def pick(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The legal action with the highest score."""
    return np.where(mask, scores, -np.inf).argmax(axis=1)


def random_chooser(seed: int) -> Chooser:
    def choose(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
        # A function of the decision, not of the order in which decisions come.
        mixed = (
            batch.decision_ids[:, None] * 6364136223846793005 + np.arange(env.num_actions) * 1442695 + seed
        ) % 10007
        return pick(mixed * 7919 % 10007, batch.mask)

    return choose


def port_blocks(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> tuple[np.ndarray, np.ndarray]:
    """Packets and link class per action."""
    features = env.layout.features
    if env.action == "port":
        packets = batch.obs[:, features["queue_packets"]] + batch.obs[:, features["credits_in_use"]]
        return packets, batch.obs[:, features["link_class"]]
    assert batch.candidates is not None
    ports = batch.candidates["port"]
    return batch.candidates["occupancy"], ports >= env.config.topology.p + env.config.topology.a - 1


def most_loaded(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
    return pick(port_blocks(env, batch)[0], batch.mask)


def always_local(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
    return pick(1.0 - port_blocks(env, batch)[1], batch.mask)


def always_global(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
    return pick(1.0 * port_blocks(env, batch)[1], batch.mask)


def last_action(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
    return pick(np.arange(env.num_actions) * np.ones((len(batch), 1)), batch.mask)


def farthest(env: dfe.BatchedRoutingEnv, batch: DecisionBatch) -> np.ndarray:
    """Policy with as many hops as possible, to the farthest group."""
    topology = env.config.topology
    if env.action == "path":
        assert batch.candidates is not None
        return pick(batch.candidates["hops"].astype(float), batch.mask)
    hops = np.zeros(batch.mask.shape)
    for row, (agent, target) in enumerate(
        zip(batch.agents, batch.packets["destination_router"], strict=True)
    ):
        for action in np.flatnonzero(batch.mask[row]):
            there = topology.neighbor(int(agent), topology.p + int(action))[0]
            hops[row, action] = topology.minimal_hops(there, int(target))
    return pick(hops, batch.mask)


CHOOSERS: dict[str, Chooser] = {
    **{f"random-{seed}": random_chooser(seed) for seed in range(3)},
    "most-loaded": most_loaded,
    "always-local": always_local,
    "always-global": always_global,
    "last": last_action,
    "farthest": farthest,
}


class Player:
    """An choose as a policy for ``drain``."""

    def __init__(self, env: dfe.BatchedRoutingEnv, choose: Chooser) -> None:
        self.env, self.choose = env, choose

    def act(self, batch: DecisionBatch) -> np.ndarray:
        return self.choose(self.env, batch)


def play_and_drain(env: dfe.BatchedRoutingEnv, choose: Chooser) -> None:
    """An episode from its beginning to the delivery of the last packet."""
    player = Player(env, choose)
    batch = env.reset()
    while not env.done:
        batch = env.step(player.act(batch))
    env.drain(player)


@pytest.mark.parametrize("action", ["port", "path"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("choose", CHOOSERS)
def test_every_choice_delivers_every_packet(choose: str, topology: str, action: str) -> None:
    config = dfe.SimulationConfig(
        topology=TOPOLOGIES[topology], traffic="adv+1", load=1.0, watchdog_ns=20_000.0, seed=3
    )
    env = dfe.BatchedRoutingEnv(config, action=action, scope="all", duration_ns=1_500.0, transitions=False)
    play_and_drain(env, CHOOSERS[choose])
    metrics = env.metrics()
    assert metrics.packets_delivered == metrics.packets_generated > 500
    assert metrics.packets_in_flight == 0
    assert metrics.hops_mean > 0


@pytest.mark.parametrize("network", ["q-adaptive", "lia"])
@pytest.mark.parametrize("choose", ["random-0", "most-loaded", "always-local"])
def test_so_do_they_where_packets_are_routed_at_the_head_at_once(network: str, choose: str) -> None:
    config = dfe.SimulationConfig(
        topology=TOPOLOGIES["balanced"], network=network, traffic="adv+1", load=1.0, watchdog_ns=50_000.0
    )
    env = dfe.BatchedRoutingEnv(config, duration_ns=600.0, transitions=False)
    play_and_drain(env, CHOOSERS[choose])
    metrics = env.metrics()
    assert metrics.packets_delivered == metrics.packets_generated > 500


def test_routes_stay_within_the_hops_that_there_are_vcs_for() -> None:
    for max_hops in (3, 4, 5, 7):
        config = dfe.SimulationConfig(
            topology=TOPOLOGIES["balanced"], traffic="uniform", load=0.3, packet_log=True
        )
        env = dfe.BatchedRoutingEnv(config, max_hops=max_hops, duration_ns=2_000.0)
        play_and_drain(env, farthest)
        hops = env.packet_log()["hops"]
        assert hops.max() == max_hops
