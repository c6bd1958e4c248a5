"""``dragonfly-env benchmark``: is a policy better than the references, everywhere that matters?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.values import split_items
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import FAILED, Typed, option, rows
from dragonfly_env.cli.comparison import note_failures, note_long, resumable
from dragonfly_env.cli.console import console, note, show, titled
from dragonfly_env.cli.options import items, suite_folder
from dragonfly_env.config.rows import MACHINE
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from dragonfly_env.lab.benchmark import Benchmark
    from dragonfly_env.lab.benchmark.suite import Effort, Suite

DEFAULT_SUITE = "dragonfly-v3"


def benchmark(
    how: Annotated[Typed, rows(options.Work, "workers force")],
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="Built-in policies, saved agents or your classes, as in 'evaluate'. "
            "[dim]\\[default: the references alone][/dim]",
            show_default=False,
            parser=split_items,
            callback=options.joined,
        ),
    ] = None,
    suite: Annotated[str, option("--suite", "The suite, with its version.", metavar="NAME")] = DEFAULT_SUITE,
    tracks: Annotated[
        list[str] | None,
        items("--track", "steady, saturation, transient, applications, machines.", metavar="NAME"),
    ] = None,
    splits: Annotated[
        list[str] | None, items("--split", "Only one split: train or test.", metavar="NAME")
    ] = None,
    hosts: Annotated[
        list[int] | None,
        items("--hosts", "Only cases of these sizes.", split=options.split_numbers, metavar="N"),
    ] = None,
    listed: Annotated[bool, option("--list", "List tracks, sizes and references; measure nothing.")] = False,
    allow_test_training: Annotated[
        bool, option("--allow-test-training", "Also measure agents trained on the split test.")
    ] = False,
    full: options.Full = False,
    seeds: options.SeedCount = None,
    out: Annotated[
        Path | None, option("--out -o", "The results folder.", MACHINE, default="results/SUITE-MODE")
    ] = None,
    dry_run: options.DryRun = False,
    rerun_references: Annotated[
        bool, option("--rerun-references", "Simulate the references here, too.", MACHINE)
    ] = False,
    report_only: Annotated[
        bool, option("--report-only", "Write the pages from existing results.", MACHINE)
    ] = False,
) -> None:
    """Measure policies on a versioned suite of cases, against the best reference of each.

    A case is a pattern at a load, on a system of a size and a network. The package contains the results of the
    reference policies. An agent may be trained on the cases of the split train, but not on those of the split test.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops and keeps what is finished; the same command again
    does the rest. Trained policies with the same name are trainings of one: the tables show their interquartile mean.

    [bold]Examples[/bold]
    dragonfly-env benchmark --list
    dragonfly-env benchmark
    dragonfly-env benchmark my_policy.py:MyPolicy
    dragonfly-env benchmark results/dqn/agent.zip --full --track steady
    dragonfly-env benchmark neural-v1 --full --track steady --split test --hosts 1056 --seeds 1
    dragonfly-env benchmark mine=seed1.zip mine=seed2.zip mine=seed3.zip

    [bold]Results folder[/bold]
    benchmark.html (heat map and tables), benchmark.md (leaderboard), scores.parquet (one row per case and policy)
    """
    from dragonfly_env.lab.benchmark import Benchmark, find_suite
    from dragonfly_env.lab.benchmark.report import ONE_SEED, origin
    from dragonfly_env.sweeps.runner import check_runs

    chosen = find_suite(suite).narrowed(splits or (), hosts or ())
    effort: Effort = "full" if full else "quick"
    if listed:
        show(_lists(chosen, effort))
        return
    folder = suite_folder(out, f"{chosen.name}-{effort}", seeds)
    chosen.choose(tuple(tracks or ()))
    work = Benchmark(
        suite=chosen,
        effort=effort,
        policies=tuple(policies or ()),
        folder=folder,
        tracks=tuple(tracks or ()),
        seeds=seeds,
        published=not rerun_references,
    )
    for label, reason in work.trained_on_test_split().items():
        if not allow_test_training:
            raise ConfigError(f"{label}: {reason}; --allow-test-training measures it all the same")
        note(Text(f"{label} was trained on the test split: {reason}", style="yellow"))
    for label, reason in work.unfit().items():
        note(Text(f"{label} is measured where it can act: {reason}", style="yellow"))
    runs = work.runs()
    if not runs:
        only = [f"--split {split}" for split in splits or ()] + [f"--hosts {size}" for size in hosts or ()]
        raise ConfigError(f"{' '.join(only)}: no {effort} case of these tracks is left")
    doing: options.Work = how.make()
    todo, taken = work.todo(force=doing.force), len(work.taken())
    if taken:
        note(Text(origin(work)))
    there = len(runs) - taken - len(todo)
    counts = f"{len(runs)} runs: {taken} published, {there} in the folder, {len(todo)} left"
    left_out = " (none of them is done)" if report_only else ""
    note(Text(f"{chosen.name} ({effort}): {len(work.labels)} policies, {counts}{left_out}"))
    if work.seeds_of()[-1] == 1:
        note(Text(ONE_SEED, style="yellow"))
    if not report_only:
        check_runs(todo)
        note_long(todo, doing.workers, always=dry_run)
    if not dry_run:
        words = _words(work, suite, splits or (), hosts or (), allow_test_training)
        _perform(work, doing, report_only, words)


def _lists(suite: Suite, effort: Effort) -> RenderableType:
    """The tracks of a suite, with their cases, and its references."""
    tracks = Table("track", "what is measured", "cases", "hosts", "traffic", box=box.SIMPLE_HEAD)
    for track in suite.tracks:
        cases = track.cases.get(effort, ())
        hosts = sorted({case.hosts for case in cases})
        labels = dict.fromkeys(case.traffic.label for case in cases)
        tracks.add_row(track.name, track.title, f"{len(cases)}", " ".join(map(str, hosts)), " ".join(labels))
    references = Table("references", "policies", box=box.SIMPLE_HEAD)
    for kind, names in {**suite.references, **suite.shown}.items():
        references.add_row(kind, " ".join(names))
    return Group(titled(f"{suite.name} ({effort}): {suite.title}", tracks), references)


def _words(
    work: Benchmark, suite: str, splits: Sequence[str], hosts: Sequence[int], allow_test_training: bool
) -> str:
    """The command without what the results do not depend on: the same for every user and folder."""
    words = ["dragonfly-env", "benchmark", *(re.sub(r"[^=@,:]*/", "", spec) for spec in work.policies)]
    words += ["--suite", suite] if suite != DEFAULT_SUITE else []
    words += [f"--{work.effort}"]
    for flag, values in (("--track", work.tracks), ("--split", splits), ("--hosts", hosts)):
        words += [word for value in values for word in (flag, str(value))]
    words += ["--seeds", str(work.seeds)] if work.seeds else []
    words += ["--allow-test-training"] if allow_test_training else []
    return " ".join(map(shlex.quote, words))


def _perform(work: Benchmark, doing: options.Work, report_only: bool, command: str) -> None:
    from dragonfly_env.lab.benchmark.report import render_leaderboard, write_reports
    from dragonfly_env.sweeps.progress import Bar

    report = None
    if not report_only:
        with resumable(), Bar(console(error=True)) as bar:
            report = work.execute(progress=bar, workers=doing.workers, force=doing.force)
    if report is not None:
        note_failures(report)
    scores = work.scores()
    show(render_leaderboard(work, scores))
    with console(error=True).status("writing tables and figures"):
        files = write_reports(work, scores, command)
    for name, path in files.items():
        note(Text(f"{name + ':':<13}{path}", style="bold" if name == "page" else ""))
    if report is not None and report.failures:
        raise typer.Exit(FAILED)
