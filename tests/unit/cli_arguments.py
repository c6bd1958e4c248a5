"""Commands in this process, and arguments that several tests give them. Not a test itself."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from dragonfly_env.cli import app

SHORT = ["--warmup", "1000", "--measure", "2000"]
SYSTEM = ["--topology", "72", "-p", "min", "--traffic", "uniform"]
SWEEP = ["sweep", *SYSTEM, "-p", "ugal-n", "-l", "0.2:0.4:0.2", *SHORT]


def run(*arguments: str, columns: int = 200, charset: str = "utf-8") -> Result:
    """A command, on a terminal of so many columns."""
    return CliRunner(charset=charset).invoke(app, list(arguments), env={"COLUMNS": str(columns)})
