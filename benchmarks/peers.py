"""Family ``peers``: other simulators on the same system, where the user has them.

An executable is found through an environment variable (``DRAGONFLY_BENCH_BOOKSIM2``, ``_CAMINOS``, ``_FOGSIM``,
``_HTSIM``, ``_SST``) or an option of ``python -m benchmarks.peers``. Each is run twice, briefly and longer; what the
longer run does more, divided by the CPU time that it takes more, is its speed: start-up and warm-up cancel. A slice of
this project's core follows in every round, and the ratio of the two is a figure of its own. ``--instructions`` counts
instructions with callgrind instead. The inputs are in ``peer_inputs``; README.md has the command lines, and says what
a packet-hop is in each.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import re
import shutil
import string
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from benchmarks.effort import FULL, Effort
from benchmarks.events import callgrind, count_with_callgrind, per_packet_hop
from benchmarks.process import run_process
from benchmarks.report import console, table
from benchmarks.result import Result
from benchmarks.workload import Report, Workload, configuration
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program

HOSTS = 1_056
PACKET_NS = 32  # of the q-adaptive network: a cycle of the simulators that count in cycles
_HTSIM_PACKET_BYTES = 9_000
_MOST_ROUNDS = 3
_INPUTS = Path(__file__).parent / "peer_inputs"
_OURS = "dragonfly-env, minimal, uniform 0.8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another simulator.

    Attributes:
        name: Of its option and its environment variable.
        packet_hops: Reads them from its output, the folder in which it ran, and the length of the run.
        case: What it simulates.
        template: Its input, in ``peer_inputs``; None where the arguments say everything.
        arguments: After the executable; ``$input`` is the input's file, ``$length`` the length of the run.
        lengths: Of the two runs, in cycles or in what the arguments count.
        exit_statuses: Those that mean success.
    """

    name: str
    packet_hops: Callable[[str, Path, int], float]
    case: str = "minimal, uniform 0.8"
    template: str | None = None
    arguments: tuple[str, ...] = ("$input",)
    lengths: tuple[int, int] = (200, 1_000)
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


def _htsim(output: str, _folder: Path, _length: int) -> float:
    """Data packets of each flow times the links of its minimal path; acknowledgements and pulls are not counted.

    The flows are named after their two hosts. The wiring is the one that is called ``absolute`` here.
    """
    flows = re.findall(r"(?m)^Flow ndp_(\d+)_(\d+)\(\d+\) .*\btotal bytes (\d+)", output)
    expected = int(_number("Loaded", output))
    if len(flows) != expected:
        raise RuntimeError(f"{len(flows)} of {expected} flows have finished")
    topology = dfe.Dragonfly.preset(str(HOSTS), arrangement="absolute")
    return sum(
        int(size)
        / _HTSIM_PACKET_BYTES
        * (topology.minimal_hops(topology.router_of(int(source)), topology.router_of(int(destination))) + 1)
        for source, destination, size in flows
    )


