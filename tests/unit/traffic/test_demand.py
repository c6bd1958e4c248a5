"""Demand matrices: shares of the load by row, rates in GB/s, and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.sweeps.scenario import TrafficChoice
from dragonfly_env.traffic import (
    DemandMatrix,
    HostMixture,
    Schedule,
    WeightedMixture,
    parse_traffic,
)

TOPOLOGY = dfe.Dragonfly.preset("72")
GROUPS = np.arange(81.0).reshape(9, 9)


def shares(matrix: object) -> list[float]:
    pattern = parse_traffic(matrix).build(TOPOLOGY.to_core(), 1)  # type: ignore[attr-defined]
    return [pattern.share(host) for host in range(TOPOLOGY.num_hosts)]


@pytest.mark.parametrize(("size", "hosts"), [(72, 1), (36, 2), (9, 8)])
def test_a_host_offers_the_share_of_its_row_of_the_largest_row(size: int, hosts: int) -> None:
    matrix = np.ones((size, size)) * np.arange(size)[:, None]
    assert shares(matrix) == pytest.approx(np.repeat(np.arange(size) / (size - 1), hosts).tolist())


@given(st.integers(0, 2**32), st.floats(1e-6, 1e6))
def test_rows_of_one_sum_offer_the_load_exactly_whatever_rounding_left(seed: int, factor: float) -> None:
    matrix = np.random.default_rng(seed).exponential(size=(9, 9))
    assert shares(matrix / matrix.sum(axis=1, keepdims=True) * factor) == [1.0] * 72


def test_a_mixture_by_host_set_and_by_message_keeps_the_shares_of_a_matrix() -> None:
    matrix = np.ones((9, 9))
    matrix[1] = 0.25
    matrix[2] = 0.0
    by_set = HostMixture(((range(40), matrix), (range(40, 72), "uniform")))
    assert shares(by_set) == [1.0] * 8 + [0.25] * 8 + [0.0] * 8 + [1.0] * 48
    by_message = WeightedMixture(((3.0, matrix), (1.0, "uniform")))
    assert shares(by_message)[8] == pytest.approx((3 * 0.25 + 1) / 4)


def test_demands_in_gigabytes_a_second_are_rates_of_hosts() -> None:
    matrix = np.zeros((9, 9))
    matrix[0, 1], matrix[2, 3] = 8.0, 16.0  # of groups of 8 hosts: 1 and 2 GB/s a host, of links of 4 GB/s
    traffic = DemandMatrix(matrix, "GB/s")
    network = dfe.NetworkConfig()
    assert traffic.load_on(TOPOLOGY, network, 0.9) == 0.5
    assert DemandMatrix(matrix).load_on(TOPOLOGY, network, 0.9) == 0.9
    assert shares(traffic)[0] == 0.5


def test_a_row_above_the_link_of_its_hosts_is_refused_by_number() -> None:
    matrix = np.zeros((36, 36))
    matrix[7, 1] = 8.1  # of a router with two hosts of 4 GB/s
    with pytest.raises(dfe.ConfigError, match=r"^demand.matrix row 7 = '4.05 GB/s a host': .* 4 GB/s a host"):
        dfe.SimulationConfig(topology=TOPOLOGY, traffic=matrix, demand_unit="GB/s")
    with pytest.raises(dfe.ConfigError, match=r"^demand.matrix row 7"):
        dfe.SimulationConfig(topology=TOPOLOGY, traffic=[(0, DemandMatrix(matrix, "GB/s"), 1)])
    matrix[7, 1] = 8.0
    dfe.SimulationConfig(topology=TOPOLOGY, traffic=matrix, demand_unit="GB/s")


def test_demands_in_gigabytes_a_second_need_no_load_and_no_mixture() -> None:
    absolute = DemandMatrix(GROUPS, "GB/s")
    with pytest.raises(dfe.ConfigError, match=r"step 0 load = 0.5: must be 1"):
        Schedule(((0, absolute, 0.5),))
    with pytest.raises(dfe.ConfigError, match=r"^weighted.parts = .*must be a relative matrix"):
        WeightedMixture(((1, absolute),))
    with pytest.raises(dfe.ConfigError, match=r"^demand_unit = 'GB/s': must be left out"):
        dfe.SimulationConfig(topology=TOPOLOGY, traffic="uniform", demand_unit="GB/s")
    with pytest.raises(dfe.ConfigError, match=r"^demand_unit = 'MB/s': must be one of 'GB/s'"):
        DemandMatrix(GROUPS, "MB/s")


FRAME = pd.DataFrame(GROUPS)
FILES = {
    "numbers": FRAME.to_csv(header=False, index=False),
    "numbers without a last line feed": FRAME.to_csv(header=False, index=False).rstrip(),
    "labels that count": FRAME.to_csv(index=False),
    "labels": FRAME.rename(columns=lambda i: f"group {i}").to_csv(index=False),
    "labels on both sides": FRAME.to_csv(),
    "names on both sides": FRAME.rename(columns="g{}".format, index="g{}".format).to_csv(index_label="from"),
    "a mark of the byte order": "\ufeff" + FRAME.to_csv(index=False),
    "blanks around cells": FRAME.to_csv(index=False).replace(",", " , "),
    "blank lines": FRAME.to_csv(index=False).replace("\n", "\r\n\r\n"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("unit", [None, "GB/s"])
def test_a_csv_with_or_without_labels_is_the_matrix(name: str, unit: str | None, tmp_path: Path) -> None:
    path = tmp_path / "Demands, of May.csv"
    path.write_bytes(FILES[name].encode())
    text = f"demand:{path}" + (f",demand_unit={unit}" if unit else "")
    assert parse_traffic(text) == DemandMatrix(GROUPS, unit)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2,x\n1,1,1\n1,1,1\n", r"^demand.matrix\[0, 2\] = 'x': must be a number \(.*m.csv\)"),
        ("a,b\n1,2\n\n3,-4\n", r"^demand.matrix\[1, 1\] = -4: must be finite and at least 0"),
        (",a,b\na,1,2\nb,nan,4\n", r"^demand.matrix\[1, 0\] = nan"),
        (",a,b\na,1,2\nb,,4\n", r"^demand.matrix\[1, 0\] = ''"),
        ("1,inf\n1,2\n", r"^demand.matrix\[0, 1\] = inf"),
        ("1,2\n1,2,3\n", "must name a NumPy .npy file or a CSV file .*Expected 2 fields in line 2, saw 3"),
        ("1,2\n1\n", r"^demand.matrix\[1, 1\] = ''"),
        ("5,6\n1,2\n3,4\n", r"must be square; it has 3 rows of 2 cells"),
        (",b,a\na,1,2\nb,3,4\n", r"^demand.matrix\[0, 0\] = ''"),
        ("1;2\n3;4\n", r"^demand.matrix\[0, 0\] = '1;2'|'3;4'"),
        ("", "must name a NumPy .npy file or a CSV file"),
        ('"', "must name a NumPy .npy file or a CSV file"),
        ("0,0\n0,0\n", "at least one host must send"),
    ],
)
def test_a_wrong_cell_of_a_csv_is_named_by_row_and_column(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(content, newline="")
    with pytest.raises(dfe.ConfigError, match=message):
        parse_traffic(f"demand:{path}")


def test_a_configuration_knows_a_file_by_its_numbers(tmp_path: Path) -> None:
    def config() -> dfe.SimulationConfig:
        return dfe.SimulationConfig(topology=TOPOLOGY, traffic=f"demand:{tmp_path / 'm.csv'}")

    (tmp_path / "m.csv").write_text(FILES["numbers"])
    before = config()
    assert before == dfe.SimulationConfig(topology=TOPOLOGY, traffic=GROUPS)
    (tmp_path / "m.csv").write_text(FILES["numbers"].replace("80.0", "90.0"))
    assert config() != before
    assert config().to_json() != before.to_json()


def test_a_scenario_takes_files_of_demands_and_their_unit(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text((FRAME / 100).to_csv(index=False))
    text = f"demand:{tmp_path / 'm.csv'}"
    choice = TrafficChoice.parse(text)
    assert (choice.traffic, choice.label) == (DemandMatrix(GROUPS / 100), text)
    absolute = TrafficChoice.parse(f"{text},demand_unit=GB/s")
    assert absolute.traffic == DemandMatrix(GROUPS / 100, "GB/s")
    with pytest.raises(dfe.ConfigError, match=r"^traffic.loads = .*must be left out: demand\(9 x 9, GB/s\)"):
        TrafficChoice.parse({**DemandMatrix(GROUPS, "GB/s").to_dict(), "loads": [0.5]})
    steps = TrafficChoice.parse({"schedule": [[0, text, 0.3], [5_000, "uniform", 0.4]]})
    assert steps.traffic == Schedule(((0, DemandMatrix(GROUPS / 100), 0.3), (5_000, "uniform", 0.4)))  # type: ignore[arg-type]
