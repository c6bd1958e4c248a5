"""Learning from scratch: ``python -m benchmarks.learning`` trains agents with several seeds and measures them.

The case: 72 hosts, ``adv+1`` at a load of 0.35, default network with injection in whole ns. Every training is a
process of its own. The trained agents and the heuristics are measured on the same held-out traffic seeds, warm-up and
window; heuristics run in the core. Writes ``learning.json`` (every curve, every sample, the machine) and
``learning-curves.png``.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import time
from pathlib import Path
from typing import Annotated, Any

import joblib
import typer
from rich.progress import track

import dragonfly_env as dfe
from benchmarks import machine
from benchmarks.report import console
from dragonfly_env.agents import (
    Policy,
    RandomPolicy,
    evaluate_over_seeds,
    evaluate_policy,
    load_agent,
    make_agent,
    make_env,
    train,
)

FORMAT = 1
HELD_OUT_SEEDS = (101, 102, 103, 104, 105)
WARMUP_NS, MEASURE_NS = 50_000.0, 100_000.0
CURVE_SEED, CURVE_WARMUP_NS, CURVE_NS = 10_001, 20_000.0, 50_000.0
BASELINES = ("min", "val-n", "val-g", "ugal-g", "ugal-n", "par")
GOAL = 1.15  # of ugal-n's mean latency

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_output, _errors = console(), console(error=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One way to learn.

    Attributes:
        kind: Of the agent.
        settings: That differ from its defaults.
        episodes: Of the training.
        episode_ns: Length of each.
        evaluate_every: Episodes between two points of the curve.
        mixture: Whether it trains on changing traffic, ``MIXTURE``, instead of ``system()``.
    """

    kind: str
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    episodes: int = 24
    episode_ns: float = 50_000.0
    evaluate_every: int = 1
    mixture: bool = False


MIXTURE = (
    ("adv+1", 0.35),
    ("uniform", 0.6),
    ("adv+4", 0.35),
    ("adv+1", 0.15),
    ("adv+3", 0.45),
    ("uniform", 0.3),
)
PHASE_NS = 10_000.0
ELSEWHERE = (
    ("adv+1", 0.1),
    ("adv+1", 0.45),
    ("adv+2", 0.35),
    ("adv+4", 0.35),
    ("uniform", 0.35),
    ("uniform", 0.7),
)

CASES: dict[str, Case] = {
    "deep-q, ports": Case("deep-q"),
    "deep-q, paths": Case("deep-q", {"action": "path", "scope": "source"}),
    "masked-ppo, paths": Case("masked-ppo", episodes=30),
    "deep-q, mixture, ports": Case(
        "deep-q",
        {"hidden_units": (128, 128), "buffer_transitions": 300_000, "epsilon_decisions": 600_000},
        episodes=30,
        episode_ns=PHASE_NS * len(MIXTURE),
        mixture=True,
    ),
}
RANDOM = {
    "random ports": RandomPolicy(action="port", scope="every"),
    "random paths": RandomPolicy(action="path", scope="source"),
}


# Intervals of whole ns, which make 0.35 a load of 0.352: with them the figures of docs/learning.md were measured.
NETWORK = dfe.NetworkConfig(periodic_intervals="whole-ns")


def system() -> dfe.SimulationConfig:
    """The network and its traffic."""
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72"), network=NETWORK, traffic="adv+1", load=0.35
    )


def mixed_system() -> dfe.SimulationConfig:
    """The network under traffic that changes every 10 us."""
    steps = [(number * PHASE_NS, *phase) for number, phase in enumerate(MIXTURE)]
    return dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), network=NETWORK, traffic=steps)


