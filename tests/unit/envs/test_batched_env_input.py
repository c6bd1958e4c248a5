"""``BatchedRoutingEnv``: illegal actions, impossible settings, and calls out of order."""

from __future__ import annotations

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.unit.small_env import config, make, play


def test_an_illegal_action_names_agent_decision_and_what_is_legal_and_changes_nothing() -> None:
    env = make()
    batch = env.reset(seed=2)
    row = int(np.flatnonzero(~batch.mask.all(axis=1))[0]) if not batch.mask.all() else 0
    wrong = batch.minimal_actions()
    for action in (env.num_actions, -1, 10**12):
        wrong[row] = action
        with pytest.raises(dfe.IllegalActionError) as caught:
            env.step(wrong)
        text = str(caught.value)
        assert f"actions[{row}] = {action}" in text
        assert f"router_{batch.agents[row]}" in text
        assert str(batch.decision_ids[row]) in text
    assert env.pending is batch
    play(env, batch)
    other = make()
    play(other, other.reset(seed=2))
    assert env.trace_hash() == other.trace_hash()


def test_a_masked_action_is_illegal() -> None:
    env = make(action="port", max_hops=3)
    batch = env.reset()
    row, action = (int(x[0]) for x in np.nonzero(~batch.mask))
    wrong = batch.minimal_actions()
    wrong[row] = action
    with pytest.raises(dfe.IllegalActionError, match="may choose for decision"):
        env.step(wrong)


@pytest.mark.parametrize(
    "bad",
    [
        lambda n: np.zeros(n + 1, dtype=np.int64),
        lambda n: np.zeros((n, 1), dtype=np.int64),
        lambda n: np.zeros(0, dtype=np.int64),
        lambda n: np.zeros(n, dtype=np.float64),
        lambda n: np.zeros(n, dtype=bool),
    ],
)
def test_wrong_shapes_and_types_are_refused(bad) -> None:  # noqa: ANN001 - a way to build nonsense
    env = make()
    batch = env.reset()
    with pytest.raises(dfe.IllegalActionError, match="actions"):
        env.step(bad(len(batch)))
    env.step(batch.minimal_actions().astype(np.int8))  # any integers will do
    assert env.pending is not batch


def test_calls_out_of_order_are_refused() -> None:
    env = make()
    for call in (
        lambda: env.step([]),
        env.transitions,
        lambda: env.drain(),
        lambda: env.extend(1.0),
        lambda: env.pending,
    ):
        with pytest.raises(dfe.StateError, match="reset"):
            call()
    batch = env.reset()
    for call in (lambda: env.drain(), lambda: env.extend(1.0)):
        with pytest.raises(dfe.StateError):
            call()
    play(env, batch)
    with pytest.raises(dfe.StateError, match="over"):
        env.step([])
    with pytest.raises(dfe.ConfigError, match="duration_ns"):
        env.extend(-1.0)
    with pytest.raises(dfe.ConfigError, match=r"^duration_ns = .*the clock ends"):
        env.extend(1e15)
    env.drain()
    for call in (lambda: env.drain(), lambda: env.extend(1.0), lambda: env.step([])):
        with pytest.raises(dfe.StateError):
            call()
    assert len(env.reset()) > 0  # the environment works again
    assert len(env.reset()) > 0  # a reset in the middle of an episode
    with pytest.raises(dfe.StateError, match="packet_log"):
        env.packet_log()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("scope", "some"), ("action", "ports"), ("reward", "hops"), ("duration_ns", 0.0)),
        *(("duration_ns", float("nan")), ("warmup_ns", -1.0), ("features", "hops")),
        *(("features", ["hop"]), ("features", []), ("reward_scale_ns", 0.0), ("max_hops", 2)),
        ("nonminimal_kinds", "lgl"),
        ("nonminimal_kinds", ["lgl", "lgl"]),
        *(("nonminimal_kinds", ["glg"]), ("minimal_candidates", 0), ("gateways", "all")),
        *(("num_random", -1), ("max_uncollected_bytes", -1)),
    ],
)
def test_nonsense_settings_are_refused_by_name(option: str, value: object) -> None:
    with pytest.raises(dfe.ConfigError, match=option):
        make(**{option: value})


def test_other_bad_arguments() -> None:
    with pytest.raises(dfe.ConfigError, match="config"):
        dfe.BatchedRoutingEnv("72")
    env = make()
    for seed in (-1, 2**64):
        with pytest.raises(dfe.ConfigError, match="seed"):
            env.reset(seed=seed)
    narrow = config(network=dfe.NetworkConfig(local_vcs=4, global_vcs=4))
    assert dfe.BatchedRoutingEnv(narrow).options.hops(narrow.network, narrow.topology) == 4
    with pytest.raises(dfe.ConfigError, match="max_hops"):
        dfe.BatchedRoutingEnv(narrow, max_hops=5)


def test_transitions_that_no_one_takes_are_given_up_openly() -> None:
    env = make(max_uncollected_bytes=50_000)
    play(env, env.reset())
    with pytest.raises(dfe.StateError, match="max_uncollected_bytes"):
        env.transitions()
    env.reset()
    assert len(env.transitions()) == 0
    off = make(transitions=False)
    play(off, off.reset())
    with pytest.raises(dfe.StateError, match="transitions=False"):
        off.transitions()


def test_routers_without_ports_have_no_decisions_and_an_episode_of_theirs_ends() -> None:
    env = dfe.BatchedRoutingEnv(config(topology=dfe.Dragonfly(2, 1, 0), traffic="uniform"), duration_ns=500)
    batch = env.reset()
    assert batch.mask.shape == (0, 0)
    assert batch.minimal_actions().tolist() == []
    env.drain()
    assert env.done
