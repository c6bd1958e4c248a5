"""Results: a Parquet file per run, and all runs of a folder as one table with a row per run; their mean over seeds.

A results folder belongs to one scenario: ``scenario.json`` lists its runs, ``runs/<id>.parquet`` has the row of each,
and ``results.parquet`` has all rows of the list. Files appear complete or not at all, and nothing is locked: several
processes may write runs into one folder, and a run that two of them do has the same row twice.

Files are opened here and handed to pyarrow open: it takes names with a colon for addresses.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import dragonfly_env as dfe
from dragonfly_env.checks.files import make_folders, open_output, read_json, write_text
from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.metrics.metrics import HALF
from dragonfly_env.metrics.stationarity import Half, is_growing, is_overloaded, is_saturated
from dragonfly_env.sweeps.columns import SCHEMA, table_of
from dragonfly_env.sweeps.point import Run, files_of

KEYS = ("traffic", "policy", "load")
_MERGED = "results.parquet"
_MANIFEST = "scenario.json"
_PAGE = "index.html"
_LONGEST_NAME = 60
_NEEDED = {*KEYS, "run_id", "seed", "accepted_load", "latency_mean_ns", "configuration", "package_version"}


def run_file(folder: Path, run_id: str) -> Path:
    """The file of a run's row."""
    return folder / "runs" / f"{run_id}.parquet"


def default_folder(name: str, runs: Iterable[Run]) -> Path:
    """A results folder that no other scenario has: its name, and the beginning of a digest of its runs."""
    digest = hashlib.sha256("".join(sorted(run.id for run in runs)).encode()).hexdigest()[:6]
    words = re.sub(r"[^\w+.=-]+", "-", name.replace(",", ""))[:_LONGEST_NAME]
    return Path("results", f"{words}-{digest}")


def is_done(folder: Path, run_id: str) -> bool:
    """Whether a folder has the result of a run, made by this version of the package with these columns. Files appear
    complete or not at all, so a file whose list of columns can be read has all of them; `read_table` checks their
    checksums.
    """
    try:
        with run_file(folder, run_id).open("rb") as file:
            parquet = _parquet(file)
            if parquet.schema_arrow.names != SCHEMA.names:
                return False
            versions = parquet.read(columns=["package_version"], use_threads=False)[
                "package_version"
            ].to_pylist()
    except (OSError, ValueError, pa.ArrowException):
        return False
    return bool(versions == [dfe.__version__])


def done_of(folder: Path, run_ids: Iterable[str]) -> set[str]:
    """The runs of which `is_done` is true. A file that is older than the folder's merged table is not read again."""
    merged, time_ns = _merged(folder)
    versions = dict(zip(*map(merged.get, ("run_id", "package_version")), strict=True)) if merged else {}
    return {
        run_id
        for run_id in run_ids
        if (
            versions[run_id] == dfe.__version__
            if run_id in versions and _time_ns(run_file(folder, run_id)) < time_ns
            else is_done(folder, run_id)
        )
    }


def _merged(folder: Path) -> tuple[dict[str, list[str]], float]:
    """Ids, labels and versions of the runs in the merged table, and its time; nothing if there is none that can be
    read, or one with other columns.
    """
    file = folder / _MERGED
    try:
        with file.open("rb") as opened:
            parquet = _parquet(opened)
            if parquet.schema_arrow.names != SCHEMA.names:
                return {}, 0.0
            columns = ["run_id", "policy", "traffic", "package_version"]
            return parquet.read(columns=columns, use_threads=False).to_pydict(), _time_ns(file)
    except (OSError, ValueError, pa.ArrowException):
        return {}, 0.0


def _parquet(file: IO[bytes], **options: Any) -> pq.ParquetFile:
    """Open a Parquet file without pyarrow's threads, without which columns must be read, too. Such a thread may still
    hold a buffer of the file when Ctrl-C ends the interpreter; releasing the buffer then aborts the process.
    """
    return pq.ParquetFile(file, pre_buffer=False, **options)