def learn(name: str, case: Case, seed: int, folder: Path) -> dict[str, Any]:
    """Train with one seed and measure the result; everything that came out."""
    agent = make_agent(case.kind, seed=seed, **case.settings)
    config = system()
    begin = time.perf_counter()
    agent.prepare(make_env(config, agent, duration_ns=1_000.0))
    curve: list[dict[str, Any]] = [
        {"decisions": 0, "wall_s": 0.0, "cpu_s": 0.0, "evaluation": _evaluate(agent, config)}
    ]
    trained_on = mixed_system() if case.mixture else config
    training = train(agent, trained_on, episodes=case.episodes, episode_ns=case.episode_ns, seed=seed)
    cpu_s = 0.0
    while True:
        started = time.process_time()
        progress = next(training, None)
        cpu_s += time.process_time() - started
        if progress is None:
            break
        point: dict[str, Any] = {**progress.to_dict(), "cpu_s": cpu_s}
        if progress.episode % case.evaluate_every == 0 or progress.episode == case.episodes:
            point["evaluation"] = _evaluate(agent, config)
        curve.append(point)
    wall_s = time.perf_counter() - begin
    file = folder / f"{name.replace(',', '').replace(' ', '-')}-seed{seed}.zip"
    agent.save(file)
    return {
        "case": name,
        "seed": seed,
        "wall_s": wall_s,
        "training_s": curve[-1]["wall_s"],
        "training_cpu_s": cpu_s,
        "curve": curve,
        "held_out": measure(load_agent(file)),
        "elsewhere": measure_elsewhere(load_agent(file)),
    }


def _evaluate(agent: Any, config: dfe.SimulationConfig) -> dict[str, float]:
    """A point of the curve: the greedy policy on a traffic seed that is neither trained nor tested on."""
    found = evaluate_over_seeds(agent, config, (CURVE_SEED,), warmup_ns=CURVE_WARMUP_NS, measure_ns=CURVE_NS)
    names = ("latency_mean_ns", "accepted_load", "minimal_fraction", "hops_mean")
    return {name: getattr(found, name) for name in names}


def measure(policy: Policy | str) -> list[dict[str, float]]:
    """One row per held-out seed."""
    rows = []
    for seed in HELD_OUT_SEEDS:
        metrics = evaluate_policy(policy, system(), warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS, seed=seed)
        rows.append(
            {
                "seed": seed,
                "latency_mean_ns": metrics.latency_mean_ns,
                "latency_p99_ns": metrics.latency_percentile_ns(99),
                "accepted_load": metrics.accepted_load,
                "hops_mean": metrics.hops_mean,
                "minimal_fraction": metrics.minimal_fraction,
            }
        )
    return rows


def measure_elsewhere(policy: Policy | str) -> dict[str, dict[str, float]]:
    """Under other traffic, with one held-out seed."""
    rows = {}
    for traffic, load in ELSEWHERE:
        config = system().replace(traffic=traffic, load=load)
        metrics = evaluate_policy(
            policy, config, warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS, seed=HELD_OUT_SEEDS[0]
        )
        rows[f"{traffic} {load}"] = {
            "latency_mean_ns": metrics.latency_mean_ns,
            "accepted_load": metrics.accepted_load,
        }
    return rows


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="Folder for results, agents and the figure.")] = Path(
        "results/learning"
    ),
    seeds: Annotated[int, typer.Option(help="Trainings per case.")] = 5,
    case: Annotated[
        list[str] | None, typer.Option(help="One of the cases; repeat. All if not given.")
    ] = None,
    first_seed: Annotated[int, typer.Option(help="Of the trainings; the others follow.")] = 1,
    jobs: Annotated[int, typer.Option(help="Trainings at a time.")] = 2,
    only_figure: Annotated[bool, typer.Option(help="Draw what learning.json holds again.")] = False,
) -> None:
    """Train every case with every seed, measure, draw."""
    file = out / "learning.json"
    out.mkdir(parents=True, exist_ok=True)
    if not only_figure:
        content = run(out, case or list(CASES), range(first_seed, first_seed + seeds), jobs)
        earlier = json.loads(file.read_text(encoding="utf-8"))["runs"] if file.exists() else []
        kept = [run for run in earlier if run["case"] not in (case or list(CASES))]
        content["runs"] = kept + content["runs"]
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    content = json.loads(file.read_text(encoding="utf-8"))
    from benchmarks.learning_figure import draw

    picture = draw(content, out / "learning-curves.png")
    _output.print(summary(content), markup=False)
    _errors.print(f"results: {file}\nfigure:  {picture}", markup=False)


