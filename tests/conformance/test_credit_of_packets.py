"""Views hand out what became of each decision: the transitions of the batched environment, to the bit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.decisions.batch import Outcomes
from dragonfly_env.envs.packet import PacketRouting

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.6, seed=4)
VARIANTS: dict[str, Any] = {
    "ports": {},
    "paths": {"scope": "source", "action": "path", "share": "group"},
    "forced hops too": {"scope": "all", "reward": "differential"},
}
CONFIGS: dict[str, Any] = {
    "one network": CONFIG,
    "two networks": [CONFIG, CONFIG.replace(traffic="uniform", load=0.3)],
}
Row = tuple[int, int, float, int, bool]


def rows_of(router: int, outcomes: Outcomes) -> list[Row]:
    columns = (outcomes.decision_ids, outcomes.rewards, outcomes.next_decision_ids, outcomes.truncated)
    return [(router, *row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def expected(configs: Any, settings: dict[str, Any]) -> Iterator[list[Row]]:
    """The transitions of the batched environment, batch by batch, if all packets go minimally."""
    env = dfe.BatchedRoutingEnv(configs, duration_ns=1_500.0, **settings)
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())
        found = env.transitions()
        routers = env.first_agents[found.scenario] + found.agents
        columns = (found.decision_ids, found.rewards, found.next_decision_ids, found.truncated)
        yield sorted(zip(routers.tolist(), *(column.tolist() for column in columns), strict=True))


def parallel(configs: Any, settings: dict[str, Any]) -> Iterator[list[Row]]:
    env = dragonfly_v0.parallel_env(configs, duration_ns=1_500.0, illegal_action="raise", **settings)
    env.reset()
    while env.agents:
        batch = env.core.pending
        infos = env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True)))[4]
        found = [row for i, info in enumerate(infos.values()) for row in rows_of(i, info["completed"])]
        if env.core.pending is batch and env.agents:
            assert not found, "simulated time did not go on"
        else:
            yield found


def slots(configs: Any, settings: dict[str, Any]) -> Iterator[list[Row]]:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    env = dfe.RouterVecEnv(configs, duration_ns=1_500.0, illegal_action="raise", **settings)
    env.reset()
    done = False
    while not done:
        rounds, batch = env._rounds, env.core.pending
        assert rounds is not None
        actions = np.full(env.num_envs, env.core.num_actions)
        actions[rounds.acting] = rounds.batch.minimal_actions()
        _, _, dones, infos = env.step(actions)
        done = bool(dones[0])
        if env.core.pending is not batch:
            yield [row for i, info in enumerate(infos) for row in rows_of(i, info["completed"])]


@pytest.mark.parametrize("configs", CONFIGS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("view", [parallel, slots])
def test_a_step_has_the_transitions_of_its_batch(view: Any, variant: str, configs: str) -> None:
    given = CONFIGS[configs], VARIANTS[variant]
    steps = 0
    for here, there in zip(view(*given), expected(*given), strict=True):
        assert here == there
        steps += 1
    assert steps > 10


@pytest.mark.parametrize("configs", CONFIGS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_turns_of_a_router_have_its_transitions_since_it_acted_last(variant: str, configs: str) -> None:
    settings = VARIANTS[variant]
    env = dragonfly_v0.raw_env(CONFIGS[configs], duration_ns=1_500.0, illegal_action="raise", **settings)
    env.reset()
    shown: list[Row] = []
    for agent in env.agent_iter():
        _, _, _, truncated, info = env.last()
        batch = None if truncated else env.selected_batch
        assert info["decision_id"] == (-1 if batch is None else batch.decision_ids[0])
        shown += rows_of(env.possible_agents.index(agent), info["completed"])
        env.step(None if batch is None else int(batch.minimal_actions()[0]))
    assert sorted(shown) == sorted(row for rows in expected(CONFIGS[configs], settings) for row in rows)
    assert len(shown) == len({row[:2] for row in shown}) > 100, "each decision once"


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_info_names_the_decision_to_make(variant: str) -> None:
    settings: dict[str, Any] = {"duration_ns": 1_000.0, **VARIANTS[variant]}
    env = dragonfly_v0.parallel_env(CONFIG, **settings)
    _, infos = env.reset()
    pending: list[int] = []
    completed: list[int] = []
    while env.agents:
        ids = {name: info["decision_id"] for name, info in infos.items() if info["decision_id"] >= 0}
        assert list(ids) == env.acting
        assert list(ids.values()) == env.round_batch.decision_ids.tolist()
        pending += ids.values()
        infos = env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True)))[4]
        completed += [i for info in infos.values() for i in info["completed"].decision_ids.tolist()]
    assert sorted(completed) == sorted(pending)
    assert {info["decision_id"] for info in infos.values()} == {-1}


def test_a_vector_names_the_decisions_of_its_slots_also_after_a_reset() -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    env = dfe.RouterVecEnv(CONFIG, duration_ns=400.0)
    env.reset()
    infos = env.reset_infos
    for _ in range(40):
        waiting = ~env.action_masks()[:, -1]
        assert [info["decision_id"] >= 0 for info in infos] == waiting.tolist()
        _, _, dones, infos = env.step(env.action_masks().argmax(axis=1))
        infos = env.reset_infos if dones[0] else infos


def test_kept_infos_copies_and_pickles_do_not_change_later() -> None:
    env = dragonfly_v0.parallel_env(CONFIG, duration_ns=1_000.0)
    kept: list[tuple[Any, list[Row], list[int]]] = []
    env.reset()
    while env.agents:
        infos = env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True)))[4]
        for i, info in enumerate(infos.values()):
            facts = rows_of(i, info["completed"]), info["action_mask"].tolist()
            ways = info, info.copy(), copy.copy(info), copy.deepcopy(info), pickle.loads(pickle.dumps(info))
            kept += [(way, *facts) for way in ways]
    assert sum(len(rows) for _, rows, _ in kept) > 500
    for number, (info, rows, mask) in enumerate(kept):
        assert rows_of(number // 5 % 36, info["completed"]) == rows
        assert info["action_mask"].tolist() == mask
    for info, _, _ in kept[-5:]:
        assert info["metrics"].packets_delivered > 0


READ_BY: dict[str, Any] = {
    "one by one": lambda infos: {agent: infos[agent] for agent in infos},
    "items": lambda infos: dict(infos.items()),
    "values": lambda infos: dict(zip(infos.keys(), infos.values(), strict=True)),
    "dict": dict,
    "stars": lambda infos: {**infos},
    "union": lambda infos: {} | infos,
    "update": lambda infos: (found := {}, found.update(infos))[0],
    "get": lambda infos: {f"router_{i}": infos.get(f"router_{i}") for i in range(len(infos))},
    "copy": lambda infos: infos.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda infos: pickle.loads(pickle.dumps(infos)),
    "equal": lambda infos: infos if infos == dict(infos) and infos != {} else {},
}


def numbers_of(infos: Any) -> dict[str, Any]:
    return {
        agent: (dict(info), info["action_mask"].tolist(), rows_of(0, info["completed"]))
        for agent, info in infos.items()
    }


@pytest.mark.filterwarnings("ignore::dragonfly_env.errors.IllegalActionWarning")
@pytest.mark.parametrize("way", READ_BY)
def test_infos_are_the_same_however_late_and_by_any_method_they_are_read(way: str) -> None:
    def episode(at_once: bool) -> list[Any]:
        env = dragonfly_v0.parallel_env(CONFIG, duration_ns=800.0)
        _, infos = env.reset()
        seen = [numbers_of(infos) if at_once else infos]
        while env.agents:  # the first router breaks the rules now and then
            actions = dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True))
            infos = env.step({"router_0": 0, **actions})[4]
            seen.append(numbers_of(infos) if at_once else infos)
        return seen

    at_once = episode(at_once=True)
    assert at_once[-1]["router_0"][0]["illegal_actions"] > 1
    assert sum(len(row[2]) for step in at_once for row in step.values()) > 100
    assert [numbers_of(READ_BY[way](infos)) for infos in episode(at_once=False)] == at_once


LISTED_BY: dict[str, Any] = {
    "index": lambda infos: [infos[slot] for slot in range(len(infos))],
    "iteration": lambda infos: [*iter(infos)],
    "list": list,
    "tuple": tuple,
    "star": lambda infos: [*infos],
    "slice": lambda infos: infos[:],
    "enumerate": lambda infos: [info for _, info in enumerate(infos)],
    "sum": lambda infos: [] + infos,  # noqa: RUF005  # this is the sum
    "extend": lambda infos: (found := [], found.extend(infos))[0],
    "reversed": lambda infos: [*reversed(infos)][::-1],
    "copy": lambda infos: infos.copy(),
    "deepcopy": copy.deepcopy,
    "array": lambda infos: np.array(infos, dtype=object).tolist(),
    "equal": lambda infos: infos if infos == list(infos) and infos != [] else [],
}


@pytest.mark.parametrize("way", LISTED_BY)
def test_infos_of_slots_are_the_same_however_late_and_by_any_method_they_are_read(way: str) -> None:
    def numbers(infos: Any) -> list[Any]:
        return [(dict(info), rows_of(0, info["completed"])) for info in infos]

    def episode(at_once: bool) -> list[Any]:
        env = dfe.RouterVecEnv(CONFIG, duration_ns=800.0)
        env.seed(1)
        env.reset()
        seen, over = [], False
        while not over:
            _, _, dones, infos = env.step(env.action_masks().argmax(axis=1))
            over = bool(dones[0])
            if not over:
                seen.append(numbers(infos) if at_once else infos)
        return seen

    at_once = episode(at_once=True)
    assert sum(len(row[1]) for step in at_once for row in step) > 100
    assert [numbers(LISTED_BY[way](infos)) for infos in episode(at_once=False)] == at_once


@pytest.mark.parametrize("make", [dragonfly_v0.parallel_env, dragonfly_v0.raw_env])
def test_an_info_lists_numbers_only_the_same_in_every_step(make: Any) -> None:
    env = make(CONFIG, duration_ns=600.0)
    env.reset()
    names = {"illegal_actions", "generated", "delivered", "decision_id"}
    while env.agents:
        if make is dragonfly_v0.parallel_env:
            infos = env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True)))[
                4
            ]
        else:
            infos = env.infos
            truncated = env.truncations[env.agent_selection]
            env.step(None if truncated else int(env.selected_batch.minimal_actions()[0]))
        for info in infos.values():
            assert {*info} == {*info.keys()} == names
            assert {type(value) for value in info.values()} == {int}
            assert "completed" in info
            assert info.get("completed") is not None
            assert info.get("nothing") is None


@pytest.mark.parametrize("make", [dragonfly_v0.parallel_env, dragonfly_v0.raw_env, PacketRouting])
def test_which_outcomes_are_kept_is_not_for_the_user_of_a_view_to_say(make: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^outcomes = False: is no setting of this environment"):
        make(outcomes=False)


def test_rewards_that_follow_a_packet_add_up_to_its_time() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, outcomes=True, transitions=False, duration_ns=3_000.0)
    batch = env.reset()
    decided: dict[int, float] = {}
    while not env.done:
        decided.update(zip(batch.decision_ids.tolist(), batch.time_ns.tolist(), strict=True))
        batch = env.step(batch.minimal_actions())
    found = env.outcomes()
    ends: dict[int, float] = {}
    for decision, reward, following in sorted(
        zip(
            found.decision_ids.tolist(),
            found.rewards.tolist(),
            found.next_decision_ids.tolist(),
            strict=True,
        ),
        reverse=True,
    ):
        ends[decision] = ends.get(following, decided[decision] - 1000.0 * reward)
    assert sorted(ends) == sorted(decided)
    by_packet: dict[int, set[float]] = {}
    for decision, end in ends.items():
        by_packet.setdefault(decision >> 8, set()).add(round(end, 6))
    assert all(len(end) == 1 for end in by_packet.values())


def test_outcomes_are_refused_where_they_are_not_kept() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, duration_ns=500.0)
    env.reset()
    with pytest.raises(dfe.StateError, match="outcomes=False, must be True"):
        env.outcomes()
    small = dfe.BatchedRoutingEnv(CONFIG, outcomes=True, max_uncollected_bytes=1_000, duration_ns=2_000.0)
    batch = small.reset()
    while not small.done:
        batch = small.step(batch.minimal_actions())
    with pytest.raises(dfe.StateError, match="more than 1000 bytes had piled up"):
        small.outcomes()


@pytest.mark.parametrize("reward", ["hop", "delivery"])
def test_the_return_of_a_packet_s_episode_is_that_of_its_transitions(reward: Any) -> None:
    env = PacketRouting(CONFIG, reward=reward, background="ugal-n", duration_ns=4_000.0)
    finished = 0
    for _ in range(20):
        _, info = env.reset()
        pending, total, over = [], 0.0, False
        while not over:
            pending.append(info["decision_id"])
            action = int(np.flatnonzero(env.action_masks())[0])
            _, step, terminated, truncated, info = env.step(action)
            total, over = total + step, terminated or truncated
        assert len(set(pending)) == len(pending)
        assert info["decision_id"] == -1
        assert len({decision >> 8 for decision in pending}) == 1
        finished += terminated
        if terminated:
            first_ns = env._first_ns
            assert total == pytest.approx((first_ns - env._created_ns - info["latency_ns"]) / 1000.0)
    assert finished > 5
