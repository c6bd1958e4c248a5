"""The figures of a measurement that are one number each, by the names of tables and JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragonfly_env.metrics.metrics import Metrics


def figures_of(metrics: Metrics) -> dict[str, int | float | None]:
    """See ``Metrics.to_dict``."""
    row: dict[str, int | float | None] = {
        "duration_ns": metrics.duration_ns,
        "offered_load": metrics.offered_load,
        "accepted_load": metrics.accepted_load,
        "demanded_load": metrics.demanded_load,
        "destination_load_max": metrics.destination_load_max,
        "saturated": metrics.saturated,
        "stationary": metrics.stationary,
        "packets_generated": metrics.packets_generated,
        "packets_lost": metrics.packets_lost,
        "packets_injected": metrics.packets_injected,
        "packets_delivered": metrics.packets_delivered,
        "packets_in_network": metrics.packets_in_network,
        "packets_in_source_queues": metrics.packets_in_source_queues,
        "packets_in_flight": metrics.packets_in_flight,
        "packet_hops": metrics.packet_hops,
        "latency_mean_ns": metrics.latency_mean_ns,
        "latency_min_ns": metrics.latency_min_ns,
        "latency_p50_ns": metrics.latency_percentile_ns(50),
        "latency_p95_ns": metrics.latency_percentile_ns(95),
        "latency_p99_ns": metrics.latency_percentile_ns(99),
        "latency_p99_9_ns": metrics.latency_percentile_ns(99.9),
        "latency_max_ns": metrics.latency_max_ns,
        "network_latency_mean_ns": metrics.network_latency_mean_ns,
        "hops_mean": metrics.hops_mean,
        "minimal_fraction": metrics.minimal_fraction,
    }
    row |= {
        "makespan_ns": metrics.makespan_ns,
        "messages_delivered": None if metrics.messages is None else metrics.messages.delivered,
        "message_latency_mean_ns": metrics.message_latency_mean_ns,
        "message_latency_p50_ns": metrics.message_latency_percentile_ns(50),
        "message_latency_p99_ns": metrics.message_latency_percentile_ns(99),
        "message_latency_max_ns": metrics.message_latency_percentile_ns(100),
    }
    for prefix, fairness in (("router", metrics.fairness), ("group", metrics.group_fairness)):
        row[f"{prefix}_accepted_load_min"] = fairness.min
        row[f"{prefix}_accepted_load_max"] = fairness.max
        row[f"{prefix}_fairness_jain"] = fairness.jain
    for kind, totals in metrics.link_classes.items():
        prefix = kind.replace("-", "_")
        row.update({f"{prefix}_link_{name}": value for name, value in dataclasses.asdict(totals).items()})
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()
    }
