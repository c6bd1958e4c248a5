"""PPO in two stages: one file to read from top to bottom, and to copy. Rollouts are made in the core.

Stage 1: the return of a decision is the time of its own packet. It has little noise, so learning is fast, but packets
that minimise their own times delay the others. Stage 2: the return has the times of all packets that leave in the next
microsecond, too. Weights are measured on validation traffic, and the best ones are kept. The agent ``ppo`` does the
same for every size of system. Needs PyTorch, from the extra [sb3].
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable
from statistics import geometric_mean
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.decisions.batch import DecisionBatch, Transitions

FloatArray = npt.NDArray[np.float64]
TASK = "Adversarial-72"
HORIZON_NS = 1_000.0  # a packet that leaves so much later counts 1 / e
FIRST_STAGE = 0.35  # share of the decisions
VALIDATION_SEED = 10_001


def mlp(inputs: int, outputs: int, hidden: int = 32) -> nn.Sequential:
    """Two hidden layers; all outputs are 0 at first."""
    last = nn.Linear(hidden, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), last)


class TwoStagePpo(nn.Module):
    """The policy, and the baseline of its returns. It draws actions, with the random numbers of the batch."""

    name = "two-stage-ppo"

    def __init__(self, env: dfe.BatchedRoutingEnv) -> None:
        super().__init__()
        shown = ("scope", "action", "features", "occupancy_unit")
        self.options = {name: getattr(env.options, name) for name in shown}
        self.scope, self.action = env.scope, env.action
        self.features = tuple(dict.fromkeys(block.name for block in env.layout.blocks))
        self.policy, self.value = mlp(env.num_features, env.num_actions), mlp(env.num_features, 1)

    def env_options(self) -> dict[str, Any]:
        """Options that this policy needs of an environment."""
        return self.options

    def log_probabilities(self, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """(N, A) log-probabilities of the actions; those of illegal actions are very low."""
        scores: torch.Tensor = self.policy(seen)
        return scores.masked_fill(~legal, -1e9).log_softmax(dim=1)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose an action for every packet."""
        with torch.no_grad():
            logs = self.log_probabilities(torch.tensor(batch.obs), torch.tensor(batch.mask)).numpy()
        actions: IntArray = (np.exp(logs).cumsum(axis=1) > 0.9999 * batch.draws[:, :1]).argmax(axis=1)
        return actions

    def in_the_core(self) -> MlpNetwork:
        """The policy as a network that the core runs."""
        linear = (layer for layer in self.policy if isinstance(layer, nn.Linear))
        layers = tuple((layer.weight.detach().numpy().T, layer.bias.detach().numpy()) for layer in linear)
        chosen: dict[str, Any] = {"action": self.action, "scope": self.scope}
        return MlpNetwork(layers=layers, features=self.features, scoring="all", output="softmax", **chosen)


def common_returns(seen: Transitions) -> FloatArray:
    """(M,) own returns, and those of the packets that leave later, discounted and relative to the scenario's mean."""
    first = seen.hops == 0  # a packet counts once, with its first decision
    packets = np.maximum(1, np.bincount(seen.scenario, first))
    means = np.bincount(seen.scenario, seen.rewards * first) / packets
    order = np.lexsort((seen.decision_time_ns, seen.scenario))
    gains = ((seen.rewards - means[seen.scenario]) * first)[order]
    same = np.diff(seen.scenario[order]) == 0
    kept = same * np.exp(-np.diff(seen.decision_time_ns[order]).clip(min=0) / HORIZON_NS)
    later = np.zeros(len(gains))
    for at in reversed(range(len(kept))):
        later[at] = kept[at] * (gains[at + 1] + later[at + 1])
    return seen.rewards + later[np.argsort(order)]


def normalise(values: torch.Tensor, scenario: torch.Tensor) -> torch.Tensor:
    """Values with mean 0 and variance 1 in each scenario, so that the most congested one does not decide alone."""
    for number in scenario.unique():
        here = scenario == number
        values[here] = (values[here] - values[here].mean()) / (values[here].std() + 1e-6)
    return values


