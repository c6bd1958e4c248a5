"""Deep Q-learning with a network and a replay buffer per router: one file to read from top to bottom, and to copy.

The batched environment says exactly what came of each decision (``transitions()``): how long the packet took to its
next decision or its delivery, and what the router of the next decision saw. So the target of a router is its reward and
the value that the next router gives to the packet there, as in Q-routing (Boyan, Littman, NIPS 1993). Routers may
share one network and one buffer (``--shared``). Needs PyTorch, from the extra [sb3].
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray
from dragonfly_env.decisions.batch import DecisionBatch, Transitions

TASK = "Adversarial-72"


class QNetworks(nn.Module):
    """A network of one hidden layer per router."""

    def __init__(self, networks: int, inputs: int, actions: int, hidden: int = 32) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(networks, inputs, hidden) * (2 / inputs) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(networks, 1, hidden))
        self.last_weights = nn.Parameter(torch.randn(networks, hidden, actions) * 0.01)
        self.last_bias = nn.Parameter(torch.zeros(networks, 1, actions))

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """(networks, N, actions) the values of N observations (networks, N, F) of each network."""
        hidden = torch.baddbmm(self.bias, seen, self.weights).relu()
        return torch.baddbmm(self.last_bias, hidden, self.last_weights)

    def rows(self, seen: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """(N, actions) the values of observations (N, F), each by the network of its owner."""
        if len(self.weights) == 1:
            return self(seen[None])[0]
        hidden = torch.baddbmm(self.bias[owners], seen[:, None], self.weights[owners]).relu()
        return torch.baddbmm(self.last_bias[owners], hidden, self.last_weights[owners])[:, 0]


class Idqn:
    """The trained policy: takes the action with the highest value; in training a share ``epsilon`` is random."""

    def __init__(self, env: dfe.BatchedRoutingEnv, networks: int) -> None:
        shown = ("scope", "action", "features", "occupancy_unit")
        self.options = {name: getattr(env.options, name) for name in shown}
        self.name = "idqn" if networks > 1 else "idqn-shared"
        self.scope, self.action = env.scope, env.action
        self.values = QNetworks(networks, env.num_features, env.num_actions)
        self.epsilon = 0.0

    def env_options(self) -> dict[str, Any]:
        """Options that this policy needs of an environment."""
        return self.options

    def owners(self, agents: np.ndarray) -> torch.Tensor:
        """(N,) networks that act for the routers; on a larger system than in training each acts for several routers."""
        return torch.from_numpy(agents.astype(np.int64)) % len(self.values.weights)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every packet."""
        with torch.no_grad():
            values = self.values.rows(torch.tensor(batch.obs), self.owners(batch.agents)).numpy()
        actions: IntArray = np.where(batch.mask, values, -np.inf).argmax(axis=1)
        if self.epsilon:
            explores = batch.draws[:, 0] < self.epsilon
            number = (batch.draws[:, 1] * batch.mask.sum(axis=1)).astype(
                int
            )  # number among the legal actions
            actions = np.where(
                explores, (batch.mask.cumsum(axis=1) > number[:, None]).argmax(axis=1), actions
            )
        return actions


class Replay:
    """A ring of transitions per network."""

    def __init__(self, networks: int, size: int, features: int, actions: int) -> None:
        self.size = size
        self.counts = np.zeros(networks, np.int64)  # transitions so far, per network
        self.seen = np.zeros((networks, size, features), np.float32)
        self.next_seen = np.zeros((networks, size, features), np.float32)
        self.next_legal = np.zeros((networks, size, actions), np.bool_)
        self.actions = np.zeros((networks, size), np.int64)
        self.rewards = np.zeros((networks, size), np.float32)
        self.next_owners = np.full((networks, size), -1, np.int64)  # -1: delivered

    def add(self, new: Transitions, owners: np.ndarray, next_owners: np.ndarray) -> None:
        """Append transitions to the rings of their owners."""
        order = np.argsort(owners, kind="stable")
        owners = owners[order]
        new_of = np.bincount(owners, minlength=len(self.counts))
        number = np.arange(len(owners)) - (new_of.cumsum() - new_of)[owners]
        at = owners, (self.counts[owners] + number) % self.size
        self.seen[at], self.next_seen[at] = new.obs[order], new.next_obs[order]
        self.next_legal[at], self.actions[at] = new.next_mask[order], new.actions[order]
        self.rewards[at], self.next_owners[at] = new.rewards[order], next_owners[order]
        self.counts += new_of

    def sample(self, rng: np.random.Generator, count: int) -> list[torch.Tensor]:
        """Return ``count`` transitions of each network, (networks, count, ...) each."""
        filled = np.minimum(self.counts, self.size).clip(min=1)[:, None]
        at = np.arange(len(filled))[:, None], (rng.random((len(filled), count)) * filled).astype(int)
        columns = (self.seen, self.actions, self.rewards, self.next_seen, self.next_legal, self.next_owners)
        return [torch.from_numpy(column[at]) for column in columns]


