"""PPO with a central critic (MAPPO) on the batched environment: one file to read from top to bottom, and to copy.

One actor is shared by all routers and sees what the deciding router sees. The critic sees ``env.state()``: the router's
row, the mean row of its group, and the mean row of the network, so the critic fits every size. A step is a batch; its
rewards are those of ``rewards_by_router()``, summed over each group. Needs PyTorch, from the extra [sb3].
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
from dragonfly_env.decisions.batch import DecisionBatch

TASK = "Adversarial-72"


def mlp(inputs: int, outputs: int, hidden: int = 32) -> nn.Sequential:
    """A hidden layer; all outputs are 0 at first."""
    last = nn.Linear(hidden, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), last)


class Mappo:
    """The trained policy. It draws actions, with the random numbers of the batch: the most probable path alone would be
    the same for all packets of a router, which would meet there.
    """

    name = "mappo"

    def __init__(self, env: dfe.BatchedRoutingEnv) -> None:
        shown = ("scope", "action", "features", "occupancy_unit")
        self.options = {name: getattr(env.options, name) for name in shown}
        self.scope, self.action = env.scope, env.action
        self.actor = mlp(env.num_features, env.num_actions)

    def env_options(self) -> dict[str, Any]:
        """Options that this policy needs of an environment."""
        return self.options

    def log_probabilities(self, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """(N, A) log-probabilities of the actions; those of illegal actions are very low."""
        scores: torch.Tensor = self.actor(seen)
        return scores.masked_fill(~legal, -1e9).log_softmax(dim=1)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every packet."""
        with torch.no_grad():
            logs = self.log_probabilities(torch.tensor(batch.obs), torch.tensor(batch.mask)).numpy()
        actions: IntArray = (np.exp(logs).cumsum(axis=1) > 0.9999 * batch.draws[:, :1]).argmax(axis=1)
        return actions


def central_state(env: dfe.BatchedRoutingEnv) -> torch.Tensor:
    """(R, 3 * width) a router's row of ``state()``, and the means of its group and of its network."""
    width = max(config.topology.radix + 3 + config.topology.num_groups for config in env.configs)
    parts = []
    for number, config in enumerate(env.configs):
        rows = env.state(number)
        rows = np.pad(rows, ((0, 0), (0, width - rows.shape[1])))  # smaller networks have fewer groups
        size = config.topology.a
        groups = rows.reshape(-1, size, width).mean(axis=1).repeat(size, axis=0)
        parts.append(np.hstack([rows, groups, np.broadcast_to(rows.mean(axis=0), rows.shape)]))
    return torch.from_numpy(np.vstack(parts))


def normalise(advantages: torch.Tensor, routers: torch.Tensor, count: int) -> torch.Tensor:
    """Advantages with mean 0 and variance 1 for each router, so that the busiest network does not decide alone."""
    decisions = torch.bincount(routers, minlength=count).clamp(min=1)
    means = torch.zeros(count).index_add(0, routers, advantages) / decisions
    centered = advantages - means[routers]
    variances = torch.zeros(count).index_add(0, routers, centered**2) / decisions
    return centered / (variances.sqrt()[routers] + 1e-6)


