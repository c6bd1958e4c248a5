"""PPO with a central critic (MAPPO) on the batched environment: one file to read from top to bottom, and to copy.

One actor is shared by all routers and sees what the deciding router sees. The critic sees ``env.state()``: the router's
row, the mean row of its group, and the mean row of the network, so the critic fits every size. A step is a batch; its
rewards are those of ``rewards_by_router()``, summed over each group. Needs PyTorch, from the extra [sb3].
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray, evaluate_over_seeds
from dragonfly_env.decisions.batch import DecisionBatch

TASK = "Adversarial-72"


def make_env(task: str, **settings: Any) -> dfe.BatchedRoutingEnv:
    """The environment of a task."""
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35)
    given = {"scope": "source", "action": "path", "share": "group", "duration_ns": 20_000.0, **settings}
    return dfe.BatchedRoutingEnv(config, transitions=False, **given)


class Mappo:
    """The trained policy: draws paths with the random numbers of the batch; or the most probable ones, if greedy."""

    name, greedy = "mappo", False

    def __init__(self, env: dfe.BatchedRoutingEnv, hidden: int) -> None:
        names = ("scope", "action", "features", "occupancy_unit")
        self.options = {name: getattr(env.options, name) for name in names}
        self.scope, self.action = env.scope, env.action
        self.actor = mlp(env.num_features, env.num_actions, hidden)

    def env_options(self) -> dict[str, Any]:
        """What an environment must show to this policy."""
        return self.options

    def log_probabilities(self, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """(N, A) of the actions; those of illegal actions are very low."""
        scores: torch.Tensor = self.actor(seen)
        return scores.masked_fill(~legal, -1e9).log_softmax(dim=1)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every packet."""
        with torch.no_grad():
            logs = self.log_probabilities(torch.tensor(batch.obs), torch.tensor(batch.mask)).numpy()
        if self.greedy:
            return np.asarray(logs.argmax(axis=1))
        actions: IntArray = (np.exp(logs).cumsum(axis=1) > batch.draws[:, :1] * 0.9999).argmax(axis=1)
        return actions


class Episode(NamedTuple):
    """T batches with N decisions of R routers."""

    seen: torch.Tensor  # (N, F)
    legal: torch.Tensor  # (N, A)
    actions: torch.Tensor  # (N,)
    steps: torch.Tensor  # (N,) the batch of each decision
    routers: torch.Tensor  # (N,)
    states: torch.Tensor  # (T + 1, R, S) what the critic sees
    rewards: torch.Tensor  # (T, R)
    latency_ns: float


def mlp(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    """One hidden layer; all outputs are 0 at first."""
    last = nn.Linear(hidden, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), last)


def central_state(env: dfe.BatchedRoutingEnv) -> torch.Tensor:
    """(R, 3 * width) the router's row of ``state()``, and the means of its group and its network."""
    width = max(config.topology.radix + 3 + config.topology.num_groups for config in env.configs)
    parts = []
    for number, config in enumerate(env.configs):
        rows = env.state(number)
        rows = np.pad(rows, ((0, 0), (0, width - rows.shape[1])))  # smaller networks have fewer groups
        size = config.topology.a
        groups = rows.reshape(-1, size, width).mean(axis=1).repeat(size, axis=0)
        parts.append(np.hstack([rows, groups, np.broadcast_to(rows.mean(axis=0), rows.shape)]))
    return torch.from_numpy(np.vstack(parts))


def run_episode(env: dfe.BatchedRoutingEnv, policy: Mappo) -> Episode:
    """Collect an episode."""
    columns, states = [], [central_state(env)]
    rewards: list[np.ndarray] = []
    batch = env.reset()
    while not env.done:
        actions, step = policy.act(batch), np.full(len(batch), len(rewards))
        columns.append((batch.obs.copy(), batch.mask.copy(), actions, step, env.slots(batch)))
        batch = env.step(actions)
        rewards.append(env.rewards_by_router())
        states.append(central_state(env))
    seen, legal, actions, steps, routers = (
        torch.from_numpy(np.concatenate(column)) for column in zip(*columns, strict=True)
    )
    gained = torch.from_numpy(np.array(rewards, np.float32))
    latency = np.mean([env.metrics(number).latency_mean_ns for number in range(env.num_scenarios)])
    return Episode(seen, legal, actions, steps, routers, torch.stack(states), gained, float(latency))


