"""What the reference implementations in NumPy share: the candidates of a batch by kind, and UGAL's comparison.

They act on a batch of an environment with ``action="path"``. The core has drawn the candidates from the same random
streams as its own policies, so the same rule takes the same decisions.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import VC_QUEUES

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

BoolArray: TypeAlias = npt.NDArray[np.bool_]

MINIMAL = "minimal"
_NEVER = np.iinfo(np.int64).max


def _check_paths(batch: DecisionBatch) -> None:
    if not batch.layout.candidates:
        raise config_error(
            "action", "port", "must be 'path' in the environment of this policy: it weighs paths"
        )


def candidates_of(batch: DecisionBatch) -> npt.NDArray[Any]:
    """(N, A) the candidate paths of a batch, see ``DecisionBatch.candidates``.

    Raises:
        ConfigError: If there are none: the actions are ports, or a view's observations do not show them.
    """
    _check_paths(batch)
    if batch.candidates is None:
        raise config_error(
            "features", tuple(batch.layout.features), "must contain those of candidates, or be None"
        )
    return batch.candidates


def _check_shown(batch: DecisionBatch, by: str) -> None:
    if by == "vc_queued" and VC_QUEUES not in batch.layout:
        raise config_error(
            "features",
            tuple(batch.layout.features),
            f"must contain {VC_QUEUES!r} in the environment of this policy",
        )


def columns_of(batch: DecisionBatch, kind: str, count: int) -> IntArray:
    """The actions that stand for the first ``count`` candidates of one kind.

    Args:
        batch: Decisions of an environment with ``action="path"``.
        kind: ``"minimal"`` or a kind of non-minimal path (``"lgl"``, ``"lg"``, ``"gl"``, ``"g"``).
        count: How many random candidates of that kind the policy weighs.

    Returns:
        (count,) columns of ``batch.candidates`` and ``batch.mask``, in the order in which they were drawn.

    Raises:
        ConfigError: If the environment offers fewer; the message says which of its arguments give them.
    """
    _check_paths(batch)
    kinds = batch.layout.candidates
    columns = np.flatnonzero([name == kind for name in kinds])
    if kind == MINIMAL:
        if count == 1 != len(columns) or len(columns) < count:
            raise config_error(
                "minimal_candidates",
                len(columns),
                f"must be {'' if count == 1 else 'at least '}{count} in the environment, as in the policy",
            )
    elif not len(columns):
        detours = tuple(dict.fromkeys(name for name in kinds if name != MINIMAL))
        raise config_error(
            "nonminimal_kinds", detours, f"must contain {kind!r} in the environment of this policy"
        )
    elif len(columns) < count:
        raise config_error(
            "nonminimal_candidates",
            len(columns),
            f"must be at least {count} in the environment: the policy has nonminimal_candidates={count}",
        )
    return columns[:count]


def least_occupied(
    batch: DecisionBatch, columns: IntArray, by: str = "occupancy"
) -> tuple[IntArray, BoolArray]:
    """The legal candidate among ``columns`` whose first port is the least occupied, the first of equals.

    Args:
        batch: N decisions.
        columns: Candidates.
        by: The field of ``batch.candidates`` that says how occupied one is.

    Returns:
        (N,) columns, and (N,) whether there is a legal one at all (if not, the column means nothing).
    """
    legal = batch.mask[:, columns]
    occupancy = candidates_of(batch)[by][:, columns].astype(np.int64)
    best: IntArray = columns[np.where(legal, occupancy, _NEVER).argmin(axis=1)]
    exists: BoolArray = np.any(legal, axis=1)
    return best, exists


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class UgalComparison:
    """The two sides of UGAL's comparison, row by row."""

    minimal: IntArray
    """(N,) the action of the minimal path."""
    detour: IntArray
    """(N,) that of the non-minimal path; means nothing where none exists."""
    exists: BoolArray
    """(N,) whether there is a non-minimal path."""
    prefers_detour: BoolArray
    """(N,) the answer; False where there is none."""


