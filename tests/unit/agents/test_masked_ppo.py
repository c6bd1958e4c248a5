"""The MaskablePPO agent: its rewards, its determinism, its file."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import fit, make_env

pytest.importorskip("sb3_contrib")

from dragonfly_env.agents.masked_ppo import DeliveryBonus, MaskedPpoAgent
from dragonfly_env.agents.settings import MaskedPpoSettings
from dragonfly_env.envs.vec import RouterVecEnv

TINY = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.4)
QUICK = MaskedPpoSettings(rollout_steps=32, batch_steps=64, epochs=2, hidden_units=(8,))


def trained(seed: int = 1, settings: MaskedPpoSettings = QUICK) -> MaskedPpoAgent:
    agent = MaskedPpoAgent(settings, seed=seed)
    fit(agent, TINY, episodes=2, episode_ns=3_000.0)
    return agent


def test_every_delivery_earns_the_bonus_once() -> None:
    options: dict[str, Any] = {"scope": "source", "action": "path", "duration_ns": 4_000.0}
    plain = RouterVecEnv(TINY, **options)
    wrapped = DeliveryBonus(RouterVecEnv(TINY, **options), 5.0)
    for env in (plain, wrapped):
        env.seed(3)
        env.reset()
    extra, rounds, over = 0.0, 0, False
    while not over:
        actions = plain.action_masks().argmax(axis=1)
        _, low, dones, _ = plain.step(actions)
        _, high, _, _ = wrapped.step(actions)
        over = bool(dones[0])
        if not over:
            paid = (high - low) / 5.0
            np.testing.assert_allclose(paid, np.rint(paid), atol=1e-5)
            assert ((paid >= 1 - 1e-5) == (low < 0)).all()
            extra += float(paid.sum())
            rounds += 1
    assert rounds > 20
    assert extra > 20


def test_a_bonus_is_only_for_payments_that_are_deliveries() -> None:
    assert MaskedPpoSettings().pays_bonus
    assert not MaskedPpoSettings(delivery_bonus_ns=0.0).pays_bonus
    assert not MaskedPpoSettings(reward="team").pays_bonus
    assert not MaskedPpoSettings(scope="every").pays_bonus


def test_the_weights_that_act_are_an_average_of_the_recent_ones() -> None:
    newest, averaged = (
        trained(settings=dataclasses.replace(QUICK, average_share=share)) for share in (1.0, 0.1)
    )

    def distance(agent: MaskedPpoAgent) -> float:
        pairs = zip(agent._network.parameters(), agent._average.parameters(), strict=True)
        return max(float((learner - acting).detach().abs().max()) for learner, acting in pairs)

    assert distance(newest) == pytest.approx(0.0, abs=1e-6)
    assert distance(averaged) > 1e-4


def test_it_draws_its_actions_by_their_probabilities_or_takes_the_likeliest() -> None:
    agent = trained()
    greedy = trained(
        settings=MaskedPpoSettings(
            rollout_steps=32, batch_steps=64, epochs=2, hidden_units=(8,), sample=False
        )
    )
    batch = make_env(TINY, agent, duration_ns=3_000.0).reset(seed=1)
    for policy in (agent, greedy):
        actions = policy.act(batch)
        assert batch.mask[np.arange(len(batch)), actions].all()
        np.testing.assert_array_equal(actions, policy.act(batch))
