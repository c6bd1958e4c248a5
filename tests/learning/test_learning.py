"""Learners on a tiny network: they must beat random and approach the best heuristic.

Four groups of three routers with one host each; every group sends to the next one. The one direct link between two
groups would have to carry 1.8 times what it can, the two non-minimal paths have room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import Learner, RandomPolicy, evaluate_over_seeds, fit, make_agent

pytest.importorskip("stable_baselines3")

pytestmark = pytest.mark.learning

TINY = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.6)
HELD_OUT = (101, 102)
TIMES = {"warmup_ns": 10_000.0, "measure_ns": 20_000.0}
HEURISTICS = ("min", "val-g", "val-n", "ugal-g", "ugal-n", "par")


def latency_ns(policy: object) -> float:
    return evaluate_over_seeds(policy, TINY, HELD_OUT, **TIMES).latency_mean_ns  # type: ignore[arg-type]


def trained(kind: str, episodes: int, episode_ns: float, at_most_ns: float, **settings: Any) -> Learner:
    """The first of four trainings that reaches a latency, or the last.

    PyTorch does not give the same bits on every processor, and a single training of so few episodes is a matter of
    luck: on one processor two in five of those with a reward for all fail.
    """
    for seed in (1, 2, 3, 4):
        agent = make_agent(kind, seed=seed, **settings)
        progress = fit(agent, TINY, episodes=episodes, episode_ns=episode_ns)
        assert [p.episode for p in progress] == list(range(1, episodes + 1))
        if latency_ns(agent) < at_most_ns:
            break
    return agent


@pytest.mark.parametrize(
    ("action", "scope", "of_best"),
    [pytest.param("port", "every", 1.0, marks=pytest.mark.slow), ("path", "source", 1.1)],
)
def test_deep_q_beats_random_by_far_and_comes_near_the_best_heuristic(
    action: str, scope: str, of_best: float
) -> None:
    near_best_ns = of_best * min(latency_ns(name) for name in HEURISTICS)
    agent = trained(
        "deep-q",
        14,
        20_000.0,
        near_best_ns,
        action=action,
        scope=scope,
        hidden_units=(32, 32),
        learning_rate=1e-3,
        train_every_transitions=64,
        epsilon_decisions=20_000,
    )
    learned = latency_ns(agent)
    assert learned < 0.5 * latency_ns(RandomPolicy(action, scope))
    assert learned < 0.5 * latency_ns("min")
    assert learned < near_best_ns


def test_ppo_beats_random_comes_near_the_best_heuristic_and_is_exported_as_it_is(tmp_path: Path) -> None:
    near_best_ns = 1.1 * min(latency_ns(name) for name in HEURISTICS)
    agent = trained(
        "ppo",
        24,
        20_000.0,
        near_best_ns,
        hidden_units=(16, 16),
        rollout_transitions=1024,
        batch_transitions=256,
        learning_rate=5e-3,
    )
    learned = latency_ns(agent)
    assert learned < 0.5 * latency_ns(RandomPolicy())
    assert learned < near_best_ns
    in_core = latency_ns(dfe.make_policy("mlp", weights=agent.export_mlp(tmp_path / "agent")))  # type: ignore[attr-defined]
    assert in_core == pytest.approx(learned, rel=0.02)
