"""Calibrate a program to your network: find the computing time with which it spends a share of its time in MPI.

The package has computing times for its own networks (``dragonfly_env/jobs/data/gaps.json``): those with which a program
that is alone on the machine has the MPI share of Chunduri et al., IPDPS 2021, table I. On another network give the
result as ``gap_ns``. The time in operations hardly depends on the computing time, so a few runs find it.

    python examples/calibrate_programs.py milc hacc --hosts 32 --scale 0.25 -t 1056 -n q-adaptive -p ugal-n
"""

from __future__ import annotations

import argparse
import dataclasses
import json

import dragonfly_env as dfe
from dragonfly_env.jobs.program import PAPER_SHARES

ROUNDS, QUICK_ROUNDS = 16, 3
CLOSE = 0.005


def calibrate(
    config: dfe.SimulationConfig, program: dfe.jobs.Motif, hosts: int, share: float, iterations: int
) -> tuple[float, float]:
    """(computing time of an iteration in ns, the MPI share that was measured with it)."""
    gap_ns = 0.0
    for attempt in range(ROUNDS):
        job = dfe.Job(dataclasses.replace(program, gap_ns=gap_ns), hosts, iterations=iterations)
        (measured,) = dfe.Simulation(config.replace(traffic=None, jobs=[job])).run_to_completion().jobs
        if gap_ns and abs(measured.mpi_share - share) < CLOSE:
            return gap_ns, measured.mpi_share
        estimate_ns = measured.mpi_share * measured.iterations.mean_ns * (1.0 - share) / share
        # If ranks that fall out of step wait longer after a longer gap, estimates swing about the solution.
        gap_ns = float(round(estimate_ns if attempt < QUICK_ROUNDS else (gap_ns + estimate_ns) / 2))
    raise SystemExit(
        f"--share {share}: no computing time gives it; {gap_ns:g} ns gave {measured.mpi_share:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", default=["milc"], help="programs, such as milc")
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--scale", type=float, default=0.02, help="size of messages, of the application's")
    parser.add_argument("--stands-for", type=int, default=1, help="nodes per host (milc): 8 on theta-m8")
    parser.add_argument("--share", type=float, help="share of the time in MPI; without it the published one")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("-t", "--topology", default="72")
    parser.add_argument("-n", "--network", default="default")
    parser.add_argument("-p", "--policy", default="min")
    parser.add_argument("--rows", action="store_true", help="print rows for data/gaps.json")
    given = parser.parse_args()
    config = dfe.SimulationConfig(topology=given.topology, network=given.network, policy=given.policy)
    for name in given.programs:
        settings = {} if given.stands_for == 1 else {"stands_for": given.stands_for}
        program = dfe.jobs.Motif.classes[name].from_dict({"scale": given.scale, **settings})
        share = PAPER_SHARES[name] if given.share is None else given.share
        gap_ns, found = calibrate(config, program, given.hosts, share, given.iterations)
        print(f"{name}: gap_ns={gap_ns:.0f}, MPI share {found:.3f} ({share:g} wanted)")
        if given.rows:
            row = {
                **{field: getattr(given, field) for field in ("hosts", "scale", "stands_for", "iterations")},
                "topology": config.topology.to_dict(),
                "network": {"preset": given.network},
                "policy": config.policy_object.to_dict(),
                "seed": config.seed,
                "bytes_per_host": round(program.bytes_per_host(given.hosts)),
            }
            print(json.dumps({"program": name, **row, "gap_ns": gap_ns, "mpi_share": round(found, 4)}))


if __name__ == "__main__":
    main()
