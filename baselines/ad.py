"""Aries' adaptive modes: minimal paths against detours by the load of ports, with a bias that a mode chooses."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env.baselines._choices import MINIMAL, IntArray, candidates_of, columns_of
from dragonfly_env.config.rows import choice
from dragonfly_env.decisions.layout import FEATURES
from dragonfly_env.policies import NamedVariants, Policy, check_gateways, parameter

if TYPE_CHECKING:
    import numpy.typing as npt

    from dragonfly_env.decisions.batch import DecisionBatch

_LEVEL = "load_level"
_TRACKER = "load-levels"
_NEVER = np.iinfo(np.int64).max
_SOURCE = (
    "Chunduri et al., IPDPS 2021, section II-D; Alverson et al., Cray XC Series Network, 2012; "
    "De Sensi et al., SC 2019"
)
_SCOPES = {
    ("progressive", True): "progressive",
    ("progressive", False): "way",
    ("source", True): "source-any",
    ("source", False): "source",
}
_MODES: dict[str, tuple[tuple[int, int], ...]] = {
    "ad0": ((0, 0), (0, 0), (0, 0)),
    "ad1": ((0, 0), (1, 0), (2, 0)),
    "ad2": ((0, 4), (0, 4), (0, 4)),
    "ad3": ((2, 0), (2, 0), (2, 0)),
}


class _Aries(Policy):
    """What the modes share: where they are asked, and the comparison."""

    __slots__ = ()

    source: ClassVar[str] = _SOURCE

    minimal_candidates: int
    nonminimal_candidates: int
    ties: str
    gateways: str
    decide: str
    later_nonminimal: str
    in_group: bool
    in_destination_group: bool

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        check_gateways(self.gateways, self.minimal_candidates)

    @abstractmethod
    def biases(self) -> tuple[IntArray, IntArray]:
        """(2, 3) shift and add of minimal paths, and of detours, by hops taken: none, one, more."""

    @property
    def scope(self) -> str:
        """Where it is asked: ``"progressive"``, and less with other values of ``decide`` and ``in_group``."""
        return _SCOPES[self.decide, self.in_group]

    @property
    def _by_own_links(self) -> bool:
        """Whether routers behind the first one decide, with their own global links alone."""
        return self.decide == "progressive" and self.later_nonminimal == "own-links"

    def env_options(self) -> dict[str, Any]:
        """What the batched environment needs for ``act``: the candidates, and the load of every port."""
        return {
            **Policy.env_options(self),
            "detours": ("lg", *(("l",) if self.in_group else ()), *(("g",) if self._by_own_links else ())),
            "features": (*FEATURES, _LEVEL),
            "trackers": {_TRACKER: self._of_tracker(_TRACKER)},
        }

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet: the side with the lower biased load.

        Args:
            batch: N decisions of any routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; among candidates of a side the least loaded, then the first drawn.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters ask for, or the loads.

        Source: Chunduri et al., IPDPS 2021, section II-D.
        """
        candidates = candidates_of(batch)
        of_ports = batch.layout.counts(batch.obs, _LEVEL).astype(np.int64)
        rows = np.arange(len(batch))
        at = np.clip(candidates["port"].astype(np.int64) - batch.layout.first_port, 0, None)
        straight = columns_of(batch, MINIMAL, self.minimal_candidates)
        hops = np.minimum(batch.layout.counts(batch.obs, "hops")[:, 0].astype(np.int64), 2)
        around = columns_of(batch, "lg", self.nonminimal_candidates)
        mask = batch.mask
        if self._by_own_links:
            own_links = columns_of(batch, "g", self.nonminimal_candidates)
            mask = mask.copy()
            mask[np.ix_(hops > 0, around)] = False
            mask[np.ix_(hops == 0, own_links)] = False
            around = np.concatenate([around, own_links])
        if self.in_group:  # legal only where the others are not
            inside = columns_of(batch, "l", self.nonminimal_candidates)
            around = np.concatenate([around, inside])
            if not self.in_destination_group:
                arrives = (hops > 0) & (batch.layout.counts(batch.obs, "group_offset")[:, 0] == 0)
                mask = mask.copy()
                mask[np.ix_(arrives, inside)] = False
        levels = np.where(mask, of_ports[rows[:, None], at], _NEVER)
        minimal = straight[levels[:, straight].argmin(axis=1)]
        detour = around[levels[:, around].argmin(axis=1)]
        exists = mask[rows, detour]

        of_minimal, of_detour = self.biases()
        q_minimal = (levels[rows, minimal] << of_minimal[0, hops]) + of_minimal[1, hops]
        load = np.where(exists, levels[rows, detour], 0)
        q_detour = (load << of_detour[0, hops]) + of_detour[1, hops]
        leaves = q_detour < q_minimal
        if self.ties == "nonminimal":
            leaves |= q_detour == q_minimal
        elif self.ties == "random":
            leaves |= (q_detour == q_minimal) & (batch.draws[:, 0] >= 0.5)
        actions: IntArray = np.where(exists & leaves, detour, minimal)
        return actions


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AriesMode(_Aries):
    """One of the four modes of Cray's Aries that a job may choose from.

    The source router weighs the less loaded of two shortest paths against the less loaded of two non-minimal paths by a
    random other group. Later routers of the source group weigh again while the packet is on a minimal path, against
    their own global links alone (``later_nonminimal``). The router by which a packet enters its intermediate group, and
    the source router of a packet that stays in its group, weigh paths by a random router of the group (``in_group``).
    In its destination group a packet goes minimally (``in_destination_group``). The load of a path is that of its first
    port, 0 to 15 (see ``levels_near``). The non-minimal path is taken if its load, biased, is lower:

    * ``ad0``: as it is;
    * ``ad1``: as it is at the source router, doubled behind one hop, four times behind more (the numbers are not
      public);
    * ``ad2``: four levels more;
    * ``ad3``: four times as much.

    Source: Chunduri et al., IPDPS 2021, section II-D; Alverson et al., "Cray XC Series Network", 2012; the modes as the
    public header of uGNI numbers them.
    """

    variants: ClassVar[NamedVariants] = {name: {"mode": name} for name in _MODES}

    mode: str = choice("ad0", tuple(_MODES), doc="Which of the four modes.")
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    ties: str = parameter()
    gateways: str = parameter()
    decide: str = parameter()
    later_nonminimal: str = parameter()
    in_group: bool = parameter()
    in_destination_group: bool = parameter()
    levels_near: float = parameter()
    levels_far: float = parameter()
    level_empty: int = parameter()
    wire_share: float = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"ad0"`` to ``"ad3"``."""
        return self.mode

    def biases(self) -> tuple[IntArray, IntArray]:
        """(2, 3) shift and add of minimal paths, and of detours, by hops taken: none, one, more."""
        return np.zeros((2, 3), dtype=np.int64), np.array(_MODES[self.mode], dtype=np.int64).T


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Aries(_Aries):
    """Aries' rule with a bias of one's own: see ``AriesMode`` for what is weighed where.

    A load becomes ``(load << shift) + add``, with a pair for each side and number of hops taken: none (``first``), one
    (``second``), more (``later``). All are 0 by default, which is ``ad0``.

    Source: Chunduri et al., IPDPS 2021, section II-D; widths as in the register descriptions of the router.
    """

    variants: ClassVar[NamedVariants] = {"ad": {}}

    minimal_shift_first: int = parameter()
    minimal_shift_second: int = parameter()
    minimal_shift_later: int = parameter()
    minimal_add_first: int = parameter()
    minimal_add_second: int = parameter()
    minimal_add_later: int = parameter()
    nonminimal_shift_first: int = parameter()
    nonminimal_shift_second: int = parameter()
    nonminimal_shift_later: int = parameter()
    nonminimal_add_first: int = parameter()
    nonminimal_add_second: int = parameter()
    nonminimal_add_later: int = parameter()
    minimal_candidates: int = parameter()
    nonminimal_candidates: int = parameter()
    ties: str = parameter()
    gateways: str = parameter()
    decide: str = parameter()
    later_nonminimal: str = parameter()
    in_group: bool = parameter()
    in_destination_group: bool = parameter()
    levels_near: float = parameter()
    levels_far: float = parameter()
    level_empty: int = parameter()
    wire_share: float = parameter()
    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"ad"``."""
        return "ad"

    def biases(self) -> tuple[IntArray, IntArray]:
        """(2, 3) shift and add of minimal paths, and of detours, by hops taken: none, one, more."""

        def of(side: str) -> npt.NDArray[np.int64]:
            pairs = [
                [getattr(self, f"{side}_{what}_{hops}") for hops in ("first", "second", "later")]
                for what in ("shift", "add")
            ]
            return np.array(pairs, dtype=np.int64)

        return of("minimal"), of("nonminimal")
