"""Fields of a network: what the core restricts, and bandwidths, which it reads as times."""

from __future__ import annotations

from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.config import rows

ROWS = {row["name"]: row for row in _core.network_rows()}
"""What the core restricts of a network, by its own names."""
MAX_BANDWIDTH = 1e6
MAX_BUFFER = int(ROWS["local_buffer_packets"]["high"] or 0)
MAX_VCS = int(ROWS["local_vcs"]["high"] or 0)
MAX_LATENCY_NS = (ROWS["local_latency_ps"]["high"] or 0) / PS_PER_NS


def of_core(name: str, default: float | str, unit: str, doc: str) -> Any:
    """A field that the core reads by that name, and restricts in its row of that name."""
    return rows.of_core(ROWS[name], default, unit, doc)


def bandwidth(
    name: str, default: float | None, doc: str, *, optional: bool = False, infinite: bool = False
) -> Any:
    """A bandwidth; the core reads the time of a packet by that name."""
    return rows.real(
        default,
        0.0,
        MAX_BANDWIDTH,
        open_low=True,
        unit="GB/s",
        doc=doc,
        optional=optional,
        infinite=infinite,
        core=name,
    )
