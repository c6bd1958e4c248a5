"""What a table of results must hold so that every table and figure can be made of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.outside import parsing
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly

KEYS = ("traffic", "policy", "load")

_NEEDED = (
    *(*KEYS, "seed", "packet_hops", "cpu_seconds", "package_version", "platform", "machine"),
    *("date", "configuration", "topology_arrangement", "topology_group"),
    *("topology_p", "topology_a", "topology_h", "topology_g", "topology_trunking"),
)
# Null in a run that delivered nothing; the load also in one of jobs that took no time.
_SHOWN = ("accepted_load", "latency_mean_ns", "latency_p99_ns", "hops_mean")
_TEXT = (
    *(
        "run_id",
        "policy",
        "traffic",
        "topology_arrangement",
        "topology_group",
        "package_version",
        "trace_hash",
    ),
    *(
        "platform",
        "machine",
        "python_version",
        "date",
        "configuration",
        "agent",
        "agent_sha256",
        "jobs",
        "tiles",
    ),
)
# Lists of numbers; those of one line have equally many in every row.
_LISTS = (
    ("router_accepted_load",),
    ("source_router_load",),
    ("source_router_path_loads",),
    ("link_router", "link_port", "link_utilisation", "link_stall_fraction"),
    ("hop_histogram",),
    ("histogram_latency_ns", "histogram_packets"),
    ("group_latency_mean_ns",),
    ("job_run_time_ns", "job_mpi_share"),
    ("host_stall_ns",),
    ("nic_latency_ns",),
)
_SERIES = "series_"
_SERIES_NEEDED = ("series_time_ns", "series_accepted_load", "series_latency_mean_ns")
_TOPOLOGY = "topology_"
_ALLOWED = "must be results of this program"


def check_columns(table: pa.Table, file: str) -> None:
    """Refuse a table that something else made, or that was changed.

    Args:
        table: One row per run.
        file: Where it is from, for messages.

    Raises:
        ConfigError: For a column that is missing, twice there, or of another type; for a text that is none, a load
            outside (0, 1], an infinite number, or lists of different lengths.
    """
    names = table.column_names
    for name in (*_NEEDED, *_SHOWN):
        if name not in names:
            raise _refusal(file, f"without a column {name!r}")
    if len(set(names)) < len(names):
        raise _refusal(file, "with two columns of one name")
    with parsing("results", file, _ALLOWED):
        table.validate(full=True)
        for name in names:
            _check_column(name, table[name], file)
        _check_values(table, file)


def _refusal(file: str, why: str) -> Exception:
    return config_error("results", file, f"{_ALLOWED}; this is a table {why}: made by something else?")


def _check_column(name: str, column: pa.ChunkedArray, file: str) -> None:
    kind = column.type
    if name in _NEEDED and column.null_count:
        raise _refusal(file, f"with nothing in {name!r}")
    if pa.types.is_null(kind):
        return
    if name in _TEXT:
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise _refusal(file, f"with {kind} in {name!r} instead of text")
        return
    if any(name in group for group in _LISTS) or name.startswith(_SERIES):
        if not (pa.types.is_list(kind) and _is_number(kind.value_type)):
            raise _refusal(file, f"with {kind} in {name!r} instead of lists of numbers")
        return
    if not _is_number(kind):
        raise _refusal(file, f"with {kind} in {name!r} instead of numbers")
    if pa.types.is_floating(kind) and pc.any(pc.is_inf(column)).as_py():
        raise _refusal(file, f"with infinity in {name!r}")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def _check_values(table: pa.Table, file: str) -> None:
    loads, accepted = table["load"].cast(pa.float64()), table["accepted_load"].cast(pa.float64())
    if not all(0.0 < load <= 1.0 for load in loads.to_pylist()):
        raise _refusal(file, "with a load that is not in (0, 1]")
    if not all(load is None or load >= 0.0 for load in accepted.to_pylist()):
        raise _refusal(file, "with an accepted load that is none")
    if not pa.types.is_integer(table["seed"].type):
        raise _refusal(file, "with seeds that are no integers")
    for text in table["configuration"].to_pylist():
        parse_json(text, "results", file=file, allowed=f"{_ALLOWED}, with configurations in JSON")
    series = tuple(name for name in table.column_names if name.startswith(_SERIES))
    for group in _LISTS:
        _check_group(table, group, file)
    _check_group(table, dict.fromkeys((*series, *_SERIES_NEEDED)), file)
    _check_places(table, file)


def _check_group(table: pa.Table, group: Iterable[str], file: str) -> None:
    """Columns that belong together are all there or none is, with equally many entries in every row."""
    wanted = list(group)
    names = [name for name in wanted if name in table.column_names]
    if names and len(names) < len(wanted):
        raise _refusal(file, f"with {names[0]!r}, but not all that belongs to it")
    lengths = [_lengths(table[name]) for name in names]
    for name, other in zip(names, lengths, strict=True):
        if other != lengths[0]:
            raise _refusal(file, f"with other numbers of entries in {name!r} than in {names[0]!r}")


def _lengths(column: pa.ChunkedArray) -> list[int | None]:
    if pa.types.is_null(column.type):
        return [None] * len(column)
    found: list[int | None] = pc.list_value_length(column).to_pylist()
    return found


def _check_places(table: pa.Table, file: str) -> None:
    """Figures arrange routers and links by where they are."""
    columns = [name for name in table.column_names if name.startswith(_TOPOLOGY)]
    kinds = [tuple(row.values()) for row in table.select(columns).to_pylist()]
    names = [name.removeprefix(_TOPOLOGY) for name in columns]
    known = {kind: Dragonfly.from_dict(dict(zip(names, kind, strict=True))) for kind in set(kinds)}
    topologies = [known[kind] for kind in kinds]
    if "router_accepted_load" in table.column_names:
        for topology, given in zip(topologies, _lengths(table["router_accepted_load"]), strict=True):
            if given is not None and given != topology.num_routers:
                raise _refusal(file, f"with {given} routers instead of {topology.num_routers}")
    for name, ends in (
        ("link_router", [topology.num_routers for topology in topologies]),
        ("link_port", [topology.radix for topology in topologies]),
    ):
        if name in table.column_names and not _all_below(table[name].combine_chunks(), np.array(ends)):
            raise _refusal(file, f"with a {name!r} that is none")


def _all_below(column: pa.Array, ends: npt.NDArray[np.int64]) -> bool:
    """Whether the lists hold integers from 0 to below an end for each row."""
    if pa.types.is_null(column.type):
        return True
    if not pa.types.is_integer(column.type.value_type):
        return False
    numbers, rows = pc.list_flatten(column), pc.list_parent_indices(column).to_numpy()
    if numbers.null_count:
        return False
    values = numbers.to_numpy()
    return bool(((values >= 0) & (values < ends[rows])).all())
