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
from typer.core import TyperGroup

import dragonfly_env
from dragonfly_env.cli.console import note
from dragonfly_env.cli.guard import one_line_errors

__all__ = ["COMMANDS", "app", "command", "main"]

COMMANDS = {
    "info": "List what there is, or say what one thing is and where it comes from.",
    "simulate": "Simulate one policy under one traffic at one load, and print what was measured.",
    "sweep": "Compare policies: simulate each with each traffic, load and seed; then draw figures and print tables.",
    "plot": "Draw figures from the results of a sweep.",
    "bounds": "Compute the most load that any routing can carry, and the least mean latency at a load. Simulates "
    "nothing.",
    "view": "Write a page that plays runs: one file that needs neither a network nor a server.",
    "train": "Train a routing agent. It chooses where packets go at every router, and is rewarded for short delivery "
    "times.",
    "evaluate": "Compare agents with built-in policies: runs, folder, tables and figures as of 'sweep'.",
    "benchmark": "Measure policies on a versioned suite of patterns, loads, sizes and networks, against the best "
    "reference of each.",
    "calibrate": "Find the computing time of each program with which its MPI share is what was published.",
    "reproduce": "Reproduce a paper: run what its figures need, draw them in its layout, and check what its text "
    "claims.",
}
"""Every command, and the first paragraph of its help."""

_APP: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
}


@functools.cache
def command(name: str) -> Any:
    """A command of `COMMANDS` as Typer makes it, with the library that it needs."""
    dragonfly_env.load_names()
    function = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    alone = typer.Typer(**_APP)
    alone.command(name)(function)
    return typer.main.get_command(alone)


class _Commands(TyperGroup):
    """Commands that are imported when they are called. The expected errors of all commands are reported here."""

    def invoke(self, ctx: Any) -> Any:
        """See ``typer.core.TyperGroup``."""
        with one_line_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """See ``typer.core.TyperGroup``; here the command itself takes the place of its line in the help."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, known and command(str(known.name)), rest


app = typer.Typer(
    name="dragonfly-env",
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_APP,
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
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Simulate Dragonfly networks packet by packet, compare routing policies, and train agents that route.

    [bold]First steps[/bold]

    dragonfly-env info

    dragonfly-env simulate --policy ugal-n --traffic adv+1 --load 0.3

    dragonfly-env sweep --policy min --policy par --traffic uniform --load 0.1:0.9:0.2 --out results/first

    dragonfly-env train deep-q --traffic adv+1 --load 0.35 --out results/dqn

    dragonfly-env evaluate results/dqn/agent.zip min ugal-n

    Loads are fractions of the host links' bandwidth, times are nanoseconds of simulated time.
    """


def main() -> None:
    """Run the command line and exit.

    Exit codes: 0 done; 1 a run failed, or a file could not be read or written; 2 an impossible setting or wrong usage;
    130 Ctrl-C or SIGTERM.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # batch systems send it before they kill
    warnings.showwarning = lambda message, *_, **__: note(Text(f"warning: {message}", style="yellow"))
    app()
