"""The command line ``dragonfly-env``: one module per command."""

from __future__ import annotations

from dragonfly_env.checks import analysis as _analysis  # noqa: F401 - before all that needs it

# isort: split
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer
from rich.text import Text

from dragonfly_env.cli.benchmark import benchmark
from dragonfly_env.cli.benchmark_submissions import (
    TwoWords,
    benchmark_accepted,
    benchmark_pack,
    benchmark_verify,
)
from dragonfly_env.cli.bounds import bounds
from dragonfly_env.cli.calibrate import calibrate
from dragonfly_env.cli.console import note
from dragonfly_env.cli.evaluate import evaluate
from dragonfly_env.cli.guard import (
    DONE,
    FAILED,
    WRONG_SETTING,
    complain,
    flush_results,
    prepare_streams,
    report,
)
from dragonfly_env.cli.info import info
from dragonfly_env.cli.plot import plot
from dragonfly_env.cli.reproduce import reproduce
from dragonfly_env.cli.simulate import simulate
from dragonfly_env.cli.sweep import sweep
from dragonfly_env.cli.train import train
from dragonfly_env.cli.view import view

__all__ = ["app", "main"]

app = typer.Typer(
    name="dragonfly-env",
    cls=TwoWords,
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
app.command()(bounds)
app.command()(view)
app.command()(train)
app.command()(evaluate)
app.command()(benchmark)
app.command("benchmark-pack")(benchmark_pack)
app.command("benchmark-verify")(benchmark_verify)
app.command("benchmark-accepted")(benchmark_accepted)
app.command()(calibrate)
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


def main() -> NoReturn:
    """Run the command line and exit. Commands are interruptible (`guarded`); elsewhere Ctrl-C ends the process.

    Exit codes: 0 done; 1 a run failed, or results could not be written; 2 an impossible setting or wrong usage;
    130 Ctrl-C; 143 SIGTERM.
    """
    closed = sys.stdout is None
    prepare_streams()
    warnings.showwarning = lambda message, *_, **__: note(Text(f"warning: {message}", style="yellow"))
    if closed:
        complain("standard output is closed: send it to /dev/null if nobody wants the results")
        sys.exit(WRONG_SETTING)
    code = _ended_with(app)
    code = _ended_with(flush_results) or code
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done; what is left shall not become a traceback
    sys.exit(code)


def _ended_with(work: Callable[[], object]) -> int:
    """The exit code of what commands do outside their own guards too: parse options, print help, write results."""
    try:
        work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED if end.code else DONE
    except BaseException as error:
        code = report(error)
        if code is None:
            raise
        return code
    return DONE