def _time_ns(file: Path) -> float:
    """Return the time at which a file was written; infinite if there is none."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return math.inf


def write_run(folder: Path, row: Mapping[str, Any]) -> pa.Table:
    """Write the row of a run, and return its table; a single row gains nothing from compression, dictionaries and
    statistics, whose making costs more than short runs do.
    """
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    table = table_of(row)
    write_table(table, run_file(folder, row["run_id"]), **plain)
    return table


def write_table(table: pa.Table, target: Path, **options: Any) -> None:
    """Write a Parquet file; it appears complete or not at all."""
    with open_output(target) as file:
        pq.write_table(table, file, **{"compression": "zstd", "write_page_checksum": True, **options})


def read_table(file: Path, *, without: str | None = None) -> pa.Table:
    """The table in a Parquet file, but for the columns that begin with ``without``; `ConfigError` if it is damaged."""
    try:
        with file.open("rb") as opened:
            parquet = _parquet(opened, page_checksum_verification=True)
            kept = (
                [name for name in parquet.schema_arrow.names if not name.startswith(without)]
                if without
                else None
            )
            return parquet.read(columns=kept, use_threads=False).replace_schema_metadata(None)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise config_error("results", str(file), f"cannot be read ({reason}): delete it") from None


def read_runs(
    folder: Path,
    run_ids: Iterable[str],
    *,
    without: str | None = None,
    known: Mapping[str, pa.Table] | None = None,
) -> pa.Table:
    """The rows of those runs that are finished, in the order given; see `read_table`. ``known`` has tables of runs that
    this process has just written, whose files need not be read.
    """
    known = known or {}
    files = [(run_id, file) for run_id in run_ids if (file := run_file(folder, run_id)).exists()]
    tables = [
        known[run_id] if run_id in known else read_table(file, without=without) for run_id, file in files
    ]
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def others_in(folder: Path, runs: Sequence[Run]) -> str:
    """Describe the runs of its scenario that a results folder has and that are not among these, with the files that
    have changed since; empty if there are none.
    """
    manifest = _read_manifest(folder)
    others = len(manifest["runs"].keys() - {run.id for run in runs})
    if not others:
        return ""
    before = manifest.get("files", {})
    changed = [file for file, digest in files_of(runs).items() if before.get(file, digest) != digest]
    why = f" ({', '.join(changed)} has changed)" if changed else ""
    return f"has {others} runs of another scenario{why}"


def take_folder(folder: Path, name: str, runs: Sequence[Run], *, force: bool) -> None:
    """Make a results folder that of a scenario with these runs; `ConfigError` if it has another one's, of which runs
    would be left out. With ``force`` it changes hands: all runs are kept; the former list, table and page are renamed.
    """
    if others := others_in(folder, runs):
        if not force:
            allowed = f"{others}: name another folder (--out), or take it over (--force)"
            raise config_error("folder", str(folder), allowed)
        number = next(n for n in itertools.count(1) if not (folder / f"scenario-{n}.json").exists())
        for name_of_file in (_MANIFEST, _MERGED, _PAGE):
            if (file := folder / name_of_file).exists():
                file.rename(file.with_stem(f"{file.stem}-{number}"))
    labels = {run.id: {"policy": run.policy_label, "traffic": run.traffic_label} for run in runs}
    make_folders(folder, folder / "runs")
    manifest = {"name": name, "runs": labels, "files": files_of(runs)}
    write_text(json.dumps(manifest, indent=1) + "\n", folder / _MANIFEST)


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The name of a folder's scenario and the labels of its runs; no runs if the folder has no scenario."""
    file = folder / _MANIFEST
    if not file.exists():
        return {"name": folder.name, "runs": {}}
    allowed = "is damaged: delete it, and start the sweep again, which keeps the runs that are done"
    manifest: dict[str, Any] = read_json(file, "results", allowed=allowed)
    if not isinstance(manifest, dict) or not {"name", "runs"} <= manifest.keys():
        raise config_error("results", str(file), allowed)
    return manifest