def _sst(_output: str, folder: Path, _cycles: int) -> float:
    """Packets sent by the output ports of all routers, those to hosts included; since the start."""
    with (folder / "stats.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    return sum(float(row["Sum.u64"]) for row in rows if row["StatisticName"].strip() == "send_packet_count")


PEERS = (
    Peer(
        name="booksim2",
        packet_hops=_booksim2,
        template="booksim2.cfg.in",
        lengths=(300, 900),
        exit_statuses=(0, 255),
    ),
    Peer(name="caminos", packet_hops=_caminos, template="caminos.cfg.in"),
    Peer(name="fogsim", packet_hops=_fogsim, template="fogsim.txt.in"),
    Peer(
        name="htsim",
        packet_hops=_htsim,
        case="minimal, permutation of long flows",
        arguments=("-nodes", str(HOSTS), "-conns", str(HOSTS), "-strat", "single", "-flowsize", "$length"),
        lengths=(50, 250),
    ),
    Peer(name="sst", packet_hops=_sst, template="sst.py.in"),
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
    """Measure the peers that there are, each in turns with the core of this project; none gives an empty list.

    Raises:
        RuntimeError: If a peer fails or its output is not understood: nothing is guessed.
    """
    found = find(given or {})
    rounds = min(effort.rounds, _MOST_ROUNDS)
    if not found:
        return []
    report(f"warming up: {_OURS}")
    config = configuration(str(HOSTS), "min")
    ours = Workload(config, warmup_ns=effort.core_warmup_ns, sample_ns=effort.sample_ns(HOSTS))
    ours.slice()
    beside = Beside(program(), effort.yardstick_laps)
    return [
        result
        for peer in PEERS
        if peer.name in found
        for result in _measure(peer, found[peer.name], ours, rounds, beside, report)
    ]


def _measure(
    peer: Peer, executable: str, ours: Workload, rounds: int, beside: Beside, report: Report
) -> list[Result]:
    rates, raw, yardstick = [], [], []
    core, core_yardstick = [], []
    for i in range(rounds):
        report(f"{peer.name}: round {i + 1} of {rounds}")
        (short, long), hops_per_s = beside.measure(
            lambda: [_run(peer, executable, length) for length in peer.lengths]
        )
        yardstick.append(hops_per_s)
        if long[1] <= short[1]:
            raise RuntimeError(
                f"{peer.name}: a length of {peer.lengths[1]} takes no longer than {peer.lengths[0]}"
            )
        rates.append((long[0] - short[0]) / (long[1] - short[1]) / 1e6)
        raw.append({"packet_hops": [short[0], long[0]], "cpu_s": [short[1], long[1]]})
        measured, hops_per_s = beside.measure(ours.slice)
        core.append(measured)
        core_yardstick.append(hops_per_s)
    details = {"rounds": raw, "lengths": list(peer.lengths)}
    name = f"{peer.name}, {peer.case}"
    return [
        Result(
            family="peers",
            name=name,
            unit="M packet-hops / CPU-s",
            samples=rates,
            higher_is_better=True,
            parameters=_parameters(peer, executable),
            details=details,
            yardstick_hops_per_s=yardstick,
        ),
        Result(
            family="peers",
            name=f"{_OURS}, in turns with {peer.name}",
            unit="M packet-hops / CPU-s",
            samples=[s.rate for s in core],
            higher_is_better=True,
            parameters=ours.parameters(),
            yardstick_hops_per_s=core_yardstick,
        ),
        Result(
            family="peers",
            name=f"dragonfly-env / {peer.name}",
            unit="times",
            samples=[s.rate / rate for s, rate in zip(core, rates, strict=True)],
            higher_is_better=True,
            parameters={"of": [_OURS, name]},
            details=details,
        ),
    ]


def count(report: Report, given: Mapping[str, str | None]) -> list[Result]:
    """Instructions per packet-hop of the peers that there are, and of this project's core.

    Raises:
        RuntimeError: If there is no valgrind, a peer fails or its output is not understood.
    """
    found = find(given)
    if not found:
        return []
    report(f"counting: {_OURS}")
    run = [sys.executable, "-m", "benchmarks.one_run", "--warmup-ns", "5000"]
    counts = {_OURS: per_packet_hop(count_with_callgrind, run, (1_000.0, 4_000.0))["instructions"]}
    for peer in PEERS:
        if peer.name in found:
            report(f"counting: {peer.name}")
            counts[f"{peer.name}, {peer.case}"] = _instructions(peer, found[peer.name])
    return [
        Result(
            family="peers",
            name=name,
            unit="instructions / packet-hop",
            samples=[value],
            higher_is_better=False,
        )
        for name, value in counts.items()
    ]


def _instructions(peer: Peer, executable: str) -> float:
    def run(length: int) -> tuple[float, float]:
        with _prepared(peer, executable, length) as (command, folder):
            counts, output = callgrind(command, folder=folder, exit_statuses=peer.exit_statuses)
            return counts["Ir"], peer.packet_hops(output, folder, length)

    (short, short_hops), (long, long_hops) = (run(length) for length in peer.lengths)
    return (long - short) / (long_hops - short_hops)


def _parameters(peer: Peer, executable: str) -> dict[str, Any]:
    return {"command": [Path(executable).name, *peer.arguments], "input": peer.template}


def _run(peer: Peer, executable: str, length: int) -> tuple[float, float]:
    """Packet-hops and CPU-seconds of one run."""
    with _prepared(peer, executable, length) as (command, folder):
        cost = run_process(command, folder=folder, exit_statuses=peer.exit_statuses)
        return peer.packet_hops(cost.output, folder, length), cost.cpu_s


@contextlib.contextmanager
def _prepared(peer: Peer, executable: str, length: int) -> Iterator[tuple[list[str], Path]]:
    """The command of one run, and the folder of its own that has the input; errors name the peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = {"length": str(length)}
        if peer.template is not None:
            text = string.Template((_INPUTS / peer.template).read_text(encoding="utf-8"))
            file = folder / peer.template.removesuffix(".in")
            file.write_text(text.substitute(cycles=length, ns=length * PACKET_NS), encoding="utf-8")
            words["input"] = file.name
        arguments = [string.Template(argument).substitute(words) for argument in peer.arguments]
        try:
            yield [executable, *arguments], folder
        except (RuntimeError, OSError, KeyError) as error:
            raise RuntimeError(f"{peer.name}: {error}") from error


def main() -> None:
    """Measure the peers alone."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description="Measure other simulators."
    )
    for peer in PEERS:
        parser.add_argument(f"--{peer.name}", metavar="EXECUTABLE", help=f"default: ${peer.variable}")
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions with callgrind, which is slow"
    )
    given = vars(parser.parse_args())
    instructions = given.pop("instructions")
    output = console()

    def report(text: str) -> None:
        output.print(text, style="dim")

    try:
        results = count(report, given) if instructions else measure(FULL, report, given)
    except RuntimeError as error:
        parser.exit(2, f"error: {error}\n")
    if results:
        output.print(table(results))
    else:
        output.print("no other simulator was named: nothing measured; see --help")


if __name__ == "__main__":
    main()
