"""Three levels of traffic towards a group, and the threshold T of UGAL at each: TPR and LIA."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import real
from dragonfly_env.policies import highest

_MAX_PACKETS = 1e6


class Levels(Protocol):
    """The fields that both have."""

    @property
    def low_packets(self) -> float:
        """Below it traffic is benign."""

    @property
    def high_packets(self) -> float:
        """Above it traffic is adverse."""

    @property
    def benign_bias_packets(self) -> float:
        """T where it is benign."""

    @property
    def mixed_bias_packets(self) -> float:
        """T in between."""

    @property
    def adverse_bias_packets(self) -> float:
        """T where it is adverse."""


def check_levels(policy: Levels) -> None:
    """Refuse thresholds in the wrong order.

    Raises:
        ConfigError: If the low one is above the high one.
    """
    if policy.low_packets > policy.high_packets:
        raise config_error(
            "low_packets", policy.low_packets, f"must be at most high_packets, {policy.high_packets:g}"
        )


def bias_of(policy: Levels, counters: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(N,) T by the counter of each packet's destination group."""
    above = np.where(counters > policy.high_packets, policy.adverse_bias_packets, policy.mixed_bias_packets)
    return np.where(counters < policy.low_packets, policy.benign_bias_packets, above)


def window_ns() -> Any:
    """The history window."""
    return real(
        200.0,
        1.0,
        1e5,
        unit="ns",
        doc="How long a packet counts after it has left its injection queue. Source: HW of LIA, TACO 2025, table 1.",
    )


def threshold(name: str, default: float, doc: str) -> Any:
    """A number of packets in the window."""
    return real(
        default, 0.0, _MAX_PACKETS, unit="packets", doc=f"{doc} Source: {name} of LIA, TACO 2025, table 1."
    )


def low_packets() -> Any:
    """Where benign ends."""
    return threshold(
        "LI_l", 3.0, "Traffic towards a group is benign below so many packets of the router in the window."
    )


def high_packets() -> Any:
    """Where adverse begins."""
    return threshold("LI_h", 5.0, "And adverse above so many; in between it is mixed.")


def level_bias(level: str, default: float) -> Any:
    """T at a level."""
    return real(
        default,
        -highest("ugal-n", "bias_packets"),
        highest("ugal-n", "bias_packets"),
        unit="packets",
        doc=f"T of UGAL's comparison where traffic is {level}: above 0 favours minimal paths. Source: LIA, TACO 2025, "
        "table 1.",
    )
