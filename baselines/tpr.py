"""TPR: UGAL with a bias by how much its router has sent to the destination group lately."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env.baselines._choices import IntArray, ugal_choice
from dragonfly_env.baselines._levels import (
    LEVEL,
    WEIGHED,
    bias_of,
    check_levels,
    features_of,
)
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_DETOUR = "lgl"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tpr(Policy):
    """UGAL at the source router, ``q_min <= 2 * q_detour + T``, where T follows from how many packets the router's
    hosts have sent to the destination group in the last ``window_ns``: traffic is benign, mixed or adverse.

    ``q`` is as for LIA, and so are the thresholds, which follow from the network unless they are set.

    It counts what has left the injection queues, not what was offered: past saturation the counters fall, traffic
    looks milder than it is, and more of it goes minimally (LIA, section 3.1). ``stored_weight=0.1`` makes them the
    extended counters of LIA, which count what stands in the injection queues, too.

    Source: Faizian et al., IEEE TMSCS 2018; two thresholds, windows and values as in LIA, TACO 2025, section 5.2.
    """

    variants: ClassVar[NamedVariants] = {"tpr": {}}
    source: ClassVar[str] = (
        "Faizian et al., IEEE TMSCS 2018; LIA, TACO 2025, sections 2.2.3 and 5.2 and table 1"
    )

    window_ns: float = parameter()
    stored_weight: float = parameter()
    low_packets: float | None = parameter()
    high_packets: float | None = parameter()
    benign_bias_packets: float = parameter()
    mixed_bias_packets: float = parameter()
    adverse_bias_packets: float = parameter()
    weighed: str = parameter()
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
            "features": (*features_of(self), LEVEL),
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
        levels = batch.layout.counts(batch.obs, LEVEL)[:, 0]
        return ugal_choice(
            batch,
            _DETOUR,
            bias_packets=bias_of(self, levels),
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by=WEIGHED[self.weighed],
        )
