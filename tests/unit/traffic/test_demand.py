"""Demand matrices: shares of the load by row, rates in GB/s, and files."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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
def test_rows_of_one_sum_offer_the_load_exactly_in_spite_of_rounding(seed: int, factor: float) -> None:
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
    matrix[0, 1], matrix[2, 3] = (
        8.0,
        16.0,
    )  # demands of groups of 8 hosts: 1 and 2 GB/s per host, with links of 4 GB/s
    traffic = DemandMatrix(matrix, "GB/s")
    network = dfe.NetworkConfig()
    assert traffic.load_on(TOPOLOGY, network, 0.9) == 0.5
    assert DemandMatrix(matrix).load_on(TOPOLOGY, network, 0.9) == 0.9
    assert shares(traffic)[0] == 0.5


def test_a_row_above_the_link_of_its_hosts_is_refused_by_number() -> None:
    matrix = np.zeros((36, 36))
    matrix[7, 1] = 8.1  # demand of a router with two hosts of 4 GB/s
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


RANKS = np.arange(64.0 * 64).reshape(64, 64)


def padded(hosts: Sequence[int]) -> npt.NDArray[np.float64]:
    """The matrix of ranks as one of hosts."""
    matrix = np.zeros((72, 72))
    matrix[np.ix_(hosts, hosts)] = RANKS
    return matrix


@pytest.mark.parametrize(
    "placement", ["consecutive", "random", "random-routers", "random-groups", "groups=8", range(71, 7, -1)]
)
def test_ranks_live_on_the_hosts_of_a_job_with_their_placement(placement: Any) -> None:
    job = dfe.Job("all-to-all", hosts=64, placement=placement)
    hosts = dfe.SimulationConfig(topology=TOPOLOGY, jobs=[job], seed=5).placed_jobs()[0].hosts
    assert sorted(hosts) != sorted(range(64)) or placement == "consecutive"

    placed = DemandMatrix(RANKS, placement=placement).build(TOPOLOGY.to_core(), 5)
    by_hand = DemandMatrix(padded(hosts)).build(TOPOLOGY.to_core(), 5)
    assert [placed.share(host) for host in range(72)] == [by_hand.share(host) for host in range(72)]
    assert placed.demand(by_host=True) == pytest.approx(by_hand.demand(by_host=True))
    assert placed.received() == pytest.approx(by_hand.received())


def test_hosts_without_a_rank_send_and_receive_nothing() -> None:
    traffic = DemandMatrix(np.ones((3, 3)), placement=(70, 4, 33))
    config = dfe.SimulationConfig(topology=TOPOLOGY, traffic=traffic, load=0.3, packet_log=True)
    simulation = dfe.Simulation(config)
    simulation.run(5_000)
    log = simulation.packet_log()
    assert set(log["src"].tolist()) == set(log["dst"].tolist()) == {70, 4, 33}


def test_a_placed_matrix_has_the_bounds_of_the_padded_one() -> None:
    placed = DemandMatrix(RANKS, placement=range(8, 72))
    assert dfe.most_load(TOPOLOGY, placed) == pytest.approx(dfe.most_load(TOPOLOGY, padded(range(8, 72))))


def test_a_placed_matrix_goes_to_a_table_and_back(tmp_path: Path) -> None:
    np.save(tmp_path / "ranks.npy", RANKS)
    for placement, text in ((tuple(range(64)), ";".join(map(str, range(64)))), ("groups=8", "groups=8")):
        traffic = DemandMatrix(RANKS, "GB/s", placement)
        assert parse_traffic(traffic.to_dict()) == traffic != DemandMatrix(RANKS, "GB/s")
        assert parse_traffic(f"demand:{tmp_path}/ranks.npy,placement={text},demand_unit=GB/s") == traffic
        assert pickle.loads(pickle.dumps(traffic)) == traffic


def test_a_placement_without_room_is_refused() -> None:
    def config(ranks: int, placement: Any, **settings: Any) -> dfe.SimulationConfig:
        traffic = DemandMatrix(np.ones((ranks, ranks)), placement=placement)
        return dfe.SimulationConfig(topology=TOPOLOGY, traffic=traffic, **settings)

    for ranks, placement, message in (
        (73, "random", r"^demand.matrix = 73 x 73: must be square with at most one row per host, 72"),
        (64, "groups=7", "has room for 8 ranks"),
        (4, "groups=5", "1 to 4 groups"),
        (2, (0, 72), r"^demand.placement = 72"),
        (3, (0, 1), r"^demand.placement = '2 hosts': must list 3, one per row"),
        (2, (1, 1), "list each host only once"),
        (2, "near", "did you mean|must be one of"),
    ):
        with pytest.raises(dfe.ConfigError, match=message):
            config(ranks, placement)
    with pytest.raises(dfe.ConfigError, match=r"^demand.placement = .*must be a list of hosts without a job"):
        config(2, "random", jobs=["milc:hosts=4"])
    with pytest.raises(dfe.ConfigError, match=r"^demand.placement = .*must be a list of hosts without a job"):
        config(2, (3, 5), jobs=["milc:hosts=4"])
    config(2, (4, 5), jobs=["milc:hosts=4"])


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