def ugal_comparison(
    batch: DecisionBatch,
    detour: str,
    *,
    bias_packets: float | npt.NDArray[np.float64],
    minimal_candidates: int,
    nonminimal_candidates: int,
    by: str = "occupancy",
) -> UgalComparison:
    """A non-minimal path is preferred iff ``q_minimal > 2 * q_detour + bias_packets``; ties go minimal.

    ``q`` is the occupancy of a path's first port. Of several candidates of a kind the least occupied stands for all,
    the first of equals. If both paths start on one port, the VCs that they would use are compared instead of it.

    Args:
        batch: N decisions of any routers.
        detour: The kind of non-minimal path to weigh.
        bias_packets: Above 0 favours minimal paths; one for all, or (N,).
        minimal_candidates: Shortest paths to weigh.
        nonminimal_candidates: Non-minimal paths to weigh.
        by: What is weighed, a field of ``DecisionBatch.candidates``: ``"occupancy"`` of the port, ``"vc_occupancy"`` of
            the VC that the path would use there, or ``"vc_queued"``: of that VC, what is in its output queue.

    Returns:
        Both sides, and which is preferred.

    Raises:
        ConfigError: If the environment lacks these candidates.

    Source: Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1; LIA, TACO 2025, equation 1.
    """
    _check_shown(batch, by)
    minimal, _ = least_occupied(batch, columns_of(batch, MINIMAL, minimal_candidates), by)
    other, exists = least_occupied(batch, columns_of(batch, detour, nonminimal_candidates), by)
    return _weigh(batch, minimal, other, exists, bias_packets, by)


def short_detour_comparison(
    batch: DecisionBatch,
    first_hop: BoolArray,
    second_hop: BoolArray,
    *,
    bias_packets: float | npt.NDArray[np.float64],
    minimal_candidates: int,
    nonminimal_candidates: int,
    by: str = "occupancy",
) -> UgalComparison:
    """The same with non-minimal paths of a kind, and a bias, of each row's own.

    Args:
        batch: N decisions of source routers, of an environment with all four kinds of non-minimal path.
        first_hop: (N,) whether the non-minimal path may begin with a local hop; where there is none without, it does.
        second_hop: (N,) whether it visits a random router of its group.
        bias_packets: One for all, or (N,).
        minimal_candidates: Shortest paths to weigh.
        nonminimal_candidates: Non-minimal paths to weigh.
        by: As for ``ugal_comparison``.

    Returns:
        Both sides, and which is preferred.

    Raises:
        ConfigError: If the environment lacks these candidates.

    Source: LIA, TACO 2025, sections 2.2.2 and 4.3.
    """
    _check_shown(batch, by)

    def of_kind(kind: str) -> tuple[IntArray, BoolArray]:
        return least_occupied(batch, columns_of(batch, kind, nonminimal_candidates), by)

    def of_length(to_group: str, to_router: str) -> tuple[IntArray, BoolArray]:
        (group, group_exists), (router, router_exists) = of_kind(to_group), of_kind(to_router)
        return np.where(second_hop, router, group), np.where(second_hop, router_exists, group_exists)

    minimal, _ = least_occupied(batch, columns_of(batch, MINIMAL, minimal_candidates), by)
    short, short_exists = of_length("g", "gl")
    long, long_exists = of_length("lg", "lgl")
    stays_short = ~first_hop & short_exists
    other = np.where(stays_short, short, long)
    return _weigh(batch, minimal, other, stays_short | long_exists, bias_packets, by)


def _weigh(
    batch: DecisionBatch,
    minimal: IntArray,
    other: IntArray,
    exists: BoolArray,
    bias_packets: float | npt.NDArray[np.float64],
    by: str,
) -> UgalComparison:
    rows = np.arange(len(minimal))
    candidates = candidates_of(batch)
    straight, around = candidates[rows, minimal], candidates[rows, other]
    q_minimal, q_detour = straight[by].astype(np.float64), around[by].astype(np.float64)
    if by == "occupancy":
        one_port = straight["port"] == around["port"]
        q_minimal = np.where(one_port, straight["vc_occupancy"], q_minimal)
        q_detour = np.where(one_port, around["vc_occupancy"], q_detour)
    return UgalComparison(minimal, other, exists, exists & (q_minimal > 2.0 * q_detour + bias_packets))
