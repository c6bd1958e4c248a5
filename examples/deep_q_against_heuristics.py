"""Train the deep Q agent for a few seconds, save it, load it, and measure it next to the heuristics.

Needs the extra [sb3]. The command line does the same: ``dragonfly-env train`` and ``dragonfly-env evaluate``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env.agents import RandomPolicy, evaluate_policy, load_agent, make_agent, train


def main() -> None:
    """Train, then print one line per policy."""
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35)
    agent = make_agent("deep-q", seed=1, epsilon_decisions=100_000)
    for progress in train(agent, config, episodes=12, episode_ns=20_000):
        epsilon = progress.statistics["epsilon"]
        print(
            f"episode {progress.episode}: {progress.latency_mean_ns:6.0f} ns with {epsilon:.0%} random actions"
        )

    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "agent.zip")
        agent = load_agent(Path(folder) / "agent.zip")

    for policy in ("min", "val-n", "ugal-n", "par", RandomPolicy("port", "every"), agent):
        metrics = evaluate_policy(policy, config, warmup_ns=20_000, measure_ns=30_000, seed=101)
        name = policy if isinstance(policy, str) else policy.name
        print(
            f"{name:>8}: {metrics.latency_mean_ns:8.0f} ns at an accepted load of {metrics.accepted_load:.3f}"
        )


if __name__ == "__main__":
    main()
