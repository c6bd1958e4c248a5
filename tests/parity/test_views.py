"""A policy behind the PettingZoo views, fed with their observations and nothing else, gives the core's own run.

This is the proof that an observation holds all that the heuristics need, and that neither view changes any timing.
What is registered is tested: a new policy needs no line here.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.decisions.layout import Layout
from tests.parity.cases import PRESETS, config_of, native
from tests.parity.rules import act
from tests.partitions import cut_into
from tests.products import in_turn
from tests.ready import ready

# Reference implementations of policies that learn need the environment's feedback as well:
# tests/parity/test_learners.py.
REFERENCES = [name for name in dfe.policies() if not ready(name).learns]
OF_EVERY_KIND = ["min", "val-n", "ugal-n", "par", "pb", "lia", "ad0", "neural-v2"]


def choose(policy: dfe.Policy, layout: Layout, observations: list[dict[str, np.ndarray]]) -> list[int]:
    """Decide from observations, as a policy would have to be deployed behind a standard API."""
    batch = DecisionBatch.from_observations(
        layout,
        np.stack([observation["observation"] for observation in observations]),
        np.stack([observation["action_mask"] for observation in observations]),
    )
    return act(policy, batch).tolist()


def through_parallel(config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float) -> int:
    """The history behind the parallel view."""
    env = dragonfly_v0.parallel_env(
        config=config, for_policy=policy, duration_ns=duration_ns, warmup_ns=0.0, illegal_action="raise"
    )
    layout = env.core.layout
    observations, _ = env.reset()
    while env.agents:
        acting = [name for name in env.agents if not observations[name]["action_mask"][-1]]
        assert acting == env.acting
        actions = dict.fromkeys(env.agents, layout.num_actions)
        actions.update(
            zip(acting, choose(policy, layout, [observations[name] for name in acting]), strict=True)
        )
        observations = env.step(actions)[0]
    return env.core.trace_hash()


def through_aec(config: dfe.SimulationConfig, policy: dfe.Policy, duration_ns: float) -> int:
    """The history behind the AEC view."""
    env = dragonfly_v0.env(
        config=config, for_policy=policy, duration_ns=duration_ns, warmup_ns=0.0, illegal_action="raise"
    )
    layout = env.unwrapped.core.layout
    env.reset()
    for _ in env.agent_iter():
        observation, _, _, truncated, _ = env.last()
        env.step(None if truncated else choose(policy, layout, [observation])[0])
    return env.unwrapped.core.trace_hash()


VIEWS = {"parallel": through_parallel, "aec": through_aec}


DECIDE_AT = ("arrival", "head")


def check_history(view: str, name: str, preset: str, decide_at: str) -> None:
    config = config_of(network=dfe.NetworkConfig.preset(preset, decide_at=decide_at))
    policy = ready(name)
    assert VIEWS[view](config, policy, 1_300.0) == native(config, policy, 1_300.0).trace_hash()


@pytest.mark.product(name=REFERENCES, preset=PRESETS, decide_at=DECIDE_AT)
def test_every_policy_runs_its_history_from_observations_alone(
    name: str, preset: str, decide_at: str
) -> None:
    check_history("parallel", name, preset, decide_at)


@pytest.mark.parametrize(
    ("name", "network"), in_turn(OF_EVERY_KIND, [*itertools.product(PRESETS, DECIDE_AT)])
)
def test_so_it_does_turn_by_turn(name: str, network: tuple[str, str]) -> None:
    check_history("aec", name, *network)


@pytest.mark.parametrize(("name", "view"), in_turn(OF_EVERY_KIND, tuple(VIEWS)))
def test_neither_partitions_nor_threads_matter(name: str, view: str) -> None:
    config, policy = config_of(traffic="uniform", load=0.7, threads=2), ready(name)
    in_one = native(config, policy, 1_000.0)
    with cut_into(1):
        assert dfe.Simulation(config).num_partitions > in_one.num_partitions
        assert VIEWS[view](config, policy, 1_000.0) == in_one.trace_hash()


@pytest.mark.parametrize("warmup_ns", [0.0, 1_000.0])
@pytest.mark.parametrize("name", ["min", "val-g", "ugal-n", "par"])
def test_windows_with_several_decisions_of_one_router_give_the_run_and_the_figures_of_the_core(
    name: str, warmup_ns: float
) -> None:
    policy = ready(name)
    config = config_of(load=0.35, policy=policy)
    alone = dfe.Simulation(config)
    alone.run(warmup_ns)
    alone.reset_statistics()
    alone.run(3_000.0)
    settings = {"config": config, "for_policy": policy, "duration_ns": 3_000.0, "warmup_ns": warmup_ns}
    parallel = dragonfly_v0.parallel_env(**settings, illegal_action="raise")
    parallel.reset()
    crowded = 0
    while parallel.agents:
        crowded += int(np.bincount(parallel.core.pending.agents).max() > 1)
        assert [parallel.possible_agents[i] for i in parallel.round_batch.agents] == parallel.acting
        parallel.step(dict(zip(parallel.acting, act(policy, parallel.round_batch), strict=True)))
    assert crowded > 10
    aec = dragonfly_v0.env(**settings, illegal_action="raise")
    aec.reset()
    for agent in aec.agent_iter():
        over = aec.last()[3]
        assert over or [aec.possible_agents[i] for i in aec.selected_batch.agents] == [agent]
        aec.step(None if over else act(policy, aec.selected_batch)[0])
    for core in (parallel.core, aec.unwrapped.core):
        assert core.trace_hash() == alone.trace_hash()
        assert core.metrics().latency_mean_ns == alone.metrics().latency_mean_ns
