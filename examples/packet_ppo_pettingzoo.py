"""PPO on the returns of packets, in one file and through PettingZoo's parallel API alone.

A step's rewards mix the outcomes of many decisions. But ``infos[agent]["completed"]`` has the outcome of each
decision by its id, and ``infos[agent]["decision_id"]`` the decision that the router makes now. So the return of a
decision is known exactly: the rewards of its packet from there on, from one of ``next_decision_ids`` to the next.

One network for all routers, which learns the shortest time of its own packets: selfish routing. Run it from the
repository: ``python examples/packet_ppo_pettingzoo.py --task Ports-72``.
"""

from __future__ import annotations

import argparse
from collections import deque
from typing import Any

import numpy as np
import torch
from torch import nn

import dragonfly_env as dfe


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers; the last one begins near zero, so that the first actions are nearly random."""
    net = nn.Sequential(
        nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, outputs)
    )
    with torch.no_grad():
        net[-1].weight.mul_(0.01)
        net[-1].bias.zero_()
    return net


def log_probabilities(scores: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Logarithms of the actions' probabilities; those of illegal actions are very low."""
    return scores.masked_fill(~masks, -1e9).log_softmax(dim=-1)


class PacketPpo:
    """The trained policy. It draws actions: the most probable one would be the same for all packets of a router."""

    name = "packet-ppo"

    def __init__(self, actor: nn.Sequential, options: dict[str, Any]) -> None:
        self.actor, self.options = actor, options
        self.scope, self.action = options["scope"], options["action"]

    def env_options(self) -> dict[str, Any]:
        """Options that this policy needs of an environment."""
        return self.options

    def act(self, batch: dfe.DecisionBatch) -> Any:
        """Choose an action for every packet, with the random numbers of the batch."""
        with torch.no_grad():
            scores = self.actor(torch.tensor(batch.obs))[:, :-1]  # leave out idle
        chances = log_probabilities(scores, torch.tensor(batch.mask)).exp().numpy()
        return (chances.cumsum(axis=1) > 0.9999 * batch.draws[:, :1]).argmax(axis=1)


