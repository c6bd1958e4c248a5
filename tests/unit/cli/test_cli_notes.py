"""What the command line says next to its results: which network a machine runs with, what a run of jobs is called."""

from __future__ import annotations

import pytest

from dragonfly_env.cli.options import scenario_settings
from tests.unit.cli_arguments import run

ARIES = ("simulate", "--load", "0.1", "--warmup-ns", "0", "--measure-ns", "200")


@pytest.mark.parametrize("machine", ["theta-m8", "cori-m8"])
def test_an_aries_machine_without_a_network_is_said_to_run_with_another(machine: str) -> None:
    done = run(*ARIES, "-t", machine)
    assert done.exit_code == 0
    assert f"{machine} is an Aries machine; its network is --network aries (or aries-256)" in done.stderr
    assert "is an Aries machine" not in done.stdout


def test_nothing_is_said_of_networks_that_were_named_or_other_topologies() -> None:
    for named in (("-t", "theta-m8", "-n", "aries-256"), ("-t", "theta-m8", "-n", "default"), ("-t", "72")):
        done = run(*ARIES, *named)
        assert (done.exit_code, "Aries" in done.stderr) == (0, False), done.stderr


def test_a_scenario_file_for_an_aries_machine_is_read_the_same_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scenario_settings({"topology": "theta"}, {})
    assert "theta is an Aries machine" in capsys.readouterr().err
    scenario_settings({"topology": "theta", "network": "default"}, {})
    assert capsys.readouterr().err == ""


JOB = ("simulate", "-t", "72", "--job", "milc:hosts=8,scale=0.01", "--policy", "par")


def test_a_run_of_jobs_is_titled_by_them_and_idle_routers_are_not_called_unfair() -> None:
    done = run(*JOB, "--to-completion")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("par under milc:scale=0.01 on 8 hosts, seed 1\n")
    assert "Jain" not in done.stdout
    beside = run(*JOB, "--traffic", "uniform", "--load", "0.1", "--measure-ns", "2000")
    assert beside.stdout.startswith("par under milc:scale=0.01 on 8 hosts and uniform at load 0.1, seed 1\n")
    assert "Jain" in run("simulate", "-t", "72", "--load", "0.1", "--measure-ns", "2000").stdout
