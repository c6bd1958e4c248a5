"""Scores: in every case a policy's value over the bound of any routing, and over that of the best reference policy; and
what they come to.

Intervals come from the bootstrap over cases and seeds, with the probability of improvement and the interquartile mean.
Source: Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS 2021 (the library
rliable): tasks are cases here, runs are seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dragonfly_env.lab.benchmark.measured import Measured
from dragonfly_env.lab.benchmark.suite import KINDS, BenchmarkCase, Effort, Track
from dragonfly_env.lab.benchmark.training import TrainingCost
from dragonfly_env.metrics.intervals import SAMPLES, Floats, Interval, bootstrap_indices, interquartile_mean
from dragonfly_env.metrics.stationarity import falls_short
from dragonfly_env.sweeps.results import mean_and_ci95

_OF_CASE = 200  # samples of the seeds of a case
NOTHING: Interval = (math.nan, math.nan, math.nan)


def geometric_mean(cases: Sequence[Floats], scale: Sequence[float], *, inverse: bool = False) -> Interval:
    """The geometric mean over cases of the mean over seeds, in units of a scale."""
    sign = -1.0 if inverse else 1.0

    def of_case(case: int, seeds: npt.NDArray[np.int64]) -> Floats:
        logs: Floats = sign * np.log(cases[case][seeds].mean(axis=-1) / scale[case])
        return logs

    found = _bootstrap([len(case) for case in cases], of_case)
    return math.exp(found[0]), math.exp(found[1]), math.exp(found[2])


def improvement(mine: Sequence[Floats], other: Sequence[Floats], *, more_is_better: bool = False) -> Interval:
    """The probability that a run of one policy is better than a run of another one in the same case."""
    sign = -1.0 if more_is_better else 1.0
    wins = [
        (sign * a[:, None] < sign * b[None, :]) + 0.5 * (a[:, None] == b[None, :])
        for a, b in zip(mine, other, strict=True)
    ]
    lengths = [win.size for win in wins]  # a draw is a pair of seeds, so that both are resampled

    def of_case(case: int, pairs: npt.NDArray[np.int64]) -> Floats:
        won: Floats = wins[case].ravel()[pairs].mean(axis=-1)
        return won

    return _bootstrap(lengths, of_case)


def _bootstrap(seeds: Sequence[int], of_case: Callable[[int, npt.NDArray[np.int64]], Floats]) -> Interval:
    """The mean over cases of what a case gives with its seeds, with the interval of resampled cases and seeds."""
    if not seeds:
        return NOTHING
    count = len(seeds)
    resampled = np.empty((count, _OF_CASE))
    estimate = 0.0
    for case, length in enumerate(seeds):
        estimate += float(of_case(case, np.arange(length))) / count
        draws = bootstrap_indices(_OF_CASE * length, length, 1 + case).reshape(_OF_CASE, length)
        resampled[case] = of_case(case, draws)
    chosen = bootstrap_indices(SAMPLES * count, count, 0).reshape(SAMPLES, count)
    of_seeds = bootstrap_indices(SAMPLES * count, _OF_CASE, 10_000).reshape(SAMPLES, count)
    low, high = np.percentile(resampled[chosen, of_seeds].mean(axis=1), (2.5, 97.5))
    return estimate, float(low), float(high)


_OVER = ("over_bound", "over_low", "over_high")
_BETTER = ("better", "better_low", "better_high")
IDEAL = "ideal"
"""The knowledge of policies that see the state of other routers without delay."""

CLOSE = 1.02
"""A policy is level with the best reference up to this ratio."""

TRAINING = ("training_decisions", "training_wall_s", "training_cpu_s")
COLUMNS = (
    "track", "split", "case", "hosts", "network", "traffic", "load", "policy", "kind", "seeds", "value", "values",
    "ci95", "bound", "over_bound", "link_class", "reason", "p99_ns", "accepted_load", "saturated", "ratio",
    "best_reference", *(f"ratio_{kind}" for kind in KINDS), "ratio_delayed", "p99_ratio", "knowledge", *TRAINING,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a policy in a case, over seeds."""

    track: Track
    case: BenchmarkCase
    policy: str  # label
    seeds: int  # number of runs
    value: float  # the track's quantity: ns, or a load
    values: tuple[float, ...]  # quantity of each seed
    bound: float  # best value that any routing could reach; NaN if unknown
    link_class: str  # class of the link that was used most; empty if unknown
    reason: str  # links that were full; empty if unknown
    ci95: float  # half the width of its 95 % confidence interval; NaN with one seed
    p99_ns: float  # 99th percentile of latency; NaN for a workload that measures none
    accepted_load: float  # fraction of the host links
    saturated: bool  # whether it carries less than 95 % of what is offered, or a workload did not end


