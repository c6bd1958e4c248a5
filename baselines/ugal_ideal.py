"""UGAL-G: UGAL that sees the global links of its whole group without delay."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import MINIMAL, IntArray, columns_of
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_DETOUR = "lgl"
_PACKETS = "candidate_link_packets"
_NEVER = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UgalIdeal(Policy):
    """At the source router, minimal iff ``q_min <= 2 * q_detour + bias_packets``, where ``q`` is the occupancy, on
    the *global* link by which a path leaves the group, of the VC that it would use there, at whatever router of the
    group that is, as it is right now.

    No router could know that: an ideal to measure others by. It is LIA's UGAL-G; ``ugal-g`` is that of the
    Q-adaptive paper, by local occupancy.

    Source: LIA, TACO 2025, section 5.2; Kim, Dally, Scott, Abts, ISCA 2008.
    """

    variants: ClassVar[NamedVariants] = {"ugal-ideal": {}}
    source: ClassVar[str] = "LIA, TACO 2025, section 5.2 (UGAL-G); Kim, Dally, Scott, Abts, ISCA 2008"

    bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"ugal-ideal"``."""
        return "ugal-ideal"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the candidates, and their global links' occupancies."""
        return {
            **Policy.env_options(self),
            "features": (*FEATURES, _PACKETS),
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by the occupancies of global links.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for, or the occupancies.

        Source: LIA, TACO 2025, section 5.2 and equation 1.
        """
        packets = batch.layout.counts(batch.obs, _PACKETS).astype(np.int64)
        usable = np.where(batch.mask, packets, _NEVER)
        straight = columns_of(batch, MINIMAL, self.minimal_candidates)
        around = columns_of(batch, _DETOUR, self.nonminimal_candidates)
        minimal = straight[usable[:, straight].argmin(axis=1)]
        detour = around[usable[:, around].argmin(axis=1)]
        rows = np.arange(len(batch))
        exists = batch.mask[rows, detour]
        away = exists & (packets[rows, minimal] > 2.0 * packets[rows, detour] + self.bias_packets)
        actions: IntArray = np.where(away, detour, minimal)
        return actions
