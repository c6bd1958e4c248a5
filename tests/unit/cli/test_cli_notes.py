"""A note next to results: the network that an Aries machine runs with."""

from __future__ import annotations

import pytest

from tests.unit.cli_arguments import run

ARIES = ("simulate", "--load", "0.1", "--warmup", "0", "--measure", "200")


@pytest.mark.parametrize("machine", ["theta-m8", "cori-m8"])
def test_an_aries_machine_without_a_network_is_said_to_run_with_another(machine: str) -> None:
    done = run(*ARIES, "-t", machine)
    assert done.exit_code == 0
    assert f"{machine} is an Aries machine, whose network is --network aries" in done.stderr
    assert "is an Aries machine" not in done.stdout


def test_nothing_is_said_of_networks_that_were_named_or_other_topologies() -> None:
    for named in (("-t", "theta-m8", "-n", "aries-256"), ("-t", "theta-m8", "-n", "default"), ("-t", "72")):
        done = run(*ARIES, *named)
        assert (done.exit_code, "Aries" in done.stderr) == (0, False), done.stderr
