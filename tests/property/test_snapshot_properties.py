"""Snapshots at any moment of any run: nothing is lost, and a changed state never does harm."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.simulation.snapshot import Snapshot
from tests.ready import ready
from tests.topologies import GRIDS, topology_of

SHAPES = [(1, 2, 1, 3, 1), (2, 4, 2, 5, 1), (1, 3, 1, 4, 1), (2, 2, 2, 5, 1), *GRIDS.values()]
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@st.composite
def configs(draw: st.DrawFn) -> dfe.SimulationConfig:
    """Runs of every kind that fit the topology."""
    topology = topology_of(draw(st.sampled_from(SHAPES)))
    traffic = draw(
        st.sampled_from(["uniform", "adv+1", "all-to-all:message_bytes=500", "halo3d:side=2,iterations=2"])
    )
    closed = traffic.startswith(("all", "halo"))
    settings_of: dict[str, Any] = {
        "topology": topology,
        "traffic": traffic,
        "policy": ready(draw(st.sampled_from(dfe.policies()))),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "threads": draw(st.integers(1, 2)),
        "packet_log": draw(st.booleans()),
        "series_bin_ns": draw(st.sampled_from([None, 50.0])),
        "source_queue_packets": draw(st.sampled_from([None, 1, 5])),
    }
    if not closed:
        settings_of |= {
            "load": draw(st.floats(0.01, 1.0)),
            "injection": draw(st.sampled_from(["periodic", "bernoulli", "poisson"])),
            "message_packets": draw(st.sampled_from([1, 1, 1])),
        }
    network = dfe.NetworkConfig(
        vc_scheme=draw(st.sampled_from(["stage", "ladder", "hop"])),
        decide_at=draw(st.sampled_from(["arrival", "head", "attempt", "by-policy"])),
        output_queue=draw(st.sampled_from(["per-vc", "shared"])),
        routing_delay_ns=draw(st.sampled_from([0.0, 20.0, 100.0])),
    )
    try:
        config = dfe.SimulationConfig(**settings_of, network=network)
        dfe.Simulation(config)
    except dfe.ConfigError:
        config = dfe.SimulationConfig(topology=topology, traffic="uniform", seed=settings_of["seed"])
    return config


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW)
@given(configs(), st.lists(st.sampled_from([0, 1, 10, 137, 600, 2_000]), min_size=1, max_size=4))
def test_a_run_may_be_restored_at_any_moment(config: dfe.SimulationConfig, pieces: list[int]) -> None:
    whole = broken = dfe.Simulation(config)
    for piece in pieces:
        whole.run(piece)
        if broken is not whole:
            broken.run(piece)
        snapshot = broken.snapshot()
        # As if it came from a file: everything is checked.
        broken = dfe.Simulation.restore(
            Snapshot._of(snapshot.kind, snapshot.time_ns, snapshot._about, trusted=False)
        )
        assert bytes(broken.snapshot()._about["core"]) == bytes(whole.snapshot()._about["core"])
    assert broken.trace_hash() == whole.trace_hash()
    assert str(broken.metrics().to_dict()) == str(whole.metrics().to_dict())
    broken.check_invariants()


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(
    configs(),
    st.sampled_from([100, 700]),
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from([1, 4, 8]), st.integers(0, 2**64 - 1)),
        min_size=1,
        max_size=5,
    ),
)
def test_a_state_that_was_changed_is_refused_or_runs(
    config: dfe.SimulationConfig, begun_ns: int, changes: list[tuple[float, int, int]]
) -> None:
    simulation = dfe.Simulation(config)
    simulation.run(begun_ns)
    snapshot = simulation.snapshot()
    state = snapshot._about["core"].copy()
    for where, width, value in changes:
        at = int(where * len(state)) // width * width
        part = np.frombuffer((value % 2 ** (8 * width)).to_bytes(width, "little"), np.uint8)
        state[at : at + width] = part[: len(state) - at]
    changed = Snapshot._of(snapshot.kind, snapshot.time_ns, snapshot._about | {"core": state}, trusted=False)
    try:
        other = dfe.Simulation.restore(changed)
        other.run(400)
        other.metrics()
    except (dfe.ConfigError, dfe.DeadlockError, MemoryError):
        pass
