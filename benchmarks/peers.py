"""Family ``peers``: other simulators on the same system, where the user has them.

An executable is found through an environment variable (``DRAGONFLY_BENCH_BOOKSIM2``, ``_FOGSIM``, ``_HTSIM``). Each is
run twice, briefly and longer; the additional packet-hops of the longer run, divided by its additional CPU time, are
the speed: start-up and warm-up cancel. A slice of this project's core follows in every round, and the ratio of the two
is a figure of its own. The inputs are in ``peer_inputs``; README.md has the command lines, and says what a packet-hop
is in each.
"""

from __future__ import annotations

import os
import re
import shutil
import string
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dragonfly_env as dfe
from benchmarks.process import run_process
from benchmarks.result import Effort, Result
from benchmarks.workload import Report, Workload, configuration

HOSTS = 1_056
PACKET_NS = 32  # packet time of the network q-adaptive: one cycle of the simulators that count in cycles
_HTSIM_PACKET_BYTES = 9_000
_MOST_ROUNDS = 3
_INPUTS = Path(__file__).parent / "peer_inputs"
_OURS = "dragonfly-env, minimal, uniform 0.8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another simulator.

    Attributes:
        packet_hops: Reads packet-hops from its output and the folder in which it ran.
        template: Its input, in ``peer_inputs``; None where the arguments say everything.
        arguments: After the executable; ``$input`` is the input's file, ``$length`` the length of the run.
    """

    name: str
    packet_hops: Callable[[str, Path], float]
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


def _booksim2(output: str, _folder: Path) -> float:
    """Its hops are routers passed, the last one's delivery included; rates are per host and cycle."""
    rate = _number("Accepted packet rate average =", output)
    return rate * HOSTS * _number("Time taken is", output) * _number("Hops average =", output)


def _fogsim(_output: str, folder: Path) -> float:
    """Counts are those after its warm-up, which is as long as the measured part and takes time, too."""
    text = (folder / "result").read_text(encoding="utf-8", errors="replace")
    counted = sum(
        _number(f"(?m)^{name}:", text) for name in ("Local Hops", "Global Hops", "Packets Received")
    )
    cycles, warmup = _number(r"(?m)^Cycles:", text), _number(r"(?m)^Cycles:.*warmup:", text)
    return counted * cycles / (cycles - warmup)


def _htsim(output: str, _folder: Path) -> float:
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


PEERS = (
    Peer(
        name="booksim2",
        packet_hops=_booksim2,
        template="booksim2.cfg.in",
        lengths=(300, 900),
        exit_statuses=(0, 255),
    ),
    Peer(name="fogsim", packet_hops=_fogsim, template="fogsim.txt.in"),
    Peer(
        name="htsim",
        packet_hops=_htsim,
        case="minimal, permutation of long flows",
        arguments=("-nodes", str(HOSTS), "-conns", str(HOSTS), "-strat", "single", "-flowsize", "$length"),
        lengths=(50, 250),
    ),
)


def find() -> dict[str, str]:
    """Executables by name of the peer, from the environment variables.

    Raises:
        RuntimeError: If one that was named does not exist or cannot be executed.
    """
    found = {}
    for peer in PEERS:
        if named := os.environ.get(peer.variable):
            path = shutil.which(named)
            if path is None:
                raise RuntimeError(f"{peer.variable} = {named!r}: is not an executable")
            found[peer.name] = str(Path(path).resolve())
    return found


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure the peers that there are, each in turns with the core of this project; none gives an empty list.

    Raises:
        RuntimeError: If a peer fails or its output is not understood: nothing is guessed.
    """
    found = find()
    rounds = min(effort.rounds, _MOST_ROUNDS)
    if not found:
        return []
    report(f"warming up: {_OURS}")
    config = configuration(str(HOSTS), "min")
    ours = Workload(config, warmup_ns=effort.core_warmup_ns, sample_ns=effort.sample_ns(HOSTS))
    ours.slice()
    return [
        result
        for peer in PEERS
        if peer.name in found
        for result in _measure(peer, found[peer.name], ours, rounds, report)
    ]


def _measure(peer: Peer, executable: str, ours: Workload, rounds: int, report: Report) -> list[Result]:
    theirs, core = [], []
    for i in range(rounds):
        report(f"{peer.name}: round {i + 1} of {rounds}")
        short, long = (_run(peer, executable, length) for length in peer.lengths)
        if long[1] <= short[1]:
            raise RuntimeError(
                f"{peer.name}: a length of {peer.lengths[1]} takes no longer than {peer.lengths[0]}"
            )
        theirs.append((long[0] - short[0]) / (long[1] - short[1]) / 1e6)
        core.append(ours.slice().rate)
    unit = "M packet-hops / CPU-s"
    name = f"{_OURS}, in turns with {peer.name}"
    parameters = {"command": [Path(executable).name, *peer.arguments], "lengths": list(peer.lengths)}
    ratios = [a / b for a, b in zip(core, theirs, strict=True)]
    return [
        Result(name=f"{peer.name}, {peer.case}", unit=unit, samples=theirs, parameters=parameters),
        Result(name=name, unit=unit, samples=core, parameters=ours.parameters()),
        Result(name=f"dragonfly-env / {peer.name}", unit="times", samples=ratios),
    ]


def _run(peer: Peer, executable: str, length: int) -> tuple[float, float]:
    """Packet-hops and CPU-seconds of one run, in a folder of its own that has the input; errors name the peer."""
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
            cost = run_process([executable, *arguments], folder=folder, exit_statuses=peer.exit_statuses)
            return peer.packet_hops(cost.output, folder), cost.cpu_s
        except (RuntimeError, OSError, KeyError) as error:
            raise RuntimeError(f"{peer.name}: {error}") from error
