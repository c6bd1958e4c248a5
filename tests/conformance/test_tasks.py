"""Every task can be made in every view, its ids pass the checkers of the ecosystems, and its rewards order policies as
its score does.
"""

from __future__ import annotations

import importlib
import itertools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.named_tasks import BOUND, ITERATION, PACKETS, VIEWS, View
from dragonfly_env.registration import SUITE, id_of

ROOT = Path(__file__).resolve().parents[2]
SHORT = 2_000.0
every_task = pytest.mark.parametrize("name", dfe.tasks())


def core_of(env: Any) -> dfe.BatchedRoutingEnv:
    core: dfe.BatchedRoutingEnv = env if isinstance(env, dfe.BatchedRoutingEnv) else env.unwrapped.core
    return core


def make(name: str, view: View, **changes: Any) -> Any:
    if view == "vec":
        pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    return dfe.make_task(name, view, **changes)


@every_task
@pytest.mark.parametrize("view", ["parallel", "aec"])
def test_an_agent_is_a_router_of_one_network(name: str, view: View) -> None:
    env = make(name, view, duration_ns=SHORT, seed=1)
    env.reset()
    config = core_of(env).config
    assert env.num_agents == config.topology.num_routers
    assert core_of(env).num_scenarios == 1


@every_task
def test_batches_hold_all_scenarios_to_the_end_of_the_episode(name: str) -> None:
    env = make(name, "batched", duration_ns=SHORT, seed=1)
    batch = env.reset()
    assert env.num_scenarios == len(dfe.task(name).train)
    while not env.done:
        batch = env.step(batch.minimal_actions())
    assert env.time_ns == SHORT
    assert env.rewards_by_router().sum() != 0.0


@every_task
def test_vectors_have_a_slot_per_router_of_all_scenarios(name: str) -> None:
    env = make(name, "vec", duration_ns=SHORT, seed=1)
    assert env.reset().shape[0] == env.num_envs == env.core.num_agents
    for _ in range(3):
        seen, rewards, _, _ = env.step(env.action_masks().argmax(axis=1))
        assert np.isfinite(seen).all()
        assert np.isfinite(rewards).all()


@every_task
@pytest.mark.parametrize("view", VIEWS)
def test_a_task_has_its_options_and_a_seed_of_its_own_in_every_view(name: str, view: View) -> None:
    first, other = make(name, view), make(name, view)
    assert core_of(first).seed != core_of(other).seed
    assert core_of(make(name, view, seed=7)).seed == 7
    fixed = dfe.task(name).options
    assert {key: getattr(core_of(first).options, key) for key in fixed} == dict(fixed)


@every_task
def test_gymnasiums_checker(name: str) -> None:
    env = gymnasium.make(id_of(name), seed=1)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec is not None
    gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())).reset(seed=1)


