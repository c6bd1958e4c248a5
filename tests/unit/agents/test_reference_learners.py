"""The reference implementations of the learners as policies; ``tests/parity`` compares them with the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.5, seed=7)
LEARNERS = [dfe.make_policy("q-adaptive", epsilon=0.1), dfe.make_policy("q-routing", epsilon=0.1)]


def make(learner: Any, duration_ns: float = 2_000.0, **options: Any) -> dfe.BatchedRoutingEnv:
    return dfe.BatchedRoutingEnv.for_policy(CONFIG, learner, duration_ns=duration_ns, **options)


def play(env: dfe.BatchedRoutingEnv, reference: Any) -> None:
    batch = env.reset(seed=7)
    while not env.done:
        batch = env.step(reference.act(batch))


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_go_on_in_the_next_episode_as_if_they_had_been_loaded(learner: Any) -> None:
    env = make(learner)
    reference = learner.reference(env)
    play(env, reference)
    after_one = reference.table.copy()
    play(env, reference)
    alone = dfe.Simulation(CONFIG.replace(policy=learner))
    alone.load_q_table(after_one)
    alone.run(2_000.0)
    assert env.trace_hash() == alone.trace_hash()
    np.testing.assert_array_equal(reference.table, alone.q_table())
