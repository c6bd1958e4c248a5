"""FOGSim next to network ``lia``; ``python -m tests.oracle.fogsim`` prints the table of docs/reproduction/fogsim.md.

FOGSim is the public simulator of the LIA paper's authors. Its figures are in ``tests/oracle/data/fogsim.csv``; ours are
measured now, with the warm-up and the window of each line. Below saturation mean latencies are compared, above it
accepted loads.
"""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import joblib

import dragonfly_env as dfe

FIGURES = Path(__file__).parent / "data" / "fogsim.csv"
LATENCY_TOLERANCE = 0.03
ACCEPTED_TOLERANCE = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """Run of FOGSim."""

    h: int
    routing: str
    own_group: str
    """The paths of packets to their own group: ``minimal``; ``local``, with one local hop more at most (FOGSim's
    policies CRG_L and RRG_L); ``global``, through another group (CRG and RRG). Ours for Valiant: ``global`` with the
    parameter ``own_group``, otherwise ``minimal``."""
    weights: str
    """Weights of two paths' queues: ``hops``, their numbers of hops, or ``double``, one to two (a change to FOGSim)."""
    traffic: str
    load: float
    warmup_ns: float
    window_ns: float
    seed: int
    latency_ns: float
    accepted: float

    @property
    def saturated(self) -> bool:
        """Whether less was accepted than offered: then latency counts the length of the run."""
        return self.accepted < 0.97 * self.load

    @property
    def tolerance(self) -> float:
        """The share by which ours may differ."""
        return ACCEPTED_TOLERANCE if self.saturated else LATENCY_TOLERANCE

    def difference(self, ours: tuple[float, float]) -> float:
        """By how much our latency, or above saturation our accepted load, is higher, as a share of FOGSim's."""
        latency, accepted = ours
        return accepted / self.accepted - 1 if self.saturated else latency / self.latency_ns - 1


def read_figures() -> list[Line]:
    """The runs of FOGSim."""
    types = {"routing": str, "own_group": str, "weights": str, "traffic": str, "h": int, "seed": int}
    names = [field.name for field in dataclasses.fields(Line)]
    with FIGURES.open(newline="") as file:
        return [
            Line(**{name: types.get(name, float)(row[name]) for name in names})
            for row in csv.DictReader(file)
        ]


def measure(line: Line, seed: int = 1, own_group: str | None = None) -> tuple[float, float]:
    """Our mean latency in ns and accepted load; ``own_group`` replaces the parameter of Valiant."""
    h = line.h
    usual = "global" if line.own_group == "global" else "minimal"
    of_valiant = {"own_group": own_group or usual} if line.routing.startswith("vlb") else {}
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly(p=h, a=2 * h, h=h, arrangement="palmtree"),
        network=dfe.NetworkConfig.preset("lia"),
        traffic=line.traffic,
        load=line.load,
        policy=dfe.make_policy(line.routing, **of_valiant),
        injection="bernoulli",
        source_queue_packets=1,
        seed=seed,
    )
    metrics = dfe.simulate(config, warmup_ns=line.warmup_ns, measure_ns=line.window_ns)
    return metrics.latency_mean_ns, metrics.accepted_load


def main() -> None:
    """Measure and print."""
    lines = read_figures()
    ours = joblib.Parallel(n_jobs=2)(map(joblib.delayed(measure), lines))
    print(
        "| h | routing | own group | weights | traffic | load "
        "| FOGSim: ns | accepted | ours: ns | accepted | difference |"
    )
    print("|---" * 11 + "|")
    for line, (latency, accepted) in zip(lines, ours, strict=True):
        difference = line.difference((latency, accepted))
        beyond = " *" if abs(difference) > line.tolerance else ""
        what = "accepted" if line.saturated else "ns"
        print(
            f"| {line.h} | `{line.routing}` | {line.own_group} | {line.weights} | {line.traffic} | {line.load:g} "
            f"| {line.latency_ns:.0f} | {line.accepted:.3f} | {latency:.0f} | {accepted:.3f} "
            f"| {difference:+.1%} {what}{beyond} |"
        )


if __name__ == "__main__":
    main()
