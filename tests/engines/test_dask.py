"""Sweeps on a real Dask cluster of two workers on this machine, of which one is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import run_all
from dragonfly_env.sweeps.engines import find_engine
from tests.engines.sweeps import check_all_done, check_resumes, scenario, while_runs_are_under_way

distributed = pytest.importorskip("distributed", reason="needs the extra [dask] (make test-engines)")

pytestmark = pytest.mark.filterwarnings("default")  # Dask warns of its own affairs


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two processes with one thread each."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def test_runs_of_a_killed_worker_are_done_again(cluster: Any, tmp_path: Path) -> None:
    plan = scenario(measure_ns=1_000_000.0)
    folder = tmp_path / "there"

    def kill() -> None:
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    engine = find_engine("dask", cluster.scheduler_address)
    with while_runs_are_under_way(folder, kill) as killed:
        report = run_all(plan, folder, engine=engine)
    assert killed
    check_all_done(report, folder, plan, tmp_path / "here")


def test_it_goes_on_where_another_engine_stopped(cluster: Any, tmp_path: Path) -> None:
    engine = find_engine("dask", cluster.scheduler_address)
    assert engine is not None
    check_resumes(engine, tmp_path)


def test_what_cannot_be_is_the_users_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragonfly_env.sweeps import engines

    with pytest.raises(ConfigError, match=r"address = None: must be that of a Dask scheduler"):
        find_engine("dask")
    with pytest.raises(ConfigError, match=r"workers = 2: must be left out with Dask"):
        run_all(scenario(), tmp_path, workers=2, engine=find_engine("dask", "tcp://127.0.0.1:1"))
    monkeypatch.setattr(engines, "_WORKERS_PATIENCE_S", 1.0)
    with pytest.raises(
        ConfigError, match=r"address = 'tcp://127\.0\.0\.1:1': must be that of a Dask scheduler"
    ):
        run_all(scenario(), tmp_path, engine=find_engine("dask", "tcp://127.0.0.1:1"))
