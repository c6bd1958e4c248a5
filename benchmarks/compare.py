"""``python -m benchmarks.compare OLD``: how much faster this commit is than another one, on this machine, now.

Both take turns on one processor: short slices old new new old, then new old old new, so that a steady drift cancels.
Every round starts both anew, because the same program may be faster or slower each time, by where its memory happens to
lie, and takes the next processor. Each quad gives a ratio of CPU time per unit of work, each round the median of its
quads; what is printed is the median of the rounds, and an interval that holds the true median with the confidence that
the table names, for every distribution.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from benchmarks import machine
from benchmarks.cases import TOPOLOGY, cases
from benchmarks.contestant import Contestant, interpreter
from benchmarks.process import on_processor
from benchmarks.result import console, number

_CONFIDENCE = 0.93
_OLD, _NEW = "old", "new"
_ORDERS = ((_OLD, _NEW, _NEW, _OLD), (_NEW, _OLD, _OLD, _NEW))  # a steady drift of the machine cancels


def median_interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """Lowest, highest, and the confidence with which they enclose the median of the distribution.

    By order statistics: the k lowest and the k highest samples are left out, as many as still give 93 %.

    Returns:
        Of five samples: the extremes, and 0.9375.
    """
    ordered, n = sorted(samples), len(samples)

    def confidence(k: int) -> float:
        return float(1 - 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n)

    k = 0
    while confidence(k + 1) >= _CONFIDENCE and 2 * (k + 1) < n:
        k += 1
    return ordered[k], ordered[n - 1 - k], max(0.0, confidence(k))


def measure(
    old: Path, new: Path, names: Sequence[str], *, rounds: int, topology: str = TOPOLOGY, length: float = 1.0
) -> list[dict[str, Any]]:
    """Let the two interpreters take turns; per case the ratios new/old, one per round, and all slices.

    Raises:
        RuntimeError: If one of them cannot measure a case.
    """
    slices: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in names}
    for i in range(rounds):
        processors = sorted(os.sched_getaffinity(0))
        with (
            on_processor(processors[i % len(processors)]),
            Contestant(old, topology=topology, length=length) as a,
            Contestant(new, topology=topology, length=length) as b,
        ):
            contestants = {_OLD: a, _NEW: b}
            for name in names:
                # The first slices build and warm up; pools of packets and events grow.
                first = [contestant.measure(name) for contestant in contestants.values()]
                taken = _round(contestants, name, first[0]["quads_per_round"], i)
                slices[name].append(taken)
                _errors.print(f"round {i + 1} of {rounds}, {name}: {round_ratio(taken):.3f}", style="dim")
    return [_summary(name, slices[name]) for name in names]


def _round(contestants: dict[str, Contestant], name: str, quads: int, beginning: int) -> list[dict[str, Any]]:
    return [
        {**contestants[which].measure(name), "which": which}
        for i in range(quads)
        for which in _ORDERS[(beginning + i) % 2]
    ]


def _rate(slices: Sequence[dict[str, Any]], which: str) -> float:
    mine = [s for s in slices if s["which"] == which]
    return float(sum(s["work"] for s in mine) / sum(s["cpu_s"] for s in mine))


def round_ratio(slices: Sequence[dict[str, Any]]) -> float:
    """New/old of a round: the median of its quads, so that a disturbance of one does not count."""
    quads = [slices[i : i + 4] for i in range(0, len(slices), 4)]
    return statistics.median(_rate(quad, _NEW) / _rate(quad, _OLD) for quad in quads)


def _summary(name: str, rounds: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    ratios = [round_ratio(slices) for slices in rounds]
    lowest, highest, confidence = median_interval(ratios)
    everything = [s for slices in rounds for s in slices]
    histories = {which: [s["history"] for s in everything if s["which"] == which] for which in (_OLD, _NEW)}
    return {
        "case": name,
        "unit": everything[0]["unit"],
        "ratios": ratios,
        "median": statistics.median(ratios),
        "lowest": lowest,
        "highest": highest,
        "confidence": confidence,
        "rates": {
            which: statistics.median(_rate(slices, which) for slices in rounds) for which in (_OLD, _NEW)
        },
        "packages": {
            which: next(s["package"] for s in everything if s["which"] == which) for which in (_OLD, _NEW)
        },
        "same_history": histories[_OLD] == histories[_NEW],
        "slices": rounds,
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    """The ratios, and the speeds that they come from."""
    confidence = f"{min(result['confidence'] for result in results):.0%}"
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("case")
    for heading in ("new/old", f"interval ({confidence})", "old", "new"):
        shown.add_column(heading, justify="right")
    shown.add_column("M / CPU-s of")
    shown.add_column("the same history")
    for result in results:
        shown.add_row(
            result["case"],
            f"{result['median']:.3f}",
            f"{result['lowest']:.3f}-{result['highest']:.3f}",
            *(number(result["rates"][which] / 1e6) for which in (_OLD, _NEW)),
            result["unit"],
            "yes" if result["same_history"] else "no",
        )
    return shown


_output, _errors = console(), console(error=True)


def main() -> None:
    """Print how much faster NEW is than OLD, case by case, with an interval."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=main.__doc__)
    parser.add_argument("old", type=Path, help="a checkout with .venv, or a Python")
    parser.add_argument("--new", type=Path, default=Path(sys.executable), help="by default this checkout")
    parser.add_argument("--only", action="append", choices=list(cases()), help="may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="how often both are started")
    parser.add_argument("--topology", default=TOPOLOGY, help="preset, by host count")
    parser.add_argument("--length", type=float, default=1.0, help="of warm-ups and slices: 1 is usual")
    parser.add_argument("--out", type=Path, help="a file for all samples, JSON")
    given = parser.parse_args()
    began = machine.describe_machine()
    try:
        results = measure(
            interpreter(given.old),
            interpreter(given.new),
            list(dict.fromkeys(given.only or cases())),
            rounds=given.rounds,
            topology=given.topology,
            length=given.length,
        )
    except RuntimeError as error:
        parser.exit(1, f"error: {error}\n")
    _output.print(table(results))
    for which, package in results[0]["packages"].items():
        _output.print(f"{which}: {package}", style="dim", markup=False, soft_wrap=True)
    if given.out is not None:
        content = {"started": machine.now(), "machine": began, "results": results}
        given.out.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        _output.print(f"written: {given.out}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
