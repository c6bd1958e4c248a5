"""The rules of the policies that the library has in the core only, in NumPy, for tests to compare with.

They see what an environment shows, so equal histories say that the rule is the core's, and that the environment draws
the candidates and shows the features that the core's policy uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.baselines._candidates import (
    MINIMAL,
    candidates_of,
    columns_of,
    short_detour_comparison,
    ugal_comparison,
)
from dragonfly_env.batch_policy import BatchPolicy

IntArray = npt.NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max
_NO_BIAS = ((0, 0), (0, 0), (0, 0))
_MODES = {
    "ad0": _NO_BIAS,
    "ad1": ((0, 0), (1, 0), (2, 0)),
    "ad2": ((0, 4), (0, 4), (0, 4)),
    "ad3": ((2, 0), (2, 0), (2, 0)),
}
"""(shift, add) of the load of a non-minimal path, by hops taken: none, one, more."""


def _count(batch: dfe.DecisionBatch, feature: str) -> npt.NDArray[np.int32]:
    return batch.layout.counts(batch.obs, feature)[:, 0]


def _drawn(policy: Any) -> dict[str, Any]:
    """How many candidates a policy weighs."""
    return {name: getattr(policy, name) for name in ("minimal_candidates", "nonminimal_candidates")}


def _piggyback_weighs(policy: Any, batch: dfe.DecisionBatch) -> dict[str, Any]:
    by = batch.layout.paths_weighed_by if policy.weighed == "auto" else policy.weighed
    return {
        "bias_packets": policy.bias_packets,
        "by": "vc_occupancy" if by == "vc" else "occupancy",
        **_drawn(policy),
    }


def _by_flags(batch: dfe.DecisionBatch, compared: Any) -> IntArray:
    """UGAL's choice, and a non-minimal path where the link of the minimal path is congested."""
    flags = batch.layout.counts(batch.obs, "candidate_congested")
    congested = flags[np.arange(len(batch)), compared.minimal] > 0
    return np.where(
        compared.prefers_detour | (compared.exists & congested), compared.detour, compared.minimal
    )


