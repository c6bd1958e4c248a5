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
    def low_packets(self) -> float | None:
        """Below it traffic is benign; None: as follows from the network."""

    @property
    def high_packets(self) -> float | None:
        """Above it traffic is adverse; None: as follows from the network."""

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


LEVEL = "destination_traffic_level"
"""The feature that shows how adverse traffic to the destination group is."""


def features_of(policy: Levels) -> tuple[str, ...]:
    """The features that show the candidates as the policy weighs them."""
    return (*FEATURES, VC_QUEUES) if policy.weighed == "queued" else FEATURES


def check_levels(policy: Levels) -> None:
    """Refuse thresholds in the wrong order.

    Raises:
        ConfigError: If the low one is above the high one.
    """
    if (
        policy.low_packets is not None
        and policy.high_packets is not None
        and policy.low_packets > policy.high_packets
    ):
        raise config_error(
            "low_packets", policy.low_packets, f"must be at most high_packets, {policy.high_packets:g}"
        )


def bias_of(policy: Levels, levels: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """(N,) T by the level of traffic to each packet's destination group, a count of ``LEVEL``."""
    biases = (policy.benign_bias_packets, policy.mixed_bias_packets, policy.adverse_bias_packets)
    return np.array(biases, dtype=np.float64)[levels]
