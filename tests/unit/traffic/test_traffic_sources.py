"""Times at which messages start: rates of the arrival processes, schedules and traces, on the core itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dragonfly_env import _core
from dragonfly_env.errors import ConfigError

PACKET_PS = 32_000
FIRST_PS = 1_000
HOSTS = 72


@pytest.fixture(scope="module")
def topology() -> _core.Topology:
    return _core.Topology(2, 4, 2, 0, "palmtree", 1)


def source(
    topology: _core.Topology,
    process: str,
    *steps: tuple[int, str, float],
    seed: int = 1,
    message_packets: int = 1,
    trial_ps: int = 4_000,
    packet_ps: int = PACKET_PS,
    periodic_intervals: str = "exact",
) -> _core.Source:
    built = [(start, _core.make_pattern(topology, seed, spec, {}), load) for start, spec, load in steps]
    return _core.synthetic_source(
        topology, built, process, seed, message_packets, packet_ps, trial_ps, FIRST_PS, periodic_intervals
    )


def times(source: _core.Source, host: int, count: int) -> np.ndarray:
    return _core.source_schedule(source, host, count)[0]


@pytest.mark.parametrize("load", [0.05, 0.3, 0.45, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("message_packets", [1, 5])
@pytest.mark.parametrize("packet_ps", [1, 853, 1_280, PACKET_PS])
def test_the_kth_periodic_message_is_at_the_picosecond_nearest_to_k_exact_intervals(
    topology: _core.Topology, load: float, message_packets: int, packet_ps: int
) -> None:
    periodic = source(
        topology, "periodic", (0, "uniform", load), message_packets=message_packets, packet_ps=packet_ps
    )
    interval_ps = packet_ps * message_packets / Fraction(load)
    expected = [FIRST_PS + math.floor(k * interval_ps + Fraction(1, 2)) for k in range(1000)]
    for host in (0, HOSTS - 1):
        assert times(periodic, host, 1000).tolist() == expected


@pytest.mark.parametrize("load", [0.05, 0.3, 0.45, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("message_packets", [1, 5])
def test_whole_ns_intervals_are_message_time_over_load_rounded(
    topology: _core.Topology, load: float, message_packets: int
) -> None:
    periodic = source(
        topology,
        "periodic",
        (0, "uniform", load),
        message_packets=message_packets,
        periodic_intervals="whole-ns",
    )
    interval_ns = math.floor(32 * message_packets / load + 0.5)
    expected = FIRST_PS + 1000 * interval_ns * np.arange(100)
    for host in (0, HOSTS - 1):
        assert np.array_equal(times(periodic, host, 100), expected)


@pytest.mark.parametrize(("packet_ps", "offers"), [(1_280, "1.28"), (200, "messages without end")])
def test_whole_ns_intervals_that_miss_the_load_are_refused_by_name_offered_load_and_alternative(
    topology: _core.Topology, packet_ps: int, offers: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        source(topology, "periodic", (0, "uniform", 0.9), packet_ps=packet_ps, periodic_intervals="whole-ns")
    message = str(caught.value)
    assert message.startswith(
        f"periodic_intervals = 'whole-ns': would offer {offers} instead of the load 0.9"
    )
    assert "must be 'exact'" in message


@pytest.mark.parametrize("process", ["bernoulli", "poisson"])
@pytest.mark.parametrize(("load", "message_packets"), [(0.05, 1), (0.5, 1), (1.0, 1), (0.9, 4)])
@pytest.mark.parametrize(
    ("packet_ps", "trial_ps"), [(PACKET_PS, 4_000), (1_280, 1_280), (853, 107), (3, 1), (1, 1)]
)
def test_random_processes_offer_the_load(
    topology: _core.Topology,
    process: str,
    load: float,
    message_packets: int,
    packet_ps: int,
    trial_ps: int,
) -> None:
    made = source(
        topology,
        process,
        (0, "uniform", load),
        message_packets=message_packets,
        packet_ps=packet_ps,
        trial_ps=trial_ps,
    )
    gaps = np.concatenate([np.diff(times(made, host, 501)) for host in range(HOSTS)])
    mean_ps = packet_ps * message_packets / load
    assert abs(gaps.mean() / mean_ps - 1) < 5 / math.sqrt(len(gaps))  # a gap deviates by its mean or less
    assert gaps.min() >= 0


def test_bernoulli_gaps_are_geometric(topology: _core.Topology) -> None:
    made = source(topology, "bernoulli", (0, "uniform", 0.8))
    arrivals = [times(made, host, 501) for host in range(HOSTS)]
    assert all(((when - FIRST_PS) % 4_000 == 0).all() for when in arrivals)
    gaps = np.concatenate([np.diff(when) for when in arrivals]) // 4_000
    probability = 0.8 / 8
    for trials in range(1, 20):
        expected = probability * (1 - probability) ** (trials - 1)
        deviation = math.sqrt(expected * (1 - expected) / len(gaps))
        assert abs((gaps == trials).mean() - expected) < 5 * deviation


def test_poisson_gaps_are_exponential(topology: _core.Topology) -> None:
    made = source(topology, "poisson", (0, "uniform", 0.4))
    gaps = np.concatenate([np.diff(times(made, host, 501)) for host in range(HOSTS)]) / (PACKET_PS / 0.4)
    for bound in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0):
        expected = math.exp(-bound)
        deviation = math.sqrt(expected * (1 - expected) / len(gaps))
        assert abs((gaps > bound).mean() - expected) < 5 * deviation


def test_kth_destination_does_not_depend_on_load_process_or_message_size(topology: _core.Topology) -> None:
    made = [
        source(topology, "periodic", (0, "uniform", 1.0)),
        source(topology, "poisson", (0, "uniform", 0.1)),
        source(topology, "bernoulli", (0, "uniform", 0.5), message_packets=3),
    ]
    destinations = [_core.source_schedule(sample, 13, 300)[1].tolist() for sample in made]
    assert destinations[0] == destinations[1] == destinations[2]


def test_schedule_changes_pattern_and_load_at_its_steps(topology: _core.Topology) -> None:
    made = source(topology, "periodic", (0, "adv+1", 0.5), (200_000, "adv+2", 0.25), (600_000, "adv+1", 1.0))
    when, where = _core.source_schedule(made, 0, 12)
    # Grids from 1 ns on with intervals of 64, 128 and 32 ns.
    ns = [1, 65, 129, 193, 257, 385, 513, 609, 641, 673, 705, 737]
    assert when.tolist() == [1_000 * time for time in ns]
    assert (where // 8).tolist() == [1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("process", ["bernoulli", "poisson"])
def test_random_processes_follow_the_load_of_each_step(topology: _core.Topology, process: str) -> None:
    made = source(
        topology, process, (0, "uniform", 1e-9), (32_000_000, "uniform", 0.6), (64_000_000, "uniform", 0.2)
    )
    when = np.concatenate([times(made, host, 2_000) for host in range(HOSTS)])
    for load, start in ((1e-9, 0), (0.6, 32_000_000), (0.2, 64_000_000)):
        count = ((when >= start) & (when < start + 32_000_000)).sum()
        expected = load * 1_000 * HOSTS
        assert abs(count - expected) < 5 * math.sqrt(expected)


def trace(topology: _core.Topology, **changes: object) -> _core.Source:
    columns: dict[str, object] = {
        "time_ps": np.array([5, 5, 9], dtype=np.int64),
        "src": np.array([4, 0, 4], dtype=np.uint32),
        "dst": np.array([4, 70, 1], dtype=np.uint32),
        "packets": np.array([1, 2, 3], dtype=np.uint32),
        "route_offsets": None,
        "routes": None,
    }
    return _core.trace_source(topology, **(columns | changes))  # type: ignore[arg-type]


def test_trace_gives_each_host_its_rows_in_order(topology: _core.Topology) -> None:
    made = trace(topology)
    assert [column.tolist() for column in _core.source_schedule(made, 4, 10)] == [[5, 9], [4, 1]]
    assert [column.tolist() for column in _core.source_schedule(made, 0, 10)] == [[5], [70]]
    assert [column.tolist() for column in _core.source_schedule(made, 1, 10)] == [[], []]
