"""``job_bias_v0`` passes PettingZoo's own checkers, and what those do not look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test, state_test

import dragonfly_env as dfe
from dragonfly_env import job_bias_v0

MACHINE = dfe.Dragonfly(
    p=2, group=dfe.Grid(rows=2, columns=3, column_links=2), g=4, links_between_groups=6, arrangement="xc"
)
JOBS = (
    dfe.Job("milc:scale=0.002,gap_ns=2000", hosts=16, placement="random", iterations="endless"),
    dfe.Job("rayleigh:scale=0.002,gap_ns=1000", hosts=12, iterations="endless"),
    dfe.Job("hacc:scale=0.002,gap_ns=1000", hosts=16, placement="random", iterations="endless"),
)
SMALL: dict[str, Any] = {
    "config": dfe.SimulationConfig(topology=MACHINE, network="aries-256", policy="ad0", jobs=JOBS),
    "interval_ns": 1_000.0,
    "duration_ns": 10_000.0,
    "warmup_ns": 1_000.0,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "small": SMALL,
    "team": {**SMALL, "reward": "team"},
    "jobs that end": {
        **SMALL,
        "jobs": tuple(job.replace(iterations=2) for job in JOBS),
        "duration_ns": 60_000.0,
    },
    "a mix beside": {**SMALL, "jobs": (JOBS[0], "background-mix:fill=0.8")},
    "open-loop traffic beside": {**SMALL, "traffic": "uniform", "load": 0.2},
    "a full mesh": {
        **SMALL,
        "topology": dfe.Dragonfly.preset("72"),
        "network": "q-adaptive",
        "policy": "ugal-n",
        "modes": ("ugal-n", dfe.make_policy("ugal-n", bias_packets=5)),
    },
}
VIEWS: dict[str, Callable[..., Any]] = {
    "parallel": job_bias_v0.parallel_env,
    "aec": job_bias_v0.env,
    "raw": job_bias_v0.raw_env,
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("make", [job_bias_v0.env, job_bias_v0.raw_env])
def test_api_checker(make: Callable[..., Any], variant: str) -> None:
    api_test(make(**VARIANTS[variant]), num_cycles=100)


@pytest.mark.parametrize("variant", VARIANTS)
def test_parallel_api_checker(variant: str) -> None:
    parallel_api_test(job_bias_v0.parallel_env(**VARIANTS[variant]), num_cycles=100)


@pytest.mark.parametrize("variant", VARIANTS)
def test_seed_and_state_checkers(variant: str) -> None:
    settings = VARIANTS[variant]
    seed_test(lambda: job_bias_v0.env(**settings), num_cycles=15)
    parallel_seed_test(lambda: job_bias_v0.parallel_env(**settings), num_cycles=15)
    state_test(job_bias_v0.env(**settings), job_bias_v0.parallel_env(**settings))


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="the oldest PettingZoo has no registry")
def test_registered_with_pettingzoo() -> None:
    made = pettingzoo.make("parallel", job_bias_v0.ENV_ID, **SMALL)
    assert made.possible_agents == ["job_0", "job_1", "job_2"]


# What the checkers do not see.


def a_choice(observation: np.ndarray, modes: int) -> int:
    """An action that depends on what is observed and on nothing else."""
    return int(abs(observation).sum() * 1e4) % modes


def run(view: str, env: Any, seed: int | None = None) -> tuple[int, dict[str, float], dict[str, float]]:
    """A whole episode; its history, what each agent was rewarded with, and the sum of what it saw."""
    paid, seen = dict.fromkeys(env.possible_agents, 0.0), dict.fromkeys(env.possible_agents, 0.0)
    modes = len(env.unwrapped.modes)
    if view == "parallel":
        observations, _ = env.reset(seed=seed)
        while env.agents:
            actions = {name: a_choice(observations[name], modes) for name in env.agents}
            observations, rewards, _, _, _ = env.step(actions)
            for name, reward in rewards.items():
                paid[name] += reward
                seen[name] += float(observations[name].sum())
    else:
        env.reset(seed=seed)
        begun = set()
        for name in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            paid[name] += reward
            seen[name] += float(observation.sum()) if name in begun else 0.0
            begun.add(name)
            env.step(None if terminated or truncated else a_choice(observation, modes))
    return env.unwrapped.trace_hash(), paid, seen


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_history_per_seed_whichever_view_and_however_many_threads(variant: str) -> None:
    settings = VARIANTS[variant]
    first = run("parallel", job_bias_v0.parallel_env(**settings), seed=11)
    assert first == run("aec", job_bias_v0.env(**settings), seed=11)
    assert first == run("raw", job_bias_v0.raw_env(**settings), seed=11)
    for threads in (2, 3):
        assert first == run("parallel", job_bias_v0.parallel_env(**settings, threads=threads), seed=11)
    assert run("parallel", job_bias_v0.parallel_env(**settings), seed=12)[0] != first[0]
    assert all(value > 0 for value in first[1].values())


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_seed_the_generator_goes_on(view: str) -> None:
    env = VIEWS[view](**SMALL, seed=5)
    hashes = [run(view, env, seed)[0] for seed in (None, None, 5, None)]
    assert hashes[:2] == hashes[2:]
    assert hashes[0] != hashes[1]


def test_modes_are_the_policies_of_the_jobs() -> None:
    """An episode of one choice is the run in which the jobs have these policies from the end of the warm-up on."""
    env = job_bias_v0.parallel_env(**SMALL)
    env.reset(seed=3)
    choice = {"job_0": 3, "job_1": 0, "job_2": 2}
    total = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        _, rewards, _, _, infos = env.step(choice)
        for name, reward in rewards.items():
            total[name] += reward
    simulation = dfe.Simulation(env.config.replace(seed=3))
    simulation.run(1_000)
    before = simulation.counters()
    simulation.set_job_policy(0, "ad3")
    simulation.set_job_policy(2, "ad2")
    simulation.run(10_000)
    assert env.trace_hash() == simulation.trace_hash()
    whole = simulation.counters().since(before)
    for index, name in enumerate(env.possible_agents):
        job = whole.jobs[index]
        per_packet = env.config.network.packet_time_ns / (len(job.hosts) * 10_000)
        assert total[name] / 10 == pytest.approx(job.packets_delivered * per_packet)
        assert infos[name]["mode"] == f"ad{choice[name]}"


def test_what_is_observed_is_the_local_view() -> None:
    env = job_bias_v0.parallel_env(**SMALL)
    env.reset(seed=1)
    observations, _, _, _, infos = env.step(dict.fromkeys(env.agents, 1))
    window = env.counters()
    for index, name in enumerate(env.possible_agents):
        seen = dict(zip(env.layout, observations[name].tolist(), strict=True))
        assert [seen[f"mode_{i}_ad{i}"] for i in range(4)] == [0.0, 1.0, 0.0, 0.0]
        kinds = window.tiles_of_job(index).kinds
        for kind, totals in kinds.items():
            if kind != "host-out" and totals.flits:
                assert seen[f"{kind}_stalls_to_flits"] == pytest.approx(min(100.0, totals.stalls_to_flits))
        time = window.duration_ns * len(window.jobs[index].hosts)
        for operation, spent in infos[name]["operations_total_ns"].items():
            assert seen[f"{operation}_share"] == pytest.approx(min(10.0, spent / time), rel=1e-5)
        assert env.observation_space(name).contains(observations[name])
    state = dict(zip(env.state_layout, env.state().tolist(), strict=True))
    assert state["accepted_load"] == pytest.approx(infos["job_0"]["machine_accepted_load"])
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jobs": (), "traffic": "uniform"}, "^jobs = "),
        ({"jobs": ("background-mix",)}, "^jobs = "),
        ({"modes": ("ad0",)}, "^modes = .*two or more different"),
        ({"modes": ("ad0", "ad0")}, "^modes = .*two or more different"),
        ({"modes": "ad0"}, "^modes = .*list of policies"),
        ({"modes": ("ad0", "ad7")}, "^policy = 'ad7'"),
        ({"modes": ("ad0", "q-adaptive")}, r"^modes\[1\]: .*learn nothing"),
        ({"modes": ("min", "ad0"), "policy": "min"}, r"^modes\[1\]: .*no other paths"),
        ({"reward": "all"}, "^reward = 'all'"),
        ({"interval_ns": 0}, "^interval_ns = 0"),
        ({"duration_ns": 1_500.0}, "^duration_ns = 1500.0: must be a multiple"),
        ({"warmup_ns": -1}, "^warmup_ns = -1"),
        ({"render_mode": "film"}, "^render_mode = 'film'"),
        ({"intervall_ns": 5}, "^intervall_ns = 5: is no setting .*interval_ns"),
        ({"config": 5}, "^config = 5"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        job_bias_v0.parallel_env(**{**SMALL, **settings})