@dataclass(frozen=True, slots=True)
class Scores:
    """Every policy in every case."""

    # A row per case and policy; the columns are `COLUMNS`. ``ratio`` is the value over that of the best reference
    # (the other way round for accepted loads), so 1 is as good and more is worse; ``ratio_untuned`` and so on are the
    # same with the references of one kind, and ``ratio_delayed`` with those that know no state of other routers but
    # signals with their delay; ``knowledge`` is the policy's own. ``training_decisions`` and so on: `TrainingCost`.
    table: pd.DataFrame
    policies: tuple[str, ...]  # policies in the order of tables
    tracks: tuple[tuple[str, str], ...]  # (name, split) in the order of tables
    more_is_better: frozenset[str] = frozenset()  # the tracks of which the highest value wins
    trainings: Mapping[str, str] = field(default_factory=dict)  # the policy that a label is one training of

    def leaderboard(self) -> pd.DataFrame:
        """Table with a row per track, split and policy: geometric mean over the bound with its 95 % interval; geometric
        mean and worst of the ratios, with the links that were full there; the mean of those over references that know
        no more than delayed signals; share of cases within 2 % of the best
        reference; cases that are saturated where some reference is not; cases measured of all; the cost of its
        training; and the probability that it is better than the next policy. Best first.
        """
        rows = []
        for track, split in self.tracks:
            here = self.table[(self.table["track"] == track) & (self.table["split"] == split)]
            cases = here["case"].nunique()
            carried = set(here[here["kind"].isin(KINDS) & ~here["saturated"]]["case"])
            for policy in self.policies:
                of_policy = here[here["policy"] == policy]
                if of_policy.empty:
                    continue
                ratios = of_policy["ratio"].to_numpy(np.float64)
                worst = of_policy.iloc[int(np.nanargmax(np.where(np.isnan(ratios), -1.0, ratios)))]
                rows.append(
                    {
                        "track": track,
                        "split": split,
                        "policy": policy,
                        "kind": of_policy["kind"].iloc[0],
                        **dict(zip(_OVER, self._over_bound(of_policy, track), strict=True)),
                        "knowledge": of_policy["knowledge"].iloc[0],
                        "geometric_mean": float(np.exp(np.log(of_policy["ratio"]).mean())),
                        "over_delayed": float(np.exp(np.log(of_policy["ratio_delayed"]).mean())),
                        "worst": float(worst["ratio"]),
                        "worst_case": str(worst["case"]),
                        "reason": str(worst["reason"]),
                        "close_share": float(np.mean(ratios <= CLOSE)),
                        "saturated": int(sum(of_policy["saturated"] & of_policy["case"].isin(carried))),
                        "cases": len(of_policy),
                        "of": cases,
                        **{name: float(of_policy[name].iloc[0]) for name in TRAINING},
                    }
                )
        ranked = pd.DataFrame(rows)
        if ranked.empty:
            return ranked
        order = {pair: i for i, pair in enumerate(self.tracks)}
        ranked["order"] = [order[pair] for pair in zip(ranked["track"], ranked["split"], strict=True)]
        ranked["missing"] = ranked["of"] - ranked["cases"]
        ranked = ranked.sort_values(["order", "missing", "geometric_mean"], kind="stable")
        ranked = ranked.drop(columns=["order", "missing"]).reset_index(drop=True)
        pairs = zip(ranked.iloc[:-1].itertuples(), ranked.iloc[1:].itertuples(), strict=True)
        found = [self._improvement(mine, other) for mine, other in pairs]
        return ranked.assign(**dict(zip(_BETTER, zip(*found, NOTHING, strict=True), strict=True)))

    def _over_bound(self, outcomes: pd.DataFrame, track: str) -> tuple[float, float, float]:
        """The geometric mean over the bound, of the cases that have one."""
        some = outcomes[np.isfinite(outcomes["over_bound"].to_numpy(np.float64))]
        values = [np.array(row, np.float64) for row in some["values"]]
        return geometric_mean(values, some["bound"].tolist(), inverse=track in self.more_is_better)

    def _improvement(self, mine: Any, other: Any) -> tuple[float, float, float]:
        """The probability that the policy of a row of the leaderboard is better than that of the next row."""
        if (mine.track, mine.split) != (other.track, other.split):
            return NOTHING
        here = self.table[(self.table["track"] == mine.track) & (self.table["split"] == mine.split)]
        first, second = (
            here[here["policy"] == row.policy].set_index("case")["values"] for row in (mine, other)
        )
        both = [case for case in first.index if len(first[case]) and len(second.get(case, ()))]
        values, others = ([np.array(some[case], np.float64) for case in both] for some in (first, second))
        return improvement(values, others, more_is_better=mine.track in self.more_is_better)

    def trained(self) -> pd.DataFrame:
        """Scores by track, split and policy: interquartile mean over trainings of the geometric mean over the bound."""
        rows, board = [], self.leaderboard()
        for name in dict.fromkeys(self.trainings.values()):
            labels = [label for label, policy in self.trainings.items() if policy == name]
            for track, split in self.tracks:
                of_split = board[(board["track"] == track) & (board["split"] == split)]
                found = of_split[of_split["policy"].isin(labels)][_OVER[0]].to_numpy(np.float64)
                if found.size and not np.isnan(found).any():
                    mean = interquartile_mean(found)
                    known = {"track": track, "split": split, "policy": name, "trainings": len(found)}
                    rows.append({**known, **dict(zip(_OVER, mean, strict=True))})
        return pd.DataFrame(rows, columns=["track", "split", "policy", "trainings", *_OVER])

    def ranked(self) -> Iterator[tuple[str, str, pd.DataFrame]]:
        """(track, split, its rows of the leaderboard) in the order of tables."""
        rows = self.leaderboard()
        for track, split in self.tracks:
            here = rows[(rows["track"] == track) & (rows["split"] == split)] if len(rows) else rows
            yield track, split, here


