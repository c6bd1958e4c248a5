"""Rows on the command line: what a person types passes few files, is checked once, and is a row of a record."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.checks.values import check_seeds
from dragonfly_env.cli import app, command
from dragonfly_env.cli.commands import Typed, make_command, rows
from dragonfly_env.config.rows import Flag, integer, time_flag, time_ns
from dragonfly_env.sweeps import Scenario
from tests.unit.cli_arguments import run as run_command

PACKAGE = Path(dfe.__file__).parent
LOAD = 0.3719  # stands nowhere else


def holds(value: object, wanted: float) -> bool:
    """Whether a value is the number, or its text, or holds one of them."""
    if isinstance(value, str):
        return str(wanted) in value
    if isinstance(value, Typed):
        return holds(value.whole, wanted)
    if isinstance(value, Mapping):
        return any(holds(part, wanted) for part in value.values())
    if isinstance(value, (list, tuple)):
        return any(holds(part, wanted) for part in value)
    return isinstance(value, float) and value == wanted


def trip_of(wanted: float, *arguments: str) -> Counter[tuple[str, str]]:
    """Count the calls of each function of the package with a number as an argument, by its file and name."""
    command(arguments[0])  # imports what it needs
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        file = Path(code.co_filename)
        if event != "call" or PACKAGE not in file.parents:
            return
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        if any(holds(frame.f_locals.get(name), wanted) for name in code.co_varnames[:count]):
            calls[file.relative_to(PACKAGE).as_posix(), code.co_name] += 1

    sys.setprofile(note)
    try:
        done = CliRunner().invoke(app, list(arguments))
    finally:
        sys.setprofile(None)
    assert done.exit_code == 0, done.output
    return calls


def test_a_load_passes_at_most_six_files_and_its_range_is_checked_once() -> None:
    short = ("-t", "72", "--warmup", "0", "--measure", "100")
    calls = trip_of(LOAD, "simulate", *short, "--load", str(LOAD))
    assert len({file for file, _ in calls}) <= 6, calls
    assert calls["checks/values.py", "check_load"] == 1


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Longer(Scenario):
    """A scenario with two more options, a row each."""

    patience_ns: float = time_ns(
        5.0, 1.0, 100.0, doc="Not used.", flags=(time_flag("--patience", "Patience."),)
    )
    tries: int = integer(1, 1, 9, doc="Not used.", flags=(Flag("--tries", "Tries.", metavar="N"),))


@pytest.fixture
def made() -> list[Any]:
    return []


@pytest.fixture
def longer(made: list[Any]) -> Any:
    def longer(settings: Annotated[Typed, rows(Longer, without="jobs")]) -> None:
        """Take a scenario."""
        made.append(Longer.from_dict(settings.over({"policies": ["min"], "traffic": ["uniform"]})))

    return make_command("longer", longer)


def run(longer: Any, *arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        longer.main(list(arguments), prog_name="longer")
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out + said.err


def test_a_new_option_of_a_scenario_is_one_row(longer: Any, made: list[Any], capsys: Any) -> None:
    assert run(longer, "--patience", "0.05us", "-l", "0.2", "--tries", "3", capsys=capsys)[0] == 0
    assert (made[0].patience_ns, made[0].tries, made[0].loads) == (50.0, 3, (0.2,))
    code, said = run(longer, "--tries", "10", "-l", "0.2", capsys=capsys)
    assert (code, said) == (2, "error: --tries 10: must be an integer from 1 to 9\n")
    assert (
        "--patience 1s: must be a number in [1, 100] ns" in run(longer, "--patience", "1s", capsys=capsys)[1]
    )
    page = run(longer, "--help", capsys=capsys)[1]
    assert "--patience" in page
    assert "--job" not in page


FULL: dict[str, Any] = {
    "topology": {"preset": "72", "arrangement": "absolute"},
    "network": {"preset": "q-adaptive", "global_latency_ns": 200},
    "policies": ["min", "mine=ugal-n:bias_packets=2", {"name": "par", "label": "again"}],
    "traffic": [
        "uniform",
        {"pattern": "hotspot", "hosts": 4, "loads": ["0.1:0.3:0.1"], "warmup_ns": 5, "label": "hot"},
        {"schedule": [[0, "uniform", 0.3], [5_000, "adv+1", 0.2]], "measure_ns": 7},
    ],
    "loads": ["0.1:0.5:0.2", 0.9],
    "seeds": [3, 1],
    "jobs": ["milc:hosts=8,scale=0.01"],
    "programs": ["hacc:hosts=4", ["qbox:hosts=2", "hacc:hosts=2"]],
    "placements": ["random", "groups=2"],
    "learner_warmup_ns": 9,
    "message_packets": 1,
    "arrays": False,
}


def test_a_scenario_makes_itself_again() -> None:
    scenario = Scenario.from_dict(FULL)
    again = Scenario.from_dict(scenario.to_dict())
    assert again == scenario
    assert [run.id for run in again.runs()] == [run.id for run in scenario.runs()]
    assert scenario.replace(seeds=[7]).seeds == (7,)
    assert dataclasses.replace(scenario) == scenario


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sweep -t 72 -p min --traffic uniform -l 0.2 --dry-run -o out", "5 runs"),
        ("evaluate min -t 72 --traffic uniform -l 0.2 --dry-run -o out", "5 runs"),
        ("simulate -t 72", "these are 5: 'dragonfly-env sweep'"),
        ("bounds -t 72 --traffic permutation", "must be one"),
    ],
)
def test_a_range_of_seeds_is_all_of_them(
    command: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in " ".join(run_command(*command.split(), "--seed", "1:5").output.split())


def test_seeds_are_numbers_and_ranges_in_python_too() -> None:
    assert check_seeds("seeds", ["1:3", 7, "9:9"]) == (1, 2, 3, 7, 9)
    for wrong in (["3:1"], ["1:"], ["1:5:2"], ["one"], ["1:3", 2], ["0:99999999999"]):
        with pytest.raises(dfe.ConfigError):
            check_seeds("seeds", wrong)
