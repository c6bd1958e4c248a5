"""PPO in a hundred lines: a learner of your own that trains on two sizes at once, goes on, and runs in the core.

Needs the extra [sb3], for PyTorch. docs/learning.md explains each method.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

import dragonfly_env as dfe
from dragonfly_env.agents import IntArray, evaluate_policy, train
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.decisions.batch import DecisionBatch, Transitions

OF_DECISION = ("destination_demand", "destination_remote_demand")
OF_PATH = ("candidate_kind", "candidate_time_packets", "candidate_packets", "candidate_queue_packets")
SEEN = (*OF_DECISION, *OF_PATH)  # nothing that depends on the size of the system
UNIT = 16.0  # packets


class SmallPpo:
    """Scores every candidate path with one network; each packet's return is minus its time to delivery."""

    name, scope, action = "small-ppo", "source", "path"

    def __init__(self, settings: None = None, *, seed: int = 0) -> None:
        torch.manual_seed(seed)
        torch.set_num_threads(1)  # faster for networks this small
        self.metadata: dict[str, Any] = {}
        self.training = False
        self.policy, self.value = (
            torch.nn.Sequential(torch.nn.Linear(len(SEEN), 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
            for _ in range(2)
        )
        parameters = [*self.policy.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=3e-3)
        self.rollout: list[Transitions] = []
        self.loss = 0.0

    def env_options(self) -> dict[str, Any]:
        """Observations and rewards that the policy needs of the environment."""
        see = {"features": SEEN, "occupancy_unit": "packets"}
        return {"scope": self.scope, "action": self.action, "reward": "delivery", **see}

    def prepare(self, env: dfe.BatchedRoutingEnv) -> None:
        """Find the columns: for each path those of the decision, then its own."""
        blocks = [env.layout[name].columns for name in SEEN]
        each = [np.arange(block.start, block.stop) for block in blocks]
        self.columns = np.stack([np.broadcast_to(block, env.num_actions) for block in each], axis=1)
        units = [env.layout[name].unit for name in SEEN]  # 0: squashed into 0 to 1
        self.factors = np.array([unit / UNIT if unit else 1.0 for unit in units], dtype=np.float32)
        self.scale = tuple(UNIT if unit else 0.0 for unit in units)

    def set_training(self, on: bool) -> None:
        """Draw paths and learn, or take the best one."""
        self.training = on
        self.rollout = []

    def logs(self, obs: Any, mask: Any) -> torch.Tensor:
        """(N, A) logarithms of the paths' probabilities, minus infinity where a path is not legal."""
        scores = self.policy(self.rows(obs))[..., 0].masked_fill(~torch.tensor(mask), -torch.inf)
        return torch.log_softmax(scores, dim=1)

    def rows(self, obs: Any) -> torch.Tensor:
        """(N, A, F) inputs of the network for each path, in units that are equal in networks with other buffers."""
        return torch.tensor(obs[:, self.columns] * self.factors)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every packet, with the random numbers of the core."""
        with torch.no_grad():
            logs = self.logs(batch.obs, batch.mask).numpy()
        actions: IntArray = logs.argmax(axis=1)
        if self.training:
            actions = (np.exp(logs).cumsum(axis=1) > batch.draws[:, :1]).argmax(axis=1)
        return actions

    def learn(self, transitions: Transitions) -> None:
        """Keep what completed."""
        self.rollout.append(transitions)

    def end_episode(self) -> None:
        """Improve the policy: PPO's clipped objective over the packets that were delivered."""
        obs, mask, actions, rewards, scenario = (
            np.concatenate([getattr(part, name) for part in self.rollout])
            for name in ("obs", "mask", "actions", "rewards", "scenario")
        )
        chosen, returns = torch.tensor(actions.astype(np.int64)), torch.tensor(rewards, dtype=torch.float32)
        rows = self.rows(obs).mean(dim=1)
        with torch.no_grad():
            before = self.logs(obs, mask).gather(1, chosen[:, None])[:, 0]
            advantages = returns - self.value(rows)[:, 0]
            for number in np.unique(scenario):  # keeps the most congested scenario from deciding alone
                here = torch.tensor(scenario == number)
                part = advantages[here]
                advantages[here] = (part - part.mean()) / (part.std() + 1e-8)
        for _ in range(3):
            for at in torch.randperm(len(chosen)).split(4096):
                logs = self.logs(obs[at], mask[at])
                ratio = (logs.gather(1, chosen[at, None])[:, 0] - before[at]).exp()
                gain = torch.min(ratio * advantages[at], ratio.clamp(0.8, 1.2) * advantages[at]).mean()
                error = torch.nn.functional.smooth_l1_loss(self.value(rows[at])[:, 0], returns[at])
                self.optimizer.zero_grad()
                (0.5 * error - gain).backward()
                self.optimizer.step()
        self.loss = float(error.detach())
        self.rollout = []

    def statistics(self) -> dict[str, float]:
        """Return numbers for logs and progress."""
        return {"value_loss": self.loss}

    def save(self, path: str | Path) -> None:
        """Weights, the optimizer's state and metadata."""
        parts = {"policy": self.policy.state_dict(), "value": self.value.state_dict()}
        torch.save(
            {**parts, "optimizer": self.optimizer.state_dict(), "metadata": json.dumps(self.metadata)}, path
        )

    @classmethod
    def load(cls, path: str | Path) -> SmallPpo:
        """Read what ``save`` wrote."""
        agent, saved = cls(), torch.load(path, weights_only=True)
        for name in ("policy", "value", "optimizer"):
            getattr(agent, name).load_state_dict(saved[name])
        agent.metadata = json.loads(saved["metadata"])
        return agent

    def export_mlp(self, path: str | Path) -> Path:
        """The policy as a file for ``make_policy("mlp", weights=path)``."""
        layers = tuple(
            (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy())
            for layer in (self.policy[0], self.policy[2])
        )
        kinds = ("lgl", "lg", "gl", "g")  # kinds of the candidates, by the environment's default
        return MlpNetwork(layers=layers, features=SEEN, scale=self.scale, nonminimal_kinds=kinds).save(path)


def main() -> None:
    """Train on 72 and 342 hosts, go on from a file, compare on 1,056 hosts."""
    sizes = [dfe.SimulationConfig(topology=dfe.Dragonfly.preset(name)) for name in ("72", "342")]
    traffic = (("adv+1", 0.35), ("uniform", 0.6))
    scenarios = [size.replace(traffic=kind, load=load) for size in sizes for kind, load in traffic]
    agent = SmallPpo(seed=1)
    started = time.process_time()
    for progress in train(agent, scenarios, episodes=5, episode_ns=8_000):
        print(f"episode {progress.episode}: {progress.latency_mean_ns:.0f} ns a packet")
    took = time.process_time() - started
    print(f"{took:.0f} CPU-s for {progress.decisions:,} decisions")

    with TemporaryDirectory() as folder:
        agent.save(Path(folder) / "agent.pt")
        agent = SmallPpo.load(Path(folder) / "agent.pt")
        for progress in train(agent, scenarios, episodes=10, first_episode=5, episode_ns=8_000):
            print(f"episode {progress.episode}: {progress.latency_mean_ns:.0f} ns a packet")
        in_the_core = dfe.make_policy("mlp", weights=str(agent.export_mlp(Path(folder) / "policy.npz")))

    large = sizes[0].replace(topology=dfe.Dragonfly.preset("1056"), traffic="adv+1", load=0.35)
    for name, policy in (("ugal-n", "ugal-n"), ("par", "par"), ("small-ppo", in_the_core)):
        metrics = evaluate_policy(policy, large, warmup_ns=5_000, measure_ns=5_000, seed=101)
        print(f"{name:>9}, 1,056 hosts: {metrics.latency_mean_ns:.0f} ns")
    size = sizes[1].replace(traffic="adv+1", load=0.35)  # greedy in Python and in the core: the same choices
    runs = [
        evaluate_policy(policy, size, warmup_ns=2_000, measure_ns=2_000) for policy in (agent, in_the_core)
    ]
    print("342 hosts, in Python and in the core:", *(f"{run.latency_mean_ns:.1f} ns" for run in runs))


if __name__ == "__main__":
    main()
