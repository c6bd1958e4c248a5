"""``python -m benchmarks.tasks``: train the baselines of ``examples/`` in the tasks, and evaluate them.

A run is a task, an algorithm and a seed; its row is one file in ``--out``, written when the run has ended, and a run
whose file exists is not repeated. ``--merge`` adds all rows to the table of the documentation.
``--references`` measures the reference policies and writes the table of the package. ``--random`` measures
random legal actions and writes a table of the documentation.
"""

from __future__ import annotations

import argparse
import csv
import math
import runpy
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import joblib
import pandas as pd

import dragonfly_env as dfe
from dragonfly_env.bounds.demands import demand_of
from dragonfly_env.named_tasks import BOUND, PACKETS, RANDOM, Task, TaskScore
from dragonfly_env.simulation.window import after_warmup

TOP = Path(__file__).parents[1]
EXAMPLES = TOP / "examples"
TRAININGS_FILE = TOP / "docs" / "task_trainings.csv"
RANDOM_FILE = TOP / "docs" / "task_random.csv"
TRAINING_COLUMNS = ("task", "algorithm", "seed", "decisions", "cpu_s", "score", "latency_mean_ns")
Report = Callable[[int, float], None]
REFERENCES_FILE = Path(dfe.__file__).with_name("task_references.csv")
_COLUMNS = ("task", "scenario", "policy", "value", "latency_mean_ns", "accepted_load")


def reference_rows(name: str, scenario: str) -> list[tuple[object, ...]]:
    """The rows of all reference policies in one scenario, and that of the bound: means over the task's seeds."""
    task = dfe.task(name)
    rows: list[tuple[object, ...]] = []
    for policy in task.reference_policies:
        runs = [task.measure(policy, scenario, seed) for seed in task.seeds]
        figures = (
            fmean(map(task.value, runs)),
            fmean(run.latency_mean_ns for run in runs),
            fmean(run.accepted_load for run in runs),
        )
        rows.append((name, scenario, policy, *(f"{figure:.6g}" for figure in figures)))
    bounds = [bound(task, scenario, seed) for seed in task.seeds]
    known = not any(map(math.isnan, bounds))
    rows.append((name, scenario, BOUND, f"{fmean(bounds):.6g}" if known else "", "", ""))
    return rows


def bound(task: Task, scenario: str, seed: int) -> float:
    """The fewest packets in the system that any routing can reach: the latency floor times the rate of packets, by
    Little's law. NaN where it is not known: for applications, and above saturation.
    """
    config = task.test[scenario].replace(seed=seed)
    if task.quantity != PACKETS:
        return math.nan
    steps = [step for step in config.offered_steps if step[0] < task.warmup_ns + task.measure_ns]
    ends = [*(time_ns for time_ns, _, _ in steps[1:]), task.warmup_ns + task.measure_ns]
    packets = 0.0
    for (begin_ns, traffic, load), end_ns in zip(steps, ends, strict=True):
        share = max(0.0, end_ns - max(begin_ns, task.warmup_ns)) / task.measure_ns
        try:
            floor_ns = dfe.latency_floor(config.replace(traffic=traffic, load=load))
        except dfe.ConfigError:  # too many demands for a linear program
            return math.nan
        sent = demand_of(config.topology, traffic, network=config.network, seed=seed).sent.sum()
        packets += share * floor_ns * sent * load / config.network.packet_time_ns
    return float(packets) if math.isfinite(packets) else math.nan


def write_references(tasks: Sequence[str], workers: int) -> None:
    """Measure the references of tasks, and write the table that comes with the package; other tasks keep their rows."""
    pairs = [(name, scenario) for name in tasks for scenario in dfe.task(name).test]
    with REFERENCES_FILE.open(encoding="utf-8", newline="") as file:
        kept = [row for row in csv.reader(file) if row[0] in dfe.tasks() and row[0] not in tasks]
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    with REFERENCES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(kept)
        for rows in parallel(joblib.delayed(reference_rows)(*pair) for pair in pairs):
            writer.writerows(rows)
            print(*(f"{row[0]}, {row[1]}: {row[2]}: {row[3]}" for row in rows), sep="\n", flush=True)


def write_random(names: Sequence[str], workers: int) -> None:
    """Measure random actions in tasks, and write their scores: mean, and those with the worst and best seed; other
    tasks keep their rows. The larger networks have one seed: the actions are drawn in Python.
    """
    parallel = joblib.Parallel(n_jobs=workers)
    with RANDOM_FILE.open(encoding="utf-8", newline="") as file:
        kept = [row for row in csv.reader(file) if row[0] in dfe.tasks() and row[0] not in names]
    tasks = map(dfe.task, names)
    results = parallel(
        joblib.delayed(task.evaluate)(
            RANDOM, seeds=task.seeds if task.name.endswith("-72") else task.seeds[:1]
        )
        for task in tasks
    )
    with RANDOM_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("task", "score", "low", "high"))
        writer.writerows(kept)
        writer.writerows(
            (result.task, *(f"{x:.4g}" for x in (result.score, result.low, result.high)))
            for result in results
        )


# Trainings.


def of_example(name: str, task: str, seed: int, decisions: int, report: Report, **settings: Any) -> TaskScore:
    """Train with the function ``train`` of an example, and evaluate the policy."""
    train = runpy.run_path(str(EXAMPLES / f"{name}.py"))["train"]
    policy = train(task, seed=seed, decisions=decisions, report=report, **settings)
    return dfe.task(task).evaluate(policy)


