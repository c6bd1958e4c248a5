"""ACOR: detours whose length follows from how long packets are blocked; alone, and with Piggyback's choice."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import IntArray, piggyback_weighs, short_detour_comparison
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_LEVEL = "detour_level"
_FLAGS = "candidate_congested"
_SOURCE = "ACOR, Benito et al., JPDC 2019; LIA, TACO 2025, sections 2.2.2 and 5.2 and table 1"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Acor(Policy):
    """Always a detour, as long as its router's level says: through one of the router's own global links (``g``), the
    same and then to a random router (``gl``), or to any router (``lgl``).

    A router counts failed attempts of packets that head an injection queue and are to take a detour. A crossbar that
    another packet takes counts once, and no room behind it twice a clock cycle. With ``decide_at="attempt"``, where a
    refused head draws another detour, each refusal counts. The level rises as soon as ``first_increase``, then
    ``second_increase`` are reached, and falls after ``hysteresis_ns`` with at most ``second_decrease``, then
    ``first_decrease``; the counter then starts anew. A router none of whose global links will do uses ``lg`` and
    ``lgl``.

    Source: Benito et al., JPDC 2019; LIA, TACO 2025, sections 2.2.2 and 5.2.
    """

    variants: ClassVar[NamedVariants] = {"acor": {}}
    source: ClassVar[str] = _SOURCE

    first_increase: float = parameter()
    second_increase: float = parameter()
    first_decrease: float = parameter()
    second_decrease: float = parameter()
    hysteresis_ns: float = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"acor"``."""
        return "acor"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the level by this policy's own parameters."""
        return {
            **Policy.env_options(self),
            "features": (*FEATURES, _LEVEL),
            "trackers": {"detour-length": self._of_tracker("detour-length")},
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose the detour of the router's level for every pending packet; the minimal path where there is none.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks a kind of detour, or the level.

        Source: LIA, TACO 2025, section 2.2.2.
        """
        level = batch.layout.counts(batch.obs, _LEVEL)[:, 0]
        compared = short_detour_comparison(
            batch, level > 1, level > 0, bias_packets=0.0, minimal_candidates=1, nonminimal_candidates=1
        )
        return np.where(compared.exists, compared.detour, compared.minimal)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PiggybackAcor(Policy):
    """Piggyback's choice between a minimal path and a detour, with a detour as long as ACOR's level says.

    The parameters are those of ``Piggyback`` and ``Acor``.

    Source: LIA, TACO 2025, section 5.2 and table 1.
    """

    variants: ClassVar[NamedVariants] = {"pb-acor": {}}
    source: ClassVar[str] = _SOURCE

    congestion_factor: float = parameter()
    congestion_offset_packets: float = parameter()
    first_increase: float = parameter()
    second_increase: float = parameter()
    first_decrease: float = parameter()
    second_decrease: float = parameter()
    hysteresis_ns: float = parameter()
    bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()
    weighed: str = parameter()

    @property
    def name(self) -> str:
        """``"pb-acor"``."""
        return "pb-acor"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: candidates, flags and level."""
        return {
            **Policy.env_options(self),
            "features": (*FEATURES, _FLAGS, _LEVEL),
            "trackers": {
                "congested-links": self._of_tracker("congested-links"),
                "detour-length": self._of_tracker("detour-length"),
            },
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison, the flags and the level.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks candidates, flags or the level.

        Source: LIA, TACO 2025, section 5.2.
        """
        level = batch.layout.counts(batch.obs, _LEVEL)[:, 0]
        compared = short_detour_comparison(
            batch,
            level > 1,
            level > 0,
            bias_packets=self.bias_packets,
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by=piggyback_weighs(batch, self.weighed),
        )
        flags = batch.layout.counts(batch.obs, _FLAGS)
        congested = flags[np.arange(len(batch)), compared.minimal] > 0
        away = compared.prefers_detour | (compared.exists & congested)
        return np.where(away, compared.detour, compared.minimal)
