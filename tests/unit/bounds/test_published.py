"""No published result of the benchmark passes a bound."""

from __future__ import annotations

import functools
from importlib import resources

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.bounds import Bounds

pytest.importorskip("scipy", reason="needs the extra [bounds]")

MOST_FLOWS = 100_000
"""2,550 hosts with a rotation have 71,400. Larger programs, of permutations, take minutes."""

TOO_LARGE = {("permutation", "342"), ("permutation", "1056"), ("permutation", "2550")}
LONG_RUN = 1.005  # an accepted load of 100 us may be so much above that of the long run


def published() -> pd.DataFrame:
    """The rows whose traffic is open loop and steady, with traffic, load, hosts and network from their names."""
    folder = resources.files("dragonfly_env.lab.benchmark") / "published"
    with resources.as_file(folder / "dragonfly-v1.parquet") as file:
        table = pd.read_parquet(file)
    table = table[table["quantity"].isin(["latency", "accepted-load"])]
    names = table["case"]
    parts = names.str.extract(r"^(?P<traffic>.+) (?P<load>[\d.]+), (?P<hosts>\S+) hosts, (?P<network>\S+)$")
    assert parts.notna().all(axis=None)
    return table.assign(**{name: parts[name] for name in parts}).astype({"load": float})


@functools.cache
def bounds_of(traffic: str, hosts: str, network: str) -> Bounds:
    topology = dfe.Dragonfly.preset(hosts)
    return Bounds.of(
        dfe.SimulationConfig(topology=topology, network=network, traffic=traffic), most_flows=MOST_FLOWS
    )


SYSTEM = ("traffic", "hosts", "network")


@pytest.mark.slow
def test_no_published_latency_is_below_its_floor_and_no_accepted_load_above_its_bound() -> None:
    compared = 0
    for (traffic, hosts, network), rows in published().groupby(list(SYSTEM)):
        if (traffic, hosts) in TOO_LARGE:
            with pytest.raises(dfe.ConfigError, match="must be smaller"):
                bounds_of(traffic, hosts, network)
            continue
        bounds = bounds_of(traffic, hosts, network)
        # Of any offered load: learners still work off what their first choices left in the source queues.
        assert rows["accepted_load"].max() < LONG_RUN * bounds.most_accepted(1.0), (traffic, hosts, network)
        compared += len(rows)
        for load, mean in rows[rows["quantity"] == "latency"].groupby("load")["value"].min().items():
            assert isinstance(load, float)
            if load <= bounds.most_load:
                assert mean > bounds.latency_floor_ns(load), (traffic, load, hosts, network)
    assert compared > 6000
