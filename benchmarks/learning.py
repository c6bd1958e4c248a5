"""Learning from scratch: ``python -m benchmarks.learning`` trains agents with several seeds and measures them.

The case: ``adv+1`` at a load of 0.35 with 72 and with 1,056 hosts, default network with injection in whole ns. Every
training is a process of its own. The trained agents and the baselines (``learning_baselines``) are measured on the same
held-out traffic seeds, warm-up and window; baselines run in the core. Writes ``learning.json`` (every curve, every
sample, the machine) and ``learning-curves.png``.
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
from benchmarks.learning_baselines import baselines, best_of_each_kind
from benchmarks.report import console
from dragonfly_env.agents import (
    Policy,
    evaluate_over_seeds,
    evaluate_policy,
    load_agent,
    make_agent,
    make_env,
    train,
)

FORMAT = 2
HELD_OUT_SEEDS = {
    "72": (101, 102, 103, 104, 105),
    "1056": (101,),
}  # a fifth of the time, one seed: it has 15 times the packets
WARMUP_NS = 50_000.0
MEASURE_NS = {"72": 100_000.0, "1056": 20_000.0}
CURVE_SEED, CURVE_WARMUP_NS, CURVE_NS = 10_001, 20_000.0, 50_000.0

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
        hosts: Of the system.
        beside: Kinds of traffic and loads that every episode has next to each other, instead of ``system()``.
        trained_hosts: Of the system that it trains on, if it is another one.
    """

    kind: str
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    episodes: int = 24
    episode_ns: float = 50_000.0
    evaluate_every: int = 1
    mixture: bool = False
    hosts: str = "72"
    beside: tuple[tuple[str, float], ...] = ()
    trained_hosts: str | None = None


MIXTURE = (
    ("adv+1", 0.35),
    ("uniform", 0.6),
    ("adv+4", 0.35),
    ("adv+1", 0.15),
    ("adv+3", 0.45),
    ("uniform", 0.3),
)
PHASE_NS = 10_000.0
BESIDE = (("adv+1", 0.35), ("adv+1", 0.2), ("adv+3", 0.4), ("adv+9", 0.35), ("uniform", 0.6))
ELSEWHERE: dict[str, tuple[tuple[str, float], ...]] = {
    "72": (
        ("adv+1", 0.1),
        ("adv+1", 0.45),
        ("adv+2", 0.35),
        ("adv+4", 0.35),
        ("uniform", 0.35),
        ("uniform", 0.7),
    ),
    "1056": (("adv+4", 0.35),),
}

CASES: dict[str, Case] = {
    "deep-q, ports": Case("deep-q"),
    "deep-q, paths": Case("deep-q", {"action": "path", "scope": "source"}),
    "deep-q, mixture, ports": Case(
        "deep-q",
        {"hidden_units": (128, 128), "buffer_transitions": 300_000, "epsilon_decisions": 600_000},
        episodes=30,
        episode_ns=PHASE_NS * len(MIXTURE),
        mixture=True,
    ),
    "ppo, paths": Case("ppo", {"rollout_transitions": 8192, "batch_transitions": 2048}, evaluate_every=2),
    "ppo, 1056 hosts, paths": Case("ppo", episodes=8, episode_ns=30_000.0, evaluate_every=8, hosts="1056"),
    "deep-q, 1056 hosts, paths": Case(
        "deep-q",
        {
            "action": "path",
            "scope": "source",
            "train_every_transitions": 1024,
            "epsilon_decisions": 1_000_000,
        },
        episodes=10,
        episode_ns=30_000.0,
        evaluate_every=10,
        hosts="1056",
    ),
    "ppo, trained on 342 hosts, 1056 hosts, paths": Case(
        "ppo",
        episodes=12,
        episode_ns=20_000.0,
        evaluate_every=12,
        hosts="1056",
        beside=BESIDE,
        trained_hosts="342",
    ),
}


# Intervals of whole ns, which make 0.35 a load of 0.352: with them the figures of docs/learning.md were measured.
NETWORK = dfe.NetworkConfig(periodic_intervals="whole-ns")


def system(hosts: str = "72") -> dfe.SimulationConfig:
    """The network and its traffic."""
    return dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts), network=NETWORK, traffic="adv+1", load=0.35
    )


