"""``python -m benchmarks.failures``: send a packet between every two live hosts of damaged machines of 72 hosts under
every policy, and let the machines run empty after full load; print the counts.

Exits with 1 if a packet is missing.
"""

from __future__ import annotations

import argparse

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.policy import needs_weights

SHARES = ("global_links=0.05", "global_links=0.05+local_links=0.05")
DRAWS = range(1, 11)


def delivers_all_pairs(topology: dfe.Dragonfly, policy: dfe.Policy | str) -> bool:
    """Whether a packet from every live host to every live host arrives, once each."""
    hosts = topology.live_hosts()
    source, target = (ends.ravel() for ends in np.meshgrid(hosts, hosts, indexing="ij"))
    trace = dfe.traffic.Trace.from_columns(
        time_ns=np.arange(len(source)) * 2.0, src=source, dst=target, bytes=np.full(len(source), 64)
    )
    simulation = dfe.Simulation(
        dfe.SimulationConfig(topology=topology, traffic=trace, policy=policy, packet_log=True)
    )
    simulation.run_to_completion()
    log = simulation.packet_log()
    arrived = np.stack([log["src"], log["dst"]], axis=1).astype(np.int64)
    sent = np.stack([source, target], axis=1).astype(np.int64)
    return np.array_equal(arrived[np.lexsort(arrived.T)], sent[np.lexsort(sent.T)])


def drains(topology: dfe.Dragonfly, policy: dfe.Policy | str, traffic: str) -> bool:
    """Whether all packets arrive after hosts have sent at a load of 1.0 for 10 µs."""
    simulation = dfe.Simulation(
        dfe.SimulationConfig(topology=topology, traffic=traffic, policy=policy, load=1.0)
    )
    simulation.run(10_000)
    return simulation.drain()


def main() -> None:
    """Print a row for each share of dead links."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.failures", description=__doc__)
    parser.add_argument("--draws", type=int, default=len(DRAWS), help="draws of each share")
    draws = DRAWS[: parser.parse_args().draws]
    policies = [name for name in dfe.policies() if not needs_weights(name)]
    missing = False
    for share in SHARES:
        refused, runs, complete, drained = 0, 0, 0, 0
        for seed in draws:
            try:
                topology = dfe.Dragonfly.preset("72", failed=f"{share}+seed={seed}")
            except dfe.ConfigError as error:
                print(f"{share}, seed {seed}: {error}")
                refused += 1
                continue
            for policy in policies:
                runs += 1
                complete += delivers_all_pairs(topology, policy)
                drained += all(drains(topology, policy, traffic) for traffic in ("uniform", "adv+1"))
        print(
            f"{share}: {len(draws) - refused} of {len(draws)} draws possible, {len(policies)} policies; "
            f"all pairs arrive in {complete} of {runs} runs, everything drains in {drained} of {runs}"
        )
        missing |= complete < runs or drained < runs
    raise SystemExit(int(missing))


if __name__ == "__main__":
    main()
