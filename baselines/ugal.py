"""UGAL: minimal or a detour, whichever queue at the source router is shorter."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from dragonfly_env.baselines._choices import IntArray, ugal_choice
from dragonfly_env.baselines._fields import detour
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_NAMES = {"lgl": "ugal-n", "lg": "ugal-g"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ugal(Policy):
    """At the source router, minimal iff ``q_min <= 2 * q_detour + bias_packets``; the choice holds to the
    end.

    ``q`` is the congestion of the path's first port in packets: waiting in its output queues, and sent with
    the credit not yet back. If both paths start on one port, the VCs that they would use are compared
    instead. Traffic inside a group is minimal.

    Source: Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, section 5.1.
    """

    variants: ClassVar[NamedVariants] = {"ugal-g": {"detour": "lg"}, "ugal-n": {"detour": "lgl"}}
    source: ClassVar[str] = "Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, section 5.1"

    detour: str = detour("lgl", tuple(_NAMES))
    bias_packets: float = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"ugal-n"`` or ``"ugal-g"``, by the detour."""
        return _NAMES[self.detour]

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison.

        Args:
            batch: N decisions of source routers, of an environment with ``action="path"`` and this kind of detour;
                occupancies are in packets and are the deciding router's own.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for.

        Source: Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, section 5.1.
        """
        return ugal_choice(
            batch,
            self.detour,
            bias_packets=self.bias_packets,
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
        )
