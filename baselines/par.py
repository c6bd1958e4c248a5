"""PAR: UGAL that may change its mind once, at the second router of the source group."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from dragonfly_env.baselines._fields import (
    avoid_destination_group,
    bias_packets,
    minimal_candidates,
    nonminimal_candidates,
)
from dragonfly_env.policies import NamedVariants, Policy


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Par(Policy):
    """UGAL's rule with detours to routers (``lgl``), asked again after a minimal first hop inside the
    source group.

    Source: Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1.
    """

    variants: ClassVar[NamedVariants] = {"par": {}}
    source: ClassVar[str] = "Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1"

    bias_packets: float = bias_packets()
    minimal_candidates: int = minimal_candidates()
    nonminimal_candidates: int = nonminimal_candidates()
    avoid_destination_group: bool | None = avoid_destination_group()

    @property
    def name(self) -> str:
        """``"par"``."""
        return "par"
