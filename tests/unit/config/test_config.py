"""``SimulationConfig``: ranges, resolved defaults, and the way to dictionaries, JSON and TOML and back."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0

TOPOLOGY = dfe.Dragonfly.preset("72")
NAN, INF = math.nan, math.inf


def config(**changes: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(topology=TOPOLOGY).replace(**changes)


BAD: dict[str, tuple[Any, ...]] = {
    "topology": (None, "73", 73, "", True, (2, 4, 2), 72.0),
    "network": (None, 3, "q_adaptive"),
    "demand_unit": ("", "MB/s", 1, True, "GB/s"),  # no unit fits without a demand matrix
    "policy": (None, 3, "ugl-n", [], dfe.Policy),
    "load": (0, 0.0, -0.1, 1.0001, NAN, INF, -INF, "0.5", None, True, 10**400),
    "jobs": ("milc", 3, {"program": "milc"}, dfe.Job("milc", 2)),
    "injection": ("", "poison", None, 1),
    "source_queue_packets": (0, -1, 1.0, "20", True, NAN),
    "source_queue_full": ("", "drop", True),
    "message_packets": (0, -1, 1.0, None, True, 65_536),
    "seed": (-1, 2**64, 1.0, None, "1", True),
    "threads": (0, -1, 1.5, None, True, 1025),
    "series_bin_ns": (0, 0.5, -1.0, NAN, INF, "10", True, 10.00001),
    "packet_log": (0, 1, None, "yes"),
    "group_latency": (0, 1, None, "yes"),
    "host_latency": (0, 1, None, "yes"),
    "watchdog_ns": (0, 999, -1, NAN, INF, None, "1e6"),
}


@pytest.mark.parametrize("name", ["72", 72])
def test_the_name_of_a_preset_is_a_topology(name: Any) -> None:
    named = dfe.SimulationConfig(topology=name)
    assert named == dfe.SimulationConfig(topology=TOPOLOGY)
    assert named.replace(topology="theta").topology == dfe.Dragonfly.preset("theta")
    assert dfe.SimulationConfig.from_dict({"topology": name}) == named
    assert dragonfly_v0.parallel_env(topology=name).core.config.topology == TOPOLOGY


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, values in BAD.items() for v in values])
def test_a_bad_value_is_refused_by_name_and_range(field: str, value: Any) -> None:
    with pytest.raises(dfe.ConfigError) as caught:
        config(**{field: value})
    message = str(caught.value)
    assert message.startswith(f"{field} = "), message
    assert "must" in message or "is unknown" in message


@pytest.mark.parametrize("value", ["", "unifrom", "adv+", "adv+x", None, 3, [], {}, np.zeros((3, 3))])
def test_bad_traffic_is_refused(value: Any) -> None:
    with pytest.raises(dfe.ConfigError):
        config(traffic=value)


def test_defaults_are_the_network_for_learning_and_periodic_injection() -> None:
    c = dfe.SimulationConfig(topology=TOPOLOGY)
    assert c.network == dfe.NetworkConfig.preset("default")
    assert (c.traffic, c.policy, c.injection) == ("uniform", "min", "periodic")
    assert (c.source_queue_packets, c.message_packets, c.threads) == (None, 1, 1)
    assert c.policy_object == dfe.make_policy("min")


@pytest.mark.parametrize(
    ("injection", "full", "loses"),
    [
        ("periodic", None, False),
        ("bernoulli", None, True),
        ("poisson", None, True),
        ("periodic", "lose", True),
        ("bernoulli", "stall", False),
    ],
)
def test_a_full_source_queue_stalls_or_loses_as_the_published_simulators_do(
    injection: str, full: str | None, loses: bool
) -> None:
    c = config(injection=injection, source_queue_full=full, source_queue_packets=20)
    assert c.loses_when_full is loses


def test_a_message_must_fit_into_the_source_queue() -> None:
    assert config(message_packets=20, source_queue_packets=20).message_packets == 20
    with pytest.raises(dfe.ConfigError, match=r"^source_queue_packets = 19: .*message_packets = 20"):
        config(message_packets=20, source_queue_packets=19)


def test_the_watchdog_is_more_patient_than_the_slowest_link() -> None:
    slow = dfe.NetworkConfig(global_latency_ns=10_000)
    assert slow.round_trip_ns == 2 * (10_020 + 32 + 100 + 3.2 + 3.2)
    with pytest.raises(dfe.ConfigError, match=r"^watchdog_ns = 50000.0: must be at least 81267.2 ns"):
        config(network=slow, watchdog_ns=50_000)
    assert config(network=slow, watchdog_ns=90_000).watchdog_ns == 90_000


def test_a_policy_may_be_a_name_an_object_or_a_table() -> None:
    by_object = config(policy=dfe.make_policy("ugal-n", bias_packets=2))
    assert by_object.policy_object == dfe.make_policy("ugal-n", bias_packets=2)
    assert config(policy={"name": "ugal-n", "bias_packets": 2}) == by_object
    assert config(policy="ugal-n:bias_packets=2") == by_object
    assert (
        config(policy=dfe.make_policy("ugal-n"))
        == config(policy="ugal-n")
        == config(policy={"name": "ugal-n"})
    )
    assert config(policy="vlb-lgl").policy == "val-n"


EXAMPLES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "everything": {
        "network": dfe.NetworkConfig.preset("lia", global_latency_ns=100),
        "traffic": "adv+1",
        "load": 0.45,
        "policy": dfe.make_policy("ugal-g", bias_packets=2.5, avoid_destination_group=False),
        "injection": "bernoulli",
        "source_queue_packets": 20,
        "source_queue_full": "stall",
        "message_packets": 4,
        "seed": 2**63,
        "threads": 2,
        "series_bin_ns": 1000,
        "packet_log": True,
        "group_latency": True,
        "host_latency": True,
        "watchdog_ns": 50_000,
    },
    "schedule": {"traffic": [(0, "uniform", 0.2), (10_000, "adv+1", 0.4)]},
    "matrix": {"traffic": np.eye(72)[::-1]},
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_configuration_comes_back_from_dictionary_json_toml_and_pickle(
    example: str, tmp_path: Path
) -> None:
    c = config(**EXAMPLES[example])
    assert dfe.SimulationConfig.from_dict(c.to_dict()) == c
    assert dfe.SimulationConfig.from_json(c.to_json()) == c
    assert dfe.SimulationConfig.from_toml(c.to_toml()) == c
    path = tmp_path / "run.toml"
    path.write_text(c.to_toml(), encoding="utf-8")
    assert dfe.SimulationConfig.from_toml(path) == c
    copy = pickle.loads(pickle.dumps(c))
    assert copy == c
    assert copy.to_json() == c.to_json()


SHOWN = {
    "SimulationConfig(topology=Dragonfly(p=2, a=4, h=2))": config(),
    "SimulationConfig(topology=Dragonfly(p=2, a=4, h=2), network=NetworkConfig.preset('lia'), load=0.2)": config(
        network="lia", load=0.2
    ),
    "SimulationConfig(topology=Dragonfly(p=2, a=4, h=2), jobs=(Job(program=Milc(scale=0.5), hosts=4),))": config(
        traffic=None, jobs=["milc:hosts=4,scale=0.5"]
    ),
    "NetworkConfig()": dfe.NetworkConfig(),
    "NetworkConfig.preset('aries', local_vcs=10)": dfe.NetworkConfig.preset("aries", local_vcs=10),
    "Dragonfly(p=2, a=4, h=2, arrangement='absolute')": dfe.Dragonfly.preset("72", arrangement="absolute"),
    "AllToAll(message_bytes=5)": dfe.AllToAll(message_bytes=5),
    "EnvOptions(action='path')": dfe.BatchedRoutingEnv(config(), action="path").options,
    "PpoSettings(hidden_units=(32,))": dfe.agents.PpoSettings(hidden_units=(32,)),
}


@pytest.mark.parametrize("text", SHOWN)
def test_a_settings_object_shows_what_differs_from_its_defaults(text: str) -> None:
    assert repr(SHOWN[text]) == text


@pytest.mark.parametrize(
    "settings",
    [
        *(dfe.NetworkConfig.preset(name) for name in dfe.networks()),
        *(dfe.Dragonfly.preset(name) for name in dfe.topologies()),
        *(config(**example) for example in EXAMPLES.values() if "jobs" in example),
        dfe.NetworkConfig.preset("lia", global_bandwidth_gbytes_per_s=8.0, global_buffer_packets=400),
        dfe.NetworkConfig(links={"global": dfe.LinkConfig(latency_ns=50)}),
        dfe.Dragonfly(p=1, a=5, h=2, links_between_groups=9),
    ],
    ids=str,
)
def test_what_a_settings_object_shows_makes_an_equal_one(settings: Any) -> None:
    names = {**vars(dfe), **vars(dfe.jobs)}
    assert eval(repr(settings), names) == settings


PLAIN: dict[str, dict[str, Any]] = {
    **{f"topology {name}": {"topology": name} for name in dfe.topologies()},
    **{f"network {name}": {"network": name} for name in dfe.networks()},
    "machine": {"topology": "theta-m8", "network": "aries", "policy": "ad3", "traffic": "uniform"},
}


@pytest.mark.parametrize("example", PLAIN)
def test_dataclasses_asdict_gives_a_table_that_is_understood(example: str) -> None:
    c = config(**PLAIN[example])
    table = dataclasses.asdict(c)
    assert dfe.SimulationConfig(**table) == c
    assert dfe.SimulationConfig.from_dict(json.loads(json.dumps(table))) == c


@pytest.mark.parametrize(
    "example",
    [
        EXAMPLES["everything"],
        EXAMPLES["schedule"],
        *({"jobs": [f"{name}:hosts=8"]} for name in dfe.programs()),
    ],
)
def test_dataclasses_asdict_takes_every_configuration(example: dict[str, Any]) -> None:
    assert list(dataclasses.asdict(config(**example))) == [
        field.name for field in dataclasses.fields(dfe.SimulationConfig)
    ]


def test_toml_may_be_short() -> None:
    c = dfe.SimulationConfig.from_toml("""
        traffic = "adv+1"
        load = 0.45
        policy = { name = "ugal-n", bias_packets = 2 }
        [topology]
        preset = "72"
        arrangement = "absolute"
        [network]
        preset = "q-adaptive"
        routing_delay_ns = 5
    """)
    assert c == dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset("72", arrangement="absolute"),
        network=dfe.NetworkConfig.preset("q-adaptive", routing_delay_ns=5),
        traffic="adv+1",
        load=0.45,
        policy=dfe.make_policy("ugal-n", bias_packets=2),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^topology = None: must be given"),
        ("[topology", r"^toml = .*must be TOML"),
        ("topology = 3", r"^topology = .3.: is unknown; did you mean '72'"),
        ("topology = {preset='72'}\nloads = 1", r"^loads = 1: .*did you mean 'load'"),
        ("topology = {preset='72', q=1}", r"^q = 1: a topology has no such setting"),
        ("topology = {p=1}", r"^topology = .*lacks a, h"),
        ("topology = {preset='72'}\nnetwork = {preset='slingshot'}", r"^network = 'slingshot'"),
        ("topology = {preset='72'}\npolicy = {bias_packets=1}", r"^policy = .*must have a 'name'"),
    ],
)
def test_a_bad_document_is_refused(text: str, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.SimulationConfig.from_toml(text)
