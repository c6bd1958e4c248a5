"""A trained deep Q agent as a policy of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe

pytest.importorskip("torch")

from dragonfly_env.agents.deep_q import DeepQAgent, DeepQSettings
from dragonfly_env.baselines.mlp import scores as scores_of

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35, seed=2)
ROUNDING = 1e-4
CASES: dict[str, dict[str, Any]] = {
    "ports": {},
    "paths at the source": {"action": "path", "scope": "source"},
    "paths, some features": {
        "action": "path",
        "scope": "every",
        "features": ("hops", "candidate_packets", "candidate_hops", "candidate_congested"),
        "nonminimal_kinds": ("lgl", "g"),
    },
    "every hop": {"scope": "all", "features": ("queue_packets", "is_minimal", "hops")},
    "not averaged": {"averaged": False},
}


def trained(**settings: Any) -> DeepQAgent:
    """After a few hundred decisions."""
    agent = DeepQAgent(
        DeepQSettings(
            hidden_units=(16, 8),
            first_transitions=50,
            train_every_transitions=8,
            batch_transitions=32,
            epsilon_decisions=500,
            **settings,
        ),
        seed=1,
    )
    env = dfe.BatchedRoutingEnv(CONFIG, duration_ns=2_000.0, **agent.env_options())
    agent.set_training(True)
    batch = env.reset()
    while not env.done:
        batch = env.step(agent.act(batch))
        agent.learn(env.transitions())
    agent.set_training(False)
    assert agent.statistics()["gradient_steps"] > 5
    return agent


@pytest.mark.parametrize("case", CASES)
def test_the_core_decides_as_the_agent_that_was_exported(case: str, tmp_path: Path) -> None:
    agent = trained(**CASES[case])
    policy = dfe.make_policy("mlp", weights=agent.export_mlp(tmp_path / "agent"))
    env = dfe.BatchedRoutingEnv.for_policy(CONFIG, policy, duration_ns=4_000.0)
    exported = dfe.BatchedRoutingEnv(CONFIG, duration_ns=4_000.0, **agent.env_options())
    assert env.layout == exported.layout
    decisions = close = 0
    batch = env.reset(seed=CONFIG.seed)
    while not env.done:
        actions, theirs = policy.act(batch), agent.act(batch)
        scores = np.sort(np.where(batch.mask, scores_of(policy.network, batch), -np.inf), axis=1)
        clear = scores[:, -1] - scores[:, -2] > ROUNDING
        np.testing.assert_array_equal(actions[clear], theirs[clear])
        decisions, close = decisions + len(batch), close + int((~clear).sum())
        batch = env.step(actions)
    assert decisions > 300
    assert close < 0.05 * decisions
    native = dfe.Simulation(CONFIG.replace(policy=policy))
    native.run(4_000)
    assert native.trace_hash() == env.trace_hash()


def test_what_the_core_cannot_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^scope = 'all': counts other decisions"):
        trained(scope="all").export_mlp(tmp_path / "agent")
    with pytest.raises(dfe.ConfigError, match="must show something of each candidate path"):
        trained(action="path", features=("hops", "queue_packets")).export_mlp(tmp_path / "agent")
