"""Promises of every agent with a neural network: its seed decides, and its file is complete."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import fit, make_agent

torch = pytest.importorskip("torch", reason="needs the extra [sb3]")

TINY = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.4)
QUICK: dict[str, dict[str, Any]] = {
    "deep-q": {
        "hidden_units": (8,),
        "first_transitions": 50,
        "train_every_transitions": 32,
        "batch_transitions": 32,
    },
    "ppo": {
        "hidden_units": (8, 4),
        "rollout_transitions": 100,
        "batch_transitions": 40,
        "epochs": 2,
        "learning_rate": 0.02,  # before that it is as good as random
    },
}
each = pytest.mark.parametrize("kind", QUICK)


def trained(kind: str, seed: int = 1) -> Any:
    agent = make_agent(kind, seed=seed, **QUICK[kind])
    fit(agent, TINY, episodes=2, episode_ns=3_000.0)
    return agent


def weights(agent: Any) -> list[Any]:
    return [tensor.numpy().copy() for tensor in agent.networks.state_dict().values()]


@each
def test_seeds_decide_what_is_learned_and_global_random_states_neither_matter_nor_move(kind: str) -> None:
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    untouched = np.random.get_state()[1].copy(), torch.get_rng_state()  # type: ignore[index,union-attr]  # noqa: NPY002
    first = weights(trained(kind))
    np.testing.assert_array_equal(untouched[0], np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002
    assert torch.equal(untouched[1], torch.get_rng_state())
    np.random.seed(2)  # noqa: NPY002
    torch.manual_seed(2)
    again, other = weights(trained(kind)), weights(trained(kind, seed=2))
    for ours, theirs in zip(first, again, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert any((ours != theirs).any() for ours, theirs in zip(first, other, strict=True))


def test_steps_are_those_of_adam_in_pytorch() -> None:
    from dragonfly_env.agents.network_agent import Adam, dense_layers

    torch.manual_seed(1)
    network = dense_layers((7, 33, 5))
    reference = copy.deepcopy(network)
    ours, theirs = Adam(network), torch.optim.Adam(reference.parameters())
    for step in range(20):
        rows, rate = torch.randn(64, 7), 0.01 / (step + 1)
        ours.step((network(rows) ** 2).mean(), rate, max_norm=0.1)
        theirs.param_groups[0]["lr"] = rate
        theirs.zero_grad()
        (reference(rows) ** 2).mean().backward()
        torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.1)
        theirs.step()
    for found, expected in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)
        assert found.grad is not None
        # Else products of matrices round otherwise.
        assert (found.data_ptr() - ours.weights.data_ptr()) % 64 == 0
        assert (found.grad.data_ptr() - ours.gradient.data_ptr()) % 64 == 0
