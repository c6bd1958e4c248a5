"""Small runs for the tests of the page. Not a test itself."""

from __future__ import annotations

from typing import Any

from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.scenario import Scenario

GRID = {"p": 1, "group": "grid:rows=2,columns=3,row_links=1,column_links=2", "h": 1, "g": 4}


def runs(**changes: Any) -> list[Run]:
    """Two policies on 72 hosts, unless something else is wanted."""
    settings: dict[str, Any] = {
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "traffic": ["adv+1"],
        "loads": [0.4],
        "warmup_ns": 1000.0,
        "measure_ns": 4000.0,
        **changes,
    }
    return Scenario.from_dict(settings).runs()
