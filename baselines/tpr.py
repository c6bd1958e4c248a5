"""TPR: UGAL with a bias by how much its router has sent to the destination group lately."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env.baselines._choices import IntArray, ugal_choice
from dragonfly_env.baselines._levels import (
    bias_of,
    check_levels,
)
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_DETOUR = "lgl"
_COUNTER = "destination_injected_packets"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tpr(Policy):
    """UGAL at the source router, ``q_min <= 2 * q_detour + T``, where T follows from how many packets the router's
    hosts have sent to the destination group in the last ``window_ns``: traffic is benign, mixed or adverse.

    ``q`` is the occupancy of the VC that a path would use first, as in the simulator of LIA's authors.

    It counts what has left the injection queues, not what was offered: past saturation the counters fall, traffic
    looks milder than it is, and more of it goes minimally (LIA, section 3.1).

    Source: Faizian et al., IEEE TMSCS 2018; two thresholds, windows and values as in LIA, TACO 2025, section 5.2.
    """

    variants: ClassVar[NamedVariants] = {"tpr": {}}
    source: ClassVar[str] = (
        "Faizian et al., IEEE TMSCS 2018; LIA, TACO 2025, sections 2.2.3 and 5.2 and table 1"
    )

    window_ns: float = parameter()
    low_packets: float = parameter()
    high_packets: float = parameter()
    benign_bias_packets: float = parameter()
    mixed_bias_packets: float = parameter()
    adverse_bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        check_levels(self)

    @property
    def name(self) -> str:
        """``"tpr"``."""
        return "tpr"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the candidates, and the counter."""
        return {
            **Policy.env_options(self),
            "features": (*FEATURES, _COUNTER),
            "trackers": {"offered-traffic": self._of_tracker("offered-traffic")},
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison, biased by the counter.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for, or the counter.

        Source: LIA, TACO 2025, sections 2.2.3 and 5.2.
        """
        counters = batch.layout.quantities(batch.obs, _COUNTER)[:, 0]
        return ugal_choice(
            batch,
            _DETOUR,
            bias_packets=bias_of(self, counters),
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by_vc=True,
        )
