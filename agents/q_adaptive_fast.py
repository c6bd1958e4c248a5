"""Q-adaptive that stands from the first packet on. Runs in the core."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from dragonfly_env.agents.q_adaptive import QAdaptive
from dragonfly_env.policies import NamedVariants


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class QAdaptiveFast(QAdaptive):
    """``QAdaptive`` for traffic that the minimal paths cannot carry, from an empty table on.

    The published learner collapses before it has learned: its first values call a local port of the source group the
    next best way, behind that packets go minimally and meet the very link that they were to avoid, and no bad news
    comes back, because the next router reports its best port and not the one that they took. While that lasts, a
    backlog builds up that a network near saturation carries for a millisecond. So here

    - the source router weighs the minimal port against global ones only (``source_ports``),
    - the next router reports the value of the port that the packet takes (``next_value``),
    - values start with the time of the whole way without congestion (``initial_values``),
    - a packet in a port's own queues counts two packet times (``queue_weight``): where a queue has grown, ports
      behind it are congested, too, and that is not in the table yet,
    - in an intermediate group a gain of 20 % is enough for a local detour (``q_thld2``).

    Rates and the other threshold are the paper's. Under uniform traffic it is as ``QAdaptiveQueue``; what that one
    loses under ``many-to-many`` with 2,550 hosts is not mended.

    Source: this project (docs/notes/q-adaptive-variants.md), after Kang, Wang, Lan, HPDC 2021, section 4.
    """

    variants: ClassVar[NamedVariants] = {"q-adaptive-fast": {}}