def merge(folder: Path, known: Mapping[str, pa.Table] | None = None) -> None:
    """Write the rows of all runs of the folder's scenario that are finished, if there are any, to one file. A table
    that has them all stays as it is. ``known``: see `read_runs`.
    """
    labels = _read_manifest(folder)["runs"]
    if not _is_merged(folder, labels) and (table := _read_labelled(folder, labels, known)).num_rows:
        write_table(table, folder / _MERGED)


def _is_merged(folder: Path, labels: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether the merged table has all runs that are finished, under these labels, as their files are now."""
    columns, time_ns = _merged(folder)
    there = {run_id: time for run_id in labels if (time := _time_ns(run_file(folder, run_id))) < math.inf}
    rows = [(run_id, labels[run_id]["policy"], labels[run_id]["traffic"]) for run_id in there]
    return (
        bool(columns)
        and rows == [*zip(columns["run_id"], columns["policy"], columns["traffic"], strict=True)]
        and all(time < time_ns for time in there.values())
    )


def _read_labelled(
    folder: Path, labels: Mapping[str, Mapping[str, str]], known: Mapping[str, pa.Table] | None = None
) -> pa.Table:
    """See `read_runs`; the merged table is read instead where it has the same rows. The file of a run may have other
    labels: an earlier sweep may have given the same run other names.
    """
    if _is_merged(folder, labels):
        return read_table(folder / _MERGED)
    table = read_runs(folder, labels, known=known)
    for column in ("policy", "traffic") if table.num_rows else ():
        named = pa.array([labels[run_id][column] for run_id in table["run_id"].to_pylist()])
        table = table.set_column(table.column_names.index(column), column, named)
    return table


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
    """
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def mean_and_ci95(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % confidence interval, of independent values. NaNs are left out; with fewer
    than two values the half width is NaN.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    if len(known) == 1:
        return known[0], math.nan
    return fmean(known), student_t95(len(known) - 1) * stdev(known) / math.sqrt(len(known))


@dataclass(frozen=True, slots=True)
class Results:
    """Runs that belong together.

    Attributes:
        name: The scenario's name, for titles.
        table: One row per run; the columns of `sweeps.columns` in which some run has a value.
        policies: Labels in the order of the scenario.
        traffic: Labels in the same sense.
        expected: Runs that the scenario has, finished or not.
    """

    name: str
    table: pd.DataFrame
    policies: tuple[str, ...]
    traffic: tuple[str, ...]
    expected: int

    def select(
        self, *, policies: Sequence[str] = (), traffic: Sequence[str] = (), loads: Sequence[float] = ()
    ) -> Results:
        """The part with these policies, traffics and loads (each empty for all); `ConfigError` for a name that the
        results do not hold, or if nothing is left.
        """
        for field, wanted, present in (
            ("policy", policies, self.policies),
            ("traffic", traffic, self.traffic),
        ):
            for label in wanted:
                if label not in present:
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
        """Rename policies, traffic and the whole; different names must stay different."""
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
        path: A folder that `run_all` wrote (a shared one: all of its runs), or a merged or single-run Parquet file.

    Raises:
        ConfigError: If there are no results, or none of them can be read.
    """
    ids, name, table = {}, path.stem, pa.table({})
    if path.is_dir():
        manifest = _read_manifest(path)
        ids, name = manifest["runs"], manifest["name"]
        table = _read_labelled(path, ids)
        if not ids:  # a folder with runs of several scenarios
            table = read_runs(path, sorted(file.stem for file in path.glob("runs/*.parquet")))
    elif path.exists():
        table = read_table(path)
    if not table.num_rows:
        raise config_error(
            "results", str(path), "must be the folder of a sweep with a finished run, or a Parquet file"
        )
    if missing := _NEEDED.difference(table.column_names):
        allowed = f"must be results of a sweep; the column {min(missing)!r} is missing"
        raise config_error("results", str(path), allowed)
    labels = [*ids.values()] or table.select(["policy", "traffic"]).to_pylist()
    frame = table.to_pandas().dropna(axis="columns", how="all")
    policies, traffic = (
        _present(dict.fromkeys(label[column] for label in labels), frame[column])
        for column in ("policy", "traffic")
    )
    return Results(name, frame, policies, traffic, len(labels))


def _present(labels: Iterable[str], column: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that a column has, in their order."""
    known = set(column)
    return tuple(label for label in labels if label in known)


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
        ``saturated``: the verdict of `stationarity.is_saturated` on all runs together, or that in some run a host is
        sent more than its link takes (`Metrics.destination_load_max`); never where programs say when to send, as
        closed-loop traffic and jobs offer no load; ``undecided``: whether the windows have too few messages for that
        verdict; ``stationary``: whether no run is known to be otherwise (`Metrics.stationary`), and the packets in the
        system do not become more over all runs; and ``fitting_window_ns``: the longest window that a run needs for its
        demanded load, NaN if all windows fit.
    """
    present = [column for column in columns if column in results.table.columns]
    return means_of(results, results.table, KEYS, present, _state)


def means_of(
    results: Results,
    runs: pd.DataFrame,
    by: Sequence[str],
    columns: Sequence[str],
    more: Callable[[pd.DataFrame], dict[str, object]],
) -> pd.DataFrame:
    """Means over runs that agree in ``by``, sorted by it: their number as ``seeds``, of every column the mean and, as
    ``_ci95``, half the width of its interval; and what ``more`` returns for them.
    """
    rows = []
    for key, group in runs.groupby(list(by), sort=False):
        row: dict[str, object] = {**dict(zip(by, key, strict=True)), "seeds": len(group), **more(group)}
        for column in columns:
            row[column], row[f"{column}_ci95"] = mean_and_ci95(_numbers(group, column).tolist())
        rows.append(row)
    labels = {"traffic": results.traffic, "policy": results.policies}

    def place(column: pd.Series[Any]) -> pd.Series[Any]:
        known = labels.get(str(column.name))
        return column if known is None else column.map(known.index)

    return pd.DataFrame(rows).sort_values(list(by), key=place, ignore_index=True)


def _numbers(runs: pd.DataFrame, column: str) -> pd.Series[float]:
    """A column as numbers, NaN where there is none; empty if the column is missing."""
    if column not in runs:
        return pd.Series(dtype=float)
    return pd.to_numeric(runs[column], errors="coerce").astype(float)


def _state(runs: pd.DataFrame) -> dict[str, object]:
    """Whether runs that differ in their seed are saturated, and stationary, see `aggregate`."""
    # Only where programs say when to send messages are counted.
    halves = _halves(runs) if _numbers(runs, "messages_delivered").isna().all() else []
    overloaded = bool(halves) and bool(_numbers(runs, "destination_load_max").map(is_overloaded).any())
    saturated = True if overloaded else is_saturated(halves)
    return {
        "saturated": saturated is True,
        "undecided": saturated is None and bool(halves),
        "stationary": not (bool((_numbers(runs, "stationary") == 0).any()) or is_growing(halves)),
        "fitting_window_ns": _numbers(runs, "fitting_window_ns").max(),
    }


def _halves(runs: pd.DataFrame) -> list[Half]:
    """The second halves of the runs' windows; those runs are left out whose middle was not noted."""
    columns = [*HALF, "packets_in_flight", "message_packets", "injection", "num_hosts"]
    known = runs[columns].dropna(subset=list(HALF)) if set(columns) <= set(runs) else runs[:0]
    return [
        Half(
            offered=float(run["second_half_offered"]),
            delivered=float(run["second_half_delivered"]),
            held_before=float(run["middle_in_flight"]),
            held_after=float(run["packets_in_flight"]),
            message_packets=int(run["message_packets"]),
            in_phase_packets=int(run["message_packets"] * run["num_hosts"])
            if run["injection"] == "periodic"
            else 0,
        )
        for run in known.to_dict("records")
    ]
