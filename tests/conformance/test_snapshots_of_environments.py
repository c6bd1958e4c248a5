"""Environments are copied and pickled in the middle of an episode, and go on bit for bit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.envs.packet import PacketRouting
from tests.products import in_turn

CONFIG = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.35, injection="poisson", seed=11)
SHORT: dict[str, Any] = {"duration_ns": 3_000.0, "warmup_ns": 500.0}


class Extended(dfe.BatchedRoutingEnv):
    """An environment of a user, with a constructor of its own."""

    def __init__(self, load: float) -> None:
        super().__init__(CONFIG.replace(load=load), duration_ns=3_000.0)


def seen_of(value: Any) -> Any:
    """Comparable parts of an environment."""
    if isinstance(value, dict):
        return {name: seen_of(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [seen_of(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return repr(value.to_dict())
    return repr(value) if isinstance(value, float) else value


class Batches:
    """The batched environment, with random legal actions that belong to the decisions."""

    steps = 12

    def begin(self, env: Any) -> None:
        env.reset(seed=4)

    def step(self, env: Any, number: int) -> Any:
        batch = env.pending
        if env.done:
            return "done"
        weights = batch.mask * (1 + np.arange(batch.mask.shape[1]) * batch.draws[:, :1])
        batch = env.step(weights.argmax(axis=1))
        shown: list[Any] = [batch.obs, batch.decision_ids, env.state(0), env.trace_hash(0), env.metrics(0)]
        if env.reward != "delivery":
            shown += [env.rewards_by_router(), *env.packets_by_router()]
        if env.options.transitions:
            moved = env.transitions()
            shown += [moved.decision_ids, moved.obs, moved.next_obs, moved.rewards]
        if env.options.feedback:
            shown.append(env.feedback().decision_ids)
        return seen_of(shown)


class Rounds:
    steps = 40

    def begin(self, env: Any) -> None:
        env.reset(seed=4)

    def step(self, env: Any, number: int) -> Any:
        if not env.agents:
            return "done"
        idle = env.unwrapped._idle if hasattr(env.unwrapped, "_idle") else 0
        actions = dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True))
        if number % 5 == 2 and actions:
            actions[next(iter(actions))] = idle  # illegal: remapped, and counted
        return seen_of([env.step(actions), env.state(), env.core.trace_hash()])


class Turns(Rounds):
    steps = 150

    def step(self, env: Any, number: int) -> Any:
        if not env.agents:
            return "done"
        seen = env.last()
        agent = env.agent_selection
        over = seen[2] or seen[3]
        action = None if over else int(env.unwrapped.selected_batch.minimal_actions()[0])
        if number % 7 == 3 and not over:
            action = env.unwrapped._idle
        env.step(action)
        return seen_of([agent, seen, dict(env.infos), dict(env.rewards), env.agents])


class Gym:
    steps = 14

    def begin(self, env: Any) -> None:
        env.reset(seed=4)

    def step(self, env: Any, number: int) -> Any:
        inner = env.unwrapped
        shown = env.step(int(inner.action_masks().argmax()) if number % 4 else 0)
        following = env.reset() if shown[2] or shown[3] else None
        return seen_of([shown, following, inner.core.trace_hash()])


class Slots:
    steps = 30

    def begin(self, env: Any) -> None:
        env.seed(4)
        env.reset()

    def step(self, env: Any, number: int) -> Any:
        return seen_of([env.step(env.action_masks().argmax(axis=1)), env.core.trace_hash()])


def vector() -> Any:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    return dfe.RouterVecEnv(CONFIG, **SHORT)


KINDS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "batched": (Batches(), lambda: dfe.BatchedRoutingEnv(CONFIG, duration_ns=3_000.0, feedback=True)),
    "paths": (
        Batches(),
        lambda: dfe.BatchedRoutingEnv(CONFIG, scope="source", action="path", reward="delivery", **SHORT),
    ),
    "features": (
        Batches(),
        lambda: dfe.BatchedRoutingEnv.for_policy(
            CONFIG.replace(network="lia"),
            dfe.make_policy("lia"),
            reward="differential",
            transitions=False,
            **SHORT,
        ),
    ),
    "partitions": (  # partitions are at different times while decisions are pending
        Batches(),
        lambda: dfe.BatchedRoutingEnv(CONFIG.replace(topology="1056", threads=2), duration_ns=1_500.0),
    ),
    "several": (Batches(), lambda: dfe.BatchedRoutingEnv([CONFIG, CONFIG.replace(load=0.2)], **SHORT)),
    "jobs in batches": (
        Batches(),
        lambda: dfe.BatchedRoutingEnv(
            dfe.SimulationConfig(
                topology="72", jobs=[dfe.Job("milc:scale=0.02,gap_ns=100", hosts=8, placement="random")]
            ),
            duration_ns=4_000.0,
        ),
    ),
    "extended": (Batches(), lambda: Extended(0.2)),
    "parallel": (Rounds(), lambda: dragonfly_v0.parallel_env(CONFIG, **SHORT)),
    "parallel, few rounds": (Rounds(), lambda: dragonfly_v0.parallel_env(CONFIG, max_cycles=25, **SHORT)),
    "aec": (Turns(), lambda: dragonfly_v0.env(CONFIG, **SHORT)),
    "aec, few rounds": (Turns(), lambda: dragonfly_v0.raw_env(CONFIG, max_cycles=2, **SHORT)),
    "packet": (Gym(), lambda: PacketRouting(CONFIG, background="ugal-n", **SHORT)),
    "made": (Gym(), lambda: gymnasium.make("dragonfly_env/PacketRouting-v0", **SHORT)),
    "vector": (Slots(), vector),
}


def in_a_file(env: dfe.BatchedRoutingEnv, folder: Path) -> dfe.BatchedRoutingEnv:
    env.snapshot().save(folder / "env")
    return type(env).restore(dfe.Snapshot.load(folder / "env"))


WAYS: dict[str, Callable[[Any, Path], Any]] = {
    "pickle": lambda env, _: pickle.loads(pickle.dumps(env)),
    "deepcopy": lambda env, _: copy.deepcopy(env),
}
WAYS_OF_BATCHES = {
    **WAYS,
    "copy": lambda env, _: copy.copy(env),
    "restore": lambda env, _: type(env).restore(env.snapshot()),
    "fork": lambda env, _: env.fork(),
    "file": in_a_file,
}


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *in_turn(
            [kind for kind, (driver, _) in KINDS.items() if isinstance(driver, Batches)],
            [*WAYS_OF_BATCHES],
            2,
        ),
        *in_turn([kind for kind, (driver, _) in KINDS.items() if not isinstance(driver, Batches)], [*WAYS]),
    ],
)
def test_a_copy_goes_on_as_the_original_does(kind: str, way: str, tmp_path: Path) -> None:
    driver, make = KINDS[kind]
    whole = make()
    driver.begin(whole)
    for number in range(driver.steps // 2):
        driver.step(whole, number)
    copied = WAYS_OF_BATCHES[way](whole, tmp_path)
    for number in range(driver.steps // 2, driver.steps):
        assert driver.step(copied, number) == driver.step(whole, number), number


@pytest.mark.parametrize("kind", KINDS)
def test_later_episodes_of_a_copy_are_those_of_the_original(kind: str) -> None:
    driver, make = KINDS[kind]
    whole = make()
    begun = []
    for _ in range(2):  # once before the first episode, once in the middle of one
        copied = copy.deepcopy(whole)
        again = copy.deepcopy(copied)
        shown = []
        for env in (whole, copied, again):
            env.reset()
            shown.append([driver.step(env, number) for number in range(driver.steps // 2)])
        assert shown[0] == shown[1] == shown[2]
        begun.append(shown[0])
    assert begun[0] != begun[1]


def test_a_fork_of_an_environment_may_have_another_future() -> None:
    whole = dfe.BatchedRoutingEnv(CONFIG.replace(traffic="uniform"), duration_ns=4_000.0)
    driver = Batches()
    driver.begin(whole)
    for number in range(6):
        driver.step(whole, number)
    same, other, seeded = whole.fork(), whole.fork(traffic="adv+1", load=0.6), whole.fork(seed=99)
    for env in (same, other, seeded, whole):
        number = 0
        while not env.done:
            driver.step(env, number)
            number += 1
    hashes = [env.trace_hash() for env in (whole, same, other, seeded)]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    assert other.metrics().packets_generated > whole.metrics().packets_generated
    assert (other.config.traffic, other.config.load, seeded.seed) == ("adv+1", 0.6, 99)


def test_nothing_can_be_changed_in_an_episode_that_has_not_begun() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG)
    assert env.fork().seed == env.seed
    with pytest.raises(dfe.StateError, match=r"call reset\(\) first"):
        env.fork(traffic="uniform")


def test_an_environment_of_a_function_is_copied_but_not_saved_to_a_file(tmp_path: Path) -> None:
    env = dfe.BatchedRoutingEnv(lambda seed: CONFIG.replace(load=seed % 7 / 10 + 0.1), duration_ns=1_000.0)
    env.reset(seed=3)
    copied = env.fork()
    hashes = []
    for environment in (env, copied):
        environment.reset()
        while not environment.done:
            environment.step(environment.pending.minimal_actions())
        hashes.append((environment.config.load, environment.trace_hash()))
    assert hashes[0] == hashes[1]
    with pytest.raises(dfe.ConfigError, match="cannot be written to a file"):
        env.snapshot().save(tmp_path / "env")


def test_a_snapshot_is_of_its_class() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^snapshot = 'environment': must be .*'simulation'"):
        dfe.Simulation.restore(dfe.BatchedRoutingEnv(CONFIG).snapshot())
    with pytest.raises(dfe.StateError, match="pickle or copy"):
        PacketRouting(CONFIG).core.snapshot()
    with pytest.raises(dfe.ConfigError, match=r"^snapshot = 'simulation': must be .*'environment'"):
        dfe.BatchedRoutingEnv.restore(dfe.Simulation(CONFIG).snapshot())
