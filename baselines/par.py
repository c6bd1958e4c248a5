"""``par``, progressive adaptive routing: UGAL with non-minimal paths by a random router (``lgl``), decided again after
a minimal first hop inside the source group.

In an environment with ``scope="every"`` no other router decides: behind the second one, and on a non-minimal path, a
packet has a single legal action.

Source: Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dragonfly_env.baselines import ugal

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray


def act(batch: DecisionBatch, **parameters: Any) -> IntArray:
    """(N,) a path for every packet at the first two routers of a minimal path, by UGAL's rule."""
    return ugal.act(batch, kind="lgl", **parameters)