def mixed_system() -> dfe.SimulationConfig:
    """The network under traffic that changes every 10 us."""
    steps = [(number * PHASE_NS, *phase) for number, phase in enumerate(MIXTURE)]
    return dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), network=NETWORK, traffic=steps)


def learn(name: str, case: Case, seed: int, folder: Path) -> dict[str, Any]:
    """Train with one seed and measure the result; everything that came out."""
    agent = make_agent(case.kind, seed=seed, **case.settings)
    config, seen = system(case.hosts), case.trained_hosts or case.hosts
    begin = time.perf_counter()
    trained_on: Any = mixed_system() if case.mixture else system(seen)
    if case.beside:
        trained_on = [system(seen).replace(traffic=traffic, load=load) for traffic, load in case.beside]
    agent.prepare(make_env(trained_on, agent, duration_ns=1_000.0))
    curve: list[dict[str, Any]] = [
        {"decisions": 0, "wall_s": 0.0, "cpu_s": 0.0, "evaluation": _evaluate(agent, config)}
    ]
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
        "held_out": measure(load_agent(file), case.hosts),
        "elsewhere": measure_elsewhere(load_agent(file), case.hosts),
    }


def _evaluate(agent: Any, config: dfe.SimulationConfig) -> dict[str, float]:
    """A point of the curve: the greedy policy on a traffic seed that is neither trained nor tested on."""
    found = evaluate_over_seeds(agent, config, (CURVE_SEED,), warmup_ns=CURVE_WARMUP_NS, measure_ns=CURVE_NS)
    names = ("latency_mean_ns", "accepted_load", "minimal_fraction", "hops_mean")
    return {name: getattr(found, name) for name in names}


def measure(policy: Policy | str, hosts: str) -> list[dict[str, float]]:
    """One row per held-out seed."""
    rows = []
    for seed in HELD_OUT_SEEDS[hosts]:
        metrics = evaluate_policy(
            policy, system(hosts), warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS[hosts], seed=seed
        )
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


def measure_elsewhere(policy: Policy | str, hosts: str) -> dict[str, dict[str, float]]:
    """Under other traffic, with one held-out seed."""
    rows = {}
    for traffic, load in ELSEWHERE[hosts]:
        config = system(hosts).replace(traffic=traffic, load=load)
        metrics = evaluate_policy(
            policy, config, warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS[hosts], seed=HELD_OUT_SEEDS[hosts][0]
        )
        rows[f"{traffic} {load}"] = {
            "latency_mean_ns": metrics.latency_mean_ns,
            "accepted_load": metrics.accepted_load,
        }
    return rows


def measure_baselines(hosts: str) -> dict[str, dict[str, Any]]:
    """All kinds of them: held out, and under other traffic."""

    def tuning_latency_ns(policy: Policy | str) -> float:
        return evaluate_policy(
            policy, system(hosts), warmup_ns=WARMUP_NS, measure_ns=MEASURE_NS[hosts], seed=CURVE_SEED
        ).latency_mean_ns

    return {
        one.name: {
            "kind": one.kind,
            "held_out": measure(one.policy, hosts),
            "elsewhere": measure_elsewhere(one.policy, hosts),
        }
        for one in baselines(tuning_latency_ns)
        if one.kind != "random" or hosts == "72"  # these answer from Python
    }


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
        if file.exists():  # other cases, and baselines of other sizes
            earlier = json.loads(file.read_text(encoding="utf-8"))
            kept = [run for run in earlier["runs"] if run["case"] not in (case or list(CASES))]
            content["runs"] = kept + content["runs"]
            content["baselines"] = earlier["baselines"] | content["baselines"]
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    content = json.loads(file.read_text(encoding="utf-8"))
    from benchmarks.learning_figure import HOSTS, draw

    _output.print(summary(content), markup=False)
    _errors.print(f"results: {file}", markup=False)
    if any(content["hosts"][one["case"]] == HOSTS for one in content["runs"]):
        _errors.print(f"figure:  {draw(content, out / 'learning-curves.png')}", markup=False)