@every_task
def test_pettingzoos_checkers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PettingZoo lists its own environments whose observations are dictionaries; it warns of all others."""
    pytest.importorskip("pettingzoo.env_registry", reason="PettingZoo has a registry from version 1.27 on")
    checker = importlib.import_module("pettingzoo.test.api_test")
    for listed in ("env_obs_dicts", "env_obs_space"):
        monkeypatch.setattr(checker, listed, [*getattr(checker, listed), "dragonfly_v0"])
    parallel_api_test(pettingzoo.make("parallel", id_of(name), duration_ns=SHORT), num_cycles=5)
    api_test(pettingzoo.make("aec", id_of(name), duration_ns=SHORT), num_cycles=5)


def test_the_version_of_an_id_is_that_of_the_suite() -> None:
    assert id_of("Adversarial-72") == f"dragonfly_env/Adversarial-72-{SUITE}"


def test_an_episode_of_pettingzoo_has_the_network_of_the_last_scenario() -> None:
    task = dfe.task("Sizes-2550")
    assert {config.topology.num_hosts for config in task.train.values()} == {72, 342}
    env = make("Sizes-2550", "parallel", duration_ns=500.0, seed=1)
    for _ in range(5):
        env.reset()
        assert env.core.config.topology.num_hosts == 342


def test_the_ids_are_known_without_an_import() -> None:
    code = f"import gymnasium; gymnasium.make('dragonfly_env:{id_of('Adversarial-72')}').reset(seed=1)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_adversarial_72_is_what_the_views_simulate_by_default() -> None:
    of_task = make("Adversarial-72", "parallel", seed=1)
    default = dragonfly_v0.parallel_env(scope="source", action="path", share="group", seed=1)
    assert of_task.core.config == default.core.config
    assert of_task.core.options == default.core.options


def test_every_scenario_comes_in_some_episode() -> None:
    env = make("Mixed-72", "parallel", duration_ns=500.0, seed=1)
    seen = set()
    for _ in range(40):
        env.reset()
        seen.add((env.core.config.traffic, env.core.config.load))
    assert seen == {(config.traffic, config.load) for config in dfe.task("Mixed-72").train.values()}
    again = pickle.loads(pickle.dumps(env))
    again.reset(), env.reset()
    assert again.core.config == env.core.config


def test_a_policy_of_size_free_features_trained_on_72_hosts_acts_on_1056() -> None:
    small, large = (make("ZeroShot-1056", "batched", split=split) for split in ("train", "test"))
    assert small.layout.names == large.layout.names
    assert small.num_actions == large.num_actions
    assert large.num_agents == 4 * 264


def test_changes_replace_settings_of_the_task() -> None:
    env = make("Mixed-72", "batched", load=0.2, share="all", policy="ugal-n", warmup_ns=500.0)
    assert {config.load for config in env.configs} == {0.2}
    assert (env.options.share, env.config.policy) == ("all", "ugal-n")
    with pytest.raises(dfe.ConfigError, match=r"view = 'grid': must be"):
        dfe.make_task("Mixed-72", "grid")  # type: ignore[arg-type]
    with pytest.raises(dfe.ConfigError, match="did you mean 'Mixed-72'"):
        dfe.make_task("Mixed-71")


# Scores.


@every_task
def test_every_scenario_has_references_of_which_the_zero_is_not_the_best(name: str) -> None:
    task = dfe.task(name)
    assert list(task.references()) == list(task.test)
    for scenario, known in task.references().items():
        assert tuple(known) == (*task.reference_policies, BOUND)
        best = min(known[policy] for policy in task.reference_policies)
        assert best < 0.9 * known[task.zero], scenario
        assert not known[BOUND] > best
        assert task.normalised(scenario, known[task.zero]) == 0.0
        assert task.normalised(scenario, best) == pytest.approx(100.0)
        assert task.normalised(scenario, 1e9) == -100.0


def test_a_reference_has_the_score_that_comes_with_the_package() -> None:
    task = dfe.task("Adversarial-72")
    result = task.evaluate("neural-v1")
    assert result.score == pytest.approx(task.reference_scores()["neural-v1"], abs=0.01)
    assert result.low <= result.score <= result.high
    assert len(result.values["adv+1 0.35"]) == len(task.seeds)
    assert (result.track, result.saturated, result.suite) == ("ideal", 0, SUITE)
    known = task.references()["adv+1 0.35"]
    assert result.ratio == pytest.approx(known["neural-v1"] / known[BOUND], rel=1e-4)


def test_a_congested_network_is_counted_and_has_a_bounded_score() -> None:
    result = dfe.task("Adversarial-72").evaluate("min", seeds=[101])
    assert (result.score, result.saturated, result.track) == (-100.0, 1, "local")


def test_policies_that_choose_paths_are_refused_where_routers_choose_ports() -> None:
    task = dfe.task("Ports-72")
    for policy in ("min", "neural-v1", dfe.agents.RandomPolicy(), dfe.agents.RandomPolicy("port", "source")):
        with pytest.raises(dfe.ConfigError, match="must choose ports at every router in Ports-72"):
            task.evaluate(policy)  # type: ignore[arg-type]
    assert task.evaluate("random", seeds=[101]).score == pytest.approx(0.0, abs=10.0)


@pytest.mark.parametrize(
    ("policy", "track"),
    [
        ("par", "local"),
        ("lia", "local"),
        ("pb", "delayed"),
        ("q-adaptive", "delayed"),
        ("neural-v1", "ideal"),
    ],
)
def test_a_policy_is_in_the_track_of_the_knowledge_that_it_needs(policy: str, track: str) -> None:
    assert dfe.task("Adversarial-72").track(policy) == track


def test_a_policy_from_outside_is_in_the_track_of_its_features() -> None:
    class Minimal:
        features: tuple[str, ...] | None = None

        def act(self, batch: dfe.DecisionBatch) -> Any:
            return batch.minimal_actions()

    policy: Any = Minimal()
    assert dfe.task("Adversarial-72").track(policy) == "local"
    assert dfe.task("ZeroShot-1056").track(policy) == "local"
    policy.features = ("candidate_kind", "candidate_congested")
    assert dfe.task("Adversarial-72").track(policy) == "delayed"
    del Minimal.features, policy.features  # the features of the task
    assert dfe.task("ZeroShot-1056").track(policy) == "ideal"


def test_a_summary_is_the_middle_half_of_the_trainings() -> None:
    task = dfe.task("Adversarial-72")
    summary = task.summary([90.0, 80.0, 84.0, 82.0, 10.0, 70.0, 83.0, 81.0])
    assert summary.score == (80.0 + 81.0 + 82.0 + 83.0) / 4
    assert summary.low < summary.score < summary.high
    assert (summary.trainings, summary.worst, summary.best) == (8, 10.0, 90.0)
    result = task.evaluate("ugal-n", seeds=[101])
    assert task.summary([result]).score == result.score
    with pytest.raises(dfe.ConfigError, match=r"^results = \[\]: must have the result of one training"):
        task.summary([])


def test_an_evaluation_is_the_same_in_python_and_in_the_core() -> None:
    """With a job too, which starts after the warm-up in both."""

    class Minimal:
        def act(self, batch: dfe.DecisionBatch) -> Any:
            return batch.minimal_actions()

    task = dfe.task("Jobs-72")
    assert task.quantity == ITERATION
    native, in_python = (task.evaluate(policy, seeds=[101]) for policy in ("min", Minimal()))  # type: ignore[arg-type]
    assert native.values == in_python.values


# Order: returns under the rewards of a task, over episodes that begin with an empty network.

POLICIES = ("min", "random", "ugal-n", "lia", "q-adaptive-fast", "neural-v1")
SCENARIOS = [(name, scenario) for name in dfe.tasks() for scenario in dfe.task(name).train]
SMALL = [(name, scenario) for name, scenario in SCENARIOS if name.endswith("-72")]
every_scenario = pytest.mark.parametrize(("name", "scenario"), SCENARIOS)


class Episode(NamedTuple):
    """Results of an episode."""

    returned: float
    metrics: dfe.Metrics

    @property
    def packets(self) -> float:
        return self.metrics.packets_in_system_mean


def play(name: str, scenario: str, policy: str, duration_ns: float) -> Episode:
    task = dfe.task(name)
    options = {**task.options, "duration_ns": duration_ns, "transitions": False}
    config = task.train[scenario].replace(seed=5)
    if policy == "random":
        env = dfe.BatchedRoutingEnv(config, **options)
        act = dfe.agents.RandomPolicy(action=env.action, scope=env.scope).act
    else:
        made = dfe.make_policy(policy)
        for fixed in ("scope", "action", "features", "occupancy_unit"):
            options.pop(fixed, None)
        env = dfe.BatchedRoutingEnv.for_policy(config, made, **options)
        act = made.reference(env).act
    batch = env.reset()
    while not env.done:
        batch = env.step(act(batch))
    return Episode(float(env.rewards_by_router().sum()), env.metrics())


def play_all(name: str, scenario: str, duration_ns: float) -> dict[str, Episode]:
    return {policy: play(name, scenario, policy, duration_ns) for policy in POLICIES}


def is_worse(episode: Episode, other: Episode) -> bool:
    """Whether an episode has delivered fewer packets, with a higher latency."""
    mine, others = episode.metrics, other.metrics
    return mine.packets_delivered < others.packets_delivered and mine.latency_mean_ns > others.latency_mean_ns


def check_order(name: str, episodes: dict[str, Episode]) -> None:
    for (policy, episode), (better, other) in itertools.permutations(episodes.items(), 2):
        if name.endswith("-72"):
            assert not (is_worse(episode, other) and episode.returned > other.returned), (policy, better)
        # With an application the number of packets depends on the policy, and so do the credits.
        if dfe.task(name).quantity == PACKETS and episode.packets > 1.01 * other.packets:
            assert episode.returned < other.returned, (policy, better)


@pytest.mark.parametrize(("name", "scenario"), SMALL)
def test_no_policy_with_more_packets_in_the_system_has_the_higher_return(name: str, scenario: str) -> None:
    """Policies that deliver less with a higher latency included. Longer episodes: the slow test below."""
    check_order(name, play_all(name, scenario, 5_000.0))


@pytest.mark.slow
@pytest.mark.parametrize("duration_ns", [5_000.0, 20_000.0, 50_000.0])
@every_scenario
def test_returns_are_ordered_by_packets_in_the_system_in_large_networks_and_long_episodes(
    name: str, scenario: str, duration_ns: float
) -> None:
    check_order(name, play_all(name, scenario, duration_ns))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scenario"), [policy for policy in SMALL if policy[0] not in ("Overload-72", "Ports-72")]
)
def test_returns_are_ordered_like_long_runs(name: str, scenario: str) -> None:
    """Policies that do not learn meanwhile and choose paths. Above saturation queues grow: another order."""
    known = dfe.task(name).references()[scenario]
    fixed = ("min", "ugal-n", "lia", "neural-v1")
    returned = {policy: play(name, scenario, policy, 50_000.0).returned for policy in fixed}
    for policy, other in itertools.permutations(fixed, 2):
        if known[policy] > 1.03 * known[other]:
            assert returned[policy] < returned[other], (policy, other)
