"""The public face of traffic: its forms, their plain values, and what is refused."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.traffic import (
    Adversarial,
    DemandMatrix,
    Hotspot,
    Schedule,
    Trace,
    Traffic,
    Uniform,
    WeightedMixture,
    parse_traffic,
    traffic_from_dict,
    traffic_patterns,
)

TOPOLOGY = Dragonfly.preset("72")


def messages(**changes: object) -> pd.DataFrame:
    frame = pd.DataFrame({"time_ns": [1, 1.5, 2], "src": [0, 1, 2], "dst": [3, 4, 5], "bytes": [1, 128, 129]})
    return frame.assign(**changes)


@pytest.mark.parametrize("spec", traffic_patterns())
def test_every_listed_pattern_parses_and_its_own_spec_says_the_same(spec: str) -> None:
    traffic = parse_traffic(spec)
    traffic.check(TOPOLOGY)
    assert parse_traffic(traffic.spec) == traffic
    assert traffic_from_dict(spec) == spec


@pytest.mark.parametrize(
    ("spec", "traffic"),
    [
        ("adv+4", Adversarial(4)),
        ("ADV-4", Adversarial(-4)),
        (" uniform ", Uniform()),
        ("hotspot:hosts=1;5,fraction=0.5", Hotspot(hosts=(1, 5), fraction=0.5)),
        ("hotspot:fraction=1", Hotspot(fraction=1.0)),
        ("weighted:uniform=0.7,adv+1=0.3", WeightedMixture(((0.7, Uniform()), (0.3, Adversarial(1))))),
    ],
)
def test_spec_strings_mean_objects(spec: str, traffic: Traffic) -> None:
    assert parse_traffic(spec) == traffic


def test_arrays_tables_and_steps_are_understood(tmp_path: Path) -> None:
    demands = np.eye(9)
    np.save(tmp_path / "demands.npy", demands)
    assert (
        parse_traffic(demands) == DemandMatrix(demands) == parse_traffic(f"demand:{tmp_path / 'demands.npy'}")
    )
    assert parse_traffic(messages()) == Trace.from_frame(messages())
    steps = [(0, "uniform", 0.4), (1000.5, demands, 0.2)]
    assert parse_traffic(steps) == Schedule(tuple(steps))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_trace_files_give_the_table_and_remember_their_hash(tmp_path: Path, suffix: str) -> None:
    frame = messages(routers=["0 1", "", "1 2"])
    path = tmp_path / f"trace{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    traffic = parse_traffic(f"trace:{path}")
    assert traffic == Trace.from_frame(frame)
    described = traffic.to_dict()
    assert traffic_from_dict(described) == traffic
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(ConfigError):
        traffic_from_dict(described)


@pytest.mark.parametrize("blank", ["", " "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_csv_may_have_a_byte_order_mark_and_blanks_around_cells(
    tmp_path: Path, mark: str, blank: str
) -> None:
    frame = messages(routers=["0 1", "", "1 2"])
    path = tmp_path / "trace.csv"
    path.write_text(mark + frame.to_csv(index=False).replace(",", f"{blank},{blank}"), encoding="utf-8")
    assert parse_traffic(f"trace:{path}") == Trace.from_frame(frame)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        (5, "must be a spec string"),
        (None, "must be a spec string"),
        ({"pattern": np.zeros((0, 0))}, "must be a spec string"),
        (b"uniform", "must be a spec string"),
        ("unifrom", "did you mean 'uniform'"),
        ("", "unknown pattern"),
        ("adv+9", "multiple of the number of groups"),
        ("hotspot:hosts=100", "1 to 72"),
        ("hotspot:fraction=2", r"\[0, 1\]"),
        ("trace:/does/not/exist.csv", "cannot be read"),
        ("trace:trace.txt", "must end in .parquet, .csv"),
        ("demand:/does/not/exist.npy", "must name a NumPy"),
        (np.ones((3, 4)), "must be square"),
        (np.ones((8, 8)), "one row per host"),
        (np.zeros((9, 9)), "at least one host must send"),
        (np.full((9, 9), math.nan), r"demand.matrix\[0, 0\] = nan"),
        (np.full((9, 9), math.inf), r"demand.matrix\[0, 0\] = inf"),
        (np.array([["a"]]), "matrix of numbers"),
        (np.ones((9, 9), dtype=complex), "matrix of numbers"),
        ({"pattern": "uniform", "self": True}, "self"),
        ({"pattern": 7}, "name of a 'pattern'"),
        ({}, "name of a 'pattern'"),
        ({"schedule": 5}, "list of steps"),
        ({"trace": 5}, "must be a table"),
        ({"pattern": "weighted", "parts": [{"weight": 1}]}, "must be a traffic pattern"),
        ({"pattern": "mixture", "parts": []}, "pairs"),
        ({"pattern": "demand", "size": 3, "rows": [5], "columns": [0], "demands": [1]}, "out of bounds"),
        ([], "1 to 65536"),
        ([(0, "uniform", 2)], r"load = 2: must be a fraction"),
        ([(0, "uniform", 0.5), (0, "uniform", 0.5)], "later than the step before"),
        ([(math.nan, "uniform", 0.5)], "time_ns = nan"),
        ([(0, [(0, "uniform", 0.5)], 0.5)], "no schedule or trace"),
        ([(0, messages(), 0.5)], "no schedule or trace"),
    ],
)
def test_impossible_traffic_is_refused_with_the_reason(traffic: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_traffic(traffic).check(TOPOLOGY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_ns": [1, math.nan, 3]}, "trace row 1 time_ns = nan"),
        (
            {"time_ns": [1, 3, 2]},
            "trace row 2 time_ns = 2: rows must be sorted by time; the row before is at 3",
        ),
        ({"time_ns": [-1, 3, 4]}, "trace row 0 time_ns = -1"),
        ({"time_ns": [1, 2, 1e300]}, "trace row 2 time_ns"),
        ({"time_ns": pd.to_datetime([1, 2, 3])}, "column of numbers"),
        ({"src": [0, 1, 72]}, "trace row 2 src = 72: host numbers go from 0 to 71"),
        ({"src": [0, 1.5, 2]}, "trace row 1 src = 1.5"),
        ({"src": [0, None, 2]}, "trace row 1 src = nan"),
        ({"src": pd.array([0, None, 1], dtype="Int64")}, "trace row 1 src = nan"),
        ({"src": ["a", "b", "c"]}, "column of numbers"),
        ({"dst": [0, -1, 2]}, "trace row 1 dst = -1"),
        ({"bytes": [-1, 1, 1]}, "trace row 0 bytes = -1"),
        ({"bytes": [1, 2**50, 1]}, "trace row 1 bytes"),
        ({"routers": ["0 1", "", "2 1"]}, "trace row 2 routers = 2: must start at the source's router, 1"),
        ({"routers": ["0 x", "", ""]}, "trace row 0 routers = '0 x'"),
        ({"routers": [5, "", ""]}, "trace row 0 routers = 5"),
        ({"routers": ["-1", "", ""]}, "trace row 0 routers = '-1'"),
        ({"router": ["", "", ""]}, "did you mean 'routers'"),
    ],
)
def test_wrong_tables_of_messages_are_refused_with_row_and_value(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_traffic(messages(**changes)).check(TOPOLOGY)


def listed(size: int, **changes: object) -> dict[str, object]:
    """A demand matrix as a scenario file may describe it in a line."""
    return {"pattern": "demand", "size": size, "rows": [0], "columns": [1], "demands": [1.0], **changes}


def test_a_matrix_by_its_demands_is_the_matrix() -> None:
    matrix = np.zeros((9, 9))
    matrix[[0, 3], [1, 2]] = 1.0, 2.5
    by_demands = parse_traffic(listed(9, rows=[0, 3], columns=[1, 2], demands=[1.0, 2.5]))
    assert by_demands == DemandMatrix(matrix) == by_demands
    assert hash(by_demands) == hash(DemandMatrix(matrix))
    assert by_demands.to_dict() == DemandMatrix(matrix).to_dict()
    assert pickle.loads(pickle.dumps(by_demands)) == by_demands
    by_demands.check(TOPOLOGY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [0.5]}, "must describe a matrix"),
        ({"columns": [9]}, "out of bounds"),
        ({"rows": [0, 1, 2], "columns": [1, 2]}, "must describe a matrix"),
        ({"demands": [math.inf]}, "finite"),
        ({"demands": [-1.0]}, "at least 0"),
        ({"demands": ["x"]}, "must describe a matrix"),
        ({"demands": [0.0]}, "at least one host must send"),
    ],
)
def test_impossible_demands_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_traffic(listed(9, **changes))
