"""PPO on exact transitions: three kinds of traffic next to each other, then the same weights in the core, on a larger
system.

Needs the extra [sb3]. What it reaches in minutes is in docs/learning.md.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import dragonfly_env as dfe
from dragonfly_env.agents import train
from dragonfly_env.agents.ppo import PpoAgent
from dragonfly_env.agents.settings import PpoSettings


def main() -> None:
    """Train for a few episodes, export, compare."""
    small = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"))
    scenarios = [
        small.replace(traffic=traffic, load=load)
        for traffic, load in (("adv+1", 0.35), ("adv+3", 0.3), ("uniform", 0.6))
    ]
    agent = PpoAgent(PpoSettings(rollout_transitions=8192, batch_transitions=512), seed=1)
    for progress in train(agent, scenarios, episodes=10, episode_ns=10_000.0):
        print(f"episode {progress.episode}: {progress.latency_mean_ns:.0f} ns a packet")

    large = small.replace(topology=dfe.Dragonfly.preset("342"), traffic="adv+1", load=0.35)
    with TemporaryDirectory() as folder:
        learned = dfe.make_policy("mlp", weights=str(agent.export_mlp(Path(folder) / "ppo.npz")))
        for policy in ("ugal-g", "par", learned):
            metrics = dfe.simulate(large.replace(policy=policy), warmup_ns=10_000, measure_ns=10_000)
            name = policy if isinstance(policy, str) else "learned"
            print(f"{name:>8}, 342 hosts, adv+1: {metrics.latency_mean_ns:.0f} ns")


if __name__ == "__main__":
    main()
