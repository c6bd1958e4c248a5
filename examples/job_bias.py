"""A bandit per job that chooses the job's routing mode from the operator's counters.

Qbox, on consecutive hosts, and HACC, spread over random routers, run next to each other. The routing modes ``ad0`` to
``ad3`` of Aries differ in their bias towards minimal paths. At the end of every interval an operator reads the counters
of the network: the reward of both bandits is the mean load that the jobs accepted in the interval. The first table
shows how often each mode was chosen, and the mean reward of the intervals with it. The second table compares the
default ``ad0`` for both jobs with the learned modes, in runs with a new seed.
"""

from __future__ import annotations

import argparse

import numpy as np

import dragonfly_env as dfe

MODES = ("ad0", "ad1", "ad2", "ad3")
NAMES = ("qbox", "hacc")
CONFIG = dfe.SimulationConfig(
    topology="72",
    policy="ad0",
    jobs=(
        dfe.Job("qbox:scale=0.01,gap_ns=0", hosts=24, iterations="endless"),
        dfe.Job("hacc:scale=0.01,gap_ns=0", hosts=48, placement="random-routers", iterations="endless"),
    ),
)
WARMUP_NS = 20_000.0


def start(seed: int) -> dfe.Simulation:
    """The two jobs after a warm-up under ``ad0``."""
    simulation = dfe.Simulation(CONFIG.replace(seed=seed), allowed_policies=MODES)
    simulation.run(WARMUP_NS)
    return simulation


def accepted_loads(simulation: dfe.Simulation, modes: tuple[str, ...], duration_ns: float) -> np.ndarray:
    """(jobs,) the share of the bandwidth of its hosts that each job used, while it was routed by its mode."""
    for job, mode in enumerate(modes):
        simulation.set_job_policy(job, mode)
    before = simulation.counters()
    simulation.run(duration_ns)
    counted = simulation.counters().since(before)
    packets = np.array([job.packets_delivered for job in counted.jobs])
    hosts = np.array([job.hosts for job in CONFIG.jobs])
    return packets * CONFIG.network.packet_time_ns / (hosts * counted.duration_ns)


class Bandit:
    """Tries every mode in a random order at first, and then mostly the mode with the best mean reward.

    Args:
        rounds: Times that each mode is tried at first.
        random: Generator of all draws.
    """

    def __init__(self, rounds: int, random: np.random.Generator) -> None:
        self.times = np.zeros(len(MODES), np.int64)
        self.totals = np.zeros(len(MODES))
        self._first = [mode for _ in range(rounds) for mode in random.permutation(len(MODES)).tolist()]
        self._random = random

    @property
    def means(self) -> np.ndarray:
        """The mean reward of each mode."""
        return self.totals / np.maximum(self.times, 1)

    @property
    def best(self) -> int:
        """The mode with the best mean reward."""
        return int(np.argmax(self.means))

    def choose(self) -> int:
        """The mode of the next interval; the share of random modes shrinks with the number of intervals."""
        if self._first:
            return self._first.pop()
        explores = self._random.random() < len(MODES) / self.times.sum()
        return int(self._random.integers(len(MODES))) if explores else self.best

    def learn(self, mode: int, reward: float) -> None:
        """Count the reward of an interval."""
        self.times[mode] += 1
        self.totals[mode] += reward


def learn(intervals: int, interval_ns: float, seed: int) -> list[Bandit]:
    """Let one bandit per job choose modes in so many intervals of one run."""
    random = np.random.default_rng(seed)
    bandits = [Bandit(intervals // (2 * len(MODES)), random) for _ in NAMES]
    simulation = start(seed)
    for _ in range(intervals):
        chosen = [bandit.choose() for bandit in bandits]
        reward = accepted_loads(simulation, tuple(MODES[mode] for mode in chosen), interval_ns).mean()
        for bandit, mode in zip(bandits, chosen, strict=True):
            bandit.learn(mode, float(reward))
    return bandits


def main() -> None:
    """Learn, and print what was learned."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--intervals", type=int, default=48)
    parser.add_argument("--interval-ns", type=float, default=50_000.0)
    options = parser.parse_args()
    bandits = learn(options.intervals, options.interval_ns, seed=1)
    print("job   mode  chosen  mean accepted load")
    for name, bandit in zip(NAMES, bandits, strict=True):
        for mode, times, mean in zip(MODES, bandit.times, bandit.means, strict=True):
            print(
                f"{name}  {mode}  {times:6d}  {mean:.3f}{'  learned' if mode == MODES[bandit.best] else ''}"
            )
    learned = tuple(MODES[bandit.best] for bandit in bandits)
    print("\nqbox  hacc  accepted loads of both")
    for modes in dict.fromkeys((("ad0", "ad0"), learned)):
        loads = accepted_loads(start(seed=2), modes, 8 * options.interval_ns)
        print(f"{modes[0]}   {modes[1]}   {loads[0]:.3f} {loads[1]:.3f}  mean {loads.mean():.3f}")


if __name__ == "__main__":
    main()
