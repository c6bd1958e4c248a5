"""Links carry the bandwidth that is set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe

PAIR = dfe.Dragonfly(p=1, a=2, h=1, g=3)
PACKETS = 3_000
ROOM = {f"{name}_buffer_packets": 20_000 for name in ("host", "local", "global", "output")}
# A host sends to another over two local links and a global one.
ONE_FLOW = np.zeros((6, 6))
ONE_FLOW[0, 3] = 1.0


def carried(kind: str, gbytes_per_s: float, packet_bytes: int) -> float:
    """Throughput of one flow through links of one kind, in GB/s; all others are twice as fast."""
    rates = {f"{name}_bandwidth_gbytes_per_s": 2 * gbytes_per_s for name in ("host", "local", "global")}
    rates[f"{kind}_bandwidth_gbytes_per_s"] = gbytes_per_s
    chosen = dfe.NetworkConfig(
        **rates,
        **ROOM,
        packet_bytes=packet_bytes,
        flit_bytes=packet_bytes,
        router_clock_ns=0.4,  # a router passes at most one packet per port and clock
    )
    config = dfe.SimulationConfig(topology=PAIR, network=chosen, traffic=ONE_FLOW, load=1.0, policy="min")
    measured_ns = float(round(PACKETS * packet_bytes / gbytes_per_s))
    metrics = dfe.simulate(config, warmup_ns=round(0.2 * measured_ns) + 5_000.0, measure_ns=measured_ns)
    return metrics.packets_delivered * packet_bytes / measured_ns


LINKS = {
    "kind": st.sampled_from(["host", "local", "global"]),
    "rate": st.floats(1.0, 100.0).map(lambda rate: round(rate, 2)),
    "packet_bytes": st.integers(64, 4_096),
}


@settings(max_examples=20, deadline=None)
@example("global", 12.0, 128)
@given(**LINKS)
def test_a_link_carries_its_rate_to_a_thousandth(kind: str, rate: float, packet_bytes: int) -> None:
    assert carried(kind, rate, packet_bytes) == pytest.approx(rate, rel=1e-3 + 1 / PACKETS)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(**LINKS)
def test_200_links_carry_their_rates(kind: str, rate: float, packet_bytes: int) -> None:
    test_a_link_carries_its_rate_to_a_thousandth.hypothesis.inner_test(kind, rate, packet_bytes)  # type: ignore[attr-defined]
