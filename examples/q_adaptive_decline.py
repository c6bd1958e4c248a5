"""Q-adaptive accepts less and less of too much uniform traffic, because its tables keep stale bad values.

An overloaded network runs from empty, and its accepted load is measured in windows. Q-adaptive first learns, reaches a
maximum, and then declines. Two copies of the network are made after the decline, with the same packets in the same
queues: one gets the tables of the time of the maximum, the other gets fresh tables. If both recover, the decline is in
the tables, not in the network. A second run explores more often, so that it visits ports with bad values again.

Kang, Wang, Lan, HPDC 2021, section 5.3, measure at a time that they do not state; see docs/reproduction/hpdc21.md.
"""

from __future__ import annotations

import argparse

import dragonfly_env as dfe

NETWORK = {"network": "q-adaptive", "source_queue_packets": 20, "traffic": "uniform", "load": 1.0}
POLICY = "q-adaptive:alpha=0.2,beta=0.04,epsilon={epsilon},q_thld1=0.2,q_thld2=0.35"


def overloaded(hosts: str, epsilon: float, seed: int) -> dfe.Simulation:
    """An empty network whose hosts send as fast as their links are."""
    topology = dfe.Dragonfly.preset(hosts, arrangement="absolute")
    policy = POLICY.format(epsilon=epsilon)
    return dfe.Simulation(dfe.SimulationConfig(topology=topology, policy=policy, seed=seed, **NETWORK))


def accepted(simulation: dfe.Simulation, window_ns: float, windows: int) -> list[float]:
    """The accepted load of each of the next windows."""
    loads = []
    for _ in range(windows):
        simulation.reset_statistics()
        simulation.run(window_ns)
        loads.append(simulation.metrics().accepted_load)
    return loads


def show(begin: int, window_us: float, loads: list[float], name: str) -> None:
    """Print a line for one run: the begin of its first window in µs, and the loads."""
    print(f"{name:<20} from {begin * window_us:5.0f} µs: {' '.join(f'{load:.3f}' for load in loads)}")


def main() -> None:
    """Print the accepted load of every run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", default="342", help="topology preset, by host count")
    parser.add_argument("--window-us", type=float, default=100.0, help="length of a window")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    window_ns, fork_at, windows = args.window_us * 1000.0, 8, 12

    simulation = overloaded(args.hosts, 0.001, args.seed)
    loads = accepted(simulation, window_ns, 3)
    best = simulation.q_table().copy()  # table at the time of the maximum
    loads += accepted(simulation, window_ns, fork_at - 3)
    with_best, with_fresh = simulation.fork(), simulation.fork()
    with_best.load_q_table(best)
    with_fresh.load_q_table(overloaded(args.hosts, 0.001, args.seed).q_table())
    loads += accepted(simulation, window_ns, windows - fork_at)

    show(0, args.window_us, loads, "epsilon 0.001")
    show(fork_at, args.window_us, accepted(with_best, window_ns, windows - fork_at), "tables of window 3")
    show(fork_at, args.window_us, accepted(with_fresh, window_ns, windows - fork_at), "fresh tables")
    explored = accepted(overloaded(args.hosts, 0.02, args.seed), window_ns, windows)
    show(0, args.window_us, explored, "epsilon 0.02")


if __name__ == "__main__":
    main()
