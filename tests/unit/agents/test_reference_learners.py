"""The reference implementations of the learners: their use, and what they refuse. ``tests/parity`` compares with the
core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import Policy, QAdaptive, QRouting

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.5, seed=7)
LEARNERS = [QAdaptive(epsilon=0.1), QRouting(epsilon=0.1)]


def make(learner: Any, duration_ns: float = 2_000.0, **options: Any) -> dfe.BatchedRoutingEnv:
    return dfe.BatchedRoutingEnv.for_policy(CONFIG, learner, duration_ns=duration_ns, **options)


def play(env: dfe.BatchedRoutingEnv, reference: Any) -> None:
    batch = env.reset(seed=7)
    while not env.done:
        batch = env.step(reference.act(batch))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_reference_is_a_policy_and_names_its_environment(learner: Any) -> None:
    env = make(learner)
    reference = learner.reference(env)
    assert isinstance(reference, Policy)
    assert (reference.name, reference.scope, reference.action) == (learner.name, "all", "port")
    assert reference.env_options() == learner.env_options()
    assert env.options.feedback is True
    batch = env.reset()
    actions = reference.act(batch)
    assert (actions.shape, actions.dtype) == ((len(batch),), np.int64)
    assert batch.mask[np.arange(len(batch)), actions].all()
    assert reference.act(batch.rows(slice(0, 0))).shape == (0,)


def test_parameters_alone_do_not_answer_and_say_who_does() -> None:
    for learner in LEARNERS:
        with pytest.raises(dfe.StateError, match=r"inside the core.*reference\(env\)"):
            learner.act(make(learner).reset())


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_are_read_only_and_those_of_the_present_instant(learner: Any) -> None:
    env = make(learner)
    reference = learner.reference(env)
    with pytest.raises(ValueError, match="read-only"):
        reference.table[0, 0, 0] = 1.0
    batch = env.reset(seed=7)
    seen = []
    while not env.done:
        batch = env.step(reference.act(batch))
        seen.append(reference.table.copy())  # looking changes nothing
    unseen = make(learner)
    other = learner.reference(unseen)
    play(unseen, other)
    assert unseen.trace_hash() == env.trace_hash()
    np.testing.assert_array_equal(other.table, seen[-1])
    assert (seen[0] != seen[-1]).any()


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


def test_too_much_feedback_is_said_and_not_learnt_from_in_part() -> None:
    learner = LEARNERS[0]
    env = make(learner, max_uncollected_bytes=2_000)
    reference = learner.reference(env)
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
    with pytest.raises(dfe.StateError, match="max_uncollected_bytes"):
        reference.act(batch)
