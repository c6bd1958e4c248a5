"""Sweeps on a real Ray cluster and a real Dask cluster of this machine, of which a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import Scenario, run_all
from tests.unit.sweeps.small_sweep import rows, small

ray = pytest.importorskip("ray", reason="needs the extra [ray] (make test-clusters)")
distributed = pytest.importorskip("distributed", reason="needs the extra [dask] (make test-clusters)")

pytestmark = pytest.mark.filterwarnings("default")  # Ray and Dask warn of their own affairs
# Ray misses dead nodes after a second, and not after half a minute.
QUICK = {
    "health_check_period_ms": 300,
    "health_check_failure_threshold": 3,
    "health_check_initial_delay_ms": 0,
}


@dataclass(frozen=True)
class Cluster:
    """A cluster of two processes."""

    backend: str
    address: str
    kill: Callable[[], object]
    """Kills a worker in the middle of its work."""


@contextmanager
def _ray() -> Iterator[Cluster]:
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": QUICK})
    workers: list[Any] = [nodes.add_node(num_cpus=1) for _ in range(2)]
    yield Cluster("ray", nodes.address, lambda: nodes.remove_node(workers.pop(), allow_graceful=False))
    nodes.shutdown()


@contextmanager
def _dask() -> Iterator[Cluster]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:

        def kill() -> None:
            pid = next(worker.pid for worker in cluster.workers.values() if worker.pid)
            os.kill(pid, signal.SIGKILL)

        yield Cluster("dask", cluster.scheduler_address, kill)


@pytest.fixture(params=[_ray, _dask], ids=["ray", "dask"], scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with request.param() as cluster:
        yield cluster


def test_a_cluster_gives_the_results_of_one_process(cluster: Cluster, tmp_path: Path) -> None:
    report = run_all(small(), tmp_path / "there", backend=cluster.backend, address=cluster.address)
    assert (report.finished, report.failures) == (8, ())
    run_all(small(), tmp_path / "here", workers=1)
    pd.testing.assert_frame_equal(rows(tmp_path / "there"), rows(tmp_path / "here"))
    assert not ray.is_initialized()


def test_a_failed_run_is_reported_and_stops_no_other(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(
        "class Bad:\n    scope, action = 'source', 'path'\n\n    def act(self, batch):\n"
        "        raise RuntimeError('out of luck')\n"
    )
    plan = small(policies=["min", f"{tmp_path}/bad.py:Bad"], seeds=[1], loads=[0.2])
    report = run_all(plan, tmp_path / "out", backend=cluster.backend, address=cluster.address)
    assert report.finished == 1
    assert [failure.error for failure in report.failures] == ["RuntimeError: out of luck"]


def test_a_killed_worker_costs_its_runs_and_a_second_start_does_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    plan = small(measure_ns=400_000, topology="342", seeds=[1], loads=[0.2, 0.3, 0.4, 0.5])
    folder = tmp_path / "there"
    begin, killed = time.monotonic(), threading.Event()

    def kill() -> None:
        while not list(folder.glob("runs/*.parquet")) and time.monotonic() < begin + 60:
            time.sleep(0.05)
        cluster.kill()
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    report = run_all(plan, folder, backend=cluster.backend, address=cluster.address)
    killer.join()
    assert killed.is_set()
    assert report.finished + len(report.failures) == 8
    # Dask gives them to another worker itself; Ray may give one to the dead node again.
    assert (1 if cluster.backend == "ray" else 0) <= len(report.failures) <= 4
    assert all("its process was lost" in failure.error for failure in report.failures)
    again = run_all(plan, folder, backend=cluster.backend, address=cluster.address)
    assert (again.finished, again.reused, again.failures) == (len(report.failures), report.finished, ())
    run_all(plan, tmp_path / "here", workers=2)
    pd.testing.assert_frame_equal(rows(folder), rows(tmp_path / "here"))


@pytest.mark.parametrize(("backend", "address"), [("ray", "127.0.0.1:1"), ("dask", "tcp://127.0.0.1:1")])
def test_a_cluster_that_is_not_there_is_a_config_error(backend: str, address: str, tmp_path: Path) -> None:
    plan: Scenario = small()
    with pytest.raises(ConfigError, match=r"address = '.*127\.0\.0\.1:1': must be that of a"):
        run_all(plan, tmp_path, backend=backend, address=address)