def outcome_of(
    track: Track, case: BenchmarkCase, policy: str, runs: Sequence[Measured], bound: float = math.nan
) -> Outcome:
    """The outcome of a policy's runs in a case, one run per seed."""
    known = next((run for run in runs if run.link_class), runs[0])
    values = [run.value for run in runs]
    mean, half = mean_and_ci95(values)
    accepted = float(np.mean([run.accepted_load for run in runs]))
    if track.quantity == "makespan":
        saturated = any(math.isnan(value) for value in values)
    else:
        saturated = track.quantity == "latency" and falls_short(accepted, case.load)
    return Outcome(
        track=track,
        case=case,
        policy=policy,
        seeds=len(runs),
        value=mean,
        values=tuple(value for value in values if not math.isnan(value)),
        bound=bound,
        link_class=known.link_class,
        reason=known.reason,
        ci95=half,
        p99_ns=float(np.mean([run.p99_ns for run in runs])),
        accepted_load=accepted,
        saturated=saturated,
    )


def score(
    outcomes: Sequence[Outcome],
    tracks: Sequence[Track],
    effort: Effort,
    kinds: Mapping[str, str],
    policies: tuple[str, ...],
    trained: Mapping[str, TrainingCost] = MappingProxyType({}),
    trainings: Mapping[str, str] = MappingProxyType({}),
    knowledge: Mapping[str, str] = MappingProxyType({}),
) -> Scores:
    """Compare every outcome with the best reference of its case."""
    rows = []
    by_case: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        by_case.setdefault((outcome.track.name, outcome.case.split, outcome.case.name), []).append(outcome)
    for some in by_case.values():
        references = [outcome for outcome in some if kinds.get(outcome.policy) in KINDS]
        best = _best(references)
        best_of = {kind: _best([o for o in references if kinds[o.policy] == kind]) for kind in KINDS}
        delayed = _best([o for o in references if knowledge.get(o.policy, IDEAL) != IDEAL])
        p99 = min((o.p99_ns for o in references if not math.isnan(o.p99_ns)), default=math.nan)
        for outcome in some:
            case = outcome.case
            rows.append(
                {
                    **{field.name: getattr(outcome, field.name) for field in fields(Outcome)},
                    "track": outcome.track.name,
                    "split": case.split,
                    "case": case.name,
                    "hosts": case.hosts,
                    "network": case.network,
                    "traffic": case.traffic.label,
                    "load": case.load,
                    "kind": kinds.get(outcome.policy, ""),
                    "values": list(outcome.values),
                    "over_bound": _over(outcome.value, outcome.bound, outcome.track.more_is_better),
                    "ratio": _ratio(outcome, best),
                    "best_reference": "" if best is None else best.policy,
                    **{f"ratio_{kind}": _ratio(outcome, other) for kind, other in best_of.items()},
                    "ratio_delayed": _ratio(outcome, delayed),
                    "knowledge": knowledge.get(outcome.policy, ""),
                    "p99_ratio": outcome.p99_ns / p99,
                    **dict(zip(TRAINING, astuple(trained.get(outcome.policy, TrainingCost())), strict=True)),
                }
            )
    pairs = [
        (track.name, split)
        for track in tracks
        for split in dict.fromkeys(case.split for case in track.cases[effort])
    ]
    highest = frozenset(track.name for track in tracks if track.more_is_better)
    return Scores(pd.DataFrame(rows, columns=list(COLUMNS)), policies, tuple(pairs), highest, trainings)


def _best(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The best value; of those that carry the load, if any does."""
    known = [outcome for outcome in outcomes if not math.isnan(outcome.value)]
    carried = [outcome for outcome in known if not outcome.saturated] or known
    if not carried:
        return None
    sign = -1.0 if carried[0].track.more_is_better else 1.0
    return min(carried, key=lambda outcome: sign * outcome.value)


def _ratio(outcome: Outcome, best: Outcome | None) -> float:
    return math.nan if best is None else _over(outcome.value, best.value, outcome.track.more_is_better)


def _over(value: float, best: float, more_is_better: bool) -> float:
    if more_is_better:
        return best / value if value > 0 else math.inf
    return value / best
