"""A job with a routing policy of its own, among jobs that have another one.

MILC's way of communicating runs on 18 of 72 hosts, placed by random routers, while the others exchange data all to all;
once with the policy of the machine, once with one that tries non-minimal paths.
"""

from __future__ import annotations

import dragonfly_env as dfe

TOPOLOGY = dfe.Dragonfly.preset("72")


def run(policy: str) -> dfe.Metrics:
    """The mix, with a policy for the first job alone."""
    milc = dfe.Job(
        "milc:scale=0.002,gap_ns=20000", hosts=18, placement="random-routers", policy=policy, iterations=3
    )
    noise = dfe.Job("rayleigh:scale=0.002,gap_ns=5000", hosts=48, placement="random", iterations="endless")
    config = dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive", policy="min", jobs=[milc, noise])
    return dfe.Simulation(config).run_to_completion()


if __name__ == "__main__":
    for policy in ("min", "ugal-n", "par"):
        job = run(policy).jobs[0]
        print(f"{policy:>7} milc: {job.run_time_ns / 1000:8.1f} µs, {job.mpi_share:.0%} of it in operations")
        for name, operation in job.operations.items():
            print(f"{name:>20}: {operation.count:4} of {operation.mean_ns / 1000:6.1f} µs on average")
