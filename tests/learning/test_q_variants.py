"""The benefit of the variants of Q-adaptive shows on 72 hosts, too (docs/reports/2026-11-21-q-adaptive-variants.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dragonfly_env as dfe

pytestmark = pytest.mark.learning

SEEDS = (1, 2)


def measured(policy: dfe.Policy, traffic: str, load: float, warmup_ns: float) -> list[dfe.Metrics]:
    """Over 100 us, one per seed."""
    found = []
    for seed in SEEDS:
        config = dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("72", arrangement="absolute"),
            network=dfe.NetworkConfig.preset("q-adaptive"),
            traffic=traffic,
            load=load,
            policy=policy,
            injection="periodic",
            source_queue_packets=20,
            seed=seed,
        )
        found.append(dfe.simulate(config, warmup_ns=warmup_ns, measure_ns=100_000.0))
    return found


def mean(runs: list[dfe.Metrics], quantity: Callable[[dfe.Metrics], float]) -> float:
    return sum(map(quantity, runs)) / len(runs)


def test_seeing_queues_helps_most_where_tables_lag_behind() -> None:
    published = measured(dfe.make_policy("q-adaptive"), "adv+4", 0.45, 300_000.0)
    with_queues = measured(dfe.make_policy("q-adaptive-queue"), "adv+4", 0.45, 300_000.0)
    assert mean(with_queues, lambda m: m.latency_mean_ns) < 0.85 * mean(
        published, lambda m: m.latency_mean_ns
    )
    assert min(m.accepted_load for m in with_queues) > 0.448 > max(m.accepted_load for m in published)


def test_seeing_queues_costs_nothing_where_the_minimal_path_is_best() -> None:
    published = measured(dfe.make_policy("q-adaptive"), "uniform", 0.8, 300_000.0)
    with_queues = measured(dfe.make_policy("q-adaptive-queue"), "uniform", 0.8, 300_000.0)
    assert mean(with_queues, lambda m: m.latency_mean_ns) < 1.01 * mean(
        published, lambda m: m.latency_mean_ns
    )


def test_path_times_spare_uniform_traffic_the_search() -> None:
    published = measured(dfe.make_policy("q-adaptive"), "uniform", 0.8, 0.0)
    informed = measured(dfe.make_policy("q-adaptive", initial_values="path-time"), "uniform", 0.8, 0.0)
    assert mean(informed, lambda m: m.latency_mean_ns) < 0.9 * mean(published, lambda m: m.latency_mean_ns)


def test_weighing_only_ports_that_lead_elsewhere_spares_the_collapse_of_an_empty_table() -> None:
    early = {
        kind: measured(dfe.make_policy(kind), "adv+2", 0.45, 0.0)
        for kind in ("q-adaptive-queue", "q-adaptive-fast")
    }
    late = {
        kind: measured(dfe.make_policy(kind), "adv+2", 0.45, 200_000.0)
        for kind in ("q-adaptive-queue", "q-adaptive-fast")
    }

    def latency_ns(runs: list[dfe.Metrics]) -> float:
        return mean(runs, lambda m: m.latency_mean_ns)

    assert latency_ns(early["q-adaptive-fast"]) < 0.65 * latency_ns(early["q-adaptive-queue"])
    assert latency_ns(late["q-adaptive-fast"]) < latency_ns(late["q-adaptive-queue"])
