"""``Simulation.set_policy``: another policy in the middle of a run."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe


def simulation(policy: Any = "ugal-n", **changes: Any) -> dfe.Simulation:
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.3, policy=policy
    )
    return dfe.Simulation(config.replace(**changes))


def test_from_then_on_the_new_policy_decides() -> None:
    biased = dfe.make_policy("ugal-n", bias_packets=1e6)
    changed, left = simulation(), simulation()
    for each in (changed, left):
        each.run(10_000)
        each.reset_statistics()
    before = changed.trace_hash()
    assert before == left.trace_hash()
    changed.set_policy(biased)
    assert changed.trace_hash() == before
    for each in (changed, left):
        each.run(10_000)
    assert changed.metrics().minimal_fraction > left.metrics().minimal_fraction + 0.2
    assert changed.config.policy == biased
    assert changed.drain()
    changed.check_invariants()


def test_the_time_of_the_change_counts_and_threads_do_not() -> None:
    biased = dfe.make_policy("par", bias_packets=30)

    def run(change_ns: float, threads: int) -> int:
        changed = simulation("par", threads=threads, seed=5)
        changed.run(change_ns)
        changed.set_policy(biased)
        changed.run(8000 - change_ns)
        return changed.trace_hash()

    assert run(3000, 1) == run(3000, 2) != run(3100, 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ugal-n", "par"),
        ("min", "val-n"),
        ("val-g", "val-n"),
        ("ugal-n", "q-adaptive"),
        ("q-adaptive", "min"),
    ],
)
def test_a_policy_with_other_needs_is_refused_and_nothing_changes(first: str, second: str) -> None:
    changed, left = simulation(first), simulation(first)
    changed.run(2000)
    with pytest.raises(
        dfe.ConfigError, match=f"^policy = '{second}': must learn nothing and need no other paths"
    ):
        changed.set_policy(second)
    assert changed.config.policy == first
    changed.run(2000)
    left.run(4000)
    assert changed.trace_hash() == left.trace_hash()


@pytest.mark.parametrize(("first", "second"), [("ugal-n", "min"), ("ugal-n", "ugal-g"), ("par", "val-n")])
def test_a_policy_that_needs_fewer_paths_may_take_over(first: str, second: str) -> None:
    changed = simulation(first)
    changed.run(2000)
    changed.set_policy(second)
    assert changed.config.policy == second
    changed.run(2000)
    assert changed.drain()
    changed.check_invariants()


@pytest.mark.parametrize("second", ["min", "par", "pb", "acor", "tpr", "lia", "ad2"])
def test_policies_that_were_named_beforehand_may_take_over(second: str) -> None:
    config = dfe.SimulationConfig(topology="72", network="lia", traffic="adv+1", load=0.3)
    changed = dfe.Simulation(config, allowed_policies=[second])
    changed.run(3000)
    changed.set_policy(second)
    changed.run(3000)
    assert changed.drain()
    changed.check_invariants()
