"""Run, report and draw a comparison: the common part of ``sweep`` and ``evaluate``."""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from dragonfly_env.cli.commands import FAILED, INTERRUPTED, complain
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import Work

if TYPE_CHECKING:
    from dragonfly_env.sweeps.point import Run
    from dragonfly_env.sweeps.runner import Failure, SweepReport
    from dragonfly_env.sweeps.scenario import Scenario


def compare(plan: Scenario, folder: Path, work: Work, *, dry_run: bool, plots: bool, as_json: bool) -> None:
    """Do what the folder lacks of a scenario, then print tables and draw figures."""
    from dragonfly_env.sweeps.progress import Bar
    from dragonfly_env.sweeps.results import done_of
    from dragonfly_env.sweeps.runner import run_all

    note_short_warmup(plan.runs())
    if dry_run:
        show(Text(_plan_text(plan, folder, work.workers, work.force)))
        return
    runs = plan.runs()
    done = set() if work.force else done_of(folder, (run.id for run in runs))
    todo = [run for run in runs if run.id not in done]
    note_long(todo, work.workers)
    with resumable(), Bar(console(error=True), table=functools.partial(latencies_so_far, folder)) as bar:
        report = run_all(plan, folder, progress=bar, **work.arguments())
    reused = f", {report.reused} were there already" if report.reused else ""
    note(Text(f"{count_of(report.finished)} done{reused}; results in {folder}"))
    note_failures(report)
    if report.missing:
        note_missing(report)
    elif len(report.failures) < report.total:
        _show_results(folder, plots, as_json)
    if report.failures:
        raise typer.Exit(FAILED)


def note_short_warmup(runs: Sequence[Run]) -> None:
    """Say that a warm-up ends before the first packets have arrived: hardly what the user meant."""
    for run in runs:
        hop_ns = run.config.network.round_trip_ns / 2
        if 0.0 < run.warmup_ns < hop_ns:
            text = (
                f"note: --warmup {run.warmup_ns:g} ns is shorter than one hop of a packet ({hop_ns:.0f} ns); a time "
                "without a unit is in ns: type 10us"
            )
            note(Text(text, style="yellow"))
            return


def note_long(runs: Sequence[Run], workers: int | None, *, always: bool = False) -> None:
    """Say how long runs will take, if they take more than a minute; ``always``: however long."""
    from dragonfly_env.sweeps.estimate import is_long, spell_estimate

    count = min(workers or max(1, (os.cpu_count() or 1) // runs[0].config.threads), len(runs)) if runs else 1
    if runs and (always or is_long(runs, count)):
        processes = f"{count} process{'es' if count > 1 else ''}"
        note(Text(f"{count_of(len(runs))} to do: {spell_estimate(runs, count)} with {processes}"))


def count_of(runs: int) -> str:
    """``"1 run"``, ``"2 runs"``."""
    return f"{runs:,} run{'' if runs == 1 else 's'}"


def latencies_so_far(folder: Path) -> RenderableType:
    """The latencies of the runs in a folder; nothing while all runs that have ended failed."""
    from dragonfly_env.sweeps.results import load_results
    from dragonfly_env.sweeps.summary import render_latencies

    if not any((folder / "runs").glob("*.parquet")):
        return ""
    return render_latencies(load_results(folder))


def _plan_text(plan: Scenario, folder: Path, workers: int | None, force: bool) -> str:
    """Say the number of runs of a scenario, and the memory and time of the runs that the folder lacks."""
    from dragonfly_env.sweeps.estimate import spell_estimate
    from dragonfly_env.sweeps.results import done_of, others_in
    from dragonfly_env.sweeps.runner import check_runs, fitting_workers, memory_of, spell_bytes

    runs = plan.runs()
    needed = dict(zip([run.id for run in runs], check_runs(runs), strict=True))
    done = set() if force else done_of(folder, (run.id for run in runs))
    todo = [run for run in runs if run.id not in done]
    left = [needed[run.id] for run in todo]
    there = f", {len(runs) - len(left)} are there already" if len(left) < len(runs) else ""
    lines = [f"{count_of(len(runs))}{there}"]
    if (others := others_in(folder, runs)) and not force:
        lines.append(f"{folder} {others}: --out names another, --force takes it over")
    if left:
        count = fitting_workers(left, workers, plan.threads)
        processes = f"{count} process{'es' if count > 1 else ''}"
        lines.append(f"memory: about {spell_bytes(memory_of(left, count))} for {processes}")
        lines.append(f"time: {spell_estimate(todo, count)} with {processes}")
    return "\n".join(lines)


@contextmanager
def resumable() -> Iterator[None]:
    """Say how to go on with a sweep that ends early."""
    from dragonfly_env.sweeps.runner import SweepInterrupted, SweepStoppedError

    try:
        yield
    except SweepInterrupted as interrupt:
        note(Text(f"{interrupt}; to go on: {this_command('--force')}", style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    except SweepStoppedError as stop:
        complain(f"{stop}; to go on: {this_command('--force')}")
        raise typer.Exit(FAILED) from None


def note_failures(report: SweepReport) -> None:
    """Say which runs failed and why: of several with the same reason the first."""
    alike: dict[tuple[str, str], list[Failure]] = {}
    for failure in report.failures:
        alike.setdefault((failure.error, failure.run.policy_label), []).append(failure)
    for (error, policy), failures in alike.items():
        first = failures[0]
        more = len(failures) - 1
        others = f" (and {more} more run{'s' if more > 1 else ''} of {policy})" if more else ""
        complain(f"{first.run.describe()}{others}: {error}")
        if first.details:
            note(Text(first.details.rstrip(), style="dim"))


def note_missing(report: SweepReport) -> None:
    """Say how many runs other shares have to do before there are tables and figures."""
    text = f"{report.missing} of {report.total} runs are missing: other shares do them, or this command without --share"
    note(Text(text, style="yellow"))


def this_command(*without: str) -> str:
    """Return the user's command, fit to be typed again, without the flags ``without``."""
    return shlex.join(["dragonfly-env", *(word for word in sys.argv[1:] if word not in without)])


def _show_results(folder: Path, plots: bool, as_json: bool) -> None:
    import numpy as np

    from dragonfly_env.sweeps.results import load_results
    from dragonfly_env.sweeps.summary import render_summary

    results = load_results(folder)
    if as_json:
        arrays = [name for name, column in results.table.items() if column.map(np.ndim).any()]
        shown = results.table.drop(columns=[*arrays, "configuration"], errors="ignore")
        runs = json.loads(shown.to_json(orient="records"))
        show(json.dumps({"folder": str(folder), "runs": runs}, indent=2, allow_nan=False))
    else:
        show(render_summary(results))
    if plots:
        from dragonfly_env.plots import draw

        with console(error=True).status("drawing figures"):
            drawn = draw(results, folder)
        pictures = ", ".join(path.name for path in drawn.files if path.suffix == ".png")
        note(Text(f"figures: {pictures}"))
        note(Text(f"page:    {drawn.files[-1]}", style="bold"))