def of_q_adaptive(name: str, seed: int, decisions: int, report: Report) -> TaskScore:
    """Let Q-adaptive learn in the core; its tables go on from episode to episode, and learn in the evaluation, too. A
    packet counts as a decision.
    """
    task = dfe.task(name)
    env = dfe.make_task(name, "parallel", seed=seed)  # has the scenarios and seeds of its episodes
    table, packets = None, 0
    while packets < decisions:
        env.reset()
        learner = with_table(env.core.config, table)
        learner.run(env.core.options.duration_ns)
        table, metrics = learner.q_table(), learner.metrics()
        packets += metrics.packets_injected
        report(packets, metrics.latency_mean_ns)
    runs: dict[str, tuple[dfe.Metrics, ...]] = {}
    for scenario, config in task.test.items():
        for seed in task.seeds:
            learner = with_table(after_warmup(config, task.warmup_ns).replace(seed=seed), table)
            learner.run(task.warmup_ns)
            learner.reset_statistics()
            learner.run(task.measure_ns)
            runs[scenario] = (*runs.get(scenario, ()), learner.metrics())
    return task.score(runs, task.track("q-adaptive"))


def with_table(config: dfe.SimulationConfig, table: Any) -> dfe.Simulation:
    """A simulation with Q-adaptive that starts from tables; None: from its own beginning."""
    learner = dfe.Simulation(config.replace(policy="q-adaptive"))
    if table is not None:
        learner.load_q_table(table)
    return learner


ALGORITHMS: dict[str, Callable[..., TaskScore]] = {
    "ippo": partial(of_example, "ippo_pettingzoo", independent=True),
    "ppo-shared": partial(of_example, "ippo_pettingzoo"),
    "mappo": partial(of_example, "mappo_batched"),
    "idqn": partial(of_example, "idqn_batched"),
    "q-adaptive": of_q_adaptive,
}
PER_ROUTER = ("ippo", "idqn", "q-adaptive")
"""Algorithms with weights or a table per router, which fit no other network than that of the training."""


def run(task: str, algorithm: str, seed: int, decisions: int, folder: Path) -> str:
    """Train once, evaluate, and write the row. CPU seconds are those of the training."""
    file = folder / task / f"{algorithm}-{seed}.csv"
    started, made, cpu_s = time.process_time(), 0, 0.0

    def report(so_far: int, latency_ns: float) -> None:
        nonlocal made, cpu_s
        made, cpu_s = so_far, time.process_time() - started

    result = ALGORITHMS[algorithm](task, seed, decisions, report)
    row = (
        task,
        algorithm,
        seed,
        made,
        f"{cpu_s:.1f}",
        f"{result.score:.6g}",
        f"{result.latency_mean_ns:.6g}",
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows((TRAINING_COLUMNS, row))
    part.replace(file)
    return f"{task}, {algorithm}, seed {seed}: score {result.score:.1f} after {cpu_s:.1f} CPU s"


def run_all(given: argparse.Namespace) -> None:
    """Train what is missing."""
    todo = [
        (task, algorithm, seed)
        for task in given.task or dfe.tasks()
        for algorithm in given.algorithm or ALGORITHMS
        for seed in range(1, 1 + given.seeds)
        if not (given.out / task / f"{algorithm}-{seed}.csv").exists()
        and (algorithm not in PER_ROUTER or dfe.task(task).has_one_network)
    ]
    parallel = joblib.Parallel(n_jobs=given.workers, return_as="generator_unordered")
    jobs = (
        joblib.delayed(run)(*work, given.decisions or dfe.task(work[0]).decisions, given.out) for work in todo
    )
    for line in parallel(jobs):
        print(line, flush=True)


def merge(folder: Path) -> None:
    """Add the runs of a folder to the table of the documentation. A run that the table has already is replaced."""
    table = pd.concat(map(pd.read_csv, (TRAININGS_FILE, *sorted(folder.glob("*/*.csv")))))
    table = table.drop_duplicates(["task", "algorithm", "seed"], keep="last")
    table = table.sort_values(["task", "algorithm", "seed"], kind="stable")
    table.to_csv(TRAININGS_FILE, index=False, lineterminator="\n")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument(
        "--task", action="append", choices=dfe.tasks(), help="may be repeated; all by default"
    )
    parser.add_argument("--algorithm", action="append", choices=list(ALGORITHMS), help="may be repeated")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each: seeds 1 to so many")
    parser.add_argument("--decisions", type=int, help="in place of the budget of the task")
    parser.add_argument("--out", type=Path, default=Path("results/tasks"), help="folder of the runs")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--merge", action="store_true", help="only add the runs in --out to the table")
    parser.add_argument("--references", action="store_true", help="only measure the references of the tasks")
    parser.add_argument("--random", action="store_true", help="only measure random actions in the tasks")
    given = parser.parse_args()
    if given.references:
        write_references(given.task or dfe.tasks(), given.workers)
    elif given.random:
        write_random(given.task or dfe.tasks(), given.workers)
    elif given.merge:
        merge(given.out)
    else:
        run_all(given)


if __name__ == "__main__":
    main()
