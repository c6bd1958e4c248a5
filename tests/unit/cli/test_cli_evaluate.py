"""``dragonfly-env evaluate``: built-in policies, saved agents and classes side by side, measured in one way."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import tiny_learner  # conftest.py has put it where commands find it
from typer.testing import CliRunner, Result

import dragonfly_env as dfe
from dragonfly_env.cli import app

pytestmark = pytest.mark.usefixtures("tiny", "undrawn")

SYSTEM = ["--topology", "p=1,a=3,h=1", "--warmup", "1000", "--measure", "2000", "--workers", "1"]
LOAD = ["--traffic", "adv+1", "--load", "0.4"]
UNLIKE = (  # columns that may differ between equal runs
    *("run_id", "policy", "configuration", "agent", "agent_sha256", "date"),
    *("wall_seconds", "cpu_seconds", "measured_cpu_seconds", "packet_hops_per_cpu_s"),
)


def run(*arguments: str, command: str = "evaluate") -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, [command, *arguments], env={"COLUMNS": "160"})


def saved_agent(path: str, **changes: object) -> str:
    """The file of an agent that was made for a small network."""
    topology = dfe.Dragonfly(p=1, a=3, h=1)
    settings = {
        "topology": topology,
        "network": "lia",
        "traffic": "adv+1",
        "load": 0.3,
        "injection": "poisson",
    }
    config = dfe.SimulationConfig(**{**settings, **changes})  # type: ignore[arg-type]
    agent = tiny_learner.TinyLearner()
    agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
    agent.sums[:3] = -5, -1, -9
    agent.metadata = {"configuration": config.to_dict()}
    agent.save(path)
    return path


def rows(folder: str = "") -> pd.DataFrame:
    """The results in a folder, or in the last default one."""
    found = (
        Path(folder) if folder else max(Path("results").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    )
    return pd.read_parquet(found / "results.parquet")


def test_any_mixture_gives_the_rows_and_figures_of_a_sweep() -> None:
    agent = saved_agent("made/agent.zip", network="default")
    mixture = [
        "min",
        "ugal-n:bias_packets=2",
        agent,
        "tiny_learner:NonMinimal",
        "mine=tiny_learner:NONMINIMAL_KINDS",
    ]
    done = run(*mixture, *SYSTEM, "--network", "default", *LOAD, "--seed", "1", "--seed", "2")
    assert done.exit_code == 0, done.stderr
    table = rows()
    labels = ["min", "ugal-n:bias_packets=2", "made", "NonMinimal", "mine"]
    assert table["policy"].drop_duplicates().tolist() == labels
    assert len(table) == 10
    assert "What each policy carries" in done.stdout
    assert len([*Path("results").glob("evaluate-*/loads.png")]) == 1
    of_agent = table[table["policy"] == "made"].iloc[0]
    assert json.loads(of_agent["configuration"])["policy"] == {
        "agent": "made/agent.zip",
        "sha256": of_agent["agent_sha256"],
    }
    assert of_agent["agent"] == agent
    assert of_agent["package_version"] == dfe.__version__
    # The two names of one class are one policy.
    same = [
        table[table["policy"] == label].drop(columns=list(UNLIKE)).reset_index(drop=True)
        for label in labels[-2:]
    ]
    pd.testing.assert_frame_equal(*same)


def test_a_saved_agent_brings_its_network_and_traffic() -> None:
    agent = saved_agent("agent.zip")
    short = ["--warmup", "500", "--measure", "1000", "--no-plots", "-j", "1"]
    assert run(agent, "min", *short).exit_code == 0
    assert rows()["policy"].drop_duplicates().tolist()[1] == "min"
    for row in rows().to_dict("records"):
        configuration = json.loads(row["configuration"])
        assert (row["traffic"], row["load"], row["num_hosts"]) == ("adv+1", 0.3, 12)
        assert configuration["network"]["packet_bytes"] == 250
        assert configuration["injection"] == "poisson"
    changed = run(
        agent, *short, "--load", "0.2", "--traffic", "uniform", "--injection", "periodic", "-o", "other"
    )
    assert changed.exit_code == 0, changed.stderr
    (row,) = rows("other").to_dict("records")
    assert (row["traffic"], row["load"], row["num_hosts"]) == ("uniform", 0.2, 12)
    assert json.loads(row["configuration"])["injection"] == "periodic"


def test_view_shows_a_saved_agent_on_its_own_system_unless_options_say_otherwise() -> None:
    agent = saved_agent("agent.zip")
    short = ["-p", agent, "-p", "min", "--measure", "1000", "--frames", "2"]
    for more, traffic, load in (
        ([], "adv+1", 0.3),
        (["--traffic", "uniform", "--load", "0.2"], "uniform", 0.2),
    ):
        done = run(*short, *more, "--out", "page.html", command="view")
        assert done.exit_code == 0, done.stderr
        page = Path("page.html").read_text(encoding="utf-8")
        assert '"hosts":12' in page
        assert f'"traffic":"{traffic}"' in page
        assert f'"load":{load}' in page


def test_finished_runs_are_kept_and_a_changed_agent_is_evaluated_anew() -> None:
    command = [saved_agent("agent.zip"), "min", *SYSTEM, *LOAD, "--no-plots"]
    assert "2 runs done" in run(*command).stderr
    again = run(*command)
    assert again.exit_code == 0
    assert "0 runs done, 2 were there already" in again.stderr
    saved_agent("agent.zip", seed=5)
    assert "2 runs done" in run(*command).stderr
    assert len([*Path("results").iterdir()]) == 2
    saved_agent("agent.zip", seed=6)
    (folder, _) = map(str, Path("results").iterdir())
    refused = run(*command, "--out", folder)
    assert refused.exit_code == 2
    said = "runs of another scenario (agent.zip has changed): name another folder (--out)"
    assert said in " ".join(refused.stderr.split())
    assert "2 runs done" in run(*command, "--out", folder, "--force").stderr


def test_a_scenario_file_may_name_agents_too(tmp_path: Path) -> None:
    saved_agent("agent.zip")
    (tmp_path / "mine.toml").write_text(
        'topology = {p = 1, a = 3, h = 1}\nnetwork = "lia"\nloads = [0.3]\ntraffic = ["uniform"]\n'
        'policies = ["min", "nonminimal=tiny_learner:NonMinimal", {agent = "agent.zip", label = "learned"}]\n'
        "warmup_ns = 500\nmeasure_ns = 1000\n"
    )
    done = run("mine.toml", "-o", "out", "-j", "1", "--no-plots", command="sweep")
    assert done.exit_code == 0, done.stderr
    assert rows("out")["policy"].tolist() == ["min", "nonminimal", "learned"]


def test_a_policy_that_breaks_the_rules_fails_alone() -> None:
    done = run("tiny_learner:Illegal", "min", *SYSTEM, *LOAD, "--no-plots")
    assert done.exit_code == 1
    assert "error: illegal under adv+1 at load 0.4, seed 1: IllegalActionError: actions[0] = " in done.stderr
    assert rows()["policy"].tolist() == ["min"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ugla-n"], "did you mean 'ugal-n'? 'dragonfly-env info' lists all"),
        (["nowhere.zip"], "POLICY nowhere.zip: cannot be read"),
        (["wrong.py:Class"], "cannot be imported (SyntaxError"),
        (["tiny_learner:Demanding"], "must be loadable without arguments (TypeError"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("class Class\n")
    done = run(*arguments, *SYSTEM, *LOAD)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
