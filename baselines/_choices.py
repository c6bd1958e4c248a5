"""What the NumPy twins share: the candidates of a batch by kind, and UGAL's comparison.

A twin answers a batch of the batched environment with ``action="path"``. The core has drawn the candidates, from
the same random streams as its own policies, so a twin that weighs them by the same rule takes the same decisions.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

IntArray: TypeAlias = npt.NDArray[np.int64]
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


def columns_of(batch: DecisionBatch, kind: str, count: int) -> IntArray:
    """The actions that stand for the first ``count`` candidates of one kind.

    Args:
        batch: Decisions of an environment with ``action="path"``.
        kind: ``"minimal"`` or a kind of detour (``"lgl"``, ``"lg"``, ``"gl"``, ``"g"``).
        count: How many draws of that kind the policy weighs.

    Returns:
        (count,) columns of ``batch.candidates`` and ``batch.mask``, in the order of the draws.

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
        raise config_error("detours", detours, f"must contain {kind!r} in the environment of this policy")
    elif len(columns) < count:
        raise config_error(
            "detour_candidates",
            len(columns),
            f"must be at least {count} in the environment: the policy has nonminimal_candidates={count}",
        )
    return columns[:count]


def least_occupied(batch: DecisionBatch, columns: IntArray) -> tuple[IntArray, BoolArray]:
    """The legal candidate among ``columns`` whose first port is the least occupied, the first of equals.

    Returns:
        (N,) columns, and (N,) whether there is a legal one at all (if not, the column means nothing).
    """
    legal = batch.mask[:, columns]
    occupancy = candidates_of(batch)["occupancy"][:, columns].astype(np.int64)
    best: IntArray = columns[np.where(legal, occupancy, _NEVER).argmin(axis=1)]
    exists: BoolArray = np.any(legal, axis=1)
    return best, exists


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class UgalComparison:
    """The two sides of UGAL's comparison, row by row."""

    minimal: IntArray
    """(N,) the action of the minimal path."""
    detour: IntArray
    """(N,) that of the detour; means nothing where none exists."""
    exists: BoolArray
    """(N,) whether there is a detour."""
    prefers_detour: BoolArray
    """(N,) the answer; False where there is none."""


def ugal_comparison(
    batch: DecisionBatch,
    detour: str,
    *,
    bias_packets: float,
    minimal_candidates: int,
    nonminimal_candidates: int,
) -> UgalComparison:
    """A detour is preferred iff ``q_minimal > 2 * q_detour + bias_packets``; ties go minimal.

    ``q`` is the occupancy of a path's first port. Of several candidates of a kind the least occupied stands for all,
    the first of equals. If both paths start on one port, the VCs that they would use are compared instead.

    Args:
        batch: N decisions of any routers.
        detour: The kind of detour to weigh.
        bias_packets: Above 0 favours minimal paths.
        minimal_candidates: Shortest paths to weigh.
        nonminimal_candidates: Detours to weigh.

    Returns:
        Both sides, and which is preferred.

    Raises:
        ConfigError: If the environment lacks these candidates.

    Source: Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1; LIA, TACO 2025, equation 1.
    """
    minimal, _ = least_occupied(batch, columns_of(batch, MINIMAL, minimal_candidates))
    other, exists = least_occupied(batch, columns_of(batch, detour, nonminimal_candidates))
    rows = np.arange(len(minimal))
    candidates = candidates_of(batch)
    straight, around = candidates[rows, minimal], candidates[rows, other]
    same_port = straight["port"] == around["port"]
    q_minimal = np.where(same_port, straight["vc_occupancy"], straight["occupancy"]).astype(np.float64)
    q_detour = np.where(same_port, around["vc_occupancy"], around["occupancy"]).astype(np.float64)
    return UgalComparison(minimal, other, exists, exists & (q_minimal > 2.0 * q_detour + bias_packets))


def ugal_choice(
    batch: DecisionBatch,
    detour: str,
    *,
    bias_packets: float,
    minimal_candidates: int,
    nonminimal_candidates: int,
) -> IntArray:
    """What ``ugal_comparison`` prefers.

    Returns:
        (N,) actions; the minimal candidate where no detour of the kind is legal.

    Raises:
        ConfigError: If the environment lacks these candidates.
    """
    compared = ugal_comparison(
        batch,
        detour,
        bias_packets=bias_packets,
        minimal_candidates=minimal_candidates,
        nonminimal_candidates=nonminimal_candidates,
    )
    return np.where(compared.prefers_detour, compared.detour, compared.minimal)
