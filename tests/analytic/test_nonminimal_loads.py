"""Saturation by non-minimal paths of each length: the load of the busiest link, counted over all paths, against
simulations.

The formulas of LIA, TACO 2025, section 3.2.2 (1/h for ADV+h) count the local links of the groups between alone. The
same links carry packets of other groups to their destinations, half a packet per host and link more, and those of
non-minimal paths that begin with a local hop, half a packet again. That is what the paper's figure 7 shows next to its
formula ("additional local hops in the source and destination groups"), and why 0.25 is the point of saturation of -G-
under ADVc with h = 6.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dragonfly_env as dfe
from tests.analytic.nonminimal_flows import busiest_link

SIZES = {2: "72", 3: "342", 4: "1056", 6: "5256"}

FORMULAS: dict[tuple[str, str], Callable[[int], float]] = {
    ("min", "adv+1"): lambda h: 2 * h * h,
    ("min", "adv+h"): lambda h: 2 * h * h,
    ("min", "advc"): lambda h: 2 * h,
    ("g", "adv+1"): lambda h: 2,
    ("lg", "adv+1"): lambda h: 2,
    ("gl", "adv+1"): lambda h: 2,
    ("g", "adv+h"): lambda h: h + 1 / 2,
    ("lg", "adv+h"): lambda h: h + 1,
    ("gl", "adv+h"): lambda h: 2,
    ("g", "advc"): lambda h: max(2, h / 2 + 1),
    ("lg", "advc"): lambda h: max(2, h / 2 + 3 / 2),
    ("gl", "advc"): lambda h: 2,
}


def offsets_of(traffic: str, h: int) -> range:
    return {"adv+1": range(1, 2), "adv+h": range(h, h + 1), "advc": range(1, h + 1)}[traffic]


@pytest.mark.parametrize(("kind", "traffic"), FORMULAS)
@pytest.mark.parametrize("h", [2, 3, 4])
def test_the_busiest_link_has_a_closed_form(kind: str, traffic: str, h: int) -> None:
    topology = dfe.Dragonfly.preset(SIZES[h], arrangement="palmtree")
    counted = busiest_link(topology, kind, offsets_of(traffic, h))
    assert counted == pytest.approx(FORMULAS[kind, traffic](h))


def test_on_the_system_of_the_paper_short_nonminimal_paths_saturate_under_advc_at_a_quarter() -> None:
    topology = dfe.Dragonfly.preset(SIZES[6], arrangement="palmtree")
    assert busiest_link(topology, "g", offsets_of("advc", 6)) == pytest.approx(4)
    assert busiest_link(topology, "lg", offsets_of("advc", 6)) == pytest.approx(4.5)


@pytest.mark.parametrize("traffic", ["adv+h", "advc"])
@pytest.mark.parametrize("kind", ["g", "lg"])
def test_simulations_saturate_where_the_busiest_link_is_full(kind: str, traffic: str) -> None:
    """At 0.9 of the bound all is accepted; at 1.1, what the bound says, but for routers that have other ways."""
    h = 3
    topology = dfe.Dragonfly.preset(SIZES[h], arrangement="palmtree")
    bound = 1 / busiest_link(topology, kind, offsets_of(traffic, h))
    accepted = [
        dfe.simulate(
            dfe.SimulationConfig(
                topology=topology,
                network=dfe.NetworkConfig.preset("lia"),
                policy=f"vlb-{kind}",
                traffic=traffic.replace("+h", f"+{h}"),
                load=share * bound,
                source_queue_packets=1,
            ),
            warmup_ns=15_000,
            measure_ns=10_000,
        ).accepted_load
        for share in (0.9, 1.1)
    ]
    assert accepted[0] == pytest.approx(0.9 * bound, rel=0.02)
    assert accepted[1] == pytest.approx(bound, rel=0.05)
