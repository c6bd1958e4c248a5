"""Traffic on arbitrary topologies and matrices: in range, repeatable, true to its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragonfly_env import _core
from dragonfly_env.errors import ConfigError
from dragonfly_env.traffic import traffic_patterns

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
SEEDS = st.integers(0, 2**64 - 1)


def topology_of(size: tuple[int, int, int]) -> _core.Topology:
    return _core.Topology(*size, 0, "palmtree", 1)


@given(SIZES, SEEDS, st.sampled_from(traffic_patterns()), st.data())
def test_destinations_are_hosts_and_repeat(
    size: tuple[int, int, int], seed: int, spec: str, data: st.DataObject
) -> None:
    topology = topology_of(size)
    try:
        pattern = _core.make_pattern(topology, seed, spec, {})
    except ConfigError:
        return  # too small for this pattern
    again = _core.make_pattern(topology, seed, spec, {})
    host = data.draw(st.integers(0, topology.num_hosts - 1))
    for message in (0, 1, 2**32, 2**40 - 1):
        destination = pattern.destination(host, message, seed)
        assert 0 <= destination < topology.num_hosts
        assert destination == again.destination(host, message, seed)


@given(SIZES, st.integers(-(2**40), 2**40), SEEDS, st.data())
def test_adversarial_group_is_the_offset_modulo_the_groups(
    size: tuple[int, int, int], offset: int, seed: int, data: st.DataObject
) -> None:
    topology = topology_of(size)
    if offset % topology.num_groups == 0:
        with pytest.raises(ConfigError, match="multiple"):
            _core.make_pattern(topology, seed, f"adv{offset:+d}", {})
        return
    pattern = _core.make_pattern(topology, seed, f"adv{offset:+d}", {})
    host = data.draw(st.integers(0, topology.num_hosts - 1))
    per_group = size[0] * size[1]
    expected = (host // per_group + offset) % topology.num_groups
    assert pattern.destination(host, 0, seed) // per_group == expected


@given(SEEDS, st.lists(st.floats(0, 1e300), min_size=9, max_size=9))
def test_demand_never_draws_a_pair_of_demand_0(seed: int, row: list[float]) -> None:
    topology = topology_of((2, 4, 2))
    demands = np.zeros((9, 9))
    demands[0] = row
    if not demands.any():
        with pytest.raises(ConfigError, match="at least one host"):
            _core.make_pattern(topology, seed, "demand", {"matrix": demands})
        return
    pattern = _core.make_pattern(topology, seed, "demand", {"matrix": demands})
    groups = {pattern.destination(0, message, seed) // 8 for message in range(50)}
    assert all(row[group] > 0 for group in groups)


@given(
    st.sampled_from(["periodic", "bernoulli", "poisson"]),
    st.lists(st.tuples(st.integers(0, 10**7), st.floats(1e-12, 1.0)), min_size=1, max_size=5),
    SEEDS,
    st.integers(1, 4),
)
def test_message_times_never_decrease_and_respect_the_first_step(
    process: str, steps: list[tuple[int, float]], seed: int, message_packets: int
) -> None:
    topology = topology_of((2, 2, 1))
    pattern = _core.make_pattern(topology, seed, "uniform", {})
    starts = sorted({start for start, _ in steps})
    built = [(start, pattern, load) for start, (_, load) in zip(starts, steps, strict=False)]
    source = _core.synthetic_source(topology, built, process, seed, message_packets, 32_000, 4_000, 1_000)
    times, destinations = _core.source_schedule(source, 0, 200)
    assert (np.diff(times) >= 0).all()
    assert (times >= max(starts[0], 1_000)).all()
    assert (destinations < topology.num_hosts).all()


@given(st.text(max_size=30))
def test_any_text_is_a_pattern_or_a_configuration_error(text: str) -> None:
    try:
        name, _ = _core.parse_pattern(text)
    except ConfigError:
        return
    assert name in {info["name"] for info in _core.patterns()}