def run(out: Path, names: list[str], seeds: range, jobs: int) -> dict[str, Any]:
    """Everything, as it stands in the file."""
    for name in names:
        if name not in CASES:
            raise typer.BadParameter(f"{name!r}; must be one of {', '.join(CASES)}", param_hint="--case")
    described = {
        "format": FORMAT,
        "time": machine.now(),
        "machine": machine.describe_machine(),
        "build": machine.describe_build(),
        "config": system().to_dict(),
        "held_out_seeds": HELD_OUT_SEEDS,
        "warmup_ns": WARMUP_NS,
        "measure_ns": MEASURE_NS,
        "cases": {name: dataclasses.asdict(CASES[name]) for name in CASES},
    }
    policies: dict[str, Policy | str] = {name: name for name in BASELINES}
    policies |= RANDOM
    described["baselines"] = {name: measure(policy) for name, policy in policies.items()}
    described["elsewhere"] = {name: measure_elsewhere(policy) for name, policy in policies.items()}
    tasks = [(name, seed) for seed in seeds for name in names]
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    work = parallel(joblib.delayed(learn)(name, CASES[name], seed, out) for name, seed in tasks)
    runs = list(track(work, "training", total=len(tasks), console=_errors))
    described["runs"] = sorted(runs, key=lambda run: (names.index(run["case"]), run["seed"]))
    return described


def summary(content: dict[str, Any]) -> str:
    """A table in Markdown: means over held-out traffic; for learners median, lowest and highest of the seeds."""
    lines = [
        "| policy | mean latency (ns) | 99th percentile (ns) | accepted load | hops | minimal | training (CPU s) |",
        "|---|---|---|---|---|---|---|",
    ]
    names = ("latency_mean_ns", "latency_p99_ns", "accepted_load", "hops_mean", "minimal_fraction")
    digits = (0, 0, 3, 2, 2)

    def mean(rows: list[dict[str, float]], name: str) -> float:
        return statistics.fmean(row[name] for row in rows)

    for policy, rows in content["baselines"].items():
        cells = [f"{mean(rows, name):,.{d}f}" for name, d in zip(names, digits, strict=True)]
        lines.append(f"| {policy} | {' | '.join(cells)} | |")
    for case in dict.fromkeys(run["case"] for run in content["runs"]):
        runs = [run for run in content["runs"] if run["case"] == case]
        cells = []
        for name, d in zip(names, digits, strict=True):
            values = sorted(mean(run["held_out"], name) for run in runs)
            cells.append(f"{statistics.median(values):,.{d}f} ({values[0]:,.{d}f} to {values[-1]:,.{d}f})")
        seconds = sorted(run["training_cpu_s"] for run in runs)
        cells.append(f"{statistics.median(seconds):.0f} (to {seconds[-1]:.0f})")
        lines.append(f"| **{case}**, {len(runs)} seeds | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_elsewhere_table(content)])


def _elsewhere_table(content: dict[str, Any]) -> list[str]:
    """Other traffic: the mean latency; of several trainings their median, lowest and highest. In brackets the (median)
    accepted load where it falls short.
    """
    columns = [f"{traffic} {load}" for traffic, load in ELSEWHERE]
    lines = ["| policy | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]

    def cell(rows: list[dict[str, float]], load: float) -> str:
        latencies = sorted(row["latency_mean_ns"] for row in rows)
        text = f"{statistics.median(latencies):,.0f}"
        if len(rows) > 1:
            text += f", {latencies[0]:,.0f} to {latencies[-1]:,.0f}"
        accepted = statistics.median(row["accepted_load"] for row in rows)
        return text if accepted > 0.98 * load else f"{text} ({accepted:.2f})"

    groups = {name: [rows] for name, rows in content["elsewhere"].items()}
    for run in content["runs"]:
        if "elsewhere" in run:
            groups.setdefault(f"**{run['case']}**", []).append(run["elsewhere"])
    for name, found in groups.items():
        cells = [
            cell([rows[column] for rows in found], load)
            for column, (_, load) in zip(columns, ELSEWHERE, strict=True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    app()
