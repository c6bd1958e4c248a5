"""Systems that the core cuts into several partitions: how they are shared out among threads shows nowhere."""

from __future__ import annotations

import numpy as np

import dragonfly_env as dfe

# Three groups of 600 hosts each: a partition per group.
WIDE = dfe.Dragonfly(p=300, a=2, h=4, g=3, trunking=4)


def one_way() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Demands between groups: all that group 0 sends ends in group 2, and nothing comes back."""
    demand = np.zeros((3, 3))
    demand[0, 2] = 1.0
    return demand


def test_traffic_in_one_direction_never_runs_out_of_packets() -> None:
    config = dfe.SimulationConfig(
        topology=WIDE,
        network=dfe.NetworkConfig.preset("q-adaptive"),
        traffic=one_way(),
        load=1.0,
        source_queue_packets=20,
    )
    simulation = dfe.Simulation(config)
    assert simulation.num_partitions == 3
    simulation.run(400_000)
    assert simulation.metrics().packets_delivered > 40_000
    simulation.check_invariants()
