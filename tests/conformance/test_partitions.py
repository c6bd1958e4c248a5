"""Systems that the core cuts into several partitions: how they are shared out among threads shows nowhere."""

from __future__ import annotations

import subprocess
import sys

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


HASH_OF_A_RUN = """
import dragonfly_env as dfe
config = dfe.SimulationConfig(
    topology=dfe.Dragonfly(p=300, a=2, h=1, g=3), policy="par", traffic="uniform", load=0.1, seed=5, threads=2
)
simulation = dfe.Simulation(config)
simulation.run(2000)
print(simulation.trace_hash())
"""


def test_another_process_sees_the_same_history() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", HASH_OF_A_RUN], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    here: dict[str, object] = {}
    exec(HASH_OF_A_RUN.replace("print(simulation.trace_hash())", "value = simulation.trace_hash()"), here)
    assert hashes == {f"{here['value']}\n"}
