"""Output of commands: tables and lists at every width, how texts of options are read, and completion by a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env.checks.values import parse_time, split_items, split_settings
from dragonfly_env.cli import COMMANDS
from dragonfly_env.cli.comparison import latencies_so_far
from dragonfly_env.sweeps.scenario import split_policies
from tests.unit.cli_arguments import SWEEP, run

STEADY = ("simulate", "-t", "72", "--warmup", "5us", "--measure", "5us")


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_no_name_is_cut_or_wrapped_on_a_narrow_screen(columns: int) -> None:
    for name in ([], ["par"], ["lia"], ["features"], ["graph500"], ["milc"], ["theta"]):
        printed = run("info", *name, columns=columns).stdout
        assert "…" not in printed
        assert max(map(len, printed.splitlines())) <= columns
    words = run("info", columns=columns).stdout.split()
    assert {*dfe.policies(), *dfe.traffic_patterns(), *dfe.topologies()} <= set(words)
    assert "nonmin_candidates" not in words
    assert "nonminimal_candidates" in run("info", "par", columns=columns).stdout.split()


def test_a_table_that_is_too_wide_is_a_list(tmp_path: Path) -> None:
    longest = "ugal-n:bias_packets=2,minimal_candidates=2,nonminimal_candidates=3"
    command = [*SWEEP, "-p", longest, "-o", str(tmp_path), "-j", "1", "--no-plots"]
    for columns in (80, 100, 200):
        printed = run(*command, columns=columns).stdout
        assert "…" not in printed
        assert longest in printed.split()
        assert {"carried", "accepted"} <= set(printed.replace(":", " ").split())


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)])
def test_no_option_is_cut_in_a_help_page(command: list[str], columns: int) -> None:
    printed = run(*command, "--help", columns=columns).stdout
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= columns


def test_a_mistake_in_a_file_names_the_file_and_one_in_an_option_the_option(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('topology = "72"\npolicies = ["min"]\ntraffic = ["uniform"]\nloads = [3]\n')
    in_file = run("sweep", str(file), "--dry-run")
    assert in_file.stderr.startswith(f"error: {file}: load = 3: must be a fraction")
    assert run("sweep", str(file), "-l", "4", "--dry-run").stderr.startswith("error: --load 4: must be")
    assert run("sweep", str(file), "-l", "0.4", "--dry-run").exit_code == 0


def test_columns_set_the_width_without_a_terminal() -> None:
    command = [sys.executable, "-m", "dragonfly_env.cli", "info", "par"]
    for columns in ("60", "90"):
        environment = {**os.environ, "COLUMNS": columns}
        printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        assert int(columns) - 10 < max(map(len, printed.splitlines())) <= int(columns)


def test_a_footnote_explains_only_what_its_tables_have(tmp_path: Path) -> None:
    short = ["-t", "72", "--warmup", "5us", "--measure", "5us", "-j", "1", "--no-plots"]
    steady = run("sweep", *short, "-p", "min", "--traffic", "uniform", "-l", "0.2", "-o", str(tmp_path / "a"))
    assert "In brackets" not in steady.stdout
    full = run("sweep", *short, "-p", "min", "--traffic", "adv+1", "-l", "0.5", "-o", str(tmp_path / "b"))
    assert "In brackets: saturated" in full.stdout


def test_simulate_says_whether_the_network_was_steady() -> None:
    assert "stationary (mean latency within 10%" in run(*STEADY, "-l", "0.3").stdout
    assert ", not saturated" in run(*STEADY, "-l", "0.3").stdout
    assert "SATURATED: less than 95%" in run(*STEADY, "--traffic", "adv+1").stdout
    large = run(*STEADY, "-l", "0.02", "--message-packets", "64").stdout
    assert "the window does not fit the injection; --measure 205us would" in large
    assert "too few packets to say" in run(*STEADY[:-1], "100ns").stdout
    assert (
        "stationary" not in run("simulate", "-t", "72", "--traffic", "all-to-all", "--to-completion").stdout
    )


@pytest.mark.parametrize("warmup", ["0", "100us"])
def test_simulate_runs_a_trace_to_its_end(warmup: str, tmp_path: Path) -> None:
    file = tmp_path / "short.csv"
    file.write_text("time_ns, src, dst, bytes\n0, 0, 9, 4096\n3000, 5, 5, 0\n")
    command = ("simulate", "-t", "72", "--traffic", f"trace:{file}", "--warmup", warmup, "--to-completion")
    results = json.loads(run(*command, "--json").stdout)["results"]
    assert results["packets_generated"] == results["packets_delivered"] == 33
    assert results["makespan_ns"] > 3_000


def test_simulate_writes_what_json_prints(tmp_path: Path) -> None:
    file = tmp_path / "new" / "out.json"
    printed = run(*STEADY, "--json", "--out", str(file)).stdout
    assert file.read_text() == printed


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("min,par", ["min", "par"]),
        ("min, par,", ["min", "par"]),
        ("weighted:uniform=0.7,adv+1=0.3", ["weighted:uniform=0.7,adv+1=0.3"]),
        ("trace:a.csv,start=first,uniform", ["trace:a.csv,start=first", "uniform"]),
        ("random,groups=2", ["random", "groups=2"]),
        ("file.py:Class,min", ["file.py:Class", "min"]),
    ],
)
def test_items_are_separated_by_commas_but_settings_stay_with_their_item(text: str, items: list[str]) -> None:
    assert split_items(text) == items


@pytest.mark.parametrize(
    "policies",
    [
        ["min", "ugal-n:bias_packets=2,minimal_candidates=2", "par"],
        ["mine=agent.zip", "other=b.zip"],
        ["x=file.py:A", "y=file.py:B"],
        ["x=file.py:A@run/agent.zip", "y=module:B", "min"],
        ["x=ugal-n:bias_packets=2,minimal_candidates=2", "y=par:bias_packets=3", "z=min"],
        ["mlp:weights=a.npz", "b=q-routing"],
    ],
)
def test_a_label_in_a_list_of_policies_is_no_setting_of_the_policy_before(policies: list[str]) -> None:
    assert split_policies(", ".join(policies).replace(",minimal", ", minimal")) == policies


def test_a_value_without_a_name_continues_a_list_of_settings() -> None:
    assert split_settings("hidden_units=64,64,gamma=0.9") == ["hidden_units=64,64", "gamma=0.9"]


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("1000", 1000),
        ("1e3", 1000),
        ("10us", 10_000),
        ("0.1 µs", 100),
        ("0.1μs", 100),
        ("2ms", 2e6),
        ("1s", 1e9),
    ],
)
def test_times_have_units(text: str, time_ns: float) -> None:
    assert parse_time("warmup_ns", text) == time_ns


@pytest.mark.parametrize("text", ["", "us", "10 min", "10xs", "ten"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(dfe.ConfigError, match="must be a time such as 10us"):
        parse_time("warmup_ns", text)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("sim", "simulate"),
        ("simulate --to-", "--to-completion"),
        ("simulate -p u", "ugal-n"),
        ("sweep -p min,ug", "min,ugal-n"),
        ("sweep --traffic adv", "adv+1"),
        ("view -t the", "theta-m8"),
        ("bounds -n q", "q-adaptive"),
        ("simulate --set global_l", "global_latency_ns="),
        ("info ugal-", "ugal-n"),
        ("evaluate pa", "par"),
        ("train deep", "deep-q"),
        ("train --task Mi", "Mixed-72"),
        ("evaluate --task Po", "Ports-72"),
    ],
)
def test_a_shell_completes_commands_options_and_values(words: str, completed: str) -> None:
    environment = {
        "_DRAGONFLY_ENV_COMPLETE": "complete_bash",
        "COMP_WORDS": f"dragonfly-env {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    script = "from dragonfly_env.cli import app; app(prog_name='dragonfly-env')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert completed in done.stdout.split(), done.stderr


def test_the_table_so_far_is_empty_until_a_run_is_finished(tmp_path: Path) -> None:
    assert latencies_so_far(tmp_path) == ""
