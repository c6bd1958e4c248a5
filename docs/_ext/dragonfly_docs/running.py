"""Runs snippets: blocks of Python, and lines that begin with ``dragonfly-env``."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMAND = "dragonfly-env "
_FILE = re.compile(r"# (\w+\.py)\n")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_CLOSE = 0.05  # relative tolerance of a training's figures: other libraries of linear algebra round otherwise


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """A new folder in which snippets write files and import modules that they wrote; it is not kept."""
    before, modules = Path.cwd(), set(sys.modules)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        sys.path.insert(0, name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)
            sys.path.remove(name)
            for module in set(sys.modules) - modules:
                if (getattr(sys.modules[module], "__file__", None) or "").startswith(name):
                    del sys.modules[module]


def file_of(text: str) -> str | None:
    """The name of the file that a block of Python is, if its first line is a comment with this name."""
    found = _FILE.match(text)
    return found[1] if found else None


def is_command(text: str) -> bool:
    """Whether every line of a block of the shell is a call of ``dragonfly-env``."""
    return all(line.startswith(COMMAND) for line in _lines(text))


def _lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def run_block(text: str, namespace: dict[str, Any]) -> str:
    """Run a block of Python in a namespace that it may change; what it printed.

    A block that is a file is written into the current folder instead.

    Raises:
        Exception: The exception that the block raises.
    """
    if name := file_of(text):
        Path(name).write_text(text.rstrip() + "\n", encoding="utf-8")
        return ""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other libraries are not the reader's concern
        exec(compile(text, "snippet", "exec"), namespace)
    return printed.getvalue()


def run_commands(text: str) -> str:
    """Run the lines of a block, each a call of ``dragonfly-env``; what they printed, without progress and notes.

    Raises:
        RuntimeError: If one of them fails.
    """
    printed = []
    for line in _lines(text):
        words = shlex.split(line, comments=True)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "dragonfly_env.cli", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{line}\n{done.stdout}{done.stderr}")
        printed.append(done.stdout)
    return "".join(printed)


def agrees(recorded: str, printed: str) -> bool:
    """Whether a recorded output still is what a snippet prints: equal words, and numbers within 5 %."""
    if _NUMBER.sub("#", recorded).split() != _NUMBER.sub("#", printed).split():
        return False
    pairs = zip(_NUMBER.findall(recorded), _NUMBER.findall(printed), strict=True)
    numbers = ((float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs)
    return all(math.isclose(a, b, rel_tol=_CLOSE, abs_tol=0.011) for a, b in numbers)