def train(
    task: str = TASK,
    *,
    seed: int = 1,
    decisions: int = 1_200_000,
    report: Callable[[int, float], None] | None = None,
    hidden: int = 32,
    learning_rate: float = 2e-3,
    critic_rate: float = 2e-3,
    gamma: float = 0.98,
    lam: float = 0.99,
    rollout: int = 24_000,
    batch_decisions: int = 4096,
    epochs: int = 3,
    clip: float = 0.2,
    **settings: Any,
) -> Mappo:
    """Train from random paths.

    Args:
        task: What to learn.
        seed: Of weights and traffic; actions are drawn with the random numbers of the traffic.
        decisions: Packets to decide about.
        report: Called after every rollout with the decisions so far, and the mean latency of the last episodes in ns.
        hidden: Units of the hidden layers.
        learning_rate: Of the actor, at the beginning; it falls to nearly 0.
        critic_rate: Learning rate of the critic.
        gamma: Discount per batch.
        lam: Of generalised advantage estimation.
        rollout: Decisions per rollout, at least; a rollout has whole episodes.
        batch_decisions: Decisions per gradient step.
        epochs: Passes over a rollout.
        clip: How far PPO lets probabilities change.
        **settings: Settings of the environment that replace those of the task.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # faster for networks this small
    env = make_env(task, **settings)
    env.reset(seed=seed)
    policy = Mappo(env, hidden)
    critic = mlp(central_state(env).shape[1], 1, hidden)
    actor_optimizer = torch.optim.Adam(policy.actor.parameters(), lr=learning_rate)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=critic_rate)
    mean, spread = 0.0, 1.0  # of returns: the critic's outputs are relative to them
    latencies: deque[float] = deque(maxlen=5)
    made = 0
    while made < decisions:
        actor_optimizer.param_groups[0]["lr"] = learning_rate * max(0.05, 1 - made / decisions)
        episodes: list[Episode] = []
        while sum(len(one.actions) for one in episodes) < rollout:
            episodes.append(run_episode(env, policy))
            latencies.append(episodes[-1].latency_ns)

        # Generalised advantage estimation. An episode is cut off, not over: the critic says what would come.
        of_decisions, of_steps = [], []
        for one in episodes:
            with torch.no_grad():
                values = critic(one.states)[..., 0] * spread + mean
            advantages = torch.zeros_like(one.rewards)
            advantage = torch.zeros(env.num_agents)
            for step in reversed(range(len(one.rewards))):
                error = one.rewards[step] + gamma * values[step + 1] - values[step]
                advantage = advantages[step] = error + gamma * lam * advantage
            of_decisions.append(advantages[one.steps, one.routers])
            of_steps.append(advantages + values[:-1])
        seen, legal, actions, routers = (
            torch.cat([one[column] for one in episodes]) for column in (0, 1, 2, 4)
        )
        states, returns = torch.cat([one.states[:-1] for one in episodes]), torch.cat(of_steps)
        keep = 0.9 if made else 0.0
        mean = keep * mean + (1 - keep) * float(returns.mean())
        spread = keep * spread + (1 - keep) * float(returns.std() + 1e-6)
        gains = normalise(torch.cat(of_decisions), routers, env.num_agents)
        made += len(actions)

        with torch.no_grad():
            before = policy.log_probabilities(seen, legal).gather(1, actions[:, None])[:, 0]
        for _ in range(epochs):
            for at in torch.randperm(len(actions)).split(batch_decisions):
                logs = policy.log_probabilities(seen[at], legal[at])
                ratio = (logs.gather(1, actions[at, None])[:, 0] - before[at]).exp()
                objective = torch.min(ratio * gains[at], ratio.clamp(1 - clip, 1 + clip) * gains[at]).mean()
                actor_optimizer.zero_grad()
                (-objective).backward()
                actor_optimizer.step()
            for at in torch.randperm(len(states)).split(128):
                errors = (critic(states[at])[..., 0] - (returns[at] - mean) / spread) ** 2
                critic_optimizer.zero_grad()
                errors.mean().backward()
                critic_optimizer.step()
        if report is not None:
            report(made, float(np.mean(latencies)))
    return policy


def normalise(advantages: torch.Tensor, routers: torch.Tensor, count: int) -> torch.Tensor:
    """Advantages of decisions, of mean 0 and variance 1 for each router, so that busy networks do not decide alone."""
    decisions = torch.bincount(routers, minlength=count).clamp(min=1)
    means = torch.zeros(count).index_add(0, routers, advantages) / decisions
    centred = advantages - means[routers]
    variances = torch.zeros(count).index_add(0, routers, centred**2) / decisions
    return centred / (variances.sqrt()[routers] + 1e-6)


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, default=1_200_000)
    given = parser.parse_args()
    policy = train(
        **vars(given), report=lambda made, latency: print(f"{made:>9,} decisions: {latency:.0f} ns")
    )
    measured = evaluate_over_seeds(policy, make_env(given.task).config, seeds=(101, 102))
    print(f"{policy.name} on new traffic: {measured.latency_mean_ns:.0f} ns")


if __name__ == "__main__":
    main()
