"""Q-adaptive in a named task: the core's learner, whose tables go on from episode to episode.

A training has the scenarios, episodes and budget of the task; every packet counts as a decision. Each run of the
evaluation starts from the trained tables and goes on learning. Q-adaptive does not need PyTorch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.simulation.window import after_warmup

NAME = "q-adaptive"


def simulation(config: dfe.SimulationConfig, table: Any) -> dfe.Simulation:
    """A network whose routers start from a table; None: from the initial values of Q-adaptive."""
    made = dfe.Simulation(config.replace(policy=NAME))
    if table is not None:
        made.load_q_table(table)
    return made


def train(name: str, seed: int, decisions: int, report: Callable[[int, float], None]) -> Any:
    """The tables after ``decisions`` packets, (routers, rows, ports) in ns.

    Args:
        name: Task to learn.
        seed: Seed of the traffic.
        decisions: Packets to inject.
        report: Called after every episode with the packets so far and the mean latency of the episode in ns.
    """
    env = dfe.make_task(name, "parallel", seed=seed)  # draws the scenario and the seed of each episode
    table, packets = None, 0
    while packets < decisions:
        env.reset()
        learner = simulation(env.core.config, table)
        learner.run(env.core.options.duration_ns)
        table, metrics = learner.q_table(), learner.metrics()
        packets += metrics.packets_injected
        report(packets, metrics.latency_mean_ns)
    return table


def measure(task: Any, scenario: str, seed: int, table: Any) -> dfe.Metrics:
    """The metrics of one run of the evaluation."""
    learner = simulation(after_warmup(task.test[scenario], task.warmup_ns).replace(seed=seed), table)
    learner.run(task.warmup_ns)
    learner.reset_statistics()
    learner.run(task.measure_ns)
    return learner.metrics()


def main() -> None:
    """Train, and measure on traffic that the training did not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="Ports-72")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--decisions", type=int, help="default: the budget of the task")
    parser.add_argument("--out", type=Path, help="folder of the result file, TASK/seed-N.json")
    given = parser.parse_args()
    task, training, began = dfe.task(given.task), {"seed": given.seed}, time.process_time()

    def report(made: int, latency: float) -> None:
        training.update(decisions=made, cpu_s=round(time.process_time() - began, 1))
        print(f"{made:>9,} packets: {latency:.0f} ns")

    table = train(given.task, given.seed, given.decisions or task.decisions, report)
    runs = {
        scenario: tuple(measure(task, scenario, seed, table) for seed in task.seeds) for scenario in task.test
    }
    result = task.score(runs, task.track(NAME))
    print(f"{NAME} on new traffic: {result.latency_mean_ns:.0f} ns, score {result.score:.0f}")
    if given.out:
        result.save(given.out / given.task / f"seed-{given.seed}.json", NAME, training)


if __name__ == "__main__":
    main()