def improve(agent: TwoStagePpo, adam: torch.optim.Adam, rows: list[Any], size: int, bonus: float) -> None:
    """Three passes of PPO over a rollout, ``size`` decisions per gradient step."""
    joined = map(np.concatenate, zip(*rows, strict=True))
    seen, legal, chosen, before, returns, scenario = map(torch.from_numpy, joined)
    chosen, returns = chosen.long()[:, None], returns.float()
    with torch.no_grad():
        returns = normalise(returns, scenario)
        gains = normalise(returns - agent.value(seen)[:, 0], scenario)
    for _ in range(3):
        for at in torch.randperm(len(chosen)).split(size):
            logs = agent.log_probabilities(seen[at], legal[at])
            ratio = (logs.gather(1, chosen[at])[:, 0] - before[at]).exp()
            objective = torch.min(ratio * gains[at], ratio.clamp(0.8, 1.2) * gains[at]).mean()
            entropy = -(logs.exp() * logs).sum(dim=1).mean()
            error = nn.functional.smooth_l1_loss(agent.value(seen[at])[:, 0], returns[at])
            adam.zero_grad()
            (0.5 * error - objective - bonus * entropy).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            adam.step()


def validate(task: str, network: MlpNetwork, **settings: Any) -> float:
    """Packets in the system on validation traffic: the geometric mean over the scenarios."""
    env = dfe.make_task(task, "batched", seed=VALIDATION_SEED, reward="delivery", **settings)
    env.reset()
    env.rollout(network, 2**62)
    return geometric_mean(env.metrics(n).packets_in_system_mean for n in range(env.num_scenarios))


def train(
    task: str = TASK,
    *,
    seed: int = 1,
    decisions: int = 1_200_000,
    report: Callable[[int, float], None] | None = None,
    learning_rate: float = 2e-3,
    common_rate: float = 1e-3,
    **settings: Any,
) -> TwoStagePpo:
    """Train from random actions.

    Args:
        task: Task to learn.
        seed: Seed of weights and traffic.
        decisions: Packets to decide about.
        report: Called after every validation with the decisions so far, and the packets in the system.
        learning_rate: Step size of Adam; it falls to nearly 0 in the first stage.
        common_rate: Step size of Adam in the second stage.
        **settings: Settings of the environment that replace those of the task.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # faster for networks this small
    env = dfe.make_task(task, "batched", seed=seed, reward="delivery", **settings)
    env.reset(seed=seed)
    agent = TwoStagePpo(env)
    adam = torch.optim.Adam(agent.parameters(), lr=learning_rate)
    made, validated, fewest, best = 0, 0, np.inf, agent.state_dict()
    while made < decisions:
        second = made >= FIRST_STAGE * decisions
        size = 80_000 if second else 16_384
        rate = common_rate if second else learning_rate * max(0.05, 1 - made / (FIRST_STAGE * decisions))
        adam.param_groups[0]["lr"] = rate
        network, rows, collected = agent.in_the_core(), [], 0
        while collected < size:
            if env.done:
                env.reset()
            rollout = env.rollout(network, size - collected)
            seen = rollout.transitions
            returns = common_returns(seen) if second else seen.rewards
            rows.append((seen.obs, seen.mask, seen.actions, rollout.log_probs, returns, seen.scenario))
            collected += len(seen)
        improve(agent, adam, rows, 4096 if second else 1024, 0.0 if second else 0.003)
        made += collected
        if made - validated >= 200_000 or made >= decisions:
            packets, validated = validate(task, agent.in_the_core(), **settings), made
            if packets < fewest:
                fewest, best = packets, copy.deepcopy(agent.state_dict())
            if report is not None:
                report(made, packets)
    agent.load_state_dict(best)
    return agent


def main() -> None:
    """Train, and measure on traffic that neither the training nor the validation had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, default=1_200_000)
    given = parser.parse_args()
    agent = train(
        **vars(given), report=lambda made, found: print(f"{made:>9,} decisions: {found:.0f} packets")
    )
    result = dfe.task(given.task).evaluate(agent, seeds=(101, 102))
    print(f"{agent.name} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")


if __name__ == "__main__":
    main()
