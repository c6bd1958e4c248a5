"""The input of a central critic says more about the rewards to come than all observations do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe

Floats = npt.NDArray[np.float64]
EPISODES = 12
TRAINING = 8
AHEAD_NS = 5_000


def recorded() -> tuple[Floats, Floats, Floats, Floats]:
    """Twice in a microsecond, with minimal paths: state, last observations of all routers, the sum of the rewards of
    the next 5 us; and the number of the episode.
    """
    env = dfe.BatchedRoutingEnv(
        dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.35),
        scope="source",
        action="path",
        duration_ns=30_000,
    )
    states, observations, returns, episodes = [], [], [], []
    for episode in range(EPISODES):
        batch = env.reset(seed=episode)
        seen = np.zeros((env.num_agents, env.num_features))
        times_ns, totals = [0.0], [0.0]
        taken_ns = []
        while not env.done:
            seen[batch.agents] = batch.obs
            if env.time_ns >= 500 * len(taken_ns) and env.time_ns <= 30_000 - AHEAD_NS:
                taken_ns.append(env.time_ns)
                states.append(env.state().ravel())
                observations.append(seen.ravel().copy())
            batch = env.step(batch.minimal_actions())
            times_ns.append(env.time_ns)
            totals.append(totals[-1] + env.rewards_by_router().sum())
        now = np.array(taken_ns)
        later, before = (np.interp(when, times_ns, totals) for when in (now + AHEAD_NS, now))
        returns.append(later - before)
        episodes.append(np.full(len(now), episode))
    return np.array(states), np.array(observations), np.concatenate(returns), np.concatenate(episodes)


def explained(seen: Floats, returns: Floats, trains: npt.NDArray[np.bool_]) -> float:
    """R2 of the best ridge regression, on episodes that it was not fitted to."""
    seen = (seen - seen[trains].mean(axis=0)) / (seen[trains].std(axis=0) + 1e-6)
    mean = returns[trains].mean()
    inputs, rest = seen[trains], ((returns[~trains] - returns[~trains].mean()) ** 2).sum()
    found = []
    for penalty in 10.0 ** np.arange(6):
        kernel = inputs @ inputs.T + penalty * np.eye(len(inputs))
        weights = inputs.T @ np.linalg.solve(kernel, returns[trains] - mean)
        found.append(1 - ((returns[~trains] - seen[~trains] @ weights - mean) ** 2).sum() / rest)
    return float(max(found))


def test_the_state_predicts_the_rewards_of_the_next_5_us_better_than_all_observations() -> None:
    states, observations, returns, episodes = recorded()
    of_state, of_observations = (
        explained(seen, returns, episodes < TRAINING) for seen in (states, observations)
    )
    assert of_state > 0.8
    assert of_state > of_observations + 0.1
