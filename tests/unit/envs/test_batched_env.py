"""``BatchedRoutingEnv``: the view of a caller, and errors for nonsense."""

from __future__ import annotations

import gc
import math

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.unit.small_env import config, make, play


def test_a_batch_has_the_documented_shapes_and_types() -> None:
    for action, scope in (("port", "every"), ("path", "source"), ("path", "all")):
        env = make(action=action, scope=scope, num_random=3)
        batch = env.reset(seed=0)
        n = len(batch)
        assert n > 0
        assert (batch.obs.shape, batch.obs.dtype) == ((n, env.num_features), np.float32)
        assert (batch.mask.shape, batch.mask.dtype) == ((n, env.num_actions), np.bool_)
        assert (batch.agents.shape, batch.agents.dtype.kind) == ((n,), "i")
        assert (batch.decision_ids.shape, batch.decision_ids.dtype) == ((n,), np.int64)
        assert (batch.draws.shape, batch.draws.dtype) == ((n, 3), np.float64)
        assert (batch.time_ns.shape, batch.time_ns.dtype) == ((n,), np.float64)
        assert batch.packets.shape == (n,)
        assert (batch.candidates is None) == (action == "port")
        assert batch.mask.any(axis=1).all()
        assert env.num_actions == (5 if action == "path" else env.config.topology.radix - 2)


def test_observations_lie_within_the_bounds_of_the_layout_and_have_names() -> None:
    for action in ("port", "path"):
        env = make(action=action, scope="all")
        batch = env.reset()
        assert len(env.layout.names) == env.num_features == len(set(env.layout.names))
        while not env.done:
            assert (batch.obs >= env.layout.low).all()
            assert (batch.obs <= env.layout.high).all()
            batch = env.step(batch.minimal_actions())


def test_observed_queues_are_those_of_the_state() -> None:
    env = make(scope="all", features=["queue_packets", "credits_in_use"])
    batch = env.reset()
    seen = 0
    while not env.done and seen < 50:
        if len(np.unique(batch.time_ns)) == 1:  # one time, and nothing has happened since
            state = env.state()[batch.agents][:, env.config.topology.p :]
            both = batch.obs[:, : env.num_actions] + batch.obs[:, env.num_actions :]
            np.testing.assert_allclose(both, state, atol=1e-6)
            seen += 1
        batch = env.step(batch.minimal_actions())
    assert env.state().shape == env.state_shape