class Player:
    """Plays episode after episode, and collects decisions whose returns are known.

    A packet's rewards come one after the other, as router after router hands it on. When the packet is delivered, the
    chain is followed backwards: each of its decisions gets the sum of the rewards from there on. What the end of an
    episode cuts off counts up to there.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.latencies: deque[float] = deque(maxlen=3)
        self.episode = 0
        self.shown = env.reset()
        self.pending: dict[int, tuple[Any, ...]] = {}  # decisions whose return is not known, by id
        self.before: dict[int, tuple[int, float]] = {}  # decision before and its reward, by packet id
        self.rows: list[tuple[Any, ...]] = []

    def collect(self, actor: nn.Sequential, count: int) -> list[torch.Tensor]:
        """Play until at least so many returns are known: observations, masks, actions, their log-probabilities,
        episodes and returns.
        """
        self.rows = []
        while len(self.rows) < count:
            self._step(actor)
        observations, masks, *columns = zip(*self.rows, strict=True)
        seen, legal = torch.from_numpy(np.stack(observations)), torch.from_numpy(np.stack(masks)).bool()
        return [seen, legal, *map(torch.tensor, columns)]

    def _step(self, actor: nn.Sequential) -> None:
        observations, infos = self.shown
        acting = [agent for agent in self.env.agents if infos[agent]["decision_id"] >= 0]
        seen = [observations[agent]["observation"] for agent in acting]
        masks = [observations[agent]["action_mask"] for agent in acting]
        with torch.no_grad():
            scores = actor(torch.from_numpy(np.stack(seen)))
            logs = log_probabilities(scores, torch.from_numpy(np.stack(masks)).bool())
            actions = torch.multinomial(logs.exp(), 1)
        chosen = actions[:, 0].tolist()
        chances = logs.gather(1, actions)[:, 0].tolist()
        for agent, *row in zip(acting, seen, masks, chosen, chances, strict=True):
            self.pending[infos[agent]["decision_id"]] = (*row, self.episode)
        observations, _, _, _, infos = self.env.step(dict(zip(acting, chosen, strict=True)))
        outcomes: list[tuple[int, float, int]] = []
        for info in infos.values():
            done = info["completed"]
            if len(done):
                ids, rewards = done.decision_ids.tolist(), done.rewards.tolist()
                outcomes += zip(ids, rewards, done.next_decision_ids.tolist(), strict=True)
        for decision, reward, following in sorted(outcomes):  # earlier decisions of a packet have smaller ids
            if following >= 0:
                self.before[following] = (decision, reward)
                continue
            total = reward
            self.rows.append((*self.pending.pop(decision), total))
            while decision in self.before:
                decision, reward = self.before.pop(decision)
                total += reward
                self.rows.append((*self.pending.pop(decision), total))
        self.shown = observations, infos
        if not self.env.agents:
            self.latencies.append(next(iter(infos.values()))["metrics"].latency_mean_ns)
            self.shown = self.env.reset()
            self.episode += 1


def train(
    task: str = "Ports-72",
    *,
    seed: int = 1,
    decisions: int = 2_000_000,
    rollout: int = 65_536,
    minibatch: int = 1024,
    epochs: int = 3,
    learning_rate: float = 2e-3,
    clip: float = 0.2,
    entropy: float = 0.003,
    worst_return: float = -20.0,
    report: bool = False,
    **settings: Any,
) -> PacketPpo:
    """Train from random actions.

    Args:
        task: Task to learn.
        seed: Seed of weights, actions and traffic.
        decisions: Packets to decide about.
        rollout: Decisions per rollout. It has dozens of episodes, so that each kind of traffic of a task is in it.
        minibatch: Decisions per gradient step.
        epochs: Passes over a rollout.
        learning_rate: At the beginning; it falls to a twentieth.
        clip: Largest change of a probability ratio in PPO.
        entropy: Weight of the entropy, which keeps routers trying all paths.
        worst_return: Lower returns count as this one: in congestion single packets take very long.
        report: Whether each rollout is printed.
        **settings: Settings of the environment that replace those of the task.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # faster for networks this small
    env = dfe.make_task(task, "parallel", seed=seed, **settings)
    space = env.observation_space("router_0")["observation"]
    actor, critic = network(space.shape[0], env.action_space("router_0").n), network(space.shape[0], 1)
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)
    player = Player(env)
    made = 0
    while made < decisions:
        optimizer.param_groups[0]["lr"] = learning_rate * max(0.05, 1 - made / decisions)
        seen, masks, actions, before, episodes, returns = player.collect(actor, rollout)
        made += len(returns)
        returns = returns.clamp(min=worst_return)
        with torch.no_grad():
            advantages = returns - critic(seen)[:, 0]
        # Each episode has one kind of traffic: on its own scale, light traffic counts as much as heavy one.
        for episode in episodes.unique():
            rows = episodes == episode
            of_rows = advantages[rows]
            advantages[rows] = (of_rows - of_rows.mean()) / (of_rows.std(correction=0) + 1e-6)
        for _ in range(epochs):
            for rows in torch.randperm(len(returns)).split(minibatch):
                logs = log_probabilities(actor(seen[rows]), masks[rows])
                ratio = (logs.gather(1, actions[rows, None])[:, 0] - before[rows]).exp()
                gains = advantages[rows]
                gain = torch.min(ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains).mean()
                spread = -(logs.exp() * logs.clamp(min=-30)).sum(dim=1).mean()
                error = nn.functional.smooth_l1_loss(critic(seen[rows])[:, 0], returns[rows])
                optimizer.zero_grad()
                (0.5 * error - gain - entropy * spread).backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
        if report and player.latencies:
            print(f"{made:>9,} decisions: {np.mean(player.latencies):.0f} ns", flush=True)
    shown = ("scope", "action", "features", "occupancy_unit")
    return PacketPpo(actor, {name: getattr(env.core.options, name) for name in shown})


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="Ports-72")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, default=2_000_000)
    given = parser.parse_args()
    policy = train(**vars(given), report=True)
    result = dfe.task(given.task).evaluate(policy)
    print(f"{policy.name} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")


if __name__ == "__main__":
    main()
