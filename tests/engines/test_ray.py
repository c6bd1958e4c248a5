"""Sweeps on a real Ray cluster of two nodes on this machine, of which one is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import run_all
from dragonfly_env.sweeps.engines import find_engine
from tests.engines.sweeps import check_all_done, check_resumes, scenario, while_runs_are_under_way

ray = pytest.importorskip("ray", reason="needs the extra [ray] (make test-engines)")

pytestmark = pytest.mark.filterwarnings("default")  # Ray and its dependencies warn of their own affairs
# Dead nodes are missed after a second, and not after half a minute.
QUICK = {
    "health_check_period_ms": 300,
    "health_check_failure_threshold": 3,
    "health_check_initial_delay_ms": 0,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without processors and two workers with one each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": QUICK})
    cluster.workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
    yield cluster
    cluster.shutdown()


def test_runs_of_a_killed_node_are_done_again(cluster: Any, tmp_path: Path) -> None:
    plan = scenario(measure_ns=1_000_000.0)
    engine = find_engine("ray", cluster.address)
    folder = tmp_path / "there"

    def kill() -> None:
        cluster.remove_node(cluster.workers.pop(), allow_graceful=False)

    with while_runs_are_under_way(folder, kill) as killed:
        report = run_all(plan, folder, engine=engine)
    assert killed
    check_all_done(report, folder, plan, tmp_path / "here")
    assert not ray.is_initialized()


def test_it_goes_on_where_another_engine_stopped(cluster: Any, tmp_path: Path) -> None:
    engine = find_engine("ray", cluster.address)
    assert engine is not None
    check_resumes(engine, tmp_path)


def test_a_cluster_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    engine = find_engine("ray", "127.0.0.1:1")
    with pytest.raises(ConfigError, match=r"address = '127\.0\.0\.1:1': must be that of a Ray cluster"):
        run_all(scenario(), tmp_path, engine=engine)
