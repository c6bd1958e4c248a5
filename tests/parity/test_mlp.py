"""A neural network in the core and its reference implementation: the same history with every network."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from tests.parity.cases import PRESETS, config_of, native, play
from tests.products import in_turn
from tests.ready import weights_file

ACTIONS = ("path", "port")
SCORINGS = ("candidate", "all")
ACTIVATIONS = ("relu", "tanh")
OUTPUTS = ("greedy", "softmax")
EVERYTHING = {
    "path": (
        *("candidate_kind", "hops", "candidate_port", "waiting", "candidate_packets", "candidate_congested"),
        *("candidate_vc_packets", "traffic", "candidate_hops", "vc", "age", "group_offset"),
    ),
    "port": (
        *("is_minimal", "hops", "queue_packets", "waiting", "credits_in_use", "vc", "link_class", "age"),
        *("traffic", "group_offset"),
    ),
}

CROSSINGS_AND_WAITS = (
    *("candidate_between_demand", "candidate_last_type_demand", "destination_group_minimal_demand"),
    *("candidate_waited_packets", "candidate_waited_age", "candidate_link_packets"),
    *("candidate_kind", "candidate_packets", "group_demand"),
)

MESSAGES = (
    *("candidate_between_demand_delayed", "candidate_last_type_demand_delayed", "group_demand_delayed"),
    *("destination_group_minimal_demand_delayed", "destination_group_demand_delayed"),
    *("candidate_link_packets_delayed", "candidate_link_queued_packets_delayed", "candidate_packets"),
)


def policy_of(config: dfe.SimulationConfig, **fields: Any) -> dfe.Policy:
    """A random network that fits."""
    if fields.get("scoring") != "all":
        return dfe.make_policy("mlp", weights=weights_file(**fields))
    fields = {"features": EVERYTHING[fields["action"]][:6], **fields}
    env = dfe.BatchedRoutingEnv(
        config,
        action=fields["action"],
        features=fields["features"],
        nonminimal_kinds=fields.get("nonminimal_kinds", ("lgl",)),
    )
    return dfe.make_policy("mlp", weights=weights_file(env=env, **fields))


def check_equal(config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float = 2000.0) -> dfe.Metrics:
    """Run both ways, from Python with one thread and with two."""
    alone = native(config, policy, duration_ns)
    for threads in (1, 2):
        env = dfe.BatchedRoutingEnv.for_policy(
            config.replace(threads=threads), policy, duration_ns=duration_ns
        )
        play(env, policy.reference(env))
        assert env.trace_hash() == alone.trace_hash()
    assert native(config.replace(threads=2), policy, duration_ns).trace_hash() == alone.trace_hash()
    return alone.metrics()


@pytest.mark.product(action=ACTIONS, scoring=SCORINGS, activation=ACTIVATIONS, output=OUTPUTS)
def test_core_and_reference_run_the_same_history(
    action: str, scoring: str, activation: str, output: str
) -> None:
    config = config_of(traffic="uniform", load=0.3)
    minimal = []
    for scope, seed in itertools.product(("source", "every"), (1, 2)):
        policy = policy_of(
            config,
            action=action,
            scoring=scoring,
            activation=activation,
            output=output,
            scope=scope,
            seed=seed,
            temperature=0.3,
            hidden_units=(13, 6),
        )
        minimal.append(check_equal(config, policy, 3000.0).minimal_fraction)
    assert min(minimal) < 1.0


@pytest.mark.parametrize("action", ACTIONS)
def test_a_network_sees_every_feature_and_every_kind_of_nonminimal_path(action: str) -> None:
    for network, decide_at in itertools.product(PRESETS, ("arrival", "head")):
        config = config_of(network=dfe.NetworkConfig.preset(network, decide_at=decide_at))
        policy = policy_of(
            config,
            action=action,
            features=EVERYTHING[action],
            nonminimal_kinds=("gl", "lgl", "g", "lg"),
            nonminimal_candidates=2,
            minimal_candidates=2,
            scale=tuple(float(3 * i % 5) for i in range(len(EVERYTHING[action]))),
            output="softmax",
            scope="every",
            max_hops=6,
            hidden_units=(40,),
        )
        check_equal(config, policy, 1000.0)


@pytest.mark.parametrize(
    ("scope", "network"), in_turn(("source", "every", "progressive", "progressive-busy"), PRESETS)
)
def test_a_second_stage_is_the_same_whether_all_is_drawn_before_or_not(scope: str, network: str) -> None:
    """The environment shows all non-minimal paths at once, the core draws the further ones where it needs them."""
    fields: dict[str, Any] = {
        "features": (*CROSSINGS_AND_WAITS, "traffic", "destination_group_demand"),
        "nonminimal_kinds": ("gl", "lgl", "g", "lg", *(("l",) if scope.startswith("progressive") else ())),
        "minimal_candidates": 2,
        "scope": scope,
        "hidden_units": (16, 16),
    }
    hashes = []
    for config in (
        config_of(network=network),
        config_of(network=network, topology=dfe.Dragonfly(2, 4, 2, 5)),
    ):
        for candidates, second_stage in ((1, False), (3, False), (3, True)):
            policy = policy_of(
                config, nonminimal_candidates=candidates, second_stage=second_stage, seed=1, **fields
            )
            assert 0 < check_equal(config, policy).minimal_fraction < 1
            hashes.append(native(config, policy, 2000.0).trace_hash())
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("feature", ["candidate_kind", "candidate_packets"])
def test_of_equals_the_lowest_is_taken_in_the_second_stage_too(feature: str) -> None:
    """All non-minimal paths of a kind look alike, or many ports are empty."""
    config = config_of(load=0.3)
    shares = []
    for seed in range(4):
        policy = policy_of(
            config,
            features=(feature,),
            nonminimal_kinds=("lgl", "g"),
            nonminimal_candidates=4,
            second_stage=True,
            hidden_units=(4,),
            seed=seed,
        )
        shares.append(check_equal(config, policy).minimal_fraction)
    assert min(shares) < 1  # some looked twice


@pytest.mark.parametrize("scope", ["source-all", "minimal-path", "progressive", "progressive-busy"])
def test_a_network_decides_where_the_modes_of_aries_do(scope: str) -> None:
    """Non-minimal paths inside groups are legal only where routers decide inside a group."""
    features = (
        "candidate_kind",
        "candidate_packets",
        "candidate_time_packets",
        "candidate_link_queued_packets",
    )
    kinds = ("lg", "g") if scope == "minimal-path" else ("lg", "g", "l")
    policy = policy_of(
        config_of(), features=features, scope=scope, nonminimal_kinds=kinds, output="softmax", seed=6
    )
    metrics = check_equal(config_of(load=0.5), policy)
    assert 0 < metrics.minimal_fraction < 1


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_network_reads_what_routers_count(scoring: str, action: str) -> None:
    """Per decision and per own action always; per group, router of the group and link in one pass for all actions."""
    features = ["hops", "destination_offered_packets", "nonminimal_level", "saturated_links"]
    if action == "path":
        features += ["candidate_kind", "candidate_link_packets"]
    if scoring == "all":
        features += ["offered_packets", "remote_packets", "link_packets"]
    config = config_of(load=0.6, network="lia")
    fields = {"features": tuple(features), "scope": "source", "nonminimal_kinds": ("lgl", "g"), "seed": 2}
    check_equal(config, policy_of(config, action=action, scoring=scoring, **fields))


@pytest.mark.parametrize("features", [CROSSINGS_AND_WAITS, MESSAGES])
def test_what_routers_receive_is_the_same_for_threads_slices_and_the_reference(
    features: tuple[str, ...],
) -> None:
    """Three partitions, which send each other acknowledgements; the policy reads all that is known of paths, or the
    messages of the group.
    """
    config = config_of(
        topology=dfe.Dragonfly(p=40, a=4, h=2), traffic="uniform", load=0.04, injection="poisson"
    )
    policy = policy_of(
        config,
        features=features,
        nonminimal_kinds=("g", "gl", "lg", "lgl"),
        output="softmax",
        scope="source",
        seed=4,
    )
    whole = native(config, policy, 3000.0)
    assert 0.1 < whole.metrics().minimal_fraction < 0.9
    for threads in (1, 2, 3):
        sliced = dfe.Simulation(config.replace(policy=policy, threads=threads))
        for _ in range(60):
            sliced.run(50.0)
        assert sliced.trace_hash() == whole.trace_hash()
        env = dfe.BatchedRoutingEnv.for_policy(config.replace(threads=threads), policy, duration_ns=3000.0)
        most = dict.fromkeys(features, 0.0)
        reference, batch = policy.reference(env), env.reset()
        while not env.done:
            for name in most:
                columns = env.layout[name].columns
                most[name] = max(most[name], float(np.asarray(batch.obs)[:, columns].max(initial=0)))
            batch = env.step(reference.act(batch))
        assert env.trace_hash() == whole.trace_hash()
        assert min(most.values()) > 0  # all of it was there to be seen


def test_nonminimal_paths_may_be_kept_out_of_the_destination_group_or_not() -> None:
    for avoid in (True, False):
        policy = dfe.make_policy(
            "mlp", weights=weights_file(nonminimal_kinds=("lgl", "lg"), seed=4), avoid_destination_group=avoid
        )
        check_equal(config_of(topology=dfe.Dragonfly(p=2, a=4, h=2, g=3)), policy)


def test_a_linear_network_that_copies_the_rule_of_ugal_decides_as_ugal() -> None:
    """``q_minimal > 2 q_detour`` as scores: minus q for minimal paths, minus 2 q for non-minimal paths. Where both
    start on one port UGAL looks at VCs; the runs differ there, but not by much.
    """
    wide = np.float32(64)
    first = np.array(
        [[1, 1], [0, 8 * wide]], dtype=np.float32
    )  # q, and q if the path takes a non-minimal path
    network = MlpNetwork(
        features=("candidate_packets", "candidate_kind"),
        layers=((first, np.array([0, -wide], dtype=np.float32)), (-np.ones((2, 1)), np.zeros(1))),
        scale=(1.0, 0.0),
    )
    policy = dfe.make_policy("mlp", weights=str(network.save(weights_file(seed=98) + ".ugal")))
    config = config_of(load=0.5)
    ours = native(config, policy, 10_000.0).metrics()
    ugal = native(config, dfe.make_policy("ugal-n"), 10_000.0).metrics()
    assert abs(ours.minimal_fraction - ugal.minimal_fraction) < 0.1
    assert abs(ours.latency_mean_ns / ugal.latency_mean_ns - 1) < 0.1
