"""The command line ``dragonfly-env``: one module per command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dragonfly_env.cli.evaluate import evaluate
from dragonfly_env.cli.guard import INTERRUPTED
from dragonfly_env.cli.info import info
from dragonfly_env.cli.plot import plot
from dragonfly_env.cli.reproduce import reproduce
from dragonfly_env.cli.simulate import simulate
from dragonfly_env.cli.sweep import sweep
from dragonfly_env.cli.train import train

__all__ = ["app", "main"]

app = typer.Typer(
    name="dragonfly-env",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(info)
app.command()(simulate)
app.command()(sweep)
app.command()(plot)
app.command()(train)
app.command()(evaluate)
app.command()(reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        from dragonfly_env import __version__

        typer.echo(f"dragonfly-env {__version__}")
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

    Exit codes: 0 done; 1 a run failed; 2 an impossible setting or wrong usage; 130 Ctrl-C.
    """
    try:
        app()
    except KeyboardInterrupt:  # between commands; they handle their own
        sys.exit(INTERRUPTED)
