"""Valiant: every packet that leaves its group goes minimally to a random intermediate group or router, then minimally
to its destination.

It halves the throughput of friendly traffic and keeps half of it under any other. The path goes by a router (``lgl``,
named ``val-n``) or a group (``lg``, ``val-g`` and ``vlb-lg``); ``gl`` and ``g`` (``vlb-gl``, ``vlb-g``) leave through a
global link of the source router itself, which saves a hop and loads fewer links.

Packets to another router of their own group go minimally. With ``own_group="local"`` they visit a random other router
of the group first, as LIA's section 3.2 has it; with ``"global"`` they take non-minimal paths by other groups, as
packets to these do. The paths of packets to the same router are always minimal.

Source: Valiant, Brebner, STOC 1981; Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dragonfly_env.baselines.ugal import columns_of

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray

KINDS = {"val-g": "lg", "val-n": "lgl", "vlb-lg": "lg", "vlb-gl": "gl", "vlb-g": "g"}
"""The kind of non-minimal path by the name of the policy; the papers have two names for ``lg``."""


def act(batch: DecisionBatch, *, kind: str, own_group: str, **_: object) -> IntArray:
    """(N,) the first non-minimal path of every packet; the minimal path where there is none."""
    (minimal,) = columns_of(batch, "minimal", 1)
    (nonminimal,) = columns_of(batch, kind, 1)
    chosen = np.full(len(batch), nonminimal, dtype=np.int64)
    if own_group == "local":
        (local,) = columns_of(batch, "l", 1)
        stays = batch.layout.counts(batch.obs, "group_offset")[:, 0] == 0
        chosen[stays] = local
    legal = batch.mask[np.arange(len(batch)), chosen]
    return np.where(legal, chosen, minimal)
