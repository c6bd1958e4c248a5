"""Three levels of traffic towards a group, and the threshold T of UGAL at each: TPR and LIA."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import FEATURES, VC_QUEUES


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

    @property
    def weighed(self) -> str:
        """What the two paths are compared by."""


WEIGHED = {"queued": "vc_queued", "occupancy": "vc_occupancy"}
"""What a path is weighed by, and the field of ``DecisionBatch.candidates`` that shows it."""


def features_of(policy: Levels) -> tuple[str, ...]:
    """The features that show the candidates as the policy weighs them."""
    return (*FEATURES, VC_QUEUES) if policy.weighed == "queued" else FEATURES


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
