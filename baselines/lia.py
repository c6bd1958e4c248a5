"""LIA: minimal, or the shortest detour that is safe, by counters of the router's own traffic."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import IntArray, short_detour_comparison
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

_REMOTE = "destination_remote_packets"
_SATURATED, _OWN = "saturated_links", "own_links"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lia(Policy):
    """UGAL at the source router, ``q_min <= 2 * q_detour + T``, with T and the length of the detour by counters of
    what the router's own hosts offer. No router tells another one anything.

    A *global counter* per other group: packets for it that left the injection queues in the last ``window_ns``, plus
    ``stored_weight`` times those that stand there. The destination's says whether traffic is benign, mixed or
    adverse, which sets T. The detour makes its first local hop only if the counters of at least ``saturated_groups``
    of the groups behind the router's own global links exceed ``saturated_packets`` (of all of them, where there are
    fewer): others need these links for minimal traffic. It makes its second local hop only if a *remote counter*
    exceeds ``remote_packets``: how many of the router's packets would use one type of local link in the groups
    between. Which destinations use which type is counted on the wiring, so any arrangement, trunking and number of
    groups will do.

    Counters are in packets. The paper writes phits per interval, but its own figures fit packets only: detours of
    kind ``g`` saturate under ADV+h at a load of 1/h, where a router sends h hosts * 1/h * 200 cycles / 10 phits = 20
    packets in a window; the paper reads 17 off the knee and sets the threshold to 20, which is the same for every h.

    The other thresholds depend on the system, and unless they are set they follow from it: a counter shows
    ``U = 20 p / (g - 1)`` packets under uniform traffic at full load, 1.7 with 5,256 hosts and 3.3 with 342, and each
    threshold lies as many standard deviations above U as those of table 1 do with 5,256 hosts (docs/lia.md).

    ``q`` is what stands in the router's output queue for the VC that a path would use first, or with
    ``weighed="occupancy"`` that and what was sent and holds a credit, which is what FOGSim's other policies weigh. The
    paper writes "next hop buffer occupancy"; with the first it does what the paper shows, with the second its values of
    T leave packets waiting for a saturated link (docs/lia.md).

    Source: LIA, TACO 2025, section 4 and table 1.
    """

    variants: ClassVar[NamedVariants] = {"lia": {}}
    source: ClassVar[str] = "LIA, TACO 2025, section 4 and table 1"

    window_ns: float = parameter()
    stored_weight: float = parameter()
    low_packets: float | None = parameter()
    high_packets: float | None = parameter()
    benign_bias_packets: float = parameter()
    mixed_bias_packets: float = parameter()
    adverse_bias_packets: float = parameter()
    weighed: str = parameter()
    saturated_packets: float | None = parameter()
    saturated_groups: int = parameter()
    remote_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        check_levels(self)

    @property
    def name(self) -> str:
        """``"lia"``."""
        return "lia"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the candidates, and the counters."""
        return {
            **Policy.env_options(self),
            "features": (*features_of(self), LEVEL, _SATURATED, _OWN, _REMOTE),
            "trackers": {
                "offered-traffic": self._of_tracker("offered-traffic"),
                "remote-traffic": self._of_tracker("remote-traffic"),
            },
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison and the counters.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for, or the counters.

        Source: LIA, TACO 2025, section 4.
        """
        remote = batch.layout.quantities(batch.obs, _REMOTE)[:, 0]
        level, saturated, own = (
            batch.layout.counts(batch.obs, name)[:, 0] for name in (LEVEL, _SATURATED, _OWN)
        )
        compared = short_detour_comparison(
            batch,
            saturated >= np.minimum(self.saturated_groups, own),
            remote > self.remote_packets,
            bias_packets=bias_of(self, level),
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by=WEIGHED[self.weighed],
        )
        return np.where(compared.prefers_detour, compared.detour, compared.minimal)
