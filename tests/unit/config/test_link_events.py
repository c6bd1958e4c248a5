"""Events of links: the record, its texts, its errors, and one packet by hand."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps import Scenario
from tests.routes import routes_of

EVENTS = ("50us:0:5/8:6:down", "0.1ms:0:5:up")


def config(**fields: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(**{"topology": "72", "events": EVENTS, **fields})


def test_texts_tables_and_copies_have_all_of_it() -> None:
    made = config()
    assert [str(event) for event in made.events] == [
        "50000ns:0:5:down",
        "50000ns:8:6:down",
        "100000ns:0:5:up",
    ]
    assert made.events[0] == dfe.LinkEvent(time_ns=50_000, link="0:5")
    for again in (
        dfe.SimulationConfig.from_toml(made.to_toml()),
        dfe.SimulationConfig.from_json(made.to_json()),
        pickle.loads(pickle.dumps(made)),
        made.replace(events=",".join(map(str, made.events))),
        eval(repr(made), {"SimulationConfig": dfe.SimulationConfig, **vars_of(made)}),
    ):
        assert again == made


def vars_of(made: dfe.SimulationConfig) -> dict[str, Any]:
    return {type(value).__name__: type(value) for value in (made.topology, *made.events)}


def test_a_run_without_events_says_nothing_of_them() -> None:
    assert not {"events", "event_notice_ns"} & dfe.SimulationConfig(topology="72").to_dict().keys()
    assert not {"link_events", "event_notice_ps"} & dfe.SimulationConfig(topology="72").to_core().keys()


def test_runs_of_a_scenario_have_its_events() -> None:
    scenario = Scenario.from_dict(
        {
            "topology": "72",
            "policies": ["min"],
            "traffic": ["uniform"],
            "loads": [0.1],
            "events": list(EVENTS),
        }
    )
    assert [run.config.events for run in scenario.runs()] == [config().events]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"events": ["50us:0:5"]}, "must be a time, a link and down or up, e.g. 50us:17:9:down"),
        ({"events": ["50us:5:down"]}, "must be a router and its port, e.g. 17:9"),
        ({"events": ["soon:0:5:down"]}, "must be a time such as 10us"),
        ({"events": ["0us:0:5:down"]}, "time_ns = 0.0: must be a number in (0, 1e+09] ns"),
        ({"events": 3}, "events = 3: must be a list of events"),
        ({"events": ["1us:0:1:down"]}, "events = 1000ns:0:1:down: must name a router and a port with a link"),
        ({"events": ["1us:99:5:down"]}, "must name a router and a port with a link"),
        ({"events": ["1us:0:5:up"]}, "must be left out, or follow an event in which the link fails"),
        ({"events": ["1us:0:5:down", "2us:35:6:down"]}, "must be left out: the link is dead already"),
        (
            {"topology": dfe.Dragonfly(p=1, a=2, h=1, g=2), "events": ["1us:0:1:down"]},
            "events at 1000 ns leave a machine that cannot be simulated: failed = routers 0 and 1",
        ),
        ({"event_notice_ns": 2e6}, "event_notice_ns = 2000000.0: must be below watchdog_ns = 1e+06 ns"),
    ],
)
def test_a_mistake_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError) as error:
        config(**fields)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": "lia"}, "need output queues per VC"),
        ({"network": dfe.NetworkConfig(local_vcs=3)}, "network.local_vcs = 3: at least 6"),
        (
            {"events": [f"{i}us:0:5:{'up' if i % 2 else 'down'}" for i in range(2, 14)]},
            "events = 6 times at which links fail: need 21 virtual channels",
        ),
    ],
)
def test_what_the_core_refuses_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(dfe.ConfigError) as error:
        dfe.Simulation(config(**fields))
    assert message in str(error.value)


LINK_NS, WITHIN_NS, LOCAL_NS, GLOBAL_NS = 32.0, 105.4, 83.2, 355.2


def only_packet(events: list[str], created_ns: float = 1.0) -> tuple[float, list[int]]:
    """Latency and route of the packet of host 0 to router 35, which a link of router 0 joins with it."""
    trace = dfe.traffic.Trace.from_columns(time_ns=[created_ns], src=[0], dst=[70], bytes=[64])
    simulation = dfe.Simulation(
        config(
            network=dfe.NetworkConfig.preset("q-adaptive"),
            traffic=trace,
            packet_log=True,
            events=events,
            event_notice_ns=1_000.0,
        )
    )
    simulation.run_to_completion()
    log = simulation.packet_log()
    (route,) = routes_of(log)
    return float(log["delivered_ns"][0] - log["created_ns"][0]), list(route)


def test_a_packet_waits_for_the_notice_and_is_then_routed_again() -> None:
    """The packet reaches the output queue of router 0 before the notice, 1,000.5 ns after its creation at 1 ns."""
    direct, route = only_packet([])
    assert (direct, route) == (pytest.approx(WITHIN_NS + GLOBAL_NS), [0, 35])
    latency, route = only_packet(["1.5ns:0:5:down"])
    assert (route[0], route[-1]) == (0, 35)
    groups = [router // 4 for router in route]
    crossed = sum(a != b for a, b in itertools.pairwise(groups))
    assert crossed == 2
    free = WITHIN_NS + GLOBAL_NS * 2 + LOCAL_NS * (len(route) - 3)
    assert 1_000.5 < latency < 1_000.5 + free


def test_a_link_that_returns_before_the_notice_sends_what_waited() -> None:
    latency, route = only_packet(["1.5ns:0:5:down", "700ns:0:5:up"])
    assert route == [0, 35]
    assert 699.0 < latency < 699.0 + WITHIN_NS + GLOBAL_NS


def test_a_packet_on_the_link_arrives() -> None:
    direct, _ = only_packet([])
    for failed_ns in (150.0, 300.0, 450.0):
        assert only_packet([f"{failed_ns}ns:0:5:down"]) == (direct, [0, 35])


def test_packets_that_come_after_the_notice_take_a_relay_at_once() -> None:
    latency, route = only_packet(["1.5ns:0:5:down"], created_ns=2_001.0)
    damaged = dfe.Dragonfly.preset("72", failed="links=0:5")
    assert len(route) - 1 == damaged.minimal_hops(0, 35)
    assert latency == pytest.approx(WITHIN_NS + GLOBAL_NS * 2 + LOCAL_NS * (len(route) - 3))
    assert only_packet(["1.5ns:0:5:down", "5us:0:5:up"], created_ns=7_001.0)[1] == [0, 35]
