"""``decide_at="attempt"`` and ``"retry-same-paths"``: heads of hosts' queues that are refused decide anew."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines import mlp
from tests.ready import ready


def simulation(policy: str, **changes: Any) -> dfe.Simulation:
    decide_at = changes.pop("decide_at", "attempt")
    settings: dict[str, Any] = {"traffic": "adv+1", "load": 0.9, "seed": 5}
    settings["topology"] = dfe.Dragonfly.preset("72")
    chosen = changes.pop("chosen", None) or ready(policy)
    network = dfe.NetworkConfig.preset(changes.pop("network", "lia"), decide_at=decide_at)
    return dfe.Simulation(dfe.SimulationConfig(policy=chosen, network=network, **{**settings, **changes}))


@pytest.mark.parametrize("policy", ["lia", "ugal-n", "val-n"])
def test_where_nothing_is_ever_refused_it_is_the_same_as_at_the_head(policy: str) -> None:
    hashes = set()
    for decide_at in ("head", "attempt", "retry-same-paths"):
        # So little, and not in phase, that no two packets want one port of a crossbar.
        few = {"load": 0.001, "traffic": "uniform", "injection": "bernoulli"}
        run = simulation(policy, decide_at=decide_at, **few)
        run.run(20_000)
        hashes.add(run.trace_hash())
    assert len(hashes) == 1


def test_a_blocked_head_finds_another_way_round() -> None:
    """A quarter of the non-minimal paths of a router starts with the port towards the congested minimal link; a head
    that keeps such a non-minimal path keeps its host from all others. (So it is where credits in use count as queued.)
    """
    accepted = {}
    tpr = dfe.make_policy("tpr", congestion_metric="occupancy")
    for decide_at in ("head", "attempt"):
        run = simulation(
            "tpr", chosen=tpr, decide_at=decide_at, topology=dfe.Dragonfly.preset("1056"), load=0.7
        )
        run.run(8_000)
        run.reset_statistics()
        run.run(3_000)
        accepted[decide_at] = run.metrics().accepted_load
    assert accepted["attempt"] > 0.45 > 0.35 > accepted["head"]


def test_with_the_same_nonminimal_path_it_is_the_choice_that_is_made_anew() -> None:
    """``pb`` receives signals of congested links while a head waits."""
    hashes = set()
    for decide_at in ("head", "attempt", "retry-same-paths"):
        run = simulation("pb", decide_at=decide_at, traffic="adv+2")
        run.run(10_000)
        hashes.add(run.trace_hash())
    assert len(hashes) == 3


def own_decision(policy: str) -> str:
    """Rule of the policy for ``by-policy``."""
    if policy == "lia":
        return "attempt"
    once = policy in ("acor", "pb-acor", "mlp", *mlp.SHIPPED) or ready(policy).learns
    return "head" if once else "retry-same-paths"


@pytest.mark.parametrize("policy", dfe.policies())
def test_each_policy_can_decide_in_its_own_way(policy: str) -> None:
    hashes = {}
    for decide_at in ("by-policy", own_decision(policy), "attempt"):
        run = simulation(policy, decide_at=decide_at, traffic="adv+2")
        run.run(1_500)
        hashes[decide_at] = run.trace_hash()
    assert hashes["by-policy"] == hashes[own_decision(policy)]
    assert policy in ("lia", "min") or hashes["by-policy"] != hashes["attempt"]


@pytest.mark.parametrize(("policy", "same"), [("lia", "attempt"), ("pb-acor", "head")])
def test_the_packets_of_a_job_decide_in_the_way_of_its_policy(policy: str, same: str) -> None:
    """``min``, which routes the other packets, has nothing to decide."""
    hashes = {}
    for decide_at in ("by-policy", "head", "retry-same-paths", "attempt"):
        jobs = [dfe.Job("all-to-all:message_bytes=700", hosts=36, placement="random", policy=policy)]
        run = simulation("min", decide_at=decide_at, jobs=jobs, traffic="adv+1", load=0.3)
        run.run_to_completion()
        hashes[decide_at] = run.trace_hash()
    assert hashes.pop("by-policy") == hashes.pop(same)
    assert len(set(hashes.values()) - {hashes.get(same)}) == 2


def test_an_environment_decides_once_where_it_is_left_to_the_policy() -> None:
    hashes = set()
    for decide_at in ("by-policy", "head"):
        env = dfe.BatchedRoutingEnv(simulation("min", decide_at=decide_at).config)
        batch = env.reset(seed=3)
        for _ in range(400):
            batch = env.step(batch.mask.argmax(axis=1))
        hashes.add(env.trace_hash())
    assert len(hashes) == 1
