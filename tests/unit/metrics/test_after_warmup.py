"""Packets that the policy of the warm-up has sent on their way, in an episode with port actions."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe

# Trunked links: the way to one of them may be so long that a non-minimal path of the warm-up leaves no legal port.
TRUNKED = dfe.SimulationConfig(
    topology=dfe.Dragonfly(p=3, a=4, h=1, g=3, arrangement="relative", trunking=2), policy="val-n", load=0.3
)


@pytest.mark.parametrize("scope", ["every", "all"])
def test_every_decision_has_a_legal_action_and_all_arrive(scope: str) -> None:
    env = dfe.BatchedRoutingEnv(TRUNKED, scope=scope, warmup_ns=3_000, duration_ns=500)
    for seed in range(10):
        batch = env.reset(seed=seed)
        while not env.done:
            assert batch.mask.any(axis=1).all()
            batch = env.step(batch.minimal_actions())
        env.drain()
        env._core.simulation.check_invariants()
        assert env.metrics().packets_in_flight == 0
