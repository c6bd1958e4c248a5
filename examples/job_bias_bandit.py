"""Jobs that learn which routing mode suits them, each by itself: a bandit per job on `job_bias_v0`.

MILC, dispersed over routers, and HACC, on consecutive hosts, run next to each other on an eighth of Theta. Every
interval each job picks one of Aries' modes and sees what progress it made: first it tries all of them in turn, then
mostly the best so far. The table says what became of the jobs' progress, in per cent of what they make when all route
by AD0, the default of these machines: under every choice of one mode per job, and under the one that was learnt.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

import dragonfly_env as dfe
from dragonfly_env import job_bias_v0
from dragonfly_env.envs.job_bias import ParallelJobBias

TOPOLOGY = dfe.Dragonfly.preset("theta-m8")
INTERVAL_NS = 300_000.0  # long against an iteration: rewards of shorter ones are mostly its phases
MODES = ("ad0", "ad1", "ad2", "ad3")


def machine(intervals: int, modes: tuple[str, ...] = MODES) -> ParallelJobBias:
    """MILC and HACC on most of the machine, for so many intervals."""
    jobs = (
        dfe.Job("milc:scale=0.01,stands_for=8", hosts=320, placement="random-routers", iterations="endless"),
        dfe.Job("hacc:scale=0.01", hosts=192, iterations="endless"),
    )
    return job_bias_v0.parallel_env(
        topology=TOPOLOGY,
        jobs=jobs,
        modes=modes,
        interval_ns=INTERVAL_NS,
        warmup_ns=20_000.0,
        duration_ns=intervals * INTERVAL_NS,
    )


class Bandit:
    """Epsilon-greedy over a job's modes: each in turn at first, then the best mean, but for a shrinking share.

    Args:
        modes: How many there are.
        rounds: How often each is tried at first.
        random: For draws.
    """

    def __init__(self, modes: int, rounds: int, random: np.random.Generator) -> None:
        self._totals = np.zeros(modes)
        self._tried = np.zeros(modes)
        self._first = [int(mode) for _ in range(rounds) for mode in random.permutation(modes)]
        self._random = random

    @property
    def best(self) -> int:
        """The mode with the best mean reward."""
        return int(np.argmax(self._totals / np.maximum(self._tried, 1)))

    def choose(self) -> int:
        """The mode for the next interval."""
        if self._first:
            return self._first.pop()
        modes = len(self._totals)
        return (
            int(self._random.integers(modes))
            if self._random.random() < modes / self._tried.sum()
            else self.best
        )

    def learn(self, mode: int, reward: float) -> None:
        """What came of a choice."""
        self._totals[mode] += reward
        self._tried[mode] += 1


def progress(env: ParallelJobBias, choice: tuple[int, ...], seed: int) -> np.ndarray:
    """(jobs,) what the jobs make of an episode, one mode each."""
    env.reset(seed=seed)
    total = np.zeros(len(choice))
    while env.agents:
        rewards = env.step(dict(zip(env.agents, choice, strict=True)))[1]
        total += list(rewards.values())
    return total


def learn(env: ParallelJobBias, rounds: int, seed: int) -> tuple[int, ...]:
    """The choice that the jobs come to in one episode, each by itself."""
    random = np.random.default_rng(seed)
    bandits = {name: Bandit(len(env.modes), rounds, random) for name in env.possible_agents}
    env.reset(seed=seed)
    while env.agents:
        actions = {name: bandits[name].choose() for name in env.agents}
        rewards = env.step(actions)[1]
        for name, reward in rewards.items():
            bandits[name].learn(actions[name], reward)
    return tuple(bandit.best for bandit in bandits.values())


def main(tried: int, learning: int, modes: tuple[str, ...]) -> None:
    """Compare.

    Args:
        tried: Intervals in which each fixed choice is measured.
        learning: Intervals of the episode of learning.
        modes: To choose from.
    """
    learnt = learn(machine(learning, modes), rounds=learning // (3 * len(modes)), seed=1)
    env = machine(tried, modes)
    made = {
        choice: progress(env, choice, seed=1) for choice in itertools.product(range(len(modes)), repeat=2)
    }
    percent = {choice: 100 * values / made[0, 0] for choice, values in made.items()}
    best = max(percent, key=lambda choice: float(percent[choice].mean()))
    for choice, values in sorted(percent.items(), key=lambda item: -float(item[1].mean())):
        notes = [text for text, which in (("best fixed", best), ("learnt", learnt)) if choice == which]
        print(
            f"milc {modes[choice[0]]}, hacc {modes[choice[1]]}: {values[0]:6.1f} % {values[1]:6.1f} %, "
            f"mean {values.mean():6.1f} %  {', '.join(notes)}"
        )
    print(
        f"learnt: {percent[learnt].mean():.1f} % of all {modes[0]}, "
        f"best fixed {percent[best].mean():.1f} %, of which that is {percent[learnt].mean() / percent[best].mean():.3f}"
    )


if __name__ == "__main__":
    if "--full" in sys.argv:  # four modes, sixteen choices: some minutes
        main(tried=1, learning=60, modes=MODES)
    else:
        main(tried=1, learning=12, modes=("ad0", "ad3"))
