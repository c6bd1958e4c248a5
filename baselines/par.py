"""PAR: UGAL that may change its mind once, at the second router of the source group."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from dragonfly_env.baselines._choices import IntArray, ugal_choice
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_DETOUR = "lgl"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Par(Policy):
    """UGAL's rule with detours to routers (``lgl``), asked again after a minimal first hop inside the
    source group.

    Source: Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1.
    """

    variants: ClassVar[NamedVariants] = {"par": {}}
    source: ClassVar[str] = "Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1"

    bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"par"``."""
        return "par"

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison, at the first two routers of a minimal path.

        Args:
            batch: N decisions of any routers, of an environment with ``action="path"`` and detours ``lgl``;
                occupancies are in packets and are the deciding router's own.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first. A packet that
            has left its source group, or has been sent on a detour, goes on as planned: its mask allows nothing else.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for.

        Source: Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1.
        """
        return ugal_choice(
            batch,
            _DETOUR,
            bias_packets=self.bias_packets,
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
        )