def _par(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    compared = ugal_comparison(batch, "lgl", bias_packets=policy.bias_packets, **_drawn(policy))
    return np.where(compared.prefers_detour, compared.detour, compared.minimal)


def _pb(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    return _by_flags(batch, ugal_comparison(batch, "lgl", **_piggyback_weighs(policy, batch)))


def _acor(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    level = _count(batch, "nonminimal_level")
    one = {"minimal_candidates": 1, "nonminimal_candidates": 1}
    compared = short_detour_comparison(batch, level > 1, level > 0, bias_packets=0.0, **one)
    return np.where(compared.exists, compared.detour, compared.minimal)


def _pb_acor(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    level = _count(batch, "nonminimal_level")
    compared = short_detour_comparison(batch, level > 1, level > 0, **_piggyback_weighs(policy, batch))
    return _by_flags(batch, compared)


def _tpr(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    biases = np.array([policy.benign_bias_packets, policy.mixed_bias_packets, policy.adverse_bias_packets])
    compared = ugal_comparison(
        batch,
        "lgl",
        bias_packets=biases[_count(batch, "destination_traffic_level")],
        by={"queued": "vc_queued", "occupancy": "vc_occupancy"}[policy.weighed],
        **_drawn(policy),
    )
    return np.where(compared.prefers_detour, compared.detour, compared.minimal)


def _ugal_ideal(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    packets = batch.layout.counts(batch.obs, "candidate_link_packets").astype(np.int64)
    usable = np.where(batch.mask, packets, _NEVER)
    straight = columns_of(batch, MINIMAL, policy.minimal_candidates)
    around = columns_of(batch, "lgl", policy.nonminimal_candidates)
    minimal = straight[usable[:, straight].argmin(axis=1)]
    detour = around[usable[:, around].argmin(axis=1)]
    rows = np.arange(len(batch))
    away = packets[rows, minimal] > 2.0 * packets[rows, detour] + policy.bias_packets
    return np.where(batch.mask[rows, detour] & away, detour, minimal)


def _biases(policy: Any) -> tuple[IntArray, IntArray]:
    """(2, 3) shift and add of minimal paths, and of non-minimal paths, by hops taken."""
    if policy.name != "ad":
        return np.array(_NO_BIAS).T, np.array(_MODES[policy.name]).T
    minimal, detour = (
        np.array(
            [
                [getattr(policy, f"{side}_{what}_{hops}") for hops in ("first", "second", "later")]
                for what in ("shift", "add")
            ]
        )
        for side in ("minimal", "nonminimal")
    )
    return minimal, detour


def _aries(policy: Any, batch: dfe.DecisionBatch) -> IntArray:
    candidates = candidates_of(batch)
    of_ports = batch.layout.counts(batch.obs, "load_level").astype(np.int64)
    rows = np.arange(len(batch))
    at = np.clip(candidates["port"].astype(np.int64) - batch.layout.first_port, 0, None)
    straight = columns_of(batch, MINIMAL, policy.minimal_candidates)
    hops = np.minimum(_count(batch, "hops").astype(np.int64), 2)
    around = columns_of(batch, "lg", policy.nonminimal_candidates)
    mask = batch.mask.copy()
    if policy.decide == "progressive" and policy.later_nonminimal == "own-links":
        own_links = columns_of(batch, "g", policy.nonminimal_candidates)
        mask[np.ix_(hops > 0, around)] = False
        mask[np.ix_(hops == 0, own_links)] = False
        around = np.concatenate([around, own_links])
    if policy.in_group:  # legal only where the others are not
        inside = columns_of(batch, "l", policy.nonminimal_candidates)
        around = np.concatenate([around, inside])
        if not policy.in_destination_group:
            arrives = (hops > 0) & (_count(batch, "group_offset") == 0)
            mask[np.ix_(arrives, inside)] = False
    levels = np.where(mask, of_ports[rows[:, None], at], _NEVER)
    minimal = straight[levels[:, straight].argmin(axis=1)]
    detour = around[levels[:, around].argmin(axis=1)]
    exists = mask[rows, detour]
    of_minimal, of_detour = _biases(policy)
    q_minimal = (levels[rows, minimal] << of_minimal[0, hops]) + of_minimal[1, hops]
    load = np.where(exists, levels[rows, detour], 0)
    q_detour = (load << of_detour[0, hops]) + of_detour[1, hops]
    leaves = q_detour < q_minimal
    if policy.ties == "nonminimal":
        leaves |= q_detour == q_minimal
    elif policy.ties == "random":
        leaves |= (q_detour == q_minimal) & (batch.draws[:, 0] >= 0.5)
    return np.where(exists & leaves, detour, minimal)


_RULES: dict[str, Callable[[Any, dfe.DecisionBatch], IntArray]] = {
    "par": _par,
    "pb": _pb,
    "acor": _acor,
    "pb-acor": _pb_acor,
    "tpr": _tpr,
    "ugal-ideal": _ugal_ideal,
    **dict.fromkeys(("ad", *_MODES), _aries),
}


def act(policy: dfe.Policy, batch: dfe.DecisionBatch) -> IntArray:
    """(N,) the actions of a policy without tables, by the library's reference implementation or the rule here."""
    rule = _RULES.get(policy.name)
    return policy.act(batch) if rule is None else rule(policy, batch)


class _Ruled:
    """A policy of the core as if it were a user's own."""

    def __init__(self, policy: dfe.Policy) -> None:
        self._policy = policy
        self.name, self.scope, self.action = policy.name, policy.scope, policy.action

    def env_options(self) -> dict[str, Any]:
        return self._policy.env_options()

    def act(self, batch: dfe.DecisionBatch) -> IntArray:
        return act(self._policy, batch)


def in_numpy(policy: dfe.Policy, env: dfe.BatchedRoutingEnv | None = None) -> BatchPolicy:
    """Return the reference implementation of a policy; of a learner for this environment."""
    if policy.name in _RULES:
        assert not policy.has_reference
        return _Ruled(policy)
    return policy if env is None else policy.reference(env)
