"""The command line ``dragonfly-env``: one module per command, imported when it is called.

``dragonfly-env --help`` needs neither the library nor the commands: what it says of each is in `COMMANDS`.
"""

from __future__ import annotations

from dragonfly_env.checks.extras import require_analysis

try:
    require_analysis("the command line")
except ImportError as error:  # one line instead of a traceback
    raise SystemExit(f"error: {error}") from None

# isort: split
import functools
import importlib
import signal
import warnings
from typing import Annotated, Any

import typer
from rich.text import Text

import dragonfly_env
from dragonfly_env.cli.commands import APP, Commands, make_command
from dragonfly_env.cli.console import note

__all__ = ["COMMANDS", "app", "command", "main"]

COMMANDS = {
    "info": "List what there is, or say what one thing is and where it comes from.",
    "simulate": "Simulate one policy under one traffic at one load, and print what was measured.",
    "sweep": "Compare policies: simulate each with each traffic, load and seed; then draw figures and print tables.",
    "plot": "Draw figures from the results of a sweep.",
    "bounds": "Compute the most load that any routing can carry, and the least mean latency at a load.",
    "view": "Write a page that plays runs: one file that needs neither a network nor a server.",
    "train": "Train an agent that chooses where packets go at every router.",
    "tasks": "List the named tasks, or print the scores of the results in a folder.",
    "evaluate": "Compare agents with built-in policies; write the same folder, tables and figures as 'sweep'.",
    "benchmark": "Measure policies on a versioned suite of cases, against the best reference of each.",
    "reproduce": "Reproduce a paper: run what its figures need, draw them, and check what its text claims.",
}
"""Every command, and the first paragraph of its help."""
_WORDS = {"help": "--help", "version": "--version"}
"""Words that people type for an option."""


@functools.cache
def command(name: str) -> Any:
    """A command of `COMMANDS` as Typer makes it, with the library that it needs."""
    importlib.import_module(
        "dragonfly_env._library"
    )  # now, because a signal during the import would break it
    return make_command(name, getattr(importlib.import_module(f"{__name__}.{name}"), name))


class _Commands(Commands):
    """The commands of `COMMANDS`. ``help sweep`` is ``sweep --help``."""

    find = staticmethod(command)
    words = _WORDS


app = typer.Typer(
    name="dragonfly-env",
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **APP,
)
for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(lambda: None)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dragonfly-env {dragonfly_env.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Simulate Dragonfly networks packet by packet, compare routing policies, and train agents that route.

    [bold]First steps[/bold]
    dragonfly-env info
    dragonfly-env simulate -p ugal-n --traffic adv+1 -l 0.3
    dragonfly-env sweep -p min,par --traffic uniform -l 0.1:0.9:0.2 -o results/first
    dragonfly-env train deep-q --traffic adv+1 -l 0.35 -o results/dqn
    dragonfly-env evaluate results/dqn/agent.zip min ugal-n

    Loads are fractions of the host links' bandwidth. Times are simulated times; without a unit they are nanoseconds.
    An option that may be repeated also takes items separated by commas.
    """


def main() -> None:
    """Run the command line and exit.

    Exit codes: 0 done; 1 a run failed, or a file could not be read or written; 2 an impossible setting or wrong usage;
    130 Ctrl-C or SIGTERM.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # batch systems send it before they kill
    warnings.showwarning = lambda message, *_, **__: note(Text(f"warning: {message}", style="yellow"))
    app()
