"""Independent PPO through the PettingZoo parallel API: one file to read from top to bottom, and to copy.

A step is a round: every router with a packet chooses the packet's path, the others idle. The reward is the default one,
``reward="hop"``, summed over the routers of a group. All routers share one small network, or each router has its own
(``--independent``). In training the critic also sees how many packets of its router and its group are on their way, as
infos say: with the observation alone some trainings end in congestion. Needs PyTorch, from the extra [sb3].
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


class Networks(nn.Module):
    """A hidden layer per router, all routers in one product of matrices; or one network that all routers share."""

    def __init__(self, networks: int, inputs: int, outputs: int, hidden: int = 32) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(networks, inputs, hidden) / inputs**0.5)
        self.bias = nn.Parameter(torch.zeros(networks, 1, hidden))
        self.last_weights = nn.Parameter(torch.zeros(networks, hidden, outputs))
        self.last_bias = nn.Parameter(torch.zeros(networks, 1, outputs))

    def forward(self, seen: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """(R, N, outputs) outputs for N observations (R, N, inputs) of each of R routers; networks: ``owners``."""
        parameters = [self.weights, self.bias, self.last_weights, self.last_bias]
        rows = seen
        if len(self.weights) == 1:
            rows = seen.reshape(1, -1, seen.shape[-1])
        else:  # a larger system than that of the training has several routers per network
            parameters = [each[owners % len(each)] for each in parameters]
        weights, bias, last_weights, last_bias = parameters
        out = torch.baddbmm(last_bias, torch.baddbmm(bias, rows, weights).tanh(), last_weights)
        return out.reshape(*seen.shape[:-1], -1)


def log_probabilities(scores: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Logarithms of the actions' probabilities; those of illegal actions are very low."""
    return scores.masked_fill(~masks, -1e9).log_softmax(dim=-1)


