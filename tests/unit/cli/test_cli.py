"""The command line, as a user meets it: results, exit codes, messages without tracebacks."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents.learner import agent_settings
from dragonfly_env.cli import COMMANDS
from dragonfly_env.config.rows import describe
from dragonfly_env.policy import describe_policy
from tests.unit.cli_arguments import SHORT, SWEEP, run

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)])
def test_help_explains_itself(command: list[str]) -> None:
    done = run(*command, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.stdout


def test_version_is_printed() -> None:
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"dragonfly-env {dfe.__version__}\n")
    assert run("version").stdout == done.stdout


def test_help_is_a_command() -> None:
    assert run("help").stdout == run("--help").stdout
    assert run("help", "plot").stdout == run("plot", "--help").stdout


def test_quiet_commands_print_results_and_errors_alone() -> None:
    command = ("simulate", "-t", "72", *SHORT)
    assert "packet-hops per CPU-second" in run(*command).stderr
    done = run(*command, "-q")
    assert (done.stderr, done.stdout) == ("", run(*command).stdout)
    assert run(*command, "-q", "-p", "ugl-n").stderr.startswith("error: --policy ugl-n: ")


def test_the_short_page_of_info_has_every_name_and_at_most_thirty_lines() -> None:
    printed = run("info", columns=100).stdout
    assert len(printed.splitlines()) <= 30
    assert {*dfe.topologies(), *dfe.networks(), *dfe.policies(), *dfe.traffic_patterns()} <= set(
        printed.split()
    )


def test_info_as_json_has_the_rows_of_what_it_lists() -> None:
    lists = json.loads(run("info", "--json").stdout)
    assert [row["name"] for row in lists["policies"]] == list(dfe.policies())
    assert [row["name"] for row in lists["topologies"]] == list(dfe.topologies())
    policy = json.loads(run("info", "ugal-n", "--json").stdout)["policy"]
    assert [row["name"] for row in policy["parameters"]] == [row.name for row in describe_policy("ugal-n")]
    topology = json.loads(run("info", "-t", "p=2,a=4,h=2", "--json").stdout)["topology"]
    assert (topology["hosts"], topology["g"]) == (72, 9)


def test_sweep_as_json_has_a_row_per_run(tmp_path: Path) -> None:
    done = run(*SWEEP, "--out", str(tmp_path), "-j", "1", "--no-plots", "--json")
    assert done.exit_code == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    table = pd.read_parquet(tmp_path / "results.parquet")
    assert {run["run_id"]: run["latency_mean_ns"] for run in runs} == pytest.approx(
        dict(zip(table["run_id"], table["latency_mean_ns"], strict=True))
    )


def test_info_has_the_numbers_of_a_topology() -> None:
    done = run("info", "1056", "--arrangement", "absolute")
    assert done.exit_code == 0
    for number in ("1,056", "264", "33", "15", "924", "528", "0.0312", "absolute"):
        assert number in done.stdout
    shown = " ".join(run("info", "--topology", "p=4,a=8,h=4,g=20").stdout.split())
    for fact in ("of at most 33", "260 40.6% of 640", "uniform, minimal 0.6250"):
        assert fact in shown


@pytest.mark.parametrize("name", [*dfe.policies(), *dfe.networks(), "deep-q"])
def test_info_shows_the_row_of_every_setting(name: str) -> None:
    rows = describe(dfe.NetworkConfig) if name in dfe.networks() else ()
    if name in dfe.policies():
        rows = describe_policy(name)
    elif name == "deep-q":
        rows = agent_settings(name)
    shown = " ".join(run("info", name).stdout.split())
    for row in rows:
        assert row.name in shown
        assert row.allowed.split(" ")[0] in shown
        assert row.doc.split(" ")[0] in shown


def test_simulate_prints_a_table() -> None:
    done = run(
        "simulate", "--topology", "72", "--policy", "ugal-n", "--traffic", "adv+1", "--load", "0.2", *SHORT
    )
    assert done.exit_code == 0
    for word in ("ugal-n under adv+1 at load 0.2, seed 1", "accepted load", "latency, p99"):
        assert word in done.stdout


def test_simulate_as_json_is_the_simulation_of_the_library() -> None:
    done = run("simulate", "--topology", "72", "--load", "0.3", "--seed", "4", "--json", *SHORT)
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), load=0.3, seed=4, policy="min")
    assert printed["results"] == dfe.simulate(config, warmup_ns=1000, measure_ns=2000).to_dict()
    assert printed["package_version"] == dfe.__version__
    assert printed["configuration"]["topology"]["p"] == 2
    assert printed["configuration"]["warmup_ns"] == 1000


def test_options_reach_the_simulation() -> None:
    done = run(
        *("simulate", "--json", "--topology", "p=2,a=4,h=2,g=5", "--arrangement", "absolute", *SHORT),
        *("--network", "q-adaptive", "--set", "global_latency_ns=200", "--set", "decide_at=arrival"),
        *("--policy", "ugal-n:bias_packets=2", "--injection", "poisson", "--source-queue", "20"),
        *("--message-packets", "2"),
    )
    assert done.exit_code == 0, done.stderr
    configuration = json.loads(done.stdout)["configuration"]
    assert configuration["topology"]["g"] == 5
    assert configuration["topology"]["arrangement"] == "absolute"
    assert configuration["network"]["global_latency_ns"] == 200
    assert configuration["network"]["decide_at"] == "arrival"
    assert configuration["policy"]["bias_packets"] == 2
    assert configuration["injection"] == "poisson"
    assert configuration["source_queue_packets"] == 20
    assert configuration["message_packets"] == 2


def test_a_packet_log_is_csv_if_its_name_says_so(tmp_path: Path) -> None:
    parquet, csv = tmp_path / "log.parquet", tmp_path / "log.csv"
    for file in (parquet, csv):
        assert run("simulate", "-t", "72", *SHORT, "--packet-log", str(file)).exit_code == 0
    table, text = pd.read_parquet(parquet), pd.read_csv(csv)
    assert text.columns.tolist() == table.columns.tolist()
    routers = [list(map(int, router.split())) for router in text.pop("routers")]
    assert routers == [router.tolist() for router in table.pop("routers")]
    pd.testing.assert_frame_equal(text, table, check_dtype=False, rtol=0)


@pytest.mark.drawn
def test_sweep_writes_results_figures_and_page_and_prints_tables(tmp_path: Path) -> None:
    done = run(*SWEEP, "--out", str(tmp_path / "out"), "--workers", "1")
    assert done.exit_code == 0, done.stderr
    assert len(pd.read_parquet(tmp_path / "out" / "results.parquet")) == 4
    for name in (
        *("loads.png", "loads.svg", "distributions.png", "fairness.png", "global-links.png"),
        "index.html",
    ):
        assert (tmp_path / "out" / name).stat().st_size > 1000
    assert "What each policy carries" in done.stdout
    again = run(*SWEEP, "--out", str(tmp_path / "out"), "--no-plots")
    assert "0 runs done, 4 were there already" in again.stderr


def test_options_change_a_scenario_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'topology = {preset = "72", arrangement = "absolute"}\npolicies = ["min", "par"]\n'
        'traffic = ["uniform", {pattern = "adv+1", loads = [0.1, 0.2], warmup_ns = 5000}]\nloads = [0.5, 0.6]\n'
    )
    done = run(
        *("sweep", str(file), "-p", "min", "-l", "0.3", "-s", "3"),
        *SHORT,
        "-o",
        str(tmp_path / "out"),
        "--no-plots",
    )
    assert done.exit_code == 0, done.stderr
    table = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert table[["policy", "traffic", "load", "seed", "warmup_ns"]].to_numpy().tolist() == [
        ["min", "uniform", 0.3, 3, 1000.0],
        ["min", "adv+1", 0.3, 3, 1000.0],
    ]
    assert set(table["topology_arrangement"]) == {"absolute"}


def test_plot_draws_the_named_figures(tmp_path: Path) -> None:
    assert run(*SWEEP, "--out", str(tmp_path), "--workers", "1", "--no-plots").exit_code == 0
    done = run(
        *("plot", str(tmp_path), "-k", "ports", "-l", "0.2", "-p", "min", "-f", "pdf", "-o"),
        *(str(tmp_path / "f"), "--no-page"),
    )
    assert done.exit_code == 0, done.stderr
    assert [file.name for file in (tmp_path / "f").iterdir()] == ["ports.pdf"]
    assert done.stdout.split() == [str(tmp_path / "f" / "ports.pdf")]
    done = run("plot", str(tmp_path / "results.parquet"), "--table")
    assert "What each policy carries" in done.stdout
    assert (tmp_path / "index.html").exists()


def test_a_failing_run_has_exit_code_1_and_shows_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dragonfly_env.sweeps import runner

    def fail(run: object) -> None:
        raise dfe.DeadlockError("nothing moves")

    monkeypatch.setattr(runner, "measure", fail)
    done = run(*SWEEP, "--out", str(tmp_path), "--workers", "1")
    assert done.exit_code == 1
    for policy in ("min", "ugal-n"):
        first = f"error: {policy} under uniform at load 0.4, seed 1 (and 1 more run of {policy})"
        assert f"{first}: DeadlockError: nothing moves" in done.stderr
    assert "configuration" not in done.stderr


def test_simulate_runs_jobs_next_to_each_other() -> None:
    jobs = ("--job", "milc:hosts=8,scale=0.001,gap_ns=100,iterations=2", "--job", "all-to-all:hosts=4")
    found = json.loads(run("simulate", "--topology", "72", *jobs, "--to-completion", "--json").stdout)
    assert [job["program"] for job in found["jobs"]] == ["milc:gap_ns=100.0,scale=0.001", "all-to-all"]
    assert found["jobs"][0]["operations"]["allreduce"]["count"] == 2 * 2 * 8
    assert found["configuration"]["jobs"][0]["iterations"] == 2