def train(
    task: str = TASK,
    *,
    seed: int = 1,
    decisions: int | None = None,
    report: Callable[[int, float], None] | None = None,
    learning_rate: float = 2e-3,
    critic_rate: float = 2e-3,
    gamma: float = 0.98,
    lam: float = 0.99,
    rollout: int = 24_000,
    minibatches: int = 6,
    epochs: int = 3,
    clip: float = 0.2,
    **settings: Any,
) -> Mappo:
    """Train from random actions.

    Args:
        task: Task to learn.
        seed: Seed of weights and traffic; actions are drawn with the random numbers of the traffic.
        decisions: Packets to decide about; None: the budget of the task.
        report: Called after every rollout with the decisions so far, and the mean latency of the last episodes in ns.
        learning_rate: Step size of the actor, at the beginning; it falls to nearly 0.
        critic_rate: Learning rate of the critic.
        gamma: Discount per batch; a packet is on its way for about 13 batches.
        lam: Lambda of generalised advantage estimation.
        rollout: Decisions per rollout.
        minibatches: Gradient steps per pass over a rollout.
        epochs: Passes over a rollout.
        clip: Largest change of a probability ratio in PPO.
        **settings: Settings of the environment that replace those of the task.
    """
    decisions = decisions or dfe.task(task).decisions
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # faster for networks this small
    env = dfe.make_task(task, "batched", seed=seed, transitions=False, **settings)
    batch, state = env.reset(seed=seed), central_state(env)
    policy, critic = Mappo(env), mlp(state.shape[1], 1)
    actor_optimizer = torch.optim.Adam(policy.actor.parameters(), lr=learning_rate)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=critic_rate)
    mean, spread = 0.0, 0.0  # mean and spread of returns: the critic's outputs are relative to them
    latencies: deque[float] = deque(maxlen=3)
    made = 0
    while made < decisions:
        actor_optimizer.param_groups[0]["lr"] = learning_rate * max(0.05, 1 - made / decisions)

        # Collect a rollout: N decisions in T batches, and what R routers are rewarded with after each batch.
        columns, ends, goal = [], [], made + rollout
        steps: list[tuple[torch.Tensor, ...]] = []
        while made < goal:
            actions, step = policy.act(batch), np.full(len(batch), len(steps))
            columns.append((batch.obs.copy(), batch.mask.copy(), actions, step, env.slots(batch)))
            made += len(batch)
            batch, before_step = env.step(actions), state
            state = central_state(env)
            gained = torch.tensor(env.rewards_by_router(), dtype=torch.float32)
            steps.append((before_step, state, gained))
            ends.append(env.done)
            if env.done:
                metrics = [env.metrics(number) for number in range(env.num_scenarios)]
                latencies.append(float(np.mean([result.latency_mean_ns for result in metrics])))
                batch, state = env.reset(), central_state(env)
        seen, legal, chosen, at_step, routers = (
            torch.from_numpy(np.concatenate(column)) for column in zip(*columns, strict=True)
        )
        states, next_states, rewards = (torch.stack(column) for column in zip(*steps, strict=True))

        # Generalised advantage estimation. An episode is cut off, not over: the critic says what would come.
        with torch.no_grad():
            values = critic(states)[..., 0] * spread + mean
            next_values = critic(next_states)[..., 0] * spread + mean
            before = policy.log_probabilities(seen, legal).gather(1, chosen[:, None])[:, 0]
        advantages, advantage = torch.zeros_like(values), torch.zeros(env.num_agents)
        for number in reversed(range(len(ends))):
            later = 0.0 if ends[number] else gamma * lam * advantage
            advantage = rewards[number] + gamma * next_values[number] - values[number] + later
            advantages[number] = advantage
        returns = advantages + values
        share = 0.1 if spread else 1.0
        mean += share * (float(returns.mean()) - mean)
        spread += share * (float(returns.std()) + 1e-6 - spread)
        gains = normalise(advantages[at_step, routers], routers, env.num_agents)

        for _ in range(epochs):
            for at in torch.randperm(len(chosen)).tensor_split(minibatches):
                logs = policy.log_probabilities(seen[at], legal[at])
                ratio = (logs.gather(1, chosen[at, None])[:, 0] - before[at]).exp()
                objective = torch.min(ratio * gains[at], ratio.clamp(1 - clip, 1 + clip) * gains[at])
                actor_optimizer.zero_grad()
                (-objective.mean()).backward()
                actor_optimizer.step()
            for at in torch.randperm(len(ends)).tensor_split(minibatches):
                errors = (critic(states[at])[..., 0] - (returns[at] - mean) / spread) ** 2
                critic_optimizer.zero_grad()
                errors.mean().backward()
                critic_optimizer.step()
        if report is not None and latencies:
            report(made, float(np.mean(latencies)))
    return policy


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, help="default: the budget of the task")
    parser.add_argument("--out", type=Path, help="folder of the result file, TASK/seed-N.json")
    given = parser.parse_args()
    training, began = {"seed": given.seed}, time.process_time()

    def report(made: int, latency: float) -> None:
        training.update(decisions=made, cpu_s=round(time.process_time() - began, 1))
        print(f"{made:>9,} decisions: {latency:.0f} ns")

    policy = train(given.task, seed=given.seed, decisions=given.decisions, report=report)
    result = dfe.task(given.task).evaluate(policy)
    print(f"{policy.name} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")
    if given.out:
        result.save(given.out / given.task / f"seed-{given.seed}.json", policy.name, training)


if __name__ == "__main__":
    main()
