"""Train the baselines of ``examples/``, and draw the learning curves of ``docs/environments/which-view.md``.

``python docs/which_view.py`` trains what ``docs/environments/which-view.csv`` does not have yet, draws
``docs/images/which-view.png`` and prints the rows of the table. With the name of a case and a seed it trains only that.
Needs the extra [sb3]. All cases together take about 15 CPU-minutes.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import dragonfly_env as dfe
from dragonfly_env.agents import evaluate_over_seeds
from dragonfly_env.colors import LEARNERS, REFERENCE, SERIES
from dragonfly_env.plots.style import grid, save

DOCS = Path(__file__).parent
DATA, PICTURE = (
    DOCS / "environments" / "which-view.csv",
    DOCS / "images" / "which-view.png",
)
sys.path.insert(0, str(DOCS.parent / "examples"))
CONFIG = dfe.SimulationConfig(
    topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.35
)
RANDOM_NS = 1387


class Case(NamedTuple):
    """Training: a function ``train`` of a file in ``examples/``, with arguments."""

    module: str
    arguments: dict[str, Any]
    seeds: int = 1


CASES = {
    "PPO, one network": Case(
        "ippo_pettingzoo", {"decisions": 1_200_000}, seeds=5
    ),
    "PPO, 36 networks": Case(
        "ippo_pettingzoo",
        {"decisions": 2_000_000, "independent": True},
        seeds=5,
    ),
    "MAPPO": Case("mappo_batched", {"decisions": 1_200_000}, seeds=2),
    "DQN, 36 networks": Case("idqn_batched", {"decisions": 1_000_000}, seeds=2),
    "MaskablePPO": Case("masked_ppo_sb3", {"steps": 1_450_000}, seeds=2),
    **{
        name: Case("ippo_pettingzoo", {"decisions": 600_000, **changes})
        for name, changes in {
            "unchanged": {},
            "share router": {"share": "router"},
            "share all": {"share": "all"},
            "credit 0": {"latency_credit_ns": 0.0},
            "discount 0.9": {"gamma": 0.9},
        }.items()
    },
}


def measure(name: str, seed: int) -> None:
    """Train a case, and append its learning curve and its evaluation to the data."""
    case = CASES[name]
    curve: list[tuple[int, float]] = []
    started = time.process_time()
    train = importlib.import_module(case.module).train
    policy = train(
        **case.arguments, seed=seed, report=lambda *point: curve.append(point)
    )
    cpu_s = time.process_time() - started
    measured = evaluate_over_seeds(policy, CONFIG, seeds=(101, 102, 103))
    rows = [
        ["training", made, round(latency, 1), ""]
        for made, latency in curve[:: 1 + len(curve) // 60]
    ]
    rows.append(
        [
            "evaluation",
            curve[-1][0],
            round(measured.latency_mean_ns, 1),
            round(cpu_s, 1),
        ]
    )
    with DATA.open("a", newline="") as file:
        csv.writer(file).writerows([name, seed, *row] for row in rows)


def read() -> list[dict[str, str]]:
    """The data so far."""
    if not DATA.exists():
        DATA.write_text("case,seed,of,decisions,latency_ns,cpu_s\n")
    with DATA.open(newline="") as file:
        return list(csv.DictReader(file))


def draw(rows: list[dict[str, str]]) -> None:
    """The curves of the baselines, and of the changes that fail."""
    done = {row["case"] for row in rows}
    panels = {
        "baselines": [name for name in CASES if CASES[name].seeds > 1],
        "PPO with one network, one setting changed": [
            name for name in CASES if CASES[name].seeds == 1
        ],
    }
    panels = {
        title: names for title, names in panels.items() if done & {*names}
    }
    colors = (*LEARNERS.values(), SERIES[4], *SERIES[6:])
    figure, axes = grid(5.0, 3.6, 1, len(panels))
    for axis, (title, names) in zip(axes[0], panels.items(), strict=True):
        for number, name in enumerate(names):
            for seed in range(1, CASES[name].seeds + 1):
                points = [
                    (
                        int(row["decisions"]) / 1e6,
                        float(row["latency_ns"]) / 1000,
                    )
                    for row in rows
                    if (row["case"], row["seed"], row["of"])
                    == (name, str(seed), "training")
                ]
                if points:
                    label = name if seed == 1 else None
                    style = {
                        "color": colors[number % len(colors)],
                        "lw": 1.2,
                        "alpha": 0.8,
                    }
                    axis.plot(*zip(*points, strict=True), label=label, **style)
        axis.axhline(
            RANDOM_NS / 1000,
            color=REFERENCE,
            ls=":",
            lw=1,
            label="random choice",
        )
        axis.set_xlabel("decisions (millions)")
        axis.set_ylim(1.15, 1.7)
        axis.set_title(f"{title}: a line per training")
        axis.set_ylabel("mean latency in training (µs)")
        axis.legend(loc="upper right")
    save(figure, PICTURE.parent, PICTURE.stem, formats=["png"])


def show(rows: list[dict[str, str]]) -> None:
    """Print a line per case: latencies by seed, their median, and CPU time per decision."""
    for name in CASES:
        ends = [
            row
            for row in rows
            if row["case"] == name and row["of"] == "evaluation"
        ]
        latencies = [float(row["latency_ns"]) for row in ends]
        if ends:
            cost = statistics.median(
                float(row["cpu_s"]) / int(row["decisions"]) * 1e6
                for row in ends
            )
            each = ", ".join(f"{latency:.0f}" for latency in latencies)
            print(
                f"{name}: {each}; median {statistics.median(latencies):.0f} ns; {cost:.0f} CPU-us per decision"
            )


def main() -> None:
    """Train what is missing, or one case with one seed; then draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="?", choices=CASES)
    parser.add_argument("seed", nargs="?", type=int)
    given = parser.parse_args()
    done = {(row["case"], int(row["seed"])) for row in read()}
    for name, case in CASES.items():
        for seed in range(1, case.seeds + 1):
            chosen = given.case is None or (
                given.case == name and given.seed in (None, seed)
            )
            if chosen and (name, seed) not in done:
                measure(name, seed)
    rows = read()
    draw(rows)
    show(rows)


if __name__ == "__main__":
    main()
