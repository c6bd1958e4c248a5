"""The policies that come with their weights, and the features that they were given."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.baselines.mlp import training_cpu_s
from tests.parity.cases import config_of, native, play

WEIGHTS = Path(dfe.baselines.__file__).resolve().parent / "weights"
SCOPES = {"neural-v1": "source", "neural-v2": "progressive", "neural-v3": "progressive-busy"}
SUITES = {"neural-v3": "dragonfly-v3"}
KNOWLEDGE = {"neural-v1": "ideal", "neural-v2": "ideal", "neural-v3": "delayed"}
each = pytest.mark.parametrize("name", SCOPES)


def file_of(name: str) -> Path:
    """Its weights."""
    return WEIGHTS / f"{name}.npz"


@each
def test_a_name_is_enough(name: str) -> None:
    policy = dfe.make_policy(name)
    assert policy.to_dict() == {"name": name}
    assert (policy.scope, policy.action) == (SCOPES[name], "path")
    assert policy.knowledge == KNOWLEDGE[name]
    assert name in dfe.policies()


@each
def test_the_weights_are_small_and_those_that_the_page_tells_of(name: str) -> None:
    told = json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))
    file = file_of(name)
    assert file.stat().st_size <= 200_000
    assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (told["name"], told["suite"]) == (name, SUITES.get(name, "dragonfly-v1"))
    assert told["command"].startswith(f"python -m dragonfly_env.lab.neural --recipe {name}")
    assert training_cpu_s(name) == told["cpu_seconds_of_rounds"] > 0


@each
def test_it_runs_as_the_network_in_its_file(name: str) -> None:
    config = config_of(load=0.45)
    ours, theirs = (
        native(config, policy, 3000.0)
        for policy in (dfe.make_policy(name), dfe.make_policy("mlp", weights=file_of(name)))
    )
    assert ours.trace_hash() == theirs.trace_hash()
    assert 0 < ours.metrics().minimal_fraction < 1


@each
@pytest.mark.parametrize("system", ["72", "342"])
def test_core_and_reference_decide_alike_on_every_size(name: str, system: str) -> None:
    config = config_of(topology=dfe.Dragonfly.preset(system), load=0.4, network="lia")
    policy = dfe.make_policy(name)
    env = dfe.BatchedRoutingEnv.for_policy(config, policy, duration_ns=1500.0)
    play(env, policy)
    assert env.trace_hash() == native(config, policy, 1500.0).trace_hash()


KINDS = ("g", "gl", "lg", "lgl")


def env_of(network: str, *features: str) -> dfe.BatchedRoutingEnv:
    return dfe.BatchedRoutingEnv(
        config_of(network=network, load=0.6),
        scope="source",
        action="path",
        features=features,
        nonminimal_kinds=KINDS,
        duration_ns=3000.0,
    )


@pytest.mark.parametrize(("network", "packet_ns"), [("default", 32), ("lia", 10)])
def test_demand_is_what_the_group_would_offer_per_what_its_link_carries(network: str, packet_ns: int) -> None:
    """72 hosts: four routers a group, one link to each other group, windows of 200 ns."""
    offered = ("destination_offered_packets", "destination_remote_packets")
    env = env_of(network, "destination_demand", "destination_remote_demand", *offered)
    batch, most = env.reset(), 0.0
    while not env.done:
        for name, half, packets in (
            ("destination_demand", 4, 4 * env.layout.quantities(batch.obs, "destination_offered_packets")),
            ("destination_remote_demand", 1, env.layout.quantities(batch.obs, "destination_remote_packets")),
        ):
            demand = packets * packet_ns / 200
            shown = np.asarray(batch.obs)[:, env.layout[name].columns]
            np.testing.assert_allclose(shown, demand / (demand + half), rtol=1e-5)
            most = max(most, float(shown.max(initial=0)))
        batch = env.step(batch.minimal_actions())
    assert most > 0.5


@pytest.mark.parametrize(("network", "longer_packets"), [("default", 270 / 32), ("lia", 135 / 10)])
def test_time_of_a_path_is_that_of_its_hops(network: str, longer_packets: float) -> None:
    """A path takes one global link, by way of a third group two; that is so much longer than a local one."""
    env = env_of(network, "candidate_hops", "candidate_time_packets")
    batch = env.reset()
    legal = batch.mask
    third = batch.candidates["intermediate_group"] != batch.packets["destination_group"][:, None]
    assert third[legal].all() == (network == "default")  # the default network avoids the destination's group
    packets = env.layout.quantities(batch.obs, "candidate_time_packets")[legal]
    hops = env.layout.quantities(batch.obs, "candidate_hops")[legal]
    links = np.where((np.arange(legal.shape[1]) == 0) | ~third, 1, 2)
    hops_by_class = np.stack([links[legal], hops - links[legal]], axis=1)
    (of_global, of_local), *_ = np.linalg.lstsq(hops_by_class, packets, rcond=None)
    np.testing.assert_allclose(hops_by_class @ [of_global, of_local], packets, rtol=1e-5)
    assert of_global - of_local == pytest.approx(longer_packets, rel=1e-4)
    assert of_local > 1  # the packet itself


def test_the_queue_before_a_global_link_is_part_of_what_is_under_way() -> None:
    env = env_of("default", "link_packets", "candidate_link_queued_packets")
    batch, most = env.reset(), 0.0
    while not env.done:
        queued = env.layout.quantities(batch.obs, "candidate_link_queued_packets")
        everything = env.layout.quantities(batch.obs, "link_packets")
        assert (queued[batch.mask] >= 0).all()
        if len(batch):
            assert queued[batch.mask].max() <= everything.max()
            most = max(most, float(queued.max()))
        batch = env.step(batch.minimal_actions())
    assert most > 5
