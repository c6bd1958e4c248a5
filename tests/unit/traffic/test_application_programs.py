"""Programs modelled on applications: who sends how much to whom, and when."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe

SMALL = dfe.Dragonfly.preset("72")
CUBE = dfe.Dragonfly(p=4, a=4, h=1, g=4)  # 64 hosts


def ran(traffic: str, topology: dfe.Dragonfly = SMALL, **changes: Any) -> dfe.Simulation:
    """A run to completion on the LIA network, with a packet log; packets have 250 bytes."""
    settings: dict[str, Any] = {"network": dfe.NetworkConfig.preset("lia"), "policy": "min", "seed": 1}
    config = dfe.SimulationConfig(
        topology=topology, traffic=traffic, packet_log=True, **{**settings, **changes}
    )
    simulation = dfe.Simulation(config)
    assert simulation.run_to_completion().makespan_ns > 0
    return simulation


# graph500


def queries_by_level(scale: int, edge_factor: int = 16, root_degree: int = 3) -> list[int]:
    """The means of the model of Fuentes et al., until all queries are used up."""
    left, queries = 2 ** (scale + 1) * edge_factor, [root_degree]
    left -= root_degree
    for level in range(1, 5):
        if not left:
            break
        a = (
            -0.133
            + 0.0046 * scale
            + math.exp(0.01257 * edge_factor - 0.1829 * scale - math.exp(1.75 - 0.7 * level))
        )
        b = 2 - level * (0.91 + 0.002 * edge_factor - 0.012 * scale)
        bell = math.exp(-((level - 3.2) ** 2) / 8)
        c = math.exp(1 + (1 + 0.004 * edge_factor) * (-1.105 + 1.01 * math.log(scale)) * bell)
        degree = math.log(root_degree)
        queries.append(min(round(math.exp(a * degree**2 + b * degree + c)), left))
        left -= queries[-1]
    return queries


def messages_of(queries: int, tasks: int, coalescing: int) -> int:
    """Messages of a task: to as many tasks as it expects to meet, as often as that takes."""
    if not queries:
        return 0
    different = max(1, int((tasks - 1) * (1 - (1 - 1 / (tasks - 1)) ** queries)))
    return different * math.ceil(queries / (different * coalescing))


@pytest.mark.parametrize(("scale", "coalescing"), [(12, 256), (10, 8), (3, 1)])
def test_a_search_sends_the_messages_of_the_model_and_a_tree_per_level(scale: int, coalescing: int) -> None:
    simulation = ran(f"graph500:scale={scale},coalescing={coalescing}")
    levels, tasks = queries_by_level(scale), SMALL.num_hosts
    expected = messages_of(levels[0], tasks, coalescing)
    for queries in levels[1:]:
        each, rest = divmod(queries, tasks)
        expected += rest * messages_of(each + 1, tasks, coalescing)
        expected += (tasks - rest) * messages_of(each, tasks, coalescing)
    log = simulation.packet_log()
    assert len(log["src"]) == expected + len(levels) * 2 * (tasks - 1)
    assert (log["src"] != log["dst"]).all()


def test_only_the_root_queries_at_first_and_a_level_begins_when_the_one_before_is_over() -> None:
    # A level alone: the root queries 2 tasks (3 queries meet 2.96 of 71), 71 tasks report along a tree in which it has
    # 7 children, and back.
    alone = Counter(ran("graph500:scale=12,levels=1").packet_log()["src"].tolist())
    ((root, most),) = alone.most_common(1)
    assert most == 2 + 7
    assert sum(alone.values()) == 2 + 2 * 71
    log = ran("graph500:scale=12").packet_log()
    of_root = log["src"] == root
    over = log["created_ns"][of_root & (log["number"] >= 2)].min()
    # All that the others send after their first report.
    assert log["created_ns"][~of_root & (log["number"] >= 1)].min() > over
    assert log["delivered_ns"][of_root & (log["number"] < 2)].max() < over


def test_another_graph_queries_others_and_the_seed_of_the_run_does_not_matter() -> None:
    def targets(traffic: str, **changes: Any) -> list[tuple[int, int, int]]:
        log = ran(traffic, **changes).packet_log()
        return sorted(zip(log["src"].tolist(), log["number"].tolist(), log["dst"].tolist(), strict=True))

    assert targets("graph500:scale=8") == targets("graph500:scale=8", seed=9, policy="val-n")
    assert targets("graph500:scale=8") != targets("graph500:scale=8,graph_seed=1")


# halo3d


def test_every_task_exchanges_faces_edges_and_corners_with_the_26_around_it() -> None:
    """4 x 4 x 4 tasks; 32 cells of 8 bytes: faces 8,192 bytes, edges 256, corners 8, so 33, 2 and 1 packets."""
    log = ran("halo3d", CUBE).packet_log()
    sent = Counter(zip(log["src"].tolist(), log["dst"].tolist(), strict=True))
    expected: Counter[tuple[int, int]] = Counter()
    for at in itertools.product(range(4), repeat=3):
        for move in itertools.product((-1, 0, 1), repeat=3):
            if differ := sum(map(abs, move)):
                to = [(i + j) % 4 for i, j in zip(at, move, strict=True)]
                pair = tuple(x + 4 * y + 16 * z for z, y, x in (at, to))
                expected[pair[0], pair[1]] += (33, 2, 1)[differ - 1]
    assert sent == expected


def test_the_next_iteration_waits_for_all_halos_and_for_the_computation() -> None:
    log = ran("halo3d:side=1,iterations=2,compute_ns=700", CUBE).packet_log()
    for task in range(64):
        ready = log["delivered_ns"][(log["dst"] == task) & (log["number"] < 26)].max()
        begins = log["created_ns"][(log["src"] == task) & (log["number"] >= 26)]
        np.testing.assert_allclose(begins, ready + 700)


def test_the_grid_is_as_cubic_as_can_be() -> None:
    """72 = 3 * 4 * 6; task 0 and the one behind the first plane are neighbours."""
    log = ran("halo3d:side=1").packet_log()
    to = set(log["dst"][log["src"] == 0].tolist())
    assert {1, 2, 3, 12, 9, 60} <= to  # -x and +x (3 long), +y, +z, -y, -z
    assert len(to) == 26


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("graph500:scale=0", "scale"),
        ("graph500:scale=41", "scale"),
        ("graph500:scale=40,coalescing=1", "scale"),
        ("graph500:coalescing=0", "coalescing"),
        ("graph500:levels=0", "levels"),
        ("graph500:depth=3", "has no argument 'depth'"),
        ("halo3d:grid=3;4;5", "grid"),
        ("halo3d:grid=72", "grid"),
        ("halo3d:side=0", "side"),
        ("halo3d:iterations=0", "iterations"),
        ("halo3d:side=4096,cell_bytes=64,iterations=1000000", "iterations"),
    ],
)
def test_what_is_impossible_is_refused(traffic: str, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.SimulationConfig(topology=SMALL, traffic=traffic)
