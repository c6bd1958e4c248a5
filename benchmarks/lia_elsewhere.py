"""LIA where its paper did not look: ``python -m benchmarks.lia_elsewhere``.

It prints the table of ``docs/reports/2026-11-25-lia.md``.

Other sizes, both palm trees, trunked and partial systems, other offsets of adversarial traffic: LIA's mean latency
over the lowest of the oblivious non-minimal paths, and over the lowest of the other adaptive policies, as Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import joblib

import dragonfly_env as dfe

SYSTEMS: dict[str, dfe.Dragonfly] = {
    "342 hosts (h = 3)": dfe.Dragonfly.preset("342"),
    "342, palmtree-plus": dfe.Dragonfly.preset("342", arrangement="palmtree-plus"),
    "1,056 hosts (h = 4)": dfe.Dragonfly.preset("1056"),
    "1,056, palmtree-plus": dfe.Dragonfly.preset("1056", arrangement="palmtree-plus"),
    "1,056, absolute": dfe.Dragonfly.preset("1056", arrangement="absolute"),
    "640, partial (h = 4, 20 groups)": dfe.Dragonfly(p=4, a=8, h=4, g=20),
    "544, trunked (h = 4, 2 links a pair)": dfe.Dragonfly(p=4, a=8, h=4, trunking=2),
}
OBLIVIOUS = ("min", "vlb-g", "vlb-gl", "vlb-lg", "vlb-lgl")
OTHERS = ("ugal-ideal", "pb", "pb-acor", "tpr")
LOADS = (0.1, 0.3)
Row = tuple[float, float]
"""Mean latency in ns, accepted load."""


def patterns(topology: dfe.Dragonfly) -> dict[str, str]:
    """ADV+i by what i is, as a traffic name: ADV-1 is ADV+(g-1)."""
    h, last = topology.h, topology.num_groups - 1
    return {
        "uniform": "uniform",
        "ADV+1": "adv+1",
        "ADV+2": "adv+2",
        "ADV+(h-1)": f"adv+{h - 1}",
        "ADV+h": f"adv+{h}",
        "ADV-1": f"adv+{last}",
        "ADVc": "advc",
    }


def measure(topology: dfe.Dragonfly, policy: str, traffic: str, load: float) -> Row:
    """6 us after 12 us, as ``reproduce taco25 --quick`` does."""
    config = dfe.SimulationConfig(
        topology=topology,
        network=dfe.NetworkConfig.preset("lia", decide_at="attempt"),
        traffic=traffic,
        load=load,
        policy=policy,
        injection="bernoulli",
        source_queue_packets=1,
    )
    metrics = dfe.simulate(config, warmup_ns=12_000, measure_ns=6_000)
    return metrics.latency_mean_ns, metrics.accepted_load


def best(rows: Sequence[Row], load: float) -> float:
    """The lowest latency of those that carry the load."""
    return min(latency for latency, accepted in rows if accepted >= 0.97 * load)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lia_elsewhere", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    given = parser.parse_args()
    policies = ("lia", *OBLIVIOUS, *OTHERS)
    cells = [
        (system, named, load)
        for system, topology in SYSTEMS.items()
        for named in patterns(topology)
        for load in LOADS
    ]
    tasks = [(SYSTEMS[s], p, patterns(SYSTEMS[s])[named], load) for s, named, load in cells for p in policies]
    rows: list[Row] = joblib.Parallel(n_jobs=given.jobs)(joblib.delayed(measure)(*task) for task in tasks)
    found: dict[tuple[str, str], list[str]] = {}
    for i, (system, named, load) in enumerate(cells):
        here = rows[i * len(policies) : (i + 1) * len(policies)]
        lia, oblivious, others = here[0], here[1 : 1 + len(OBLIVIOUS)], here[1 + len(OBLIVIOUS) :]
        ratios = "/".join(f"{lia[0] / best(part, load):.2f}" for part in (oblivious, others))
        found.setdefault((system, named), []).append(ratios if lia[1] >= 0.97 * load else f"*{ratios}")
    names = list(patterns(dfe.Dragonfly.preset("342")))
    print("| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for system in SYSTEMS:
        print(f"| {system} | " + " | ".join(", ".join(found[system, named]) for named in names) + " |")


if __name__ == "__main__":
    main()
