"""The rules of the policies that the library has in the core only, in NumPy, for tests to compare with.

They see what an environment shows, so equal histories say that the rule is the core's, and that the environment draws
the candidates and shows the features that the core's policy uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.baselines.lia import CONGESTION_METRICS, nonminimal_of_length
from dragonfly_env.baselines.ugal import candidates_of, columns_of, least_occupied, prefers_nonminimal
from dragonfly_env.batch_policy import BatchPolicy

IntArray = npt.NDArray[np.int64]
Parameters: TypeAlias = Mapping[str, Any]
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


def _minimal(given: Parameters, batch: dfe.DecisionBatch, by: str) -> IntArray:
    return least_occupied(batch, columns_of(batch, "minimal", given.get("minimal_candidates", 1)), by)[0]


def _piggyback(given: Parameters, batch: dfe.DecisionBatch, *, short: bool) -> IntArray:
    """UGAL's choice, and a non-minimal path where the link of the minimal path is congested."""
    metric = (
        batch.layout.congestion_metric if given["congestion_metric"] == "auto" else given["congestion_metric"]
    )
    by = "vc_occupancy" if metric == "vc" else "occupancy"
    minimal = _minimal(given, batch, by)
    if short:
        nonminimal, exists = _of_level(given, batch, by)
    else:
        columns = columns_of(batch, "lgl", given["nonminimal_candidates"])
        nonminimal, exists = least_occupied(batch, columns, by)
    flags = batch.layout.counts(batch.obs, "candidate_congested")
    congested = flags[np.arange(len(batch)), minimal] > 0
    prefers = prefers_nonminimal(
        batch, minimal, nonminimal, given["bias_packets"], by, by_hops=given["weights"] == "hops"
    )
    return np.where(exists & (prefers | congested), nonminimal, minimal)


def _pb(given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    return _piggyback(given, batch, short=False)


def _pb_acor(given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    return _piggyback(given, batch, short=True)


def _of_level(given: Parameters, batch: dfe.DecisionBatch, by: str) -> tuple[IntArray, Any]:
    level = _count(batch, "nonminimal_level")
    count = given.get("nonminimal_candidates", 1)
    return nonminimal_of_length(batch, first_hop=level > 1, second_hop=level > 0, count=count, by=by)


def _acor(given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    nonminimal, exists = _of_level(given, batch, "occupancy")
    return np.where(exists, nonminimal, _minimal(given, batch, "occupancy"))


def _tpr(given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    biases = np.array([given[f"{kind}_bias_packets"] for kind in ("benign", "mixed", "adverse")])
    by = CONGESTION_METRICS[given["congestion_metric"]]
    minimal = _minimal(given, batch, by)
    nonminimal, exists = least_occupied(batch, columns_of(batch, "lgl", given["nonminimal_candidates"]), by)
    bias = biases[_count(batch, "destination_traffic_level")]
    leaves = exists & prefers_nonminimal(batch, minimal, nonminimal, bias, by)
    return np.where(leaves, nonminimal, minimal)


def _ugal_ideal(given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    packets = batch.layout.counts(batch.obs, "candidate_link_packets").astype(np.int64)
    usable = np.where(batch.mask, packets, _NEVER)
    straight = columns_of(batch, "minimal", given["minimal_candidates"])
    around = columns_of(batch, "lgl", given["nonminimal_candidates"])
    minimal = straight[usable[:, straight].argmin(axis=1)]
    nonminimal = around[usable[:, around].argmin(axis=1)]
    rows = np.arange(len(batch))
    away = packets[rows, minimal] > 2.0 * packets[rows, nonminimal] + given["bias_packets"]
    return np.where(batch.mask[rows, nonminimal] & away, nonminimal, minimal)


def _biases(name: str, given: Parameters) -> tuple[IntArray, IntArray]:
    """(2, 3) shift and add of minimal paths, and of non-minimal paths, by hops taken."""
    if name != "ad":
        return np.array(_NO_BIAS).T, np.array(_MODES[name]).T
    minimal, nonminimal = (
        np.array(
            [
                [given[f"{side}_{what}_{hops}"] for hops in ("first", "second", "later")]
                for what in ("shift", "add")
            ]
        )
        for side in ("minimal", "nonminimal")
    )
    return minimal, nonminimal


def _aries(name: str, given: Parameters, batch: dfe.DecisionBatch) -> IntArray:
    candidates = candidates_of(batch)
    of_ports = batch.layout.counts(batch.obs, "load_level").astype(np.int64)
    rows = np.arange(len(batch))
    at = np.clip(candidates["port"].astype(np.int64) - batch.layout.first_port, 0, None)
    straight = columns_of(batch, "minimal", given["minimal_candidates"])
    hops = np.minimum(_count(batch, "hops").astype(np.int64), 2)
    around = columns_of(batch, "lg", given["nonminimal_candidates"])
    mask = batch.mask.copy()
    if given["decide"] == "progressive" and given["later_nonminimal"] == "own-links":
        own_links = columns_of(batch, "g", given["nonminimal_candidates"])
        mask[np.ix_(hops > 0, around)] = False
        mask[np.ix_(hops == 0, own_links)] = False
        around = np.concatenate([around, own_links])
    if given["in_group"]:  # legal only where the others are not
        inside = columns_of(batch, "l", given["nonminimal_candidates"])
        around = np.concatenate([around, inside])
        if not given["in_destination_group"]:
            arrives = (hops > 0) & (_count(batch, "group_offset") == 0)
            mask[np.ix_(arrives, inside)] = False
    levels = np.where(mask, of_ports[rows[:, None], at], _NEVER)
    minimal = straight[levels[:, straight].argmin(axis=1)]
    nonminimal = around[levels[:, around].argmin(axis=1)]
    exists = mask[rows, nonminimal]
    of_minimal, of_nonminimal = _biases(name, given)
    q_minimal = (levels[rows, minimal] << of_minimal[0, hops]) + of_minimal[1, hops]
    load = np.where(exists, levels[rows, nonminimal], 0)
    q_nonminimal = (load << of_nonminimal[0, hops]) + of_nonminimal[1, hops]
    leaves = q_nonminimal < q_minimal
    if given["ties"] == "nonminimal":
        leaves |= q_nonminimal == q_minimal
    elif given["ties"] == "random":
        leaves |= (q_nonminimal == q_minimal) & (batch.draws[:, 0] >= 0.5)
    return np.where(exists & leaves, nonminimal, minimal)


_RULES: dict[str, Callable[[Parameters, dfe.DecisionBatch], IntArray]] = {
    "pb": _pb,
    "acor": _acor,
    "pb-acor": _pb_acor,
    "tpr": _tpr,
    "ugal-ideal": _ugal_ideal,
    **{name: partial(_aries, name) for name in ("ad", *_MODES)},
}


def act(policy: dfe.Policy, batch: dfe.DecisionBatch) -> IntArray:
    """(N,) the actions of a policy without tables, by the library's reference implementation or the rule here."""
    rule = _RULES.get(policy.name)
    return policy.act(batch) if rule is None else rule(policy.parameters, batch)


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
