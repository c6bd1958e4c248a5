"""A suite that takes no time."""

from __future__ import annotations

from typing import Any


def tiny(**changes: Any) -> dict[str, Any]:
    """A suite of two tracks; ``changes`` of the cases of the first."""
    steady = {
        "effort": "quick",
        "split": "train",
        "networks": ["default"],
        "hosts": [72],
        "traffic": ["adv+1"],
        "loads": [0.1, 0.3],
        "warmup_ns": 500,
        "measure_ns": 1500,
    }
    change = {
        "effort": "quick",
        "split": "test",
        "networks": ["default"],
        "hosts": [72],
        "traffic": [{"label": "change", "schedule": [[0, "uniform", 0.2], [2000, "adv+1", 0.2]]}],
        "measure_ns": 6000,
    }
    return {
        "name": "tiny-v1",
        "title": "Tiny",
        "references": {
            "untuned": ["min", "val-g"],
            "tuned": ["ugal-n:bias_packets=5"],
            "online": ["q-adaptive"],
        },
        "seeds": {"quick": 2, "full": 2},
        "tracks": {
            "steady": {"title": "Steady", "quantity": "latency", "cases": [{**steady, **changes}]},
            "transient": {
                "title": "Change",
                "quantity": "latency-after-change",
                "after_ns": 2000,
                "series_bin_ns": 500,
                "cases": [change],
            },
        },
    }
