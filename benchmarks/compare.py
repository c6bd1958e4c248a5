"""``python -m benchmarks.compare OLD``: how much faster this commit is than another one, on this machine, now.

Both take turns on one processor: short slices old new new old, then new old old new, between two runs of the yardstick.
Every round starts both anew, because the same program may be faster or slower each time, by where its memory happens to
lie, and takes the next processor. Each quad gives a ratio of CPU time per unit of work, each round the median of its
quads; what is printed is the median of the rounds, and an interval that holds the true median with the confidence that
the table names, whatever the distribution.
"""

from __future__ import annotations

import functools
import json
import math
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from benchmarks import machine
from benchmarks.cases import TOPOLOGY, cases
from benchmarks.contestant import Contestant, interpreter
from benchmarks.process import on_processor
from benchmarks.report import console, number
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import describe, program

LAPS = 3
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
    old: Path,
    new: Path,
    names: Sequence[str],
    *,
    rounds: int,
    turns: int,
    topology: str = TOPOLOGY,
    length: float = 1.0,
) -> list[dict[str, Any]]:
    """Let both take turns.

    Args:
        old: Its interpreter.
        new: Its interpreter.
        names: Of `cases`.
        rounds: Processes of each.
        turns: Of each case in each round.
        topology: Preset, by host count.
        length: Of warm-ups and slices, as a share of the usual one.

    Returns:
        Per case: ``ratios`` (new/old, one per round) with ``median``, ``lowest``, ``highest`` and ``confidence``,
        the ``yardsticks`` of both, one per slice, whether both had the ``same_history``, and all ``slices``.

    Raises:
        RuntimeError: If one of them cannot measure a case.
    """
    slices: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in names}
    yardstick = program()
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
                beside = Beside(yardstick, LAPS)
                taken = []
                for _ in range(turns):
                    turn = functools.partial(_turn, contestants, name, first[0]["quads_per_turn"], i)
                    measured, hops_per_s = beside.measure(turn)
                    taken += [{**s, "yardstick_hops_per_s": hops_per_s} for s in measured]
                slices[name].append(taken)
                _errors.print(f"round {i + 1} of {rounds}, {name}: {round_ratio(taken):.3f}", style="dim")
    return [_summary(name, slices[name]) for name in names]


def _turn(contestants: dict[str, Contestant], name: str, quads: int, beginning: int) -> list[dict[str, Any]]:
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
        "yardsticks": {
            which: [
                s["work"] / s["cpu_s"] / s["yardstick_hops_per_s"] for s in everything if s["which"] == which
            ]
            for which in (_OLD, _NEW)
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
    shown.add_column("old, yardsticks", justify="right")
    shown.add_column("new, yardsticks", justify="right")
    shown.add_column("the same history")
    for result in results:
        shown.add_row(
            result["case"],
            f"{result['median']:.3f}",
            f"{result['lowest']:.3f}-{result['highest']:.3f}",
            *(number(result["rates"][which] / 1e6) for which in (_OLD, _NEW)),
            result["unit"],
            *(_range(result["yardsticks"][which]) for which in (_OLD, _NEW)),
            "yes" if result["same_history"] else "no",
        )
    return shown


def _range(samples: Sequence[float]) -> str:
    return f"{statistics.median(samples):.3f} ({min(samples):.3f}-{max(samples):.3f})"


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
_output, _errors = console(), console(error=True)


@app.command()
def main(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A checkout with .venv, or a Python.")],
    new: Annotated[
        Path, typer.Option(metavar="NEW", help="The same of the new commit; by default this one.")
    ] = Path(sys.executable),
    only: Annotated[
        list[str] | None, typer.Option(metavar="CASE", help=f"One of: {'; '.join(cases())}. May be repeated.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often both are started.")] = 5,
    turns: Annotated[
        int, typer.Option(min=1, help="Of each case in each round, with the yardstick in between.")
    ] = 2,
    topology: Annotated[str, typer.Option(help="Preset, by host count.")] = TOPOLOGY,
    length: Annotated[float, typer.Option(min=0.01, help="Of warm-ups and slices: 1 is usual.")] = 1.0,
    out: Annotated[Path | None, typer.Option(help="A file for all samples, JSON.")] = None,
) -> None:
    """Print how much faster NEW is than OLD, case by case, with an interval."""
    unknown = [name for name in only or () if name not in cases()]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r}; must be one of {'; '.join(cases())}", param_hint="--only")
    names = list(dict.fromkeys(only or cases()))
    began = machine.describe_machine()
    try:
        results = measure(
            interpreter(old),
            interpreter(new),
            names,
            rounds=rounds,
            turns=turns,
            topology=topology,
            length=length,
        )
    except RuntimeError as error:
        _errors.print(f"error: {error}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    _output.print(table(results))
    for which, package in results[0]["packages"].items():
        _output.print(f"{which}: {package}", style="dim", markup=False, soft_wrap=True)
    if out is not None:
        content = {"started": machine.now(), "machine": began, "yardstick": describe(), "results": results}
        out.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        _output.print(f"written: {out}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.compare")
