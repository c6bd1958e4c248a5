"""One command line, in this process: how it must end."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.testing import CliRunner, Result

from dragonfly_env.cli import app
from tests.fuzz.alarm import Alarm
from tests.fuzz.outcome import Outcome, require

ENDS = (0, 1, 2, 130)
_RUN = 0
_INTERRUPTED = 130
_LONGEST_S = 90.0  # a busy machine is no finding
_PATIENCE_S = 2.0  # with what was asked to take long

# Times and sizes that are legal, and more than a fuzzer wants to wait for.
LONG = re.compile(r"e\+?\d|\d{5}|full|\b(342|1056|2550|5256|16512|83232|279040)\b", re.IGNORECASE)


def give(arguments: Sequence[str], alarm: Alarm, files: Sequence[str] = ()) -> Outcome:
    """Run a command; raise ``WrongError`` unless it ends as commands should.

    Args:
        arguments: After the program's name.
        alarm: Presses Ctrl-C when it takes too long.
        files: Contents of what the command reads.
    """
    long = any(LONG.search(text) for text in (*arguments, *files))
    results: list[Result] = []
    struck = alarm.during(
        lambda: results.append(_run(arguments)),
        _PATIENCE_S if long else _LONGEST_S,
    )
    if not results:  # Ctrl-C came outside of the command
        require(long, f"{arguments} ends")
        return Outcome.RUN
    (result,) = results
    require(long or not struck, f"{arguments} ends")
    return _judged(arguments, result, long)


def _run(arguments: Sequence[str]) -> Result:
    runner = (
        CliRunner()
    )  # Typer's own would make the command anew each time, which takes longer than most inputs
    return super(CliRunner, runner).invoke(_command(), list(arguments), env={"COLUMNS": "140"})


@functools.cache
def _command() -> Any:
    return typer.main.get_command(app)


def _judged(arguments: Sequence[str], result: Result, long: bool) -> Outcome:
    said = f"{list(arguments)!r}\nexit code {result.exit_code}\n{result.output}"
    error = result.exception
    if error is not None and not isinstance(error, (SystemExit, KeyboardInterrupt)):
        raise error
    code = _INTERRUPTED if isinstance(error, KeyboardInterrupt) else result.exit_code
    require(code in ENDS, f"exit code: {said}")
    require("Traceback" not in result.output, f"no traceback: {said}")
    require(long or code != _INTERRUPTED, f"nobody pressed Ctrl-C: {said}")
    if code == _RUN:
        if "--json" in arguments and arguments[0] == "simulate" and "--help" not in arguments:
            json.loads(result.stdout)
        return Outcome.RUN
    if code == _INTERRUPTED:
        return Outcome.RUN
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    usage = any("Usage:" in line for line in lines)  # the parser's own, with a hint
    errors = [line for line in lines if line.startswith("error: ")]
    require(usage or len(errors) == 1, f"one clear line: {said}")
    return Outcome.REFUSED
