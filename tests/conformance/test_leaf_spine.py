"""Systems of leaves and spines behave as all others: same bits for every number of threads, and every view works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Scenario, run_all
from dragonfly_env.sweeps.results import load_results
from tests.partitions import cut_into
from tests.ready import ready
from tests.views import VIEWS, play

SMALL = dfe.Dragonfly(p=2, h=2, group=dfe.LeafSpine(leaves=2, spines=2))
REFUSED = ("vlb-gl", "vlb-g")
LEAVES = np.flatnonzero(SMALL.hosts_of_routers())


def config(**changes: Any) -> dfe.SimulationConfig:
    settings: dict[str, Any] = {"topology": SMALL, "traffic": "adv+1", "load": 0.5, "seed": 3}
    return dfe.SimulationConfig(**{**settings, **changes})


@pytest.mark.parametrize("policy", [name for name in dfe.policies() if name not in REFUSED])
def test_threads_and_splits_change_nothing(policy: str) -> None:
    system = config(topology=dfe.Dragonfly.preset("dfp-272"), policy=ready(policy), load=0.3)
    hashes = set()
    for threads, parts, hosts in ((1, 1, 272), (2, 3, 64)):
        with cut_into(hosts):
            simulation = dfe.Simulation(system.replace(threads=threads))
        assert (simulation.num_partitions > 1) == (threads > 1)
        for _ in range(parts):
            simulation.run(1200 / parts)
        simulation.check_invariants()
        hashes.add(simulation.trace_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize("policy", dfe.policies())
def test_no_policy_equals_min_unnoticed(policy: str) -> None:
    """Under adv+1 and a load that MIN cannot carry, a policy has non-minimal paths, or it is refused."""
    if policy in REFUSED:
        with pytest.raises(dfe.ConfigError, match="no router with hosts has a global link of its own"):
            dfe.Simulation(config(policy=policy))
        return
    metrics = dfe.simulate(config(policy=ready(policy), load=0.6), warmup_ns=5_000, measure_ns=10_000)
    assert (metrics.minimal_fraction == 1.0) == (policy == "min")


@pytest.mark.parametrize("scope", ["source", "every", "all"])
@pytest.mark.parametrize("action", ["path", "port"])
def test_every_router_is_an_agent_and_only_leaves_decide_at_the_source(scope: str, action: str) -> None:
    env = dfe.BatchedRoutingEnv(config(load=1.0), scope=scope, action=action, duration_ns=2_000)
    assert env.num_agents == SMALL.num_routers
    rng = np.random.default_rng(1)
    batch = env.reset(seed=1)
    deciders: set[int] = set()
    while not env.done:
        deciders |= set(batch.agents.tolist())
        noise = np.where(batch.mask, rng.random(batch.mask.shape), -1.0)
        batch = env.step(noise.argmax(axis=1))
    assert set(LEAVES.tolist()) <= deciders
    assert (deciders <= set(LEAVES.tolist())) == (scope == "source")
    env.drain()
    assert env.metrics().packets_in_flight == 0


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("action", ["path", "port"])
def test_every_view_plays_episodes_and_repeats_them(view: str, action: str) -> None:
    made = VIEWS[view]
    settings: dict[str, Any] = {**made.short, "action": action}
    if view == "batched":
        settings["config"] = config()
    else:
        settings.update(topology=SMALL, traffic="adv+1", load=0.5, seed=3)
    histories = set()
    for _ in range(2):
        env = made.make(**settings)
        env.reset()
        histories.add(play(made, env))
    assert len(histories) == 1


def test_packets_that_wait_at_spines_belong_to_no_router_with_hosts() -> None:
    """The central state has a row per router, and only leaves have packets in queues towards hosts."""
    env = dfe.BatchedRoutingEnv(config(load=1.0), duration_ns=2_000)
    batch = env.reset(seed=1)
    while not env.done:
        batch = env.step(batch.minimal_actions())
    state = env.state()
    assert len(state) == SMALL.num_routers
    generated, delivered = env.packets_by_router()
    spines = SMALL.hosts_of_routers() == 0
    assert generated[~spines].min() > 0
    assert delivered[~spines].min() > 0
    assert not generated[spines].any()
    assert not delivered[spines].any()


def test_a_sweep_has_figures_and_a_fairness_over_the_leaves_alone(tmp_path: Path) -> None:
    plan = Scenario.from_dict(
        {
            "topology": SMALL.to_dict(),
            "policies": ["min"],
            "traffic": ["uniform"],
            "loads": [0.3],
            "warmup_ns": 500,
            "measure_ns": 2000,
            "arrays": True,
        }
    )
    assert run_all(plan, tmp_path, workers=1).failures == ()
    results = load_results(tmp_path)
    row = results.table.iloc[0]
    assert row["router_accepted_load_min"] == pytest.approx(0.3, rel=0.1)
    assert np.isnan(row["router_accepted_load"]).sum() == SMALL.num_routers - len(LEAVES)
    drawn = {file.stem for file in draw(results, tmp_path / "figures").files}
    assert {"loads", "fairness", "global-links", "ports"} <= drawn
