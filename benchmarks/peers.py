"""Family ``peers``: other simulators on the same system, where the user has them.

An executable is found through an environment variable (``DRAGONFLY_BENCH_BOOKSIM2``, ``_CAMINOS``, ``_FOGSIM``,
``_SST``) or an option of ``python -m benchmarks.peers``. Each is run twice, briefly and longer; what the longer run
does more, divided by the CPU time that it takes more, is its speed: start-up and warm-up cancel. The inputs are in
``peer_inputs``; README.md has the command lines, and says what a packet-hop is in each.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import string
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.effort import FULL, Effort
from benchmarks.process import run_process
from benchmarks.report import console, table
from benchmarks.result import Result
from benchmarks.workload import Report
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

HOSTS = 1_056
PACKET_NS = 32  # of the q-adaptive network: a cycle of the simulators that count in cycles
SHORT_CYCLES, LONG_CYCLES = 200, 1_000
_MOST_ROUNDS = 3
_INPUTS = Path(__file__).parent / "peer_inputs"


@dataclass(frozen=True, slots=True)
class Peer:
    """A simulator: its input, how to read packet-hops from what it says, and the exit statuses of success."""

    name: str
    template: str
    packet_hops: Callable[[str, Path, int], float]
    exit_statuses: tuple[int, ...] = (0,)

    @property
    def variable(self) -> str:
        """The environment variable that names the executable."""
        return f"DRAGONFLY_BENCH_{self.name.upper()}"


def _number(pattern: str, text: str) -> float:
    found = re.findall(pattern + r"\s*([-+0-9.eE]+)", text)
    if not found:
        raise RuntimeError(f"the output has no {pattern!r}")
    return float(found[-1])


def _booksim2(output: str, _folder: Path, _cycles: int) -> float:
    """Its hops are routers passed, the last one's delivery included; rates are per host and cycle."""
    rate = _number("Accepted packet rate average =", output)
    return rate * HOSTS * _number("Time taken is", output) * _number("Hops average =", output)


def _caminos(output: str, _folder: Path, cycles: int) -> float:
    """Its hops are links between routers; loads are phits, here packets, per host and cycle."""
    return _number("accepted_load:", output) * HOSTS * cycles * (_number("average_packet_hops:", output) + 1)


def _fogsim(_output: str, folder: Path, _cycles: int) -> float:
    """Counts are those after its warm-up, which is as long as the measured part and has to be paid too."""
    text = (folder / "result").read_text(encoding="utf-8", errors="replace")
    counted = sum(
        _number(f"(?m)^{name}:", text) for name in ("Local Hops", "Global Hops", "Packets Received")
    )
    cycles, warmup = _number(r"(?m)^Cycles:", text), _number(r"(?m)^Cycles:.*warmup:", text)
    return counted * cycles / (cycles - warmup)


def _sst(_output: str, folder: Path, _cycles: int) -> float:
    """Packets sent by the output ports of all routers, those to hosts included; since the start."""
    with (folder / "stats.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    return sum(float(row["Sum.u64"]) for row in rows if row["StatisticName"].strip() == "send_packet_count")


PEERS = (
    Peer("booksim2", "booksim2.cfg.in", _booksim2, (0, 255)),
    Peer("caminos", "caminos.cfg.in", _caminos),
    Peer("fogsim", "fogsim.txt.in", _fogsim),
    Peer("sst", "sst.py.in", _sst),
)


def find(given: Mapping[str, str | None]) -> dict[str, str]:
    """Executables by name of the peer, from what was given, else the environment.

    Raises:
        RuntimeError: If one that was named does not exist or cannot be executed.
    """
    found = {}
    for peer in PEERS:
        named = given.get(peer.name) or os.environ.get(peer.variable)
        if named:
            path = shutil.which(named)
            if path is None:
                raise RuntimeError(f"{peer.name}: {named!r} is not an executable")
            found[peer.name] = str(Path(path).resolve())
    return found


def notes() -> list[str]:
    """What was not measured, and why."""
    missing = [peer for peer in PEERS if peer.name not in find({})]
    if not missing:
        return []
    return [
        f"peers not measured, no executable given: {', '.join(p.name for p in missing)}; "
        f"name them in {', '.join(p.variable for p in missing)}"
    ]


def measure(effort: Effort, report: Report, given: Mapping[str, str | None] | None = None) -> list[Result]:
    """Measure the peers that there are; none gives an empty list.

    Raises:
        RuntimeError: If a peer fails or its output is not understood: nothing is guessed.
    """
    found = find(given or {})
    rounds = min(effort.rounds, _MOST_ROUNDS)
    if not found:
        return []
    beside = Beside(program(), effort.yardstick_laps)
    return [_measure(peer, found[peer.name], rounds, beside, report) for peer in PEERS if peer.name in found]


def _measure(peer: Peer, executable: str, rounds: int, beside: Beside, report: Report) -> Result:
    rates, raw, yardstick = [], [], []
    for i in range(rounds):
        report(f"{peer.name}: round {i + 1} of {rounds}")
        (short, long), hops_per_s = beside.measure(
            lambda: [_run(peer, executable, cycles) for cycles in (SHORT_CYCLES, LONG_CYCLES)]
        )
        yardstick.append(hops_per_s)
        if long[1] <= short[1]:
            raise RuntimeError(f"{peer.name}: {LONG_CYCLES} cycles take no longer than {SHORT_CYCLES}")
        rates.append((long[0] - short[0]) / (long[1] - short[1]) / 1e6)
        raw.append({"packet_hops": [short[0], long[0]], "cpu_s": [short[1], long[1]]})
    return Result(
        family="peers",
        name=f"{peer.name}, minimal, uniform 0.8",
        unit="M packet-hops / CPU-s",
        samples=rates,
        higher_is_better=True,
        parameters={"command": [Path(executable).name, "INPUT"], "input": peer.template},
        details={"rounds": raw, "cycles": [SHORT_CYCLES, LONG_CYCLES]},
        yardstick_hops_per_s=yardstick,
    )


def _run(peer: Peer, executable: str, cycles: int) -> tuple[float, float]:
    """Packet-hops and CPU-seconds of one run in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = string.Template((_INPUTS / peer.template).read_text(encoding="utf-8"))
        file = folder / peer.template.removesuffix(".in")
        file.write_text(text.substitute(cycles=cycles, ns=cycles * PACKET_NS), encoding="utf-8")
        try:
            cost = run_process([executable, file.name], folder=folder, exit_statuses=peer.exit_statuses)
            return peer.packet_hops(cost.output, folder, cycles), cost.cpu_s
        except (RuntimeError, OSError, KeyError) as error:
            raise RuntimeError(f"{peer.name}: {error}") from error


def main() -> None:
    """Measure the peers alone."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description="Measure other simulators."
    )
    for peer in PEERS:
        parser.add_argument(f"--{peer.name}", metavar="EXECUTABLE", help=f"default: ${peer.variable}")
    given = vars(parser.parse_args())
    output = console()
    try:
        results = measure(FULL, lambda text: output.print(text, style="dim"), given)
    except RuntimeError as error:
        parser.exit(2, f"error: {error}\n")
    if results:
        output.print(table(results))
    else:
        output.print("no other simulator was named: nothing measured; see --help")


if __name__ == "__main__":
    main()
