"""Sweeps by submitit, with processes of this machine in the place of Slurm's jobs; one is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import run_all
from dragonfly_env.sweeps.engines import Slurm, find_engine
from dragonfly_env.sweeps.runner import SweepStoppedError
from tests.engines.sweeps import check_all_done, check_resumes, scenario, while_runs_are_under_way

pytest.importorskip("submitit", reason="needs the extra [slurm] (make test-engines)")

pytestmark = pytest.mark.filterwarnings("default")  # submitit warns of its own affairs


def local() -> Slurm:
    """Submitit's local executor."""
    engine = find_engine("slurm", "local")
    assert isinstance(engine, Slurm)
    return engine


def test_runs_of_a_killed_job_are_done_again(tmp_path: Path) -> None:
    plan, engine, folder = scenario(measure_ns=1_000_000.0), local(), tmp_path / "there"

    def kill() -> None:
        job = next(job for job in engine.jobs if not job.done())
        own = Path(f"/proc/{job.job_id}/task/{job.job_id}/children").read_text(encoding="utf-8")
        for process in (job.job_id, *own.split()):  # what watches over the job, and the job
            os.kill(int(process), signal.SIGKILL)

    with while_runs_are_under_way(folder, kill) as killed:
        report = run_all(plan, folder, workers=2, engine=engine)
    assert killed
    check_all_done(report, folder, plan, tmp_path / "here")


def test_it_goes_on_where_another_engine_stopped(tmp_path: Path) -> None:
    check_resumes(local(), tmp_path)


def test_a_run_that_fails_is_told_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(
        "class Bad:\n    scope, action = 'source', 'path'\n\n    def act(self, batch):\n"
        "        raise RuntimeError('out of luck')\n"
    )
    plan = scenario(policies=["min", "bad.py:Bad"], seeds=[1])
    report = run_all(plan, tmp_path, workers=1, engine=local())
    alone = run_all(plan, tmp_path / "alone", workers=1)
    assert report.finished == len(report.failures) == 1
    assert [(failure.run.id, failure.error) for failure in report.failures] == [
        (failure.run.id, failure.error) for failure in alone.failures
    ]
    assert list((tmp_path / "runs").glob("*.failed")) == []


def test_a_worker_with_another_version_stops_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dragonfly_env

    monkeypatch.setattr(dragonfly_env, "__version__", "9.9")
    with pytest.raises(
        SweepStoppedError, match=r"has dragonfly-env \d.*, and the sweep was started with 9\.9"
    ):
        run_all(scenario(), tmp_path, workers=1, engine=local())


def test_what_cannot_be_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"address = 'somewhere': must be left out with Slurm, or 'local'"):
        find_engine("slurm", "somewhere")
    with pytest.raises(ConfigError, match=r"slurm timeout_min = 'soon': must be a number"):
        run_all(scenario(), tmp_path, engine=find_engine("slurm", "local", {"timeout_min": "soon"}))
    with pytest.raises(ConfigError, match=r"engine = 'slurm': cannot be used here"):
        run_all(scenario(), tmp_path, engine=find_engine("slurm"))
