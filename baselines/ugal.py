"""UGAL: at the source router, minimal iff ``q_minimal <= 2 * q_nonminimal + bias_packets``; the choice is final.

``q`` is the congestion of the path's first port in packets: waiting in its output queues, and sent with the credit not
yet back. If both paths start on one port, the VCs that they would use are compared instead. With
``congestion_metric="queued"`` it is what waits in the output queue of the VC: packets in flight on a long link do not
count. Traffic inside a group is minimal. Non-minimal paths go by a random group (``ugal-g``) or a random router of
another group (``ugal-n``).

The core has drawn the candidate paths of a decision from the same random numbers as its own policy, so the same rule
takes the same decision.

Source: Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1; LIA, TACO 2025,
equation 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import config_error

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]


def act(
    batch: DecisionBatch,
    *,
    kind: str,
    congestion_metric: str,
    bias_packets: float,
    minimal_candidates: int,
    nonminimal_candidates: int,
    **_: object,
) -> IntArray:
    """(N,) a path for every packet; ties go to the minimal path, and among candidates of a kind to the first."""
    by = "vc_queued" if congestion_metric == "queued" else "occupancy"
    minimal, _exists = least_occupied(batch, columns_of(batch, "minimal", minimal_candidates), by)
    nonminimal, exists = least_occupied(batch, columns_of(batch, kind, nonminimal_candidates), by)
    leaves = exists & prefers_nonminimal(batch, minimal, nonminimal, bias_packets, by)
    return np.where(leaves, nonminimal, minimal)


def columns_of(batch: DecisionBatch, kind: str, count: int) -> IntArray:
    """(count,) the actions of the first ``count`` candidates of a kind: ``"minimal"``, ``"lgl"``, ``"lg"``, ..."""
    columns = np.flatnonzero([name == kind for name in batch.layout.candidates])
    if len(columns) < count or (kind == "minimal" and count == 1 < len(columns)):
        allowed = f"must have {count} {kind!r}: make the environment by BatchedRoutingEnv.for_policy"
        raise config_error("candidates", batch.layout.candidates, allowed)
    return columns[:count]


def candidates_of(batch: DecisionBatch) -> npt.NDArray[Any]:
    """(N, A) the candidate paths of a batch, see ``DecisionBatch.candidates``."""
    if batch.candidates is None:
        raise config_error("features", tuple(batch.layout.features), "must contain those of candidates")
    return batch.candidates


def least_occupied(
    batch: DecisionBatch, columns: IntArray, by: str = "occupancy"
) -> tuple[IntArray, BoolArray]:
    """(N,) the legal candidate among ``columns`` with the lowest field ``by`` of ``batch.candidates``, the first of
    equals; and (N,) whether any is legal.
    """
    legal = batch.mask[:, columns]
    occupancy = candidates_of(batch)[by][:, columns].astype(np.int64)
    best: IntArray = columns[np.where(legal, occupancy, np.iinfo(np.int64).max).argmin(axis=1)]
    return best, np.any(legal, axis=1)


def prefers_nonminimal(
    batch: DecisionBatch,
    minimal: IntArray,
    nonminimal: IntArray,
    bias_packets: float | npt.NDArray[np.float64],
    by: str = "occupancy",
    *,
    by_hops: bool = False,
) -> BoolArray:
    """(N,) whether ``q_minimal > 2 * q_nonminimal + bias_packets``; ``by_hops``: the weights are the numbers of hops of
    the two paths, in the place of 1 and 2.

    ``by`` names the field of ``batch.candidates`` that is compared: ``"occupancy"`` of the port, ``"vc_occupancy"`` of
    the VC that the path would use there, or ``"vc_queued"``, what is in the output queue of that VC.
    """
    candidates, rows = candidates_of(batch), np.arange(len(batch))
    straight, around = candidates[rows, minimal], candidates[rows, nonminimal]
    q_minimal, q_nonminimal = straight[by].astype(np.float64), around[by].astype(np.float64)
    if by == "occupancy":
        same_port = straight["port"] == around["port"]
        q_minimal = np.where(same_port, straight["vc_occupancy"], q_minimal)
        q_nonminimal = np.where(same_port, around["vc_occupancy"], q_nonminimal)
    weights = (straight["hops"], around["hops"]) if by_hops else (1.0, 2.0)
    prefers: BoolArray = weights[0] * q_minimal > weights[1] * q_nonminimal + bias_packets
    return prefers
