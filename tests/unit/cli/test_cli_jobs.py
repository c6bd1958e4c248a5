"""Jobs on the command line: runs that have no end, and agents that route them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env.cli import app

JOB = "qbox:hosts=2,scale=0.0001,gap_ns=5"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        app(list(arguments), standalone_mode=True)
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_info_lists_every_kind_of_job(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "info", "jobs", "--json")
    assert code == 0, err
    rows = {row["name"]: row for row in json.loads(out)["jobs"]}
    assert list(rows) == [*dfe.programs(), "goal:FILE", "trace:FILE", "background-mix"]
    assert all(row["what_it_is"] and row["source"] for row in rows.values())
    Path("messages.csv").write_text("time_ns,src,dst,bytes\n0,0,1,64\n")
    Path("ping.goal").write_text("num_ranks 2\nrank 0 {\nsend 64b to 1\n}\nrank 1 {\nrecv 64b from 0\n}\n")
    for name, file in (("goal:FILE", "ping.goal"), ("trace:FILE", "messages.csv")):
        assert dfe.Job(name.replace("FILE", file)).num_hosts == 2


def test_jobs_without_an_end_are_not_run_to_their_completion(capsys: pytest.CaptureFixture[str]) -> None:
    endless = f"{JOB},iterations=endless"
    for more in ([], ["--job", "background-mix:fill=0.5"]):
        code, _, err = run(capsys, "simulate", "-t", "72", "--job", endless, *more, "--to-completion")
        assert code == 2
        assert "never ends: leave out --to-completion" in err
    code, _, err = run(capsys, "simulate", "-t", "72", "--job", endless, "--job", JOB, "--to-completion")
    assert code == 0, err


def test_simulate_measures_an_agent_as_it_measures_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text(
        "class Own:\n    scope, action = 'source', 'path'\n\n    def act(self, batch):\n"
        "        return batch.minimal_actions()\n"
    )
    arguments = ("-t", "72", "--job", JOB, "--traffic", "uniform", "--load", "0.1", "--to-completion")
    figures = []
    for policy, log in (("own.py:Own", "own.csv"), ("min", "min.csv")):
        code, out, err = run(capsys, "simulate", "-p", policy, *arguments, "--json", "--packet-log", log)
        assert code == 0, err
        told = json.loads(out)
        figures.append(
            (told["trace_hash"], told["results"]["makespan_ns"], told["jobs"], Path(log).read_bytes())
        )
    assert figures[0] == figures[1]