@pytest.mark.parametrize(("scope", "left_alone"), [("progressive", False), ("progressive-busy", True)])
def test_a_packet_behind_its_source_router_is_left_alone_where_its_next_port_is_idle(
    scope: str, left_alone: bool
) -> None:
    """In the source group, where it is on its minimal path, and in its destination group."""
    topology = dfe.Dragonfly.preset("72")
    env = dfe.BatchedRoutingEnv(
        config(topology=topology, traffic="adv+1", load=0.45),
        scope=scope,
        action="path",
        nonminimal_kinds=("lg", "l"),
        features=("queue_packets", "is_minimal", "hops"),
        duration_ns=5000,
    )
    group_of_router, hosts_per_group = topology.group_of_routers(), topology.num_hosts // topology.num_groups
    rng, idle, intermediate = np.random.default_rng(1), 0, 0
    batch = env.reset(seed=1)
    while not env.done:
        queued, minimal, hops = (
            batch.obs[:, env.layout[name].columns] for name in ("queue_packets", "is_minimal", "hops")
        )
        behind = (hops[:, 0] > 0) & ((queued * minimal).sum(axis=1) == 0)
        ends = np.stack([batch.packets["source_host"], batch.packets["destination_host"]], axis=1)
        outside = (ends // hosts_per_group != group_of_router[batch.agents][:, None]).all(axis=1)
        idle += int((behind & ~outside).sum())
        intermediate += int((behind & outside).sum())
        batch = env.step(np.where(batch.mask, rng.random(batch.mask.shape), -1.0).argmax(axis=1))
    assert intermediate > 10
    assert (idle == 0) is left_alone


def test_the_packets_that_routers_hold_in_the_state_are_those_in_the_network() -> None:
    env = make()
    batch = env.reset(seed=1)
    compared = 0
    while not env.done:
        if compared < 20:
            shown = env.state()[:, env.config.topology.radix].astype(np.float64)
            held = shown * env.config.topology.radix / (1.0 - shown)
            assert round(float(held.sum())) == env.metrics().packets_in_network
            compared += 1
        batch = env.step(batch.minimal_actions())
    assert compared


def test_candidates_can_be_read_back_from_the_observation_exactly() -> None:
    env = make(action="path", nonminimal_candidates=2)
    batch = env.reset()
    while not env.done:
        again = dfe.DecisionBatch.from_observations(env.layout, batch.obs, batch.mask)
        for field in ("kind", "port", "hops", "occupancy", "vc_occupancy"):
            np.testing.assert_array_equal(again.candidates[field], batch.candidates[field])
        batch = env.step(batch.mask.shape[1] - 1 - batch.mask[:, ::-1].argmax(axis=1))


def test_candidates_describe_the_paths_that_are_then_taken() -> None:
    env = dfe.BatchedRoutingEnv(
        config(packet_log=True), action="path", scope="source", reward="delivery", duration_ns=2_000.0
    )
    batch = env.reset()
    promised: dict[tuple[int, int], int] = {}

    def act(batch: dfe.DecisionBatch) -> np.ndarray:
        actions = batch.decision_ids % 5
        actions = np.where(batch.mask[np.arange(len(batch)), actions], actions, 0)
        for row, action in enumerate(actions):
            packet = batch.packets[row]
            promised[int(packet["source_host"]), int(packet["number"])] = int(
                batch.candidates[row, action]["hops"]
            )
        return actions

    while not env.done:
        batch = env.step(act(batch))
    env.drain(type("P", (), {"act": staticmethod(act)})())
    log = env.packet_log()
    assert len(promised) > 500
    for source, number, hops in zip(
        log["src"].tolist(), log["number"].tolist(), log["hops"].tolist(), strict=True
    ):
        assert promised.pop((source, number), hops) == hops
    assert not promised


@pytest.mark.parametrize(
    "topology",
    [
        dfe.Dragonfly.preset("72"),
        dfe.Dragonfly(p=2, a=4, h=2, trunking=2),
        dfe.Dragonfly(p=2, a=4, h=2, g=5, arrangement="absolute"),
    ],
)
@pytest.mark.parametrize("max_hops", [3, 4, 5, 6])
def test_the_mask_of_ports_is_what_can_still_be_delivered_minimally(
    topology: dfe.Dragonfly, max_hops: int
) -> None:
    setting = config(topology=topology, traffic="uniform")
    env = dfe.BatchedRoutingEnv(setting, scope="all", max_hops=max_hops, duration_ns=600.0)
    batch = env.reset()
    checked = 0
    while not env.done:
        for row in range(len(batch)):
            packet, agent = batch.packets[row], int(batch.agents[row])
            target, left = int(packet["destination_router"]), max_hops - 1 - int(packet["hops"])
            if topology.group_of(agent) == packet["destination_group"]:
                expected = np.arange(env.num_actions) == packet["minimal_action"]
            else:
                there = [topology.neighbor(agent, topology.p + a) for a in range(env.num_actions)]
                expected = np.array(
                    [
                        n is not None and n[0] >= 0 and topology.minimal_hops(n[0], target) <= left
                        for n in there
                    ]
                )
            np.testing.assert_array_equal(batch.mask[row], expected)
            checked += 1
        legal = batch.mask.cumsum(axis=1)
        batch = env.step((batch.draws[:, :1] * legal[:, -1:] >= legal).sum(axis=1))
    assert checked > 300


def test_arrays_are_read_only_views_and_a_copy_stays() -> None:
    env = make()
    batch = env.reset()
    with pytest.raises(ValueError, match="read-only"):
        batch.obs[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        batch.mask[0, 0] = True
    kept, before = batch.copy(), batch.obs.copy()
    old = batch.obs
    play(env, batch)
    env.reset()
    del env
    gc.collect()
    assert old.sum() is not None  # the memory is still there, with any values
    np.testing.assert_array_equal(kept.obs, before)


def test_reset_repeats_with_a_seed_and_goes_on_without() -> None:
    env = make()
    hashes = []
    for seed in (3, None, None, 3, None):
        play(env, env.reset(seed))
        hashes.append((env.seed, env.trace_hash()))
    assert hashes[0] == hashes[3]
    assert hashes[1] == hashes[4]
    assert len(set(hashes)) == 3
    fresh = make()
    play(fresh, fresh.reset())
    assert fresh.seed == 11


def test_the_warm_up_is_routed_by_the_configured_policy_and_not_counted() -> None:
    for action in ("port", "path"):
        for policy in ("min", "vlb-gl", "par"):
            hops = {"max_hops": 7} if action == "port" else {}
            env = dfe.BatchedRoutingEnv(
                config(policy=policy), action=action, warmup_ns=3_000.0, duration_ns=1_000.0, **hops
            )
            batch = env.reset()
            assert batch.time_ns.min() > 3_000.0
            assert env.metrics().start_ps == 3_000_000
            play(env, batch)
            assert env.time_ns == 4_000.0
            env.drain()
            # Packets under way at the reset of the statistics were generated before.
            assert env.metrics().packets_delivered >= env.metrics().packets_generated
            assert env.metrics().packets_in_flight == 0


def test_an_episode_can_be_extended_and_is_then_the_longer_one() -> None:
    long = make(4_000.0)
    play(long, long.reset(seed=1))
    short = make(1_500.0)
    play(short, short.reset(seed=1))
    play(short, short.extend(2_500.0))
    assert short.trace_hash() == long.trace_hash()
    assert short.time_ns == long.time_ns == 4_000.0


def test_draws_of_a_former_batch_are_refused_and_those_of_a_copy_stay() -> None:
    env = dfe.BatchedRoutingEnv(config(load=0.6), duration_ns=2_000)
    batch = env.reset()
    rows = batch.rows(slice(0, 1))
    following = env.step(batch.minimal_actions())
    for stale in (batch, rows):
        with pytest.raises(dfe.StateError, match="draws: the actions of this batch were taken"):
            _ = stale.draws
    kept = following.copy()
    draws = following.draws
    env.step(following.minimal_actions())
    np.testing.assert_array_equal(kept.draws, draws)


def test_an_environment_of_endless_jobs_lasts_its_duration() -> None:
    jobs = [dfe.Job("milc:scale=0.001", hosts=8, placement="random", iterations="endless")]
    endless = dfe.SimulationConfig(topology="72", jobs=jobs)
    env = dfe.BatchedRoutingEnv(endless, duration_ns=20_000.0)
    assert play(env, env.reset(seed=1)) > 0
    assert env.time_ns == 20_000.0
    assert env.metrics().packets_delivered > 0
    assert math.isnan(env.metrics().makespan_ns)