def run(out: Path, names: list[str], seeds: range, jobs: int) -> dict[str, Any]:
    """Everything, as it is in the file."""
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
        "hosts": {name: CASES[name].hosts for name in CASES},
        "warmup_ns": WARMUP_NS,
        "measure_ns": MEASURE_NS,
        "cases": {name: dataclasses.asdict(CASES[name]) for name in CASES},
    }
    sizes = dict.fromkeys(CASES[name].hosts for name in names)
    described["baselines"] = {hosts: measure_baselines(hosts) for hosts in sizes}
    tasks = [(name, seed) for seed in seeds for name in names]
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    work = parallel(joblib.delayed(learn)(name, CASES[name], seed, out) for name, seed in tasks)
    runs = list(track(work, "training", total=len(tasks), console=_errors))
    described["runs"] = sorted(runs, key=lambda run: (names.index(run["case"]), run["seed"]))
    return described


def summary(content: dict[str, Any]) -> str:
    """Tables in Markdown, two per size of system."""
    return "\n".join(
        line
        for hosts, found in content["baselines"].items()
        for line in (
            f"{hosts} hosts",
            "",
            *_held_out_table(found, _runs_on(content, hosts)),
            "",
            *_elsewhere_table(hosts, found, _runs_on(content, hosts)),
            "",
        )
    )


def _runs_on(content: dict[str, Any], hosts: str) -> list[dict[str, Any]]:
    return [run for run in content["runs"] if content["hosts"][run["case"]] == hosts]


def _held_out_table(found: dict[str, dict[str, Any]], runs: list[dict[str, Any]]) -> list[str]:
    """Means over held-out traffic; for learners median, lowest and highest of the seeds."""
    lines = [
        "| policy | mean latency (ns) | 99th percentile (ns) | accepted load | hops | minimal | training (CPU s) |",
        "|---|---|---|---|---|---|---|",
    ]
    names = ("latency_mean_ns", "latency_p99_ns", "accepted_load", "hops_mean", "minimal_fraction")
    digits = (0, 0, 3, 2, 2)
    best = best_of_each_kind(found).values()

    def mean(rows: list[dict[str, float]], name: str) -> float:
        return statistics.fmean(row[name] for row in rows)

    for policy, row in found.items():
        cells = [f"{mean(row['held_out'], name):,.{d}f}" for name, d in zip(names, digits, strict=True)]
        note = f", best {row['kind']}" if policy in best else f", {row['kind']}"
        lines.append(f"| `{policy}`{note} | {' | '.join(cells)} | |")
    for case in dict.fromkeys(run["case"] for run in runs):
        ours = [run for run in runs if run["case"] == case]
        cells = []
        for name, d in zip(names, digits, strict=True):
            values = sorted(mean(run["held_out"], name) for run in ours)
            text = f"{statistics.median(values):,.{d}f}"
            cells.append(text if len(ours) == 1 else f"{text} ({values[0]:,.{d}f} to {values[-1]:,.{d}f})")
        seconds = sorted(run["training_cpu_s"] for run in ours)
        cells.append(f"{statistics.median(seconds):.0f} (to {seconds[-1]:.0f})")
        lines.append(f"| **{case}**, {len(ours)} seed{'s' if len(ours) > 1 else ''} | {' | '.join(cells)} |")
    return lines


def _elsewhere_table(hosts: str, found: dict[str, dict[str, Any]], runs: list[dict[str, Any]]) -> list[str]:
    """Other traffic: the mean latency; of several trainings their median, lowest and highest. In brackets the (median)
    accepted load where it falls short.
    """
    columns = [f"{traffic} {load}" for traffic, load in ELSEWHERE[hosts]]
    lines = ["| policy | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]

    def cell(rows: list[dict[str, float]], load: float) -> str:
        latencies = sorted(row["latency_mean_ns"] for row in rows)
        text = f"{statistics.median(latencies):,.0f}"
        if len(rows) > 1:
            text += f", {latencies[0]:,.0f} to {latencies[-1]:,.0f}"
        accepted = statistics.median(row["accepted_load"] for row in rows)
        return text if accepted > 0.98 * load else f"{text} ({accepted:.2f})"

    groups = {f"`{name}`": [row["elsewhere"]] for name, row in found.items()}
    for run in runs:
        groups.setdefault(f"**{run['case']}**", []).append(run["elsewhere"])
    for name, several in groups.items():
        cells = [
            cell([rows[column] for rows in several], load)
            for column, (_, load) in zip(columns, ELSEWHERE[hosts], strict=True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    app()
