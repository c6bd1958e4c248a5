"""``NetworkConfig``: published numbers, every field's range, and the way to the core and back."""

from __future__ import annotations

import dataclasses
import math
import typing
import warnings
from typing import Any

import pytest

from dragonfly_env import ConfigError, NetworkConfig, _core, networks
from dragonfly_env.config.topology import Arrangement

NAN, INF = math.nan, math.inf
BAD_BANDWIDTHS = (0, -1.0, NAN, INF, "4", True, None, 1e-9, 1e7)
BAD_LATENCIES = (-1.0, NAN, INF, "30", True, None, 1e7, 0.0001)
BAD_BUFFERS = (0, -1, 1.5, True, "20", None, 60_001, NAN)
BAD_NAMES = ("", "nothing", 0, None, True)
BAD_FLAGS = (0, 1, "true", None)

BAD: dict[str, tuple[Any, ...]] = {
    "packet_bytes": (0, -128, 1.5, 128.0, True, None, "128", 2**20 + 1, NAN),
    "payload_bytes": (0, -1, 1.5, True, "64", 2**20 + 1, NAN, 129),
    "flit_bytes": (0, -1, 1.5, True, None, "1", 2**20 + 1, NAN, 3, 256),
    "host_bandwidth_gbytes_per_s": BAD_BANDWIDTHS,
    "local_bandwidth_gbytes_per_s": BAD_BANDWIDTHS,
    "global_bandwidth_gbytes_per_s": BAD_BANDWIDTHS,
    "crossbar_bandwidth_gbytes_per_s": tuple(value for value in BAD_BANDWIDTHS if value is not None),
    "injection_bandwidth_gbytes_per_s": (0, -1.0, NAN, -INF, "4", True, 1e-9, 1e7),
    "injection_latency_ns": BAD_LATENCIES,
    "ejection_latency_ns": BAD_LATENCIES,
    "local_latency_ns": (*BAD_LATENCIES, 0),
    "global_latency_ns": (*BAD_LATENCIES, 0, 0.5),
    "input_latency_ns": BAD_LATENCIES,
    "output_latency_ns": BAD_LATENCIES,
    "crossbar_latency_ns": BAD_LATENCIES,
    "router_clock_ns": (*BAD_LATENCIES, 0),
    "routing_delay_ns": BAD_LATENCIES,
    "host_buffer_packets": BAD_BUFFERS,
    "local_buffer_packets": BAD_BUFFERS,
    "global_buffer_packets": BAD_BUFFERS,
    "output_buffer_packets": BAD_BUFFERS,
    "output_queue": BAD_NAMES,
    "link_start": BAD_NAMES,
    "switching": BAD_NAMES,
    "arbitration": BAD_NAMES,
    "vc_scheme": BAD_NAMES,
    "decide_at": BAD_NAMES,
    "local_vcs": (-1, 1.0, True, None, "2", 16),
    "global_vcs": (-1, 1.0, True, None, "2", 16),
    "congestion_metric": BAD_NAMES,
    "nonminimal_avoid_destination_group": BAD_FLAGS,
    "uniform_excludes_sender": BAD_FLAGS,
    "periodic_intervals": BAD_NAMES,
    "links": (None, 4, "rank-1"),
}


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, values in BAD.items() for v in values])
def test_a_bad_value_is_refused_by_name_value_and_range(field: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        NetworkConfig(**{field: value})
    message = str(caught.value)
    assert message.startswith(f"{field} = {value!r}: "), message
    assert "must" in message


def test_packets_carry_messages_whole_unless_a_part_of_them_is_no_payload() -> None:
    for name in networks():
        network = NetworkConfig.preset(name)
        carried = {"aries": 64, "aries-256": 256}.get(name, network.packet_bytes)
        assert network.message_bytes_of_packet == carried
        assert ("payload_bytes" in network.to_dict()) == (carried != network.packet_bytes)
        assert NetworkConfig.from_dict(network.to_dict()) == network
    assert NetworkConfig.preset("aries").message_bytes_of_packet / 84 == pytest.approx(0.762, abs=5e-4)


def test_the_default_is_the_preset_for_learning() -> None:
    assert NetworkConfig() == NetworkConfig.preset("default")
    assert NetworkConfig() == NetworkConfig.preset(
        "q-adaptive", decide_at="arrival", routing_delay_ns=100, periodic_intervals="exact"
    )
    assert networks() == ("default", "q-adaptive", "lia", "aries", "aries-256")


def test_preset_q_adaptive_has_the_numbers_of_the_paper_and_its_simulator() -> None:
    network = NetworkConfig.preset("q-adaptive")
    assert (network.packet_bytes, network.flit_bytes, network.flits_per_packet) == (128, 128, 1)
    assert network.packet_time_ns == network.local_packet_time_ns == network.global_packet_time_ns == 32.0
    assert network.injection_packet_time_ns == 32.0
    assert (network.injection_latency_ns, network.ejection_latency_ns) == (10.0, 10.0)
    assert (network.local_latency_ns, network.global_latency_ns) == (30.0, 300.0)
    assert (network.input_latency_ns, network.output_latency_ns) == (10.0, 10.0)
    assert (network.crossbar_latency_ns, network.crossbar_packet_time_ns) == (0.0, 3.2)
    assert (network.router_clock_ns, network.speedup) == (3.2, 10.0)
    assert network.host_buffer_packets == network.local_buffer_packets == network.global_buffer_packets == 20
    assert (network.output_buffer_packets, network.output_queue) == (20, "per-vc")
    assert (network.link_start, network.switching) == ("timer", "store-and-forward")
    assert (network.vc_scheme, network.arbitration) == ("stage", "least-recently-served")
    assert (network.decide_at, network.routing_delay_ns) == ("head", 0.0)
    assert network.nonminimal_avoid_destination_group is True
    assert network.uniform_excludes_sender is False
    assert network.periodic_intervals == "whole-ns"


def test_preset_lia_has_the_numbers_of_its_table_1() -> None:
    network = NetworkConfig.preset("lia")
    assert (network.packet_bytes, network.flit_bytes, network.flits_per_packet) == (250, 25, 10)
    assert network.flit_time_ns == 1.0
    assert network.packet_time_ns == network.local_packet_time_ns == network.global_packet_time_ns == 10.0
    assert network.injection_packet_time_ns == 0.0
    assert (network.injection_latency_ns, network.ejection_latency_ns) == (1.0, 0.0)
    assert (network.local_latency_ns, network.global_latency_ns) == (15.0, 150.0)
    assert (network.input_latency_ns, network.output_latency_ns) == (0.0, 0.0)
    assert network.crossbar_latency_ns + network.router_clock_ns == 90.0
    assert (network.speedup, network.crossbar_packet_time_ns) == (2.0, 5.0)
    # 126, 18 and 45 KB in 25-byte phits of 10 to the packet.
    assert 6 * network.host_buffer_packets * network.packet_bytes == 126_000  # a router of six hosts
    assert network.local_buffer_packets * network.packet_bytes == 18_000
    assert network.global_buffer_packets * network.packet_bytes == 45_000
    assert (network.output_buffer_packets, network.output_queue) == (32, "shared")
    assert (network.link_start, network.switching) == ("immediate", "cut-through")
    assert (network.vc_scheme, network.arbitration) == ("ladder", "round-robin")
    assert (network.decide_at, network.routing_delay_ns) == ("by-policy", 0.0)
    assert network.nonminimal_avoid_destination_group is False
    assert network.congestion_metric == "vc"
    assert network.uniform_excludes_sender is True
    assert network.periodic_intervals == "exact"


def test_fields_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^flit_bytes = 48: must divide packet_bytes, which is 128"):
        NetworkConfig(flit_bytes=48)
    with pytest.raises(ConfigError, match=r"^switching = 'cut-through': .*link_start='timer'"):
        NetworkConfig(switching="cut-through")
    with pytest.raises(ConfigError, match=r"^crossbar_bandwidth_gbytes_per_s = 20.0: .*25 GB/s"):
        NetworkConfig.preset("lia", crossbar_bandwidth_gbytes_per_s=20)


def test_a_dictionary_may_name_a_preset() -> None:
    assert NetworkConfig.from_dict({"preset": "lia"}) == NetworkConfig.preset("lia")
    changed = NetworkConfig.from_dict({"preset": "lia", "injection_bandwidth_gbytes_per_s": 25.0})
    assert changed.injection_packet_time_ns == 10.0
    no_tables: tuple[Any, ...] = ([], "lia", None)
    for bad in no_tables:
        with pytest.raises(ConfigError, match=r"^network = .*table"):
            NetworkConfig.from_dict(bad)


@pytest.mark.parametrize("row", _core.network_rows(), ids=lambda row: row["name"])
def test_python_allows_what_the_core_allows(row: _core.NetworkRow) -> None:
    """Fields that are numbers in the same unit, or times; bandwidths and the watchdog have limits of their own."""
    name = row["name"]
    field = name.replace("_ps", "_ns")
    if field not in NetworkConfig.__dataclass_fields__ or row["low"] is None or row["high"] is None:
        assert row["names"] or name.endswith("_packet_ps") or name in ("watchdog_ps", *_UNLIMITED)
        return
    unit = 1000 if field != name else 1
    for limit, beyond in ((row["low"], row["low"] - 1), (row["high"], row["high"] + 1)):
        value = limit / unit if unit > 1 else int(limit)
        assert NetworkConfig(**{field: value}).to_core()[name] == limit
        with pytest.raises(ConfigError, match=f"^{field} = "):
            NetworkConfig(**{field: beyond / unit if unit > 1 else int(beyond)})


_UNLIMITED = ("vc_scheme", "nonminimal_avoid_destination_group")


def test_every_field_reaches_the_core() -> None:
    """Changing any field changes what the core's network is given, but for those that its traffic is given."""
    changes: dict[str, Any] = {
        "output_queue": "shared",
        "link_start": "immediate",
        "arbitration": "age",
        "vc_scheme": "hop",
        "decide_at": "head",
        "congestion_metric": "vc",
        "nonminimal_avoid_destination_group": False,
        "packet_bytes": 256,
        "injection_bandwidth_gbytes_per_s": 8.0,
    }
    base = NetworkConfig(link_start="immediate")
    for field in dataclasses.fields(NetworkConfig):
        if field.name in (
            "payload_bytes",
            "flit_bytes",
            "uniform_excludes_sender",
            "periodic_intervals",
            "links",
        ):
            continue  # links: test_grid.py
        start = NetworkConfig() if field.name == "link_start" else base
        if field.name == "switching":
            change: Any = "cut-through"
        else:
            change = changes.get(field.name, 2 * (getattr(base, field.name) or 2))
        changed = start.replace(**{field.name: change})
        assert changed.to_core() != start.to_core(), field.name


def test_a_serialisation_time_is_rounded_to_the_nearest_picosecond() -> None:
    network = NetworkConfig(packet_bytes=64, flit_bytes=64, local_bandwidth_gbytes_per_s=10.5)
    assert network.to_core()["local_packet_ps"] == 6_095  # 6095.24


@pytest.mark.parametrize("preset", networks())
@pytest.mark.parametrize("factor", [0.5, 1.0, 6.25])
def test_the_crossbar_keeps_its_ratio_to_faster_or_slower_links(preset: str, factor: float) -> None:
    before = NetworkConfig.preset(preset)
    names = [f"{kind}_bandwidth_gbytes_per_s" for kind in ("host", "local", "global")]
    changes = {name: getattr(before, name) * factor for name in names}
    ratio = before.crossbar_bandwidth_gbytes_per_s / max(getattr(before, name) for name in names)
    for after in (
        before.replace(**changes),
        NetworkConfig.preset(preset, **changes),
        NetworkConfig.from_dict({"preset": preset, **changes}),
    ):
        assert after.crossbar_bandwidth_gbytes_per_s == pytest.approx(
            ratio * max(changes.values()), rel=1e-12
        )
    same = before.replace(global_latency_ns=99.0)
    assert same.crossbar_bandwidth_gbytes_per_s == before.crossbar_bandwidth_gbytes_per_s
    given = before.replace(**changes, crossbar_bandwidth_gbytes_per_s=500.0)
    assert given.crossbar_bandwidth_gbytes_per_s == 500.0


def test_the_crossbar_of_links_of_any_speed_is_ten_times_the_fastest() -> None:
    assert NetworkConfig(global_bandwidth_gbytes_per_s=25.0).crossbar_bandwidth_gbytes_per_s == 250.0
    classes = {"rank-1": {"bandwidth_gbytes_per_s": 50.0}}
    assert NetworkConfig(links=classes).crossbar_bandwidth_gbytes_per_s == 500.0
    assert NetworkConfig.from_dict(NetworkConfig(links=classes).to_dict()) == NetworkConfig(links=classes)
    fastest = NetworkConfig(host_bandwidth_gbytes_per_s=128_000.0)
    assert fastest.crossbar_bandwidth_gbytes_per_s == 128_000.0  # a flit in a ps


@pytest.mark.parametrize(
    ("preset", "field", "needed"),
    [
        ("default", "local_buffer_packets", 7),  # the credit is back after 203.2 ns; a packet takes 32
        ("default", "global_buffer_packets", 24),  # 743.2
        ("q-adaptive", "global_buffer_packets", 21),  # 643.2
        ("lia", "global_buffer_packets", 39),  # 390, and a packet takes 10
    ],
)
def test_a_buffer_below_the_round_trip_of_its_link_is_warned_about(
    preset: str, field: str, needed: int
) -> None:
    with pytest.warns(UserWarning, match=rf"^{field} = {needed - 2}: .*; {field} = {needed} or more"):
        NetworkConfig.preset(preset, **{field: needed - 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NetworkConfig.preset(preset, **{field: needed})


def test_buffers_of_presets_are_not_warned_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for preset in networks():
            network = NetworkConfig.preset(preset, host_buffer_packets=1)
            assert NetworkConfig.from_dict(network.to_dict()) == network


def test_longer_cables_need_larger_buffers() -> None:
    with pytest.warns(UserWarning, match=r"global_buffer_packets = 20: .* after 1143\.2 ns, .* = 36 or more"):
        NetworkConfig(global_latency_ns=500)


def test_editors_complete_the_names_that_the_core_knows() -> None:
    hints = typing.get_type_hints(NetworkConfig)
    rows = {field.name: field.metadata.get("core") for field in dataclasses.fields(NetworkConfig)}
    known = {row["name"]: row["names"] for row in _core.network_rows() if row["names"]}
    found = {core: [*typing.get_args(hints[name])] for name, core in rows.items() if core in known}
    assert found == known
    assert [*typing.get_args(Arrangement)] == _core.arrangements()
