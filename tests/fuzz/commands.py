"""One command line, in this process: how it must end."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import json
import re
from collections.abc import Sequence
from typing import Any

import typer

from dragonfly_env.cli import app
from tests.fuzz.alarm import Alarm
from tests.fuzz.outcome import Outcome, require

_DONE = 0
_FAILED = 1
_INTERRUPTED = 130
_CODES = (_DONE, _FAILED, 2, _INTERRUPTED)
_LONGEST_S = 90.0  # a busy machine is no finding
_PATIENCE_S = 2.0  # with what was asked to take long

# Times and sizes that are legal, and more than a fuzzer wants to wait for.
_LONG = re.compile(r"e\+?\d|\d{5}|full|\b(342|1056|2550|5256|16512|83232|279040)\b", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class _Ended:
    """A command that is over."""

    code: int
    output: str
    errors: str


def give(arguments: Sequence[str], alarm: Alarm, files: Sequence[str] = ()) -> Outcome:
    """Run a command; raise ``WrongError`` unless it ends as commands should.

    Args:
        arguments: After the program's name.
        alarm: Presses Ctrl-C when it takes too long.
        files: Contents of what the command reads.
    """
    long = any(_LONG.search(text) for text in (*arguments, *files))
    ended: list[_Ended] = []
    struck = alarm.during(lambda: ended.append(_run(arguments)), _PATIENCE_S if long else _LONGEST_S)
    require(long or not struck, f"{list(arguments)} ends")
    return _judged(arguments, ended[0], long) if ended else Outcome.RUN


@functools.cache
def _command() -> Any:
    return typer.main.get_command(app)  # once: making it takes longer than most inputs


def _run(arguments: Sequence[str]) -> _Ended:
    """As ``dragonfly_env.cli.main`` runs it, but in streams that can be read afterwards."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2)]
    code: Any = _DONE
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            _command().main(list(arguments), prog_name="dragonfly-env")
        except SystemExit as end:
            code = end.code
        except KeyboardInterrupt:
            code = _INTERRUPTED
    for stream in streams:
        stream.flush()
    output, errors = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return _Ended(code, output, errors)


def _judged(arguments: Sequence[str], ended: _Ended, long: bool) -> Outcome:
    said = f"{list(arguments)!r}\nexit code {ended.code}\n{ended.output}{ended.errors}"
    require(ended.code in _CODES, f"exit code: {said}")
    require("Traceback" not in ended.output + ended.errors, f"no traceback: {said}")
    require(long or ended.code != _INTERRUPTED, f"nobody pressed Ctrl-C: {said}")
    if ended.code == _INTERRUPTED:
        return Outcome.RUN
    if ended.code == _DONE:
        if arguments[0] == "simulate" and "--json" in arguments and ended.output.startswith("{"):
            json.loads(ended.output)
        return Outcome.RUN
    errors = [line for line in ended.errors.splitlines() if line.startswith("error: ")]
    # The parser's own, with a hint or without.
    usage = "Usage:" in ended.errors or "─ Error ─" in ended.errors
    several = ended.code == _FAILED and arguments[0] in ("sweep", "evaluate")  # one for each run that failed
    require(usage or len(errors) == 1 or (several and errors), f"one clear line: {said}")
    return Outcome.REFUSED
