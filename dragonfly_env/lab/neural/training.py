"""Training from scratch, step by step; every step is a file, so the same call goes on where it was stopped."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import operator
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.checks.archives import write_arrays
from dragonfly_env.checks.files import make_folders, replacing, write_text
from dragonfly_env.checks.values import config_error
from dragonfly_env.lab.neural.evolution import Evolution, costs_of
from dragonfly_env.lab.neural.mixture import Mixture
from dragonfly_env.lab.neural.network import untrained
from dragonfly_env.lab.neural.nonminimal_penalty import with_nonminimal_penalty
from dragonfly_env.lab.neural.prediction import Samples, collect, fit, together
from dragonfly_env.lab.neural.settings import TrainingSettings
from dragonfly_env.lab.neural.tasks import cost, seed_of
from dragonfly_env.plots.style import grid
from dragonfly_env.sweeps.run import Point

Tell = Callable[[str], object]
REFERENCES = ("lia", "ad2", "ugal-ideal", "q-adaptive-queue", "tpr", "vlb-gl")
"""Policies that set the measure of a scenario: those that lead somewhere in the mixture."""

WORKLOAD_REFERENCES = ("ad0", "ad1", "ad2", "ad3", "q-adaptive-fast", "min")
"""The same of workloads."""

_CURVE = "curve.csv"
_PICTURE = "curve.png"
_RESULT = "network.npz"
_EVERY = 10  # generations between two files
_SEEDS_APART = 10**6  # numbers of runs that only measure


def train_network(
    mixture: Mixture, folder: Path, settings: TrainingSettings, tell: Tell = print, workers: int = 1
) -> Path:
    """Train a network on a mixture of scenarios; its validation part chooses among rounds and generations, and whether
    non-minimal paths get a penalty and a second stage.

    Args:
        mixture: Where the scenarios come from.
        folder: Where all steps, the curve (``curve.csv`` and ``curve.png``) and the result go; what is there is not
            done again.
        settings: How long, and on what.
        tell: Is told of every step.
        workers: So many scenarios run at a time; the result is the same.

    Returns:
        The file of the result.

    Raises:
        ConfigError: If the folder holds another training, or PyTorch is missing.
    """
    from dragonfly_env.agents import _sb3  # noqa: F401  # says at once what is missing

    make_folders(folder)
    mixture = mixture.only(settings.hosts, settings.patterns, settings.window_share)
    tasks, watched = mixture.training, mixture.validation or mixture.training
    names = [task.traffic_label for task in (*tasks, *mixture.validation)]
    _claim(folder, {"scenarios": names, **dataclasses.asdict(settings)})
    tell(f"{len(tasks)} scenarios to learn from, {len(watched)} to choose by")
    best = _references(folder, (*watched, *(tasks if settings.generations else ())), tell, workers)
    network = untrained(
        settings.features,
        settings.hidden_units,
        settings.seed,
        settings.scope,
        settings.nonminimal_candidates,
    )
    reached: list[tuple[float, str, MlpNetwork]] = []
    for round_ in range(settings.rounds):
        network = _predict(folder, tasks, network, settings, round_, tell, workers)
        ratio = _note(folder, "prediction", str(round_), network, watched, best, tell, workers)
        reached.append((ratio, f"round {round_}", network))
    evolution = Evolution.of(network)
    while (generation := evolution.moments[2]) < settings.generations:
        begun = time.process_time()
        until = min(generation + _EVERY, settings.generations)
        evolution = _read(folder, network, until) or evolution
        if evolution.moments[2] > generation:
            continue
        while evolution.moments[2] < until:
            evolution.advance(tasks, best, settings)
        _write(folder, evolution)
        tell(f"generations {generation} to {evolution.moments[2]}: {time.process_time() - begun:.0f} CPU-s")
        number = str(evolution.moments[2])
        ratio = _note(folder, "evolution", number, evolution.network, watched, best, tell, workers)
        reached.append((ratio, f"generation {number}", evolution.network))
    with replacing(folder / _PICTURE) as temporary:
        curve(folder / _CURVE).savefig(temporary, dpi=100, format="png")
    first = min(reached, key=operator.itemgetter(0))
    penalties = [first]
    if settings.nonminimal_penalty > 0:
        tried = f"{first[1]}, penalty {settings.nonminimal_penalty:g}"
        penalised = with_nonminimal_penalty(first[2], settings.penalties)
        penalties.append(
            (
                _note(folder, "non-minimal penalty", tried, penalised, watched, best, tell, workers),
                tried,
                penalised,
            )
        )
    second = min(penalties, key=operator.itemgetter(0))
    looks = [second]
    for count in settings.second_stage_candidates:
        if count > second[2].nonminimal_candidates:
            tried = f"{second[1]}, {count} of each kind"
            wider = dataclasses.replace(second[2], nonminimal_candidates=count, second_stage=True)
            looks.append(
                (_note(folder, "second stage", tried, wider, watched, best, tell, workers), tried, wider)
            )
    return min(looks, key=operator.itemgetter(0))[2].save(folder / _RESULT)


def _claim(folder: Path, what: dict[str, Any]) -> None:
    """One folder, one training; only its length may grow."""
    file = folder / "training.json"
    text = json.dumps(what, indent=1, sort_keys=True)
    if file.exists():
        before = json.loads(file.read_text(encoding="utf-8"))
        now = json.loads(text)
        differ = [name for name in now if name != "generations" and before.get(name) != now[name]]
        if differ:
            raise config_error("folder", str(folder), f"holds a training with other {', '.join(differ)}")
    write_text(text + "\n", file)


def _references(folder: Path, tasks: Sequence[Point], tell: Tell, workers: int) -> dict[str, float]:
    """The cost of the best reference in every case."""
    file = folder / "references.json"
    known: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for task in tasks:
        if task.traffic_label not in known:
            names = WORKLOAD_REFERENCES if task.closed_loop else REFERENCES
            costs = joblib.Parallel(workers)(
                joblib.delayed(cost)(task, dfe.make_policy(name), seed_of(task, 0)) for name in names
            )
            known[task.traffic_label] = dict(zip(names, costs, strict=True))
            write_text(json.dumps(known, indent=1) + "\n", file)
            best = min(names, key=known[task.traffic_label].__getitem__)
            tell(f"{task.traffic_label}: {best} {known[task.traffic_label][best]:.4g}")
    return {task.traffic_label: min(known[task.traffic_label].values()) for task in tasks}


def _predict(
    folder: Path,
    tasks: Sequence[Point],
    network: MlpNetwork,
    settings: TrainingSettings,
    round_: int,
    tell: Tell,
    workers: int,
) -> MlpNetwork:
    file = folder / f"round-{round_:02d}.npz"
    if file.exists():
        return MlpNetwork.load(file)
    begun, spent_s = time.process_time(), 0.0
    collected = folder / f"transitions-{round_:02d}.npz"
    if not collected.exists():
        parts = joblib.Parallel(workers)(
            joblib.delayed(_timed)(task, network if round_ else None, settings, round_) for task in tasks
        )
        spent_s = sum(cpu_s for _, cpu_s in parts) if workers > 1 else 0.0
        x, y, w = together([samples for samples, _ in parts])
        write_arrays(collected, {"x": x, "y": y, "w": w})
    kept = []
    for older in range(max(0, round_ + 1 - settings.kept_rounds), round_ + 1):
        with np.load(folder / f"transitions-{older:02d}.npz") as arrays:
            kept.append((arrays["x"], arrays["y"], arrays["w"]))
    samples: Samples = tuple(np.concatenate(columns) for columns in zip(*kept, strict=True))  # type: ignore[assignment]
    fitted, error = fit(network, samples, settings, round_)
    fitted.save(file)
    tell(
        f"round {round_}: {len(samples[1])} transitions, mean loss {error:.4f}, "
        f"{time.process_time() - begun + spent_s:.0f} CPU-s"
    )
    return fitted


def _timed(
    task: Point, network: MlpNetwork | None, settings: TrainingSettings, round_: int
) -> tuple[Samples, float]:
    """The samples of a scenario, and the CPU time that they took."""
    begun = time.process_time()
    return collect(task, network, settings, round_), time.process_time() - begun


def _note(
    folder: Path,
    stage: str,
    number: str,
    network: MlpNetwork,
    tasks: Sequence[Point],
    best: dict[str, float],
    tell: Tell,
    workers: int,
) -> float:
    """A row of the curve: the ratios to the best reference, on runs of their own. Returns their geometric mean."""
    file = folder / _CURVE
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    rows = list(csv.DictReader(text.splitlines()))
    for known in rows:
        if (known["stage"], known["number"]) == (stage, number):
            return float(known["geometric_mean"])
    measured = costs_of(network, tasks, _SEEDS_APART, workers)
    ratios = {name: value / best[name] for name, value in measured.items()}
    logs = np.log(np.array(list(ratios.values())))
    row = {
        "stage": stage,
        "number": number,
        "geometric_mean": f"{np.exp(logs.mean()):.4f}",
        "worst": f"{np.exp(logs.max()):.4f}",
        "within_5_percent": f"{np.mean(logs < np.log(1.05)):.4f}",
        **{name: f"{ratio:.4f}" for name, ratio in ratios.items()},
    }
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(row))
    writer.writeheader()
    writer.writerows([*rows, row])
    write_text(table.getvalue(), file)
    worst = max(ratios, key=ratios.__getitem__)
    tell(f"{stage} {number}: {row['geometric_mean']} of the best reference, worst {row['worst']} ({worst})")
    return float(row["geometric_mean"])


def _write(folder: Path, evolution: Evolution) -> None:
    first, second, steps = evolution.moments
    file = folder / f"generation-{steps:05d}.npz"
    write_arrays(file, {"change": evolution.change, "first": first, "second": second, "steps": steps})


def _read(folder: Path, origin: MlpNetwork, generation: int) -> Evolution | None:
    file = folder / f"generation-{generation:05d}.npz"
    if not file.exists():
        return None
    with np.load(file) as arrays:
        return Evolution(origin, arrays["change"], (arrays["first"], arrays["second"], int(arrays["steps"])))


_ABOUT = ("stage", "number", "geometric_mean", "worst", "within_5_percent")
_COLOURS = 10  # of matplotlib's cycle
_TICKS = (0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)


def curve(file: Path) -> Figure:
    """Costs over those of the best reference, by round: a panel per network, a line per validation scenario.

    Args:
        file: ``curve.csv`` of a training.
    """
    with file.open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if row["stage"] == "prediction"]
    names = [name for name in rows[0] if name not in _ABOUT]
    networks = list(dict.fromkeys(_split(name)[1] for name in names))
    rounds = np.array([int(row["number"]) for row in rows])
    worst = max(float(row["worst"]) for row in rows)
    together = np.array([float(row["geometric_mean"]) for row in rows])
    figure, axes = grid(3.6, 4.6, 1, len(networks), sharey=True)
    lines = {}
    scenarios = list(dict.fromkeys(_split(name)[0] for name in names))
    for panel, network in zip(axes[0], networks, strict=True):
        for name in names:
            scenario, of = _split(name)
            if of != network:
                continue
            ratios = [float(row[name]) for row in rows]
            number = scenarios.index(scenario)  # the same look in every panel
            (lines[scenario],) = panel.plot(
                rounds,
                ratios,
                color=f"C{number % _COLOURS}",
                linestyle="-" if number < _COLOURS else "--",
                marker="o",
                markersize=3.5,
                linewidth=1.2,
            )
        (lines[f"all {len(names)}, geometric mean"],) = panel.plot(rounds, together, "k:", linewidth=2)
        panel.axhline(1.0, color="0.5", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_yticks([tick for tick in _TICKS if tick <= worst])
        panel.yaxis.set_major_formatter(ScalarFormatter())
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_title(f"network {network}", fontsize=10)
        panel.set_xlabel("round")
    axes[0][0].set_ylabel("over the best reference")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _split(name: str) -> tuple[str, str]:
    """A scenario and its network, from the name of a task."""
    scenario, _, network = name.rpartition(", ")
    return scenario, network
