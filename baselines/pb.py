"""Piggyback: UGAL at the source router, which has heard which global links of its group are congested."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import IntArray, piggyback_weighs, ugal_comparison
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_DETOUR = "lgl"
_FLAGS = "candidate_congested"
_TRACKER = "congested-links"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Piggyback(Policy):
    """A detour to a random router (``lgl``) if the minimal path's global link is congested, or if UGAL says so
    (``q_min > 2 * q_detour + bias_packets``); else minimal. Asked at the source router only.

    A global link is congested iff the occupancy of its port is above ``congestion_factor`` times the mean over its
    router's connected global ports plus ``congestion_offset_packets``. Every router tells the others of its group
    which of its links are: they hear of it after the latency of a local link, and it knows at once. Of several
    minimal paths (``minimal_candidates``, with trunking) the flag of the least occupied one's link counts.

    ``weighed`` says what is compared: whole ports (``"port"``), the VC that a path would use first (``"vc"``), or what
    ``NetworkConfig.paths_weighed_by`` names (``"auto"``). On network ``lia`` that is the VC, as in FOGSim, the
    simulator of the paper's authors. A link is congested there if the mean over its VCs is above the threshold.

    Source: LIA, TACO 2025, section 5.2 and table 1; Jiang, Kim, Dally, ISCA 2009.
    """

    variants: ClassVar[NamedVariants] = {"pb": {}}
    source: ClassVar[str] = "LIA, TACO 2025, section 5.2 and table 1; Jiang, Kim, Dally, ISCA 2009"

    congestion_factor: float = parameter()
    congestion_offset_packets: float = parameter()
    bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()
    weighed: str = parameter()

    @property
    def name(self) -> str:
        """``"pb"``."""
        return "pb"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the candidates, and the flags by this policy's own
        parameters, whatever ``config.policy`` is.
        """
        return {
            **Policy.env_options(self),
            "features": (*FEATURES, _FLAGS),
            "trackers": {_TRACKER: self._of_tracker(_TRACKER)},
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison and the flags.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``; occupancies are in
                packets and are the deciding router's own.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for, or the flags.

        Source: LIA, TACO 2025, section 5.2.
        """
        compared = ugal_comparison(
            batch,
            _DETOUR,
            bias_packets=self.bias_packets,
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by=piggyback_weighs(batch, self.weighed),
        )
        flags = batch.layout.counts(batch.obs, _FLAGS)
        congested = flags[np.arange(len(batch)), compared.minimal] > 0
        away = compared.prefers_detour | (compared.exists & congested)
        return np.where(away, compared.detour, compared.minimal)
