"""A setting is one row: whatever else is known of it follows."""

from __future__ import annotations

import dataclasses

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.config.rows import boolean, core_values, describe, integer, time_ns
from dragonfly_env.jobs import workload
from dragonfly_env.simulation import config as module


@dataclasses.dataclass(frozen=True, kw_only=True)
class LongerConfig(dfe.SimulationConfig):
    """A simulation with options that it does not have."""

    patience_ns: float | None = time_ns(2.5, 1.0, optional=True, doc="A time.", core="patience_ps")
    sampled: bool = boolean(False, doc="Whether every packet is looked at.", core="sampled")
    best_of: int = integer(3, 1, 9, doc="A number for Python alone.")


def test_a_new_option_of_the_simulation_is_one_row() -> None:
    config = LongerConfig(topology="72", patience_ns=7, best_of=2)
    record = config.to_core()
    assert (record["patience_ps"], record["sampled"]) == (7_000, False)
    assert config.replace(patience_ns=None).to_core()["patience_ps"] == 0
    assert "best_of" not in record
    for again in (LongerConfig.from_toml(config.to_toml()), LongerConfig.from_json(config.to_json())):
        assert again == config != LongerConfig(topology="72")
    assert [row.name for row in describe(LongerConfig)][-3:] == ["patience_ns", "sampled", "best_of"]
    with pytest.raises(dfe.ConfigError, match=r"^patience_ns = 0.5: must be a number in \[1, 1e\+09\] ns"):
        config.replace(patience_ns=0.5)
    with pytest.raises(dfe.ConfigError, match="did you mean 'sampled'"):
        LongerConfig.from_dict({"topology": "72", "sampeld": True})
    with pytest.raises(
        dfe.ConfigError, match=r"^(patience_ps|sampled) = given"
    ):  # the core's row is the other one
        _core.Simulation(record)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LongerNetwork(dfe.NetworkConfig):
    """A network with fields that it does not have."""

    retimer_latency_ns: float = time_ns(0.0, 0.0, 1e6, doc="Of a retimer.", core="retimer_latency_ps")


def test_a_new_field_of_the_network_is_one_row() -> None:
    network = LongerNetwork.preset("lia", retimer_latency_ns=1.5)
    assert network.to_core()["retimer_latency_ps"] == 1_500 == core_values(network)["retimer_latency_ps"]
    assert LongerNetwork.from_dict(network.to_dict()) == network == network.replace(router_clock_ns=1.0)
    with pytest.raises(dfe.ConfigError, match=r"^retimer_latency_ns = -1: "):
        network.replace(retimer_latency_ns=-1)
    config = dfe.SimulationConfig(topology="72", network=network)
    with pytest.raises(dfe.ConfigError, match=r"^retimer_latency_ps = given"):
        dfe.Simulation(config)


def test_jobs_are_placed_once_for_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []

    def place(*args: object) -> object:
        placed.append(args)
        return workload.place_jobs(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "place_jobs", place)
    config = dfe.SimulationConfig(topology="72", jobs=["nek5000:hosts=8,placement=random"])
    first = config.placed_jobs()
    simulation = dfe.Simulation(config)
    assert simulation.config.placed_jobs() is first is config.placed_jobs()
    assert len(placed) == 1
    assert config.replace(seed=2).placed_jobs() != first
    assert len(placed) == 2
