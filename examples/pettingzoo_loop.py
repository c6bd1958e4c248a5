"""The standard PettingZoo loop: every router an agent, here with random legal actions, first in parallel, then AEC."""

from __future__ import annotations

import numpy as np

from dragonfly_env import dragonfly_v0


def main() -> None:
    """Run one episode of each view and say what it cost."""
    env = dragonfly_v0.parallel_env(topology="72", traffic="adv+1", load=0.35, duration_ns=3_000.0)
    rng = np.random.default_rng(1)
    observations, _ = env.reset(seed=1)
    total, rounds = 0.0, 0
    while env.agents:
        actions = {
            agent: int(rng.choice(np.flatnonzero(observation["action_mask"])))
            for agent, observation in observations.items()
        }
        observations, rewards, _, _, _ = env.step(actions)
        total += sum(rewards.values())
        rounds += 1
    print(f"parallel: {rounds} rounds, total reward {total:.1f} us")

    aec = dragonfly_v0.env(topology="72", traffic="adv+1", load=0.35, duration_ns=1_000.0)
    aec.reset(seed=1)
    turns = 0
    for agent in aec.agent_iter():
        observation, _, terminated, truncated, _ = aec.last()
        over = terminated or truncated
        assert observation is not None
        aec.step(None if over else aec.action_space(agent).sample(observation["action_mask"]))
        turns += 1
    print(f"AEC: {turns} turns")


if __name__ == "__main__":
    main()
