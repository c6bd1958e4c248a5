"""Networks that are cut into partitions of another size than the core would choose."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from dragonfly_env.simulation.config import SimulationConfig


@contextlib.contextmanager
def cut_into(hosts_per_partition: int) -> Iterator[None]:
    """Networks that are made in this context have partitions of about so many hosts."""
    original = SimulationConfig.to_core

    def to_core(self: SimulationConfig) -> Any:
        return {**original(self), "hosts_per_partition": hosts_per_partition}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulationConfig, "to_core", to_core)
        yield
