"""The unit of simulated time, and the times of packets that are rounded to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core

SMALL = dfe.Dragonfly(p=2, group=dfe.Grid(rows=2, columns=3, row_links=1, column_links=3), a=6, h=2, g=4)
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
RATES = (4.69, 4.7, 5.25, 6.0, 6.8, 11.5, 12.0, 12.1, 12.5, 14.0, 15.75, 23.0, 25.0, 46.0, 50.0, 100.0)


def links_of(gbytes_per_s: float) -> dict[str, float]:
    return {f"{kind}_bandwidth_gbytes_per_s": gbytes_per_s for kind in ("host", "local", "global")}


def units_of(core: Mapping[str, Any]) -> int:
    """The longest delay, in units of time."""
    return _core.network_horizon(core)


@pytest.mark.parametrize("packet_bytes", SIZES)
@pytest.mark.parametrize("rate", RATES)
def test_usual_rates_are_off_by_less_than_a_thousandth(rate: float, packet_bytes: int) -> None:
    network = dfe.NetworkConfig(**links_of(rate), packet_bytes=packet_bytes, flit_bytes=packet_bytes)
    core = network.to_core()
    exact_ps = packet_bytes * 1_000 / rate
    assert core["local_packet_ps"] == pytest.approx(exact_ps, rel=1e-3)
    assert core["crossbar_packet_ps"] == pytest.approx(exact_ps / 10, rel=1e-3)
    assert network.rounding() < 1e-3
    assert units_of(core) <= _core.longest_horizon
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72", network=network, load=0.2))
    simulation.run(2_000)
    simulation.check_invariants()
    assert simulation.metrics().packets_delivered > 0


def test_the_unit_is_the_largest_that_divides_what_is_set_and_keeps_the_rates() -> None:
    """A clock of 3.2 ns and wires of whole ns: 200 ps, or a divisor of it. 128 bytes at 6 GB/s take 21,333.3 ps."""
    network = dfe.NetworkConfig(crossbar_bandwidth_gbytes_per_s=6.0)
    core = network.to_core()
    assert core["crossbar_packet_ps"] == 21_350  # 7.8e-4 off; to 100 ps 1.6e-3
    assert (core["local_packet_ps"], core["global_latency_ps"]) == (32_000, 300_000)
    assert network.rounding() == pytest.approx(1 - 64_000 / 3 / 21_350)


def test_times_that_share_a_divisor_are_what_they_were() -> None:
    network = dfe.NetworkConfig(**links_of(4.7), global_latency_ns=50.0)
    assert network.to_core()["local_packet_ps"] == 27_234  # 27,234.04: the queues span such delays in ps
    assert dfe.NetworkConfig.preset("aries").to_core()["global_packet_ps"] == 17_910  # 17,910.4
    assert {name: dfe.NetworkConfig.preset(name).rounding() for name in ("default", "q-adaptive", "lia")} == {
        "default": 0.0,
        "q-adaptive": 0.0,
        "lia": 0.0,
    }


def test_bundled_links_are_rounded_to_10_ps_where_their_rate_allows_it() -> None:
    def column_ps(gbytes_per_s: float) -> int:
        network = dfe.NetworkConfig(
            links={"rank-2": {"bandwidth_gbytes_per_s": gbytes_per_s}}, global_latency_ns=50.0
        )
        assert network.rounding(SMALL) < 1e-3
        rows = dict(zip(SMALL.link_classes[1:], network.to_core(SMALL)["links"], strict=True))
        return int(rows["rank-2"]["packet_ps"])

    assert column_ps(5.25) == 8_130  # 8,127.0
    assert column_ps(25.0) == 1_707  # 1,706.7: 1,710 would be 2e-3 off


def test_short_packets_are_rounded_to_whole_picoseconds() -> None:
    network = dfe.NetworkConfig(**links_of(1_000.0), crossbar_bandwidth_gbytes_per_s=30_000.0)
    assert network.to_core()["crossbar_packet_ps"] == 4  # 4.27
    assert network.rounding() == pytest.approx(128 / 30 / 4 - 1)


def test_infinite_injection_has_no_error() -> None:
    network = dfe.NetworkConfig(injection_bandwidth_gbytes_per_s=math.inf)
    assert network.to_core()["injection_packet_ps"] == 0
    assert network.rounding() == 0.0


def test_the_longest_delays_of_whole_nanoseconds_fit() -> None:
    longest = {f"{name}_latency_ns": 1e6 for name in ("local", "global", "input", "output", "crossbar")}
    network = dfe.NetworkConfig(**longest, **links_of(128e-6), router_clock_ns=1e6, link_start="immediate")
    assert units_of(network.to_core()) <= _core.longest_horizon


def test_a_delay_that_is_too_fine_for_the_longest_is_refused_with_its_field() -> None:
    fine = dfe.NetworkConfig(router_clock_ns=3.333, global_latency_ns=10_000.0)
    message = r"^network.router_clock_ns = 3.333: must be a multiple of 0.002 ns next to delays of 20,"
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.SimulationConfig(topology="72", network=fine, watchdog_ns=1e8)
