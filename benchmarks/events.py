"""Events of the processor per packet-hop: ``python -m benchmarks.events --help``.

Two simulations that differ in their measured length alone are run under ``perf stat``, or under callgrind where the
machine has no hardware counters; the difference in events over the difference in packet-hops is the cost of the
clock loop: Python, building and warm-up cancel.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from benchmarks.process import run_process
from benchmarks.report import console, number

_PERF_EVENTS = (
    "cycles:u",
    "instructions:u",
    "branches:u",
    "branch-misses:u",
    "L1-dcache-load-misses:u",
    "cache-misses:u",
    "dTLB-load-misses:u",
)
_CALLGRIND_NAMES = {
    "Ir": "instructions",
    "Dr": "loads",
    "Dw": "stores",
    "Bc": "conditional branches",
    "Bcm": "mispredicted (model)",
    "D1mr": "L1 load misses (model)",
    "D1mw": "L1 store misses (model)",
    "DLmr": "last-level load misses (model)",
    "DLmw": "last-level store misses (model)",
}
Counter = Callable[[list[str], Path], tuple[dict[str, float], int]]


def _perf(command: list[str], folder: Path) -> tuple[dict[str, float], int]:
    file = folder / "perf.csv"
    events = ",".join(_PERF_EVENTS)
    cost = run_process(["perf", "stat", "-x", ";", "-e", events, "-o", str(file), "--", *command])
    counts = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = line.split(";")
        if len(fields) > 2 and fields[0].replace(".", "").isdigit():
            counts[fields[2].removesuffix(":u")] = float(fields[0])
    return counts, _packet_hops(cost.output)


def callgrind(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    options: Sequence[str] = (),
    exit_statuses: Collection[int] = (0,),
) -> tuple[dict[str, float], str]:
    """Run a program under callgrind.

    Args:
        command: Program and arguments.
        folder: Where to run it.
        options: Of callgrind.
        exit_statuses: Those of the program that mean success.

    Returns:
        Its events by callgrind's names (``Ir`` is instructions), and what it printed.

    Raises:
        RuntimeError: If it fails, or callgrind's output has no totals.
    """
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", *options]
        cost = run_process([*valgrind, *command], folder=folder, exit_statuses=exit_statuses)
        text = file.read_text(encoding="utf-8", errors="replace")
    names, totals = (re.search(rf"(?m)^{key}: (.*)$", text) for key in ("events", "totals"))
    if names is None or totals is None:
        raise RuntimeError("callgrind's output has no totals")
    return dict(zip(names[1].split(), map(float, totals[1].split()), strict=False)), cost.output


def count_with_callgrind(command: list[str], _folder: Path) -> tuple[dict[str, float], int]:
    """A counter for `per_packet_hop`: the events of callgrind's model."""
    counts, output = callgrind(command, options=("--cache-sim=yes", "--branch-sim=yes"))
    return {label: counts[key] for key, label in _CALLGRIND_NAMES.items()}, _packet_hops(output)


def _packet_hops(output: str) -> int:
    return int(json.loads(output)["packet_hops"])


def _has_counters() -> bool:
    if shutil.which("perf") is None:
        return False
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "perf.csv"
            run_process(["perf", "stat", "-x", ";", "-e", "instructions:u", "-o", str(file), "true"])
            return re.search(r"(?m)^\d", file.read_text(encoding="utf-8")) is not None
    except RuntimeError:
        return False


def per_packet_hop(count: Counter, run: list[str], lengths_ns: tuple[float, float]) -> Mapping[str, float]:
    """Events per packet-hop.

    Args:
        count: Runs a command and returns its events by name, and the packet-hops that it reported.
        run: The simulation, without its measured length.
        lengths_ns: Two measured lengths, the second longer.
    """
    with tempfile.TemporaryDirectory() as folder:
        (short, short_hops), (long, long_hops) = (
            count([*run, "--measure-ns", f"{length:g}"], Path(folder)) for length in lengths_ns
        )
    return {name: (long[name] - short[name]) / (long_hops - short_hops) for name in long if name in short}


def main() -> None:
    """Count, print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.events", description=__doc__)
    parser.add_argument("--topology", default="1056", help="preset, by host count")
    parser.add_argument("--policy", default="min", help="name, or name:parameter=value")
    parser.add_argument("--traffic", default="uniform")
    parser.add_argument("--load", default="0.8")
    parser.add_argument("--network", default="q-adaptive")
    parser.add_argument("--warmup-ns", default="5000")
    parser.add_argument("--tool", choices=("auto", "perf", "callgrind"), default="auto")
    given = vars(parser.parse_args())
    tool = given.pop("tool")
    if tool == "auto":
        tool = "perf" if _has_counters() else "callgrind"
    if tool == "callgrind" and shutil.which("valgrind") is None:
        parser.exit(2, "error: no hardware counters for perf here, and no valgrind: nothing can be counted\n")
    run = [sys.executable, "-m", "benchmarks.one_run"]
    for name, value in given.items():
        run += [f"--{name.replace('_', '-')}", value]
    output = console()
    output.print(f"counting with {tool}: {' '.join(run[1:])}", style="dim")
    lengths = (20_000.0, 120_000.0) if tool == "perf" else (1_000.0, 4_000.0)
    try:
        events = per_packet_hop(_perf if tool == "perf" else count_with_callgrind, run, lengths)
    except RuntimeError as error:
        parser.exit(2, f"error: {error}\n")
    shown = Table("event", box=box.SIMPLE_HEAD)
    shown.add_column("per packet-hop", justify="right")
    for name, value in events.items():
        shown.add_row(name, number(value))
    output.print(shown)


if __name__ == "__main__":
    main()
