"""Paced programs: nothing depends on threads, and each host keeps its rule however busy the network is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe

WIDE = dfe.Dragonfly(p=21, a=3, h=1, g=3)
SMALL = dfe.Dragonfly(p=2, a=4, h=2)
PACED = st.sampled_from(
    [
        "all-to-all:pacing={pacing},injection_load={load},in_flight={in_flight}",
        "graph500:scale=8,pacing={pacing},injection_load={load},in_flight={in_flight}",
        "graph500:scale=8,pacing={pacing},injection_load={load},signals=true,reduce=star,in_flight={in_flight}",
        "halo3d:side=4,pacing={pacing},injection_load={load}",
    ]
)


@given(
    spec=PACED,
    pacing=st.sampled_from(["bernoulli", "spaced"]),
    load=st.sampled_from([1.0, 0.3, 0.02]),
    in_flight=st.integers(1, 3),
    topology=st.sampled_from([SMALL, WIDE]),
    network=st.sampled_from(["lia", "q-adaptive"]),
    queue=st.sampled_from([None, 3]),
    seed=st.integers(0, 2**64 - 1),
)
@settings(max_examples=25)
def test_a_paced_program_ends_alike_on_one_thread_and_on_two(
    spec: str,
    pacing: str,
    load: float,
    in_flight: int,
    topology: dfe.Dragonfly,
    network: str,
    queue: int | None,
    seed: int,
) -> None:
    traffic = spec.format(pacing=pacing, load=load, in_flight=in_flight)
    config = dfe.SimulationConfig(
        topology=topology,
        network=network,
        policy="min",
        traffic=traffic,
        seed=seed,
        source_queue_packets=queue,
        packet_log=True,
    )
    runs = []
    for threads in (1, 2):
        simulation = dfe.Simulation(config.replace(threads=threads))
        metrics = simulation.run_to_completion()
        simulation.check_invariants()
        runs.append((simulation.trace_hash(), metrics.makespan_ns, metrics.packets_delivered))
    assert runs[0] == runs[1]
    if pacing == "spaced" and "signals" not in traffic and "graph500" not in traffic:
        log = simulation.packet_log()
        for host in np.unique(log["src"]):
            gaps = np.diff(np.sort(log["injected_ns"][log["src"] == host]))
            least = {"lia": 10.0, "q-adaptive": 32.0}[network]
            assert (gaps >= least - 1e-6).all()
