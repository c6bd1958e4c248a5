"""Any configuration: refused with a ``ConfigError``, or it runs, loses nothing, and has one history."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from tests.partitions import cut_into
from tests.property.configurations import settings_of_runs

PIECES = st.lists(st.sampled_from([0.1, 1.0, 33.3, 400.0]), min_size=1, max_size=3)


def simulation_of(fields: dict[str, Any]) -> dfe.Simulation | None:
    """The simulation of the settings, or ``None`` if the settings are refused."""
    try:
        return dfe.Simulation(dfe.SimulationConfig(**fields))
    except dfe.ConfigError:
        return None  # any other exception is a failure


def history_of(simulation: dfe.Simulation, pieces: list[float]) -> list[Any]:
    """Run the pieces, drain, and return what the run shows."""
    before = 0
    for piece in pieces:
        simulation.run(piece)
        simulation.check_invariants()
        metrics = simulation.metrics()
        assert metrics.packets_generated == metrics.packets_delivered + metrics.packets_in_flight
        assert before <= metrics.packets_delivered
        before = metrics.packets_delivered
    assert simulation.drain()
    simulation.check_invariants()
    drained = simulation.metrics()
    assert drained.packets_in_flight == 0
    assert drained.packets_delivered == drained.packets_generated
    assert int(drained.hop_histogram.sum()) == drained.packets_delivered
    if drained.packets_delivered:
        assert 0 <= drained.minimal_fraction <= 1
        row = drained.to_dict()
        percentiles = [row[f"latency_{name}_ns"] for name in ("min", "p50", "p95", "p99", "p99_9", "max")]
        assert percentiles == sorted(percentiles)
        assert drained.network_latency_mean_ns <= drained.latency_mean_ns + 1e-9
    series = drained.time_series
    if series is not None:
        assert int(series["delivered"].sum()) == drained.packets_delivered
        assert math.isclose(float(series["duration_ns"].sum()), drained.duration_ns)
    return [simulation.trace_hash(), simulation.time_ns, str(drained.to_dict())]


@settings(max_examples=120)
@given(settings_of_runs(), PIECES)
def test_a_configuration_is_refused_or_loses_nothing_and_has_one_history(
    fields: dict[str, Any], pieces: list[float]
) -> None:
    simulation = simulation_of(fields)
    if simulation is None:
        event("refused")
        return
    once = history_of(simulation, pieces)
    with cut_into(1):  # a partition per group
        parted = simulation_of({**fields, "threads": 2})
    if parted is None:
        event("not cut")
    else:  # links between partitions must not be shorter than a clock allows
        assert history_of(parted, [round(sum(pieces), 3)]) == once


@settings(max_examples=120)
@given(settings_of_runs())
def test_a_configuration_equals_the_one_read_from_its_own_text(fields: dict[str, Any]) -> None:
    try:
        config = dfe.SimulationConfig(**fields)
    except dfe.ConfigError:
        return
    if not config.traffic_object.is_trace:
        assert dfe.SimulationConfig.from_dict(config.to_dict()) == config
        assert dfe.SimulationConfig.from_toml(config.to_toml()) == config
        assert dfe.SimulationConfig.from_json(config.to_json()) == config


WRONG = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2**70,
        math.nan,
        -math.inf,
        1e-320,
        0.1,
        "",
        "x",
        "nan",
        [],
        {},
        [[1]],
        {"name": "x"},
        b"1",
    ]
)


@settings(max_examples=150)
@given(settings_of_runs(), st.data())
def test_a_wrong_value_anywhere_in_a_table_is_a_config_error_or_legal(
    fields: dict[str, Any], data: st.DataObject
) -> None:
    try:
        table = dfe.SimulationConfig(**fields).to_dict()
    except dfe.ConfigError:
        return
    inner = data.draw(st.sampled_from([part for part in (table, *table.values()) if isinstance(part, dict)]))
    if not inner:
        return
    key = data.draw(st.sampled_from(sorted(inner)))
    match data.draw(st.sampled_from(["value", "value", "lost", "misspelt"])):
        case "value":
            inner[key] = data.draw(WRONG)
        case "lost":
            del inner[key]
        case _:
            inner[f"{key}x"] = inner.pop(key)
    try:
        dfe.SimulationConfig.from_dict(table)
    except dfe.ConfigError:
        return  # any other exception is a failure