def train(
    task: str = TASK,
    *,
    seed: int = 1,
    decisions: int | None = None,
    report: Callable[[int, float], None] | None = None,
    shared: bool = False,
    learning_rate: float = 1e-3,
    discount: float = 1.0,
    exploration: float = 0.3,
    epsilon: float = 0.02,
    replay: int = 72_000,
    batch_transitions: int = 1152,
    train_every: int = 288,
    target_steps: int = 100,
    **settings: Any,
) -> Idqn:
    """Train from random actions.

    Args:
        task: Task to learn.
        seed: Seed of weights, samples and traffic.
        decisions: Packets to decide about; None: the budget of the task.
        report: Called after every episode with the decisions so far, and the mean latency of the last episodes in ns.
        shared: One network and one buffer for all routers.
        learning_rate: Step size of Adam.
        discount: From one decision about a packet to the next.
        exploration: The share of the training in which random actions become fewer.
        epsilon: The share of random actions after that.
        replay: Transitions in all buffers.
        batch_transitions: Transitions per gradient step, of all networks.
        train_every: Transitions per gradient step that are new.
        target_steps: Gradient steps after which the target networks are renewed.
        **settings: Settings of the environment that replace those of the task.
    """
    decisions = decisions or dfe.task(task).decisions
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # faster for networks this small
    rng = np.random.default_rng(seed)
    env = dfe.make_task(task, "batched", seed=seed, **settings)
    networks = 1 if shared else max(config.topology.num_routers for config in env.configs)
    policy = Idqn(env, networks)
    target = QNetworks(networks, env.num_features, env.num_actions)
    target.load_state_dict(policy.values.state_dict())
    optimizer = torch.optim.Adam(policy.values.parameters(), lr=learning_rate)
    buffer = Replay(networks, replay // networks, env.num_features, env.num_actions)
    latencies: deque[float] = deque(maxlen=2)
    made = new = steps = 0
    while made < decisions:
        batch = env.reset()
        while not env.done:
            policy.epsilon = max(epsilon, 1 - (1 - epsilon) * made / (exploration * decisions))
            made += len(batch)
            batch = env.step(policy.act(batch))
            completed = env.transitions().completed()
            next_owners = policy.owners(completed.next_agents).numpy()
            next_owners[completed.done] = -1
            buffer.add(completed, policy.owners(completed.agents).numpy(), next_owners)
            new += len(completed)
            if buffer.counts.sum() < replay // 10:
                new = 0
            while new >= train_every:
                new -= train_every
                improve(
                    policy.values,
                    target,
                    optimizer,
                    buffer.sample(rng, batch_transitions // networks),
                    discount,
                )
                steps += 1
                if steps % target_steps == 0:
                    target.load_state_dict(policy.values.state_dict())
        latencies.append(float(np.mean([env.metrics(i).latency_mean_ns for i in range(env.num_scenarios)])))
        if report is not None:
            report(made, float(np.mean(latencies)))
    policy.epsilon = 0.0
    return policy


def improve(
    values: QNetworks,
    target: QNetworks,
    optimizer: torch.optim.Optimizer,
    sample: list[torch.Tensor],
    discount: float,
) -> None:
    """A gradient step of all networks, with double Q-learning."""
    seen, actions, rewards, next_seen, next_legal, next_owners = sample
    goals = rewards.clone()
    onward = next_owners >= 0
    if onward.any():
        owners, rows = next_owners[onward], next_seen[onward]
        with torch.no_grad():
            best = (
                values.rows(rows, owners)
                .masked_fill(~next_legal[onward], -torch.inf)
                .argmax(dim=1, keepdim=True)
            )
            goals[onward] += discount * target.rows(rows, owners).gather(1, best)[:, 0]
    chosen = values(seen).gather(2, actions[..., None])[..., 0]
    loss = nn.functional.smooth_l1_loss(chosen, goals, reduction="none").mean(dim=1).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, help="default: the budget of the task")
    parser.add_argument("--shared", action="store_true", help="one network for all routers")
    parser.add_argument("--out", type=Path, help="folder of the result file, TASK/seed-N.json")
    given = parser.parse_args()
    training, began = {"seed": given.seed}, time.process_time()

    def report(made: int, latency: float) -> None:
        training.update(decisions=made, cpu_s=round(time.process_time() - began, 1))
        print(f"{made:>9,} decisions: {latency:.0f} ns")

    policy = train(given.task, seed=given.seed, decisions=given.decisions, shared=given.shared, report=report)
    result = dfe.task(given.task).evaluate(policy)
    print(f"{policy.name} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")
    if given.out:
        result.save(given.out / given.task / f"seed-{given.seed}.json", policy.name, training)


if __name__ == "__main__":
    main()
