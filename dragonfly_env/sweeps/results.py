"""Results of a sweep as one tidy table, and their mean over seeds."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist, fmean, stdev

import pandas as pd
import pyarrow as pa

from dragonfly_env.checks.outside import check_items, check_mapping, check_path, parsing
from dragonfly_env.checks.values import (
    check_instance,
    check_real,
    check_text,
    config_error,
    shown,
    unknown_name,
)
from dragonfly_env.metrics.steadiness import SATURATED_BELOW, is_overloaded
from dragonfly_env.sweeps.storage import KEYS, MERGED_NAME, ResultsFolder, check_columns, read_rows

# Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics textbook's table).
_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip


def student_t95(degrees: int) -> float:
    """The factor t with P(|T| <= t) = 0.95.

    A table up to 30 degrees of freedom; beyond it the Cornish-Fisher expansion around the normal
    distribution, there exact to four digits.

    Args:
        degrees: Degrees of freedom, at least 1.

    Raises:
        ValueError: If ``degrees`` is below 1.
    """
    if degrees < 1:
        raise ValueError(f"degrees = {degrees}: must be at least 1")
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def mean_and_ci95(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % confidence interval, of independent values.

    Returns:
        (mean, half width). NaNs are left out; with fewer than two values the half width is NaN, for it is
        unknown.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    if len(known) == 1:
        return known[0], math.nan
    return fmean(known), student_t95(len(known) - 1) * stdev(known) / math.sqrt(len(known))


_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class Results:
    """Runs that belong together.

    Attributes:
        name: The scenario's name, for titles.
        table: One row per run; the columns are those of `sweeps.measure.row_of`.
        policies: Labels in the order of the scenario.
        traffic: Labels in the same sense.
        expected: Runs that the scenario has, finished or not.
        refused: Why files of finished runs are left out: damaged, or not written by this program.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, load_results, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min", "val-n"], "traffic": ["uniform"],
        ...      "loads": [0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> results = load_results(Path("results"))
        >>> results.policies, len(results.select(policies=["min"]).table)
        (('min', 'val-n'), 1)
        >>> results.relabelled(str.upper).policies
        ('MIN', 'VAL-N')
    """

    name: str
    table: pd.DataFrame
    policies: tuple[str, ...]
    traffic: tuple[str, ...]
    expected: int
    refused: tuple[str, ...] = ()

    def select(
        self, *, policies: Sequence[str] = (), traffic: Sequence[str] = (), loads: Sequence[float] = ()
    ) -> Results:
        """The part with these policies, traffics and loads (each empty for all).

        Args:
            policies: Labels.
            traffic: Labels.
            loads: Offered loads.

        Raises:
            ConfigError: For a name that the results do not hold, with the nearest match, or if nothing is
                left.
        """
        policies, traffic, loads = (
            check_items(field, given, f"must be a list of {field}")
            for field, given in (("policies", policies), ("traffic", traffic), ("loads", loads))
        )
        loads = [check_real("load", load, 0.0, 1.0) for load in loads]
        for field, wanted, present in (
            ("policy", policies, self.policies),
            ("traffic", traffic, self.traffic),
        ):
            for label in wanted:
                if not isinstance(label, str) or label not in present:
                    raise unknown_name(field, label, present)
        table = self.table
        if policies:
            table = table[table["policy"].isin(list(policies))]
        if traffic:
            table = table[table["traffic"].isin(list(traffic))]
        if loads:
            table = table[table["load"].round(6).isin([round(load, 6) for load in loads])]
        if table.empty:
            known = ", ".join(f"{load:g}" for load in sorted(self.table["load"].unique()))
            raise config_error("load", list(loads), f"must be among the results' loads {known}")
        return replace(
            self,
            table=table.reset_index(drop=True),
            policies=_present(self.policies, table["policy"]),
            traffic=_present(self.traffic, table["traffic"]),
        )

    def relabelled(self, change: Callable[[str], str]) -> Results:
        """The same with other names for policies, traffic and the whole; different names must stay different.

        Args:
            change: Gives the new name for an old one.
        """
        return replace(
            self,
            name=change(self.name),
            table=self.table.assign(
                policy=self.table["policy"].map(change), traffic=self.table["traffic"].map(change)
            ),
            policies=tuple(map(change, self.policies)),
            traffic=tuple(map(change, self.traffic)),
        )


def load_results(path: Path) -> Results:
    """Read a results folder (a running or interrupted sweep too), or one Parquet file.

    Args:
        path: A folder that `run_all` wrote, or a merged or single-run Parquet file.

    Raises:
        ConfigError: If there are no results, or none of them can be read.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, load_results, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> load_results(Path("results")).expected
        1
    """
    path = check_path("results", path)
    # Not Path.is_dir and exists: before Python 3.14 they raise for names that are too long.
    if os.path.isdir(path):  # noqa: PTH112
        return _load_folder(ResultsFolder(path))
    if not os.path.exists(path):  # noqa: PTH110
        raise config_error("results", str(path), "must be a results folder or a Parquet file; there is none")
    rows = read_rows(path)
    check_columns(rows, str(path))
    table = _concatenated([rows], path)
    policies, traffic = (tuple(dict.fromkeys(table[column])) for column in ("policy", "traffic"))
    return Results(path.stem, table, policies, traffic, len(table))


def _load_folder(folder: ResultsFolder) -> Results:
    manifest = folder.read_manifest()
    if manifest is None:
        if folder.merged.exists():
            return load_results(folder.merged)
        raise config_error("results", str(folder.path), f"must hold the results of a sweep ({MERGED_NAME})")
    name, labels, policies, traffic = _read_manifest(manifest, str(folder.manifest))
    tables, refused = folder.read_runs(labels, check=check_columns)
    if not tables and refused:
        raise refused[0]
    if not tables:
        raise config_error(
            "results", str(folder.path), "must hold at least one finished run; there is none yet"
        )
    table = _concatenated(tables, folder.runs)
    for field, known in (("policy", policies), ("traffic", traffic)):
        for label in set(table[field]) - set(known):
            raise config_error(
                "results", str(folder.manifest), f"must list every {field}; it lacks {label!r}"
            )
    return Results(
        name=name,
        table=table,
        policies=_present(policies, table["policy"]),
        traffic=_present(traffic, table["traffic"]),
        expected=len(labels),
        refused=tuple(map(str, refused)),
    )


def _read_manifest(
    manifest: Mapping[str, object], file: str
) -> tuple[str, dict[str, dict[str, str]], tuple[str, ...], tuple[str, ...]]:
    """Name, labels by run, policies and traffic of a sweep."""
    lists = []
    for field in ("runs", "policies", "traffic"):
        names = check_items("results", manifest.get(field), f"{file} must have a list of {field}")
        if not names or not all(isinstance(name, str) and name for name in names):
            raise config_error("results", file, f"must have a list of names as {field!r}")
        lists.append(names)
    runs, policies, traffic = lists
    for run in runs:
        if not run.isalnum() or len(run) > _LONGEST_ID:  # it becomes the name of a file
            raise config_error("results", file, f"cannot have a run {shown(run)}")
    if not isinstance(manifest.get("name"), str):
        raise config_error("results", file, "must have a name")
    known = check_mapping("results", manifest.get("labels", {}))  # earlier versions wrote none
    labels = {run: _read_labels(known.get(run, {}), file) for run in runs}
    return str(manifest["name"]), labels, tuple(policies), tuple(traffic)


def _read_labels(given: object, file: str) -> dict[str, str]:
    """What a run is called, by column."""
    labels = check_mapping("results", given, f"{file} must have tables of labels")
    for column, label in labels.items():
        if column not in ("policy", "traffic") or not isinstance(label, str):
            raise config_error("results", file, f"cannot have {shown(label)} as label of {shown(column)}")
    return {column: str(label) for column, label in labels.items()}


def _concatenated(tables: Sequence[pa.Table], place: Path) -> pd.DataFrame:
    with parsing("results", str(place), "must be results of one program"):
        frame: pd.DataFrame = pa.concat_tables(tables, promote_options="permissive").to_pandas()
    if frame.empty:
        raise config_error("results", str(place), "must hold at least one run")
    return frame


def _present(labels: Iterable[str], column: Iterable[str]) -> tuple[str, ...]:
    """Those labels that a column has, in their order."""
    known = set(column)
    return tuple(label for label in labels if label in known)


def _offers_no_load(runs: pd.DataFrame) -> bool:
    """Whether programs say when to send, and not a load: only there messages are counted."""
    return "messages_delivered" in runs and bool(runs["messages_delivered"].notna().any())


def aggregate(results: Results, columns: Sequence[str]) -> pd.DataFrame:
    """Mean over seeds, with 95 % confidence intervals (Student's t over the seeds' values).

    Percentiles are averaged over seeds too: the mean of the seeds' percentiles, not the percentile of all
    packets.

    Args:
        results: Runs.
        columns: Numeric columns; those that are missing are left out.

    Returns:
        One row per (traffic, policy, load), in the scenario's order, with for every column ``c`` the mean
        ``c`` and the half width ``c_ci95`` (NaN with a single seed), the number of ``seeds``, and
        ``saturated``: whether less than `SATURATED_BELOW` of the demanded load was accepted, or in some run a host is
        sent more than its link takes (`Metrics.destination_load_max`); never where programs say when to send, as
        closed-loop traffic and jobs offer no load; and ``stationary``: whether no run is known to be otherwise
        (`Metrics.stationary`).

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario, aggregate, load_results, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.2], "seeds": [1, 2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> table = aggregate(load_results(Path("results")), ["latency_mean_ns"])
        >>> int(table["seeds"].iloc[0])
        2
    """
    check_instance("results", results, Results)
    columns = [
        check_text("columns", name) for name in check_items("columns", columns, "must be a list of names")
    ]
    present = [column for column in columns if column in results.table.columns]
    rows = []
    for (traffic, policy, load), group in results.table.groupby(list(KEYS), sort=False):
        row: dict[str, object] = {"traffic": traffic, "policy": policy, "load": load, "seeds": len(group)}
        for column in present:
            values = pd.to_numeric(group[column], errors="coerce").astype(float)
            row[column], row[f"{column}_ci95"] = mean_and_ci95(values.tolist())
        row["saturated"] = not _offers_no_load(group) and _saturated(group)
        steady = group["stationary"] if "stationary" in group else pd.Series(dtype=float)
        row["stationary"] = not bool((pd.to_numeric(steady, errors="coerce") == 0).any())
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame["traffic"] = pd.Categorical(frame["traffic"], categories=list(results.traffic), ordered=True)
    frame["policy"] = pd.Categorical(frame["policy"], categories=list(results.policies), ordered=True)
    frame = frame.sort_values(list(KEYS)).reset_index(drop=True)
    return frame.astype({"traffic": str, "policy": str})


def _saturated(runs: pd.DataFrame) -> bool:
    """Whether runs that differ in their seed do not carry what is demanded."""
    demanded = float(runs["load"].iloc[0])
    if "demanded_load" in runs:  # unless an earlier version measured them
        known = pd.to_numeric(runs["demanded_load"], errors="coerce").mean()
        demanded = demanded if math.isnan(known) else known
    most = pd.to_numeric(runs.get("destination_load_max", pd.Series(dtype=float)), errors="coerce")
    return bool(
        pd.to_numeric(runs["accepted_load"], errors="coerce").mean() < SATURATED_BELOW * demanded
        or most.map(is_overloaded).any()
    )
