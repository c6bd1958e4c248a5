"""Valiant routing: always a random detour; the kinds of detour of the Q-adaptive paper and of LIA."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import MINIMAL, IntArray, columns_of
from dragonfly_env.baselines._fields import DETOURS, detour
from dragonfly_env.config.rows import choice
from dragonfly_env.policies import NamedVariants, Policy, parameter

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

# The papers have two names for the detour "lg": val-g and vlb-lg. Every other detour has one.
_FAMILY = {"lgl": "val", "gl": "vlb", "g": "vlb"}
_VAL_NAMES = {"lgl": "val-n", "lg": "val-g"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Valiant(Policy):
    """Every packet that leaves its group goes minimally to a random detour, then minimally to its
    destination.

    It halves the throughput of friendly traffic and keeps half of it under any other. The detour is a router
    (``lgl``, named ``val-n``) or a group (``lg``, ``val-g``); ``gl`` and ``g`` (``vlb-gl``, ``vlb-g``) leave
    through a global link of the source router itself, which saves a hop and loads fewer links.

    Packets to another router of their own group go minimally. With ``own_group="local"`` they visit a random other
    router of the group first, as LIA's section 3.2 has it; with ``"global"`` they take detours by other groups, as
    packets to these do. The paths of packets to the same router are always minimal.

    Source: Valiant, Brebner, STOC 1981; Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2.
    """

    variants: ClassVar[NamedVariants] = {
        "val-g": {"detour": "lg", "family": "val"},
        "val-n": {"detour": "lgl", "family": "val"},
        "vlb-lg": {"detour": "lg", "family": "vlb"},
        "vlb-gl": {"detour": "gl", "family": "vlb"},
        "vlb-g": {"detour": "g", "family": "vlb"},
    }
    aliases: ClassVar[dict[str, str]] = {"vlb-lgl": "val-n"}
    source: ClassVar[str] = (
        "Valiant, Brebner, STOC 1981; Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2"
    )

    detour: str = detour("lgl", DETOURS)
    avoid_destination_group: bool | None = parameter()
    own_group: str = parameter()
    family: str | None = choice(
        None,
        ("val", "vlb"),
        optional=True,
        doc="Which of its two names the detour 'lg' goes by: 'val' (val-g) or 'vlb' (vlb-lg). "
        "Routing is the same.",
    )

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        object.__setattr__(self, "family", _FAMILY.get(self.detour, self.family or "val"))

    @property
    def name(self) -> str:
        """``"val-n"``, ``"val-g"``, ``"vlb-lg"``, ``"vlb-gl"`` or ``"vlb-g"``."""
        return _VAL_NAMES[self.detour] if self.family == "val" else f"vlb-{self.detour}"

    @property
    def scope(self) -> str:
        """Where it is asked: ``"source"``; with other ``own_group`` than minimal ``"source-around"``."""
        return "source" if self.own_group == "minimal" else "source-around"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``."""
        options = Policy.env_options(self)
        return {**options, "detours": (self.detour, "l")} if self.own_group == "local" else options

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose the first detour for every pending packet; the minimal path where there is none.

        Args:
            batch: N decisions of source routers, of an environment with ``action="path"`` and this kind of detour.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks these candidates.

        Source: Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2.
        """
        (minimal,) = columns_of(batch, MINIMAL, 1)
        (around,) = columns_of(batch, self.detour, 1)
        legal = batch.mask[:, around]
        if self.own_group == "local":
            (local,) = columns_of(batch, "l", 1)
            inside = batch.layout.counts(batch.obs, "group_offset")[:, 0] == 0
            around = np.where(inside, local, around)
            legal = np.where(inside, batch.mask[:, local], legal)
        actions: IntArray = np.where(legal, around, minimal)
        return actions
