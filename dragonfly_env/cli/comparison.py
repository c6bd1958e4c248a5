"""What ``sweep`` and ``evaluate`` do once they know what to compare: run, report, draw."""

from __future__ import annotations

import json
import os
import shlex
import string
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from dragonfly_env._process import interrupted_code, interrupted_text
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.engine_options import engine_of
from dragonfly_env.cli.guard import FAILED, complain

if TYPE_CHECKING:
    from dragonfly_env.experiments.results import Results
    from dragonfly_env.experiments.runner import SweepReport
    from dragonfly_env.experiments.scenario import Scenario


_SAFE = frozenset(string.ascii_letters + string.digits + "-_=+,.:/@%")


def compare(plan: Scenario, folder: Path, *, jobs: int | None, redo: bool, plots: bool, **how: Any) -> None:
    """Do what the folder lacks of a scenario, then print tables and draw figures. ``how``: see `engine_of`.

    Raises:
        typer.Exit: If a run failed, or the sweep ended early (after saying how to go on).
        ConfigError: For whatever `run_sweep` refuses.
    """
    from dragonfly_env.experiments.progress import Bar
    from dragonfly_env.experiments.runner import run_sweep

    engine = engine_of(how)
    with resumable(folder), Bar(console(error=True)) as bar:
        report = run_sweep(plan, folder, jobs=jobs, reporter=bar, redo=redo, engine=engine)
    _report(report, folder)
    if len(report.failures) < report.total:
        _show_results(folder, plots)
    if report.failures:
        raise typer.Exit(FAILED)


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Say how to go on with a sweep that ends early.

    Raises:
        typer.Exit: If it was interrupted or cannot go on.
    """
    from dragonfly_env.experiments.runner import SweepInterrupted, SweepStoppedError

    try:
        yield
    except SweepInterrupted as interrupt:
        kept = f"{interrupted_text()}: {interrupt.kept} of {interrupt.total} runs are kept in {folder}"
        note(Text(f"{kept}; to go on: {this_command('--redo')}", style="yellow"))
        raise typer.Exit(interrupted_code()) from None
    except SweepStoppedError as stop:
        kept = f"{stop.kept} of {stop.total} runs are kept in {folder}"
        complain(f"{stop}; {kept}; to go on: {this_command('--redo')}")
        raise typer.Exit(FAILED) from None


def tell_failures(report: SweepReport) -> None:
    """Say which runs failed, why, and what makes them again."""
    for failure in report.failures:
        complain(f"{failure.run.describe()}: {failure.error}")
        configuration = json.dumps(failure.run.configuration, sort_keys=True)
        note(Text(f"  configuration: {configuration}", style="dim"))
        if failure.details:
            note(Text(failure.details.rstrip(), style="dim"))


def tell_refused(results: Results) -> None:
    """Say which files of finished runs are left out."""
    if results.refused:
        count = f"{len(results.refused)} of {results.expected} runs are left out, --redo does them again"
        note(Text(f"{count}: {results.refused[0]}", style="yellow"))


def this_command(*without: str) -> str:
    """What the user typed, fit to be typed again; flags ``without`` which it goes on."""
    return " ".join(map(_quoted, ["dragonfly-env", *(word for word in sys.argv[1:] if word not in without)]))


def _quoted(word: str) -> str:
    """A word for a shell. If its bytes are no UTF-8, they are spelt as bash reads them."""
    try:
        word.encode()
    except UnicodeEncodeError:
        spelt = (chr(byte) if chr(byte) in _SAFE else f"\\x{byte:02x}" for byte in os.fsencode(word))
        return f"$'{''.join(spelt)}'"
    return shlex.quote(word)


def _report(report: SweepReport, folder: Path) -> None:
    done = f"{report.finished} runs done"
    if report.reused:
        done += f", {report.reused} were there already"
    if report.outdated:
        done += f" ({report.outdated} made by another version of this package were done again)"
    if report.damaged:
        done += f" ({report.damaged} with damaged files were done again)"
    note(Text(f"{done}; results in {folder}"))
    tell_failures(report)


def _show_results(folder: Path, plots: bool) -> None:
    from dragonfly_env.experiments.results import load_results
    from dragonfly_env.experiments.summary import render_summary

    results = load_results(folder)
    tell_refused(results)
    show(render_summary(results))
    if plots:
        from dragonfly_env.plots import draw

        with console(error=True).status("drawing figures"):
            drawn = draw(results, folder)
        pictures = ", ".join(path.name for path in drawn.files if path.suffix == ".png")
        note(Text(f"figures: {pictures}"))
        note(Text(f"page:    {drawn.files[-1]}", style="bold"))
