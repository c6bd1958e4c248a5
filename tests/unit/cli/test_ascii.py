"""A message never fails: every command ends well where the streams take ASCII alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragonfly_env.cli import COMMANDS
from tests.unit.cli_arguments import run

pytestmark = pytest.mark.usefixtures("tiny", "undrawn")

_SHORT = "-t 72 --warmup 1us --measure 2us"
CALLS = {
    "info": "info lia",
    "simulate": f"simulate {_SHORT}",
    "sweep": f"sweep {_SHORT} -p min --traffic adv+1 -l 0.1,0.5 -s 1,2 -j 1 -o results",
    "plot": "plot results",
    "bounds": "bounds -t 72 --traffic adv+1 -l 0.1",
    "view": "view -t 72 --measure 1us --frames 2 -o page.html",
    "train": "train tiny -t p=1,a=3,h=1 --episode 1us --episodes 1 --no-tensorboard -o trained",
    "evaluate": f"evaluate min {_SHORT} --traffic uniform -l 0.2 -j 1",
    "benchmark": "benchmark --hosts 72 --track steady --dry-run",
    "reproduce": "reproduce hpdc21 fig5 --dry-run",
    "tasks": "tasks",
}


def test_every_command_is_here() -> None:
    assert CALLS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", CALLS)
def test_a_command_ends_well_where_streams_take_ascii_alone(command: str) -> None:
    if command == "plot":
        assert run(*CALLS["sweep"].split(), charset="ascii").exit_code == 0
    done = run(*CALLS[command].split(), charset="ascii")
    assert (done.exit_code, done.exception) == (0, None), done.output
    assert done.output.isascii()
    if command == "simulate":
        assert "measured 2 us after 1 us" in done.stdout
    if command == "sweep":
        assert Path("results/index.html").exists()


def test_a_refusal_and_a_help_page_are_printed_in_ascii() -> None:
    assert "--warmup 1xs: must be a time such as 10us; units: ns, us, us, ms, s" in " ".join(
        run("simulate", "--warmup", "1xs", charset="ascii").output.split()
    )
    assert run("--help", charset="ascii").output.isascii()