class Ippo:
    """The trained policy. It draws actions, with the random numbers of the batch: the most probable path alone would be
    the same for all packets of a router, which would meet there.
    """

    def __init__(self, actor: Networks, options: dict[str, Any]) -> None:
        self.name = "ippo" if len(actor.weights) > 1 else "ppo-shared"
        self.actor, self.options = actor, options
        self.scope, self.action = options["scope"], options["action"]

    def env_options(self) -> dict[str, Any]:
        """Options that this policy needs of an environment."""
        return self.options

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every packet."""
        seen, owners = torch.tensor(batch.obs)[:, None], torch.tensor(batch.agents, dtype=torch.long)
        with torch.no_grad():
            scores = self.actor(seen, owners)[:, 0, :-1]  # leave out idle
            chances = log_probabilities(scores, torch.tensor(batch.mask)).exp().numpy()
        actions: IntArray = (chances.cumsum(axis=1) > 0.9999 * batch.draws[:, :1]).argmax(axis=1)
        return actions


def train(
    task: str = TASK,
    *,
    seed: int = 1,
    decisions: int | None = None,
    report: Callable[[int, float], None] | None = None,
    independent: bool = False,
    learning_rate: float | None = None,
    critic_rate: float = 2e-3,
    gamma: float = 0.99,
    lam: float = 0.99,
    rollout: int = 24_000,
    minibatches: int = 6,
    epochs: int = 3,
    clip: float = 0.2,
    **settings: Any,
) -> Ippo:
    """Train from random actions.

    Args:
        task: Task to learn.
        seed: Seed of weights, actions and traffic.
        decisions: Packets to decide about; None: the budget of the task.
        report: Called after every rollout with the decisions so far, and the mean latency of the last episodes in ns.
        independent: One network per router, and episodes of 20 us, which end before congestion has grown. Routers with
            equal numbers in different systems have the same network.
        learning_rate: Step size of the actor at first; it falls to nearly 0 in 1.2 million decisions at most: trainings
            with a high rate for longer may end in congestion. None: 0.0005, or 0.001 for networks of their own, which
            learn from fewer decisions each and take all decisions for it.
        critic_rate: Learning rate of the critic.
        gamma: Discount per round; a packet is on its way for about 30 rounds.
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
    if independent:
        settings = {"duration_ns": 20_000.0, **settings}
    env = dfe.make_task(task, "parallel", seed=seed, **settings)
    names = env.possible_agents

    def stack(observations: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        seen = np.stack([observations[name]["observation"] for name in names])
        masks = np.stack([observations[name]["action_mask"] for name in names])
        return torch.from_numpy(seen), torch.from_numpy(masks).bool()

    owners = torch.cat([torch.arange(config.topology.num_routers) for config in env.core.configs])
    groups = torch.cat(
        [
            torch.arange(config.topology.num_groups).repeat_interleave(config.topology.a)
            for config in env.core.configs
        ]
    )
    groups += (owners == 0).cumsum(0) * (int(groups.max()) + 1)  # each network has groups of its own

    def value_inputs(seen: torch.Tensor, waiting: torch.Tensor) -> torch.Tensor:
        """Input of the critic: the observation, and how many packets of the router and its group are on their way."""
        of_group = torch.zeros(int(groups.max()) + 1).index_add(0, groups, waiting)[groups]
        counts = torch.stack([waiting, of_group], dim=1)
        return torch.cat([seen, counts / (counts + 16)], dim=1)

    seen, masks = stack(env.reset(seed=seed)[0])
    waiting = torch.zeros(len(names))
    networks = int(owners.max()) + 1 if independent else 1
    actor = Networks(networks, seen.shape[1], masks.shape[1])
    critic = Networks(networks, seen.shape[1] + 2, 1)
    rate = learning_rate or (1e-3 if independent else 5e-4)
    annealed = decisions if independent else min(decisions, 1_200_000)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=rate)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=critic_rate)
    mean, spread = 0.0, 0.0  # mean and spread of returns: the critic's outputs are relative to them
    latencies: deque[float] = deque(maxlen=3)
    made = 0
    while made < decisions:
        actor_optimizer.param_groups[0]["lr"] = rate * max(0.05, 1 - made / annealed)

        # Collect a rollout: tensors (R, T, ...) of R routers in T rounds.
        steps, ends, goal = [], [], made + rollout
        while made < goal:
            with torch.no_grad():
                logs = log_probabilities(actor(seen[:, None], owners)[:, 0], masks)
            actions = torch.multinomial(logs.exp(), 1)
            made += int((~masks[:, -1]).sum())
            chosen = dict(zip(names, actions[:, 0].tolist(), strict=True))
            observations, rewards, _, _, infos = env.step(chosen)
            next_seen, next_masks = stack(observations)
            gained = torch.tensor([rewards[name] for name in names])
            here = value_inputs(seen, waiting)
            waiting = waiting + torch.tensor(
                [info["generated"] - info["delivered"] for info in infos.values()]
            )
            after = value_inputs(next_seen, waiting)
            steps.append((seen, masks, actions, logs.gather(1, actions), gained, here, after))
            ends.append(not env.agents)
            if ends[-1]:
                metrics = {id(info["metrics"]): info["metrics"] for info in infos.values()}  # one per network
                latencies.append(float(np.mean([result.latency_mean_ns for result in metrics.values()])))
                next_seen, next_masks = stack(env.reset()[0])
                waiting = torch.zeros(len(names))
            seen, masks = next_seen, next_masks
        all_seen, all_masks, actions, before, gained, here, after = (
            torch.stack(column, dim=1) for column in zip(*steps, strict=True)
        )

        # Generalised advantage estimation. An episode is cut off, not over: the critic says what would come.
        with torch.no_grad():
            values = critic(here, owners)[..., 0] * spread + mean
            next_values = critic(after, owners)[..., 0] * spread + mean
        advantages, advantage = torch.zeros_like(values), torch.zeros(len(names))
        for step in reversed(range(len(ends))):
            later = 0.0 if ends[step] else gamma * lam * advantage
            advantage = gained[:, step] + gamma * next_values[:, step] - values[:, step] + later
            advantages[:, step] = advantage
        returns = advantages + values
        share = 0.1 if spread else 1.0
        mean += share * (float(returns.mean()) - mean)
        spread += share * (float(returns.std()) + 1e-6 - spread)
        acts = (~all_masks[..., -1]).float()  # an idle router has nothing to learn from its round
        count = acts.sum(dim=1, keepdim=True).clamp(min=1)
        advantages = advantages - (advantages * acts).sum(dim=1, keepdim=True) / count
        advantages /= ((advantages**2 * acts).sum(dim=1, keepdim=True) / count).sqrt() + 1e-6

        for _ in range(epochs):
            for at in torch.randperm(len(ends)).tensor_split(minibatches):
                logs = log_probabilities(actor(all_seen[:, at], owners), all_masks[:, at])
                ratio = (logs.gather(2, actions[:, at]) - before[:, at])[..., 0].exp()
                gains = advantages[:, at]
                objective = torch.min(ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains) * acts[:, at]
                objective = objective.sum(dim=1) / acts[:, at].sum(dim=1).clamp(min=1)
                # Independent networks have a loss each: the sum has the gradients of all.
                loss = -objective.sum() / (1 if independent else len(names))
                actor_optimizer.zero_grad()
                loss.backward()
                actor_optimizer.step()
                errors = (critic(here[:, at], owners)[..., 0] - (returns[:, at] - mean) / spread) ** 2
                critic_optimizer.zero_grad()
                errors.mean(dim=1).sum().backward()
                critic_optimizer.step()
        if report is not None and latencies:
            report(made, float(np.mean(latencies)))

    shown = ("scope", "action", "features", "occupancy_unit")
    return Ippo(actor, {name: getattr(env.core.options, name) for name in shown})


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, help="default: the budget of the task")
    parser.add_argument("--independent", action="store_true", help="one network per router")
    parser.add_argument("--out", type=Path, help="folder of the result file, TASK/seed-N.json")
    given = parser.parse_args()
    training, began = {"seed": given.seed}, time.process_time()

    def report(made: int, latency: float) -> None:
        training.update(decisions=made, cpu_s=round(time.process_time() - began, 1))
        print(f"{made:>9,} decisions: {latency:.0f} ns")

    policy = train(
        given.task,
        seed=given.seed,
        decisions=given.decisions,
        independent=given.independent,
        report=report,
    )
    result = dfe.task(given.task).evaluate(policy)
    print(f"{policy.name} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")
    if given.out:
        result.save(given.out / given.task / f"seed-{given.seed}.json", policy.name, training)


if __name__ == "__main__":
    main()
