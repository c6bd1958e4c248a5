"""``RouterVecEnv``: rounds, payments, masks and ends, compared with the batched environment underneath."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")

import dragonfly_env as dfe

SHORT: dict[str, Any] = {"duration_ns": 3_000.0, "warmup_ns": 500.0}
CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35, seed=3)


def choose(obs: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """A legal action that depends on what is seen only, so that the order of questions does not matter."""
    mixed = (obs * 64).astype(np.int64) @ np.arange(1, obs.shape[1] + 1)
    ranks = np.cumsum(mask, axis=1) - 1
    wanted = mixed % mask.sum(axis=1)
    return np.argmax(mask & (ranks == wanted[:, None]), axis=1)


def play(env: dfe.RouterVecEnv, observations: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """An episode of ``choose``: rewards of every round, and the last infos."""
    rewards = []
    while True:
        observations, rewarded, dones, infos = env.step(choose(observations, env.action_masks()))
        rewards.append(rewarded)
        if dones.any():
            assert dones.all()
            return rewards, infos


@pytest.mark.parametrize(
    "options",
    [{}, {"action": "path"}, {"scope": "all"}, {"scope": "source", "reward": "differential", "share": "all"}],
    ids=str,
)
def test_an_episode_is_that_of_the_batched_environment(options: dict[str, Any]) -> None:
    batched = dfe.BatchedRoutingEnv(CONFIG, **SHORT, **options)
    batch = batched.reset(seed=5)
    rewarded = np.zeros(batched.num_agents)
    decisions = 0
    while not batched.done:
        decisions += len(batch)
        batch = batched.step(choose(batch.obs, batch.mask))
        rewarded += batched.rewards_by_router()

    env = dfe.RouterVecEnv(CONFIG, illegal_action="raise", **SHORT, **options)
    env.seed(5)
    rewards, infos = play(env, env.reset())
    assert infos[0]["trace_hash"] == batched.trace_hash() != 0
    assert infos[0]["decisions"] == decisions
    assert infos[0]["simulated_ns"] == batched.time_ns
    assert infos[0]["metrics"].to_dict() == batched.metrics().to_dict()
    assert np.sum(rewards, axis=0, dtype=np.float64) == pytest.approx(rewarded, rel=1e-5, abs=1e-4)


def test_a_round_takes_the_earliest_packet_of_each_router() -> None:
    batched = dfe.BatchedRoutingEnv(CONFIG, **SHORT)
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    env.seed(5)
    observations, batch = env.reset(), batched.reset(seed=5)
    for _ in range(20):
        taken = np.full(len(batch), -1)
        for turn in range(int(np.bincount(batch.agents).max())):
            # (n,) row of each router with `turn` earlier rows of the router
            rows = [
                rows[np.argsort(batch.time_ns[rows], kind="stable")[turn]]
                for rows in map(np.flatnonzero, batch.agents == np.arange(36)[:, None])
                if len(rows) > turn
            ]
            agents = batch.agents[rows]
            masks = env.action_masks()
            assert np.array_equal(observations[agents], batch.obs[rows])
            assert np.array_equal(masks[agents, :-1], batch.mask[rows])
            assert not masks[agents, -1].any()
            idle = np.setdiff1d(np.arange(36), agents)
            assert masks[idle, -1].all()
            assert masks[idle].sum() == len(idle)
            actions = choose(observations, masks)
            taken[rows] = actions[agents]
            observations, rewards, _, infos = env.step(actions)
            assert [info["illegal_actions"] for info in infos] == [0] * 36
            if not (taken >= 0).all():
                assert not rewards.any()
        batch = batched.step(taken)


def test_the_end_of_an_episode_is_told_and_the_next_one_begins() -> None:
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    hashes = []
    observations = env.reset()
    first = observations.copy()
    for _ in range(3):
        _, infos = play(env, observations)
        for info in infos:
            assert info["TimeLimit.truncated"] is True
            assert info["terminal_observation"].shape == env.observation_space.shape
            assert env.observation_space.contains(info["terminal_observation"])
        hashes.append(infos[0]["trace_hash"])
        observations, _, _, _ = env.step(np.full(36, env.action_space.n - 1))
    assert len(set(hashes)) == 3
    again = dfe.RouterVecEnv(CONFIG, **SHORT)
    assert np.array_equal(again.reset(), first)


def test_illegal_actions_are_counted_and_replaced_by_minimal_ones() -> None:
    env, minimal = dfe.RouterVecEnv(CONFIG, **SHORT), dfe.RouterVecEnv(CONFIG, **SHORT)
    env.reset()
    minimal.reset()
    idle = env.action_space.n - 1
    for _ in range(30):
        masks = env.action_masks()
        waiting = ~masks[:, idle]
        # Idle where a packet waits, and something where none does: all of it is illegal.
        _, rewards, _, infos = env.step(np.where(waiting, idle, 0))
        actions = np.full(36, idle)
        rounds = minimal._rounds
        assert rounds is not None
        actions[rounds.acting] = rounds.batch.minimal_actions()
        _, same, _, _ = minimal.step(actions)
        assert np.array_equal(rewards, same)
    assert [info["illegal_actions"] for info in infos] == [30] * 36
    assert env.core.trace_hash() == minimal.core.trace_hash()


def test_illegal_actions_may_be_refused_and_change_nothing() -> None:
    env, left = (dfe.RouterVecEnv(CONFIG, illegal_action="raise", **SHORT) for _ in range(2))
    env.reset()
    observations = left.reset()
    masks = env.action_masks()
    router = int(np.flatnonzero(~masks[:, -1])[0])
    actions = choose(observations, masks)
    wrong = actions.copy()
    wrong[router] = 5
    with pytest.raises(
        dfe.IllegalActionError,
        match=rf"^router_{router}: action 5 is illegal \(decision \d+\): must be one of \[",
    ):
        env.step(wrong)
    assert np.array_equal(env.step(actions)[0], left.step(actions)[0])


@pytest.mark.parametrize(
    "actions",
    [np.zeros(35, int), np.zeros((36, 1), int), np.full(36, 6), np.full(36, -1), 3],
    ids=lambda actions: str(actions).replace("\n", "")[:12],
)
def test_what_is_no_action_is_refused(actions: Any) -> None:
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    env.reset()
    with pytest.raises(dfe.IllegalActionError, match="action"):
        env.step(actions)
    env.step(np.full(36, 5))


@pytest.mark.parametrize(
    "options",
    [{"pattern": 0.1}, {"load": 7}, [{"load": 0.1}] * 36],
    ids=str,
)
def test_what_are_no_options_is_refused_when_they_are_set(options: Any) -> None:
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    env.set_options({"load": 0.2})
    with pytest.raises(dfe.ConfigError, match=r"^(options|load)"):
        env.set_options(options)
    env.reset()
    assert env.core.config.load == 0.2, "what was said before still holds"
    env.reset()
    assert env.core.config.load == CONFIG.load
    for given in ([{"load": 0.3}], None, {}):
        env.set_options(given)
    with pytest.raises(dfe.ConfigError, match=r"^seed = -1"):
        env.seed(-1)


def test_seeds_and_options_count_from_the_next_automatic_reset() -> None:
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    seen = env.reset()
    env.seed(8)
    env.set_options({"load": 0.2})
    assert (env.core.seed, env.core.config.load) == (CONFIG.seed, CONFIG.load)
    play(env, seen)
    assert (env.core.seed, env.core.config.load) == (8, 0.2)
    env.set_options({"seed": 9})
    env.seed(10)
    play(env, env.action_masks() * 0.0)
    assert (env.core.seed, env.core.config.load) == (9, CONFIG.load), "a seed among the options goes first"


def test_infos_count_what_was_generated_and_delivered() -> None:
    env = dfe.RouterVecEnv(CONFIG, duration_ns=2_000.0)
    seen, done = env.reset(), False
    counts = np.zeros(2, np.int64)
    while not done:
        seen, _, dones, infos = env.step(choose(seen, env.action_masks()))
        counts += [sum(info[name] for info in infos) for name in ("generated", "delivered")]
        done = bool(dones.any())
    metrics = infos[0]["metrics"]
    assert counts.tolist() == [metrics.packets_generated, metrics.packets_delivered]


def test_slots_have_attributes_of_their_own() -> None:
    env = dfe.RouterVecEnv(CONFIG, **SHORT)
    env.reset()
    masks = env.action_masks()
    assert env.has_attr("action_masks")
    assert not env.has_attr("action_mask")
    assert np.array_equal(np.stack(env.env_method("action_masks")), masks)
    assert np.array_equal(env.env_method("action_masks", indices=7)[0], masks[7])
    assert np.array_equal(env.get_attr("action_masks", [3, 4])[1](), masks[4])
    assert env.get_attr("render_mode") == [None] * 36
    assert env.env_is_wrapped(object, [1, 2]) == [False, False]
    with pytest.raises(AttributeError, match="one network"):
        env.set_attr("load", 0.1)


def run_python(code: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout


def test_a_missing_extra_is_named() -> None:
    missing = "import sys\nsys.modules['stable_baselines3'] = None\n"
    use = "try:\n    import dragonfly_env; dragonfly_env.RouterVecEnv\nexcept ImportError as error:\n    print(error)"
    assert "pip install '.[sb3]'" in run_python(missing + use)
