"""``dragonfly-env benchmark``: is a policy better than the references, everywhere that matters?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import resumable, tell_failures
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.guard import FAILED
from dragonfly_env.cli.options import check_suite, option
from dragonfly_env.errors import ConfigError

if TYPE_CHECKING:
    from dragonfly_env.lab.benchmark import Benchmark
    from dragonfly_env.lab.benchmark.suite import Effort

DEFAULT_SUITE = "dragonfly-v1"
_HOW = options.suite(
    whole="All cases of the suite (hours, where references are not published); or a few small ones (seconds).",
    seeds="quick 1, full 5",
    folder="results/SUITE-MODE",
)


@options.taking(how=_HOW)
def benchmark(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="What to measure next to the references: a built-in policy with its parameters, a saved agent, a "
            "class of yours ([bold]module:Class[/bold] or [bold]file.py:Class[/bold]); a name may be before it: "
            "[bold]mine=agent.zip[/bold]. [dim]\\[default: the references alone][/dim]",
            show_default=False,
        ),
    ] = None,
    suite: Annotated[str, option("--suite", "The suite, with its version.")] = DEFAULT_SUITE,
    tracks: Annotated[
        list[str] | None,
        option("--track", "Only this track (steady, saturation, transient, applications); repeat."),
    ] = None,
    splits: Annotated[
        list[str] | None, option("--split", "Only the cases of this split: train or test.")
    ] = None,
    hosts: Annotated[list[int] | None, option("--hosts", "Only cases of this size; repeat.")] = None,
    trained_anywhere: Annotated[
        bool,
        option(
            "--trained-anywhere",
            "Also measure agents that were trained on the test split; otherwise they are refused.",
        ),
    ] = False,
    *,
    how: options.Given,
    measure_all: Annotated[
        bool,
        option(
            "--measure-all",
            "Run the references here, too, instead of taking their published results, which are the same.",
            options.MACHINE,
        ),
    ] = False,
    no_runs: Annotated[
        bool,
        option(
            "--no-runs",
            "Simulate nothing: make the pages from what is there and what is published.",
            options.MACHINE,
        ),
    ] = False,
) -> None:
    """Measure policies on a versioned suite of patterns, loads, sizes and networks, against the best reference of each.

    References are heuristics as published, heuristics tuned on the train split,
    and learners that begin with nothing. An agent may be trained on the cases of
    the split [bold]train[/bold]; one that was trained on the split [bold]test[/bold] is refused.

    Results of the references come with the package: a run of theirs is done here
    only where the package has none.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops and keeps what is
    finished; the same command again does the rest, and further policies may be
    added to the same folder later.

    [bold]Examples[/bold]

    dragonfly-env benchmark

    dragonfly-env benchmark my_policy.py:MyPolicy

    dragonfly-env benchmark results/dqn/agent.zip --full --track steady

    dragonfly-env benchmark neural-v1 --full --track steady --split test --hosts 1056 --seeds 1

    dragonfly-env benchmark mine=seed1.zip mine=seed2.zip mine=seed3.zip

    [bold]Several trainings[/bold]

    Trained policies with the same name are trainings of one: they are measured
    each, and their interquartile mean is shown.

    [bold]Results folder[/bold]

    benchmark.html (heat map and tables), benchmark.md (leaderboard), heatmap.png,
    scores.parquet (one row per case and policy), runs/.
    """
    from dragonfly_env.lab.benchmark import Benchmark, find_suite
    from dragonfly_env.lab.benchmark.report import ONE_SEED, origin
    from dragonfly_env.sweeps.runner import check_runs

    chosen = find_suite(suite).narrowed(splits or (), hosts or ())
    effort: Effort = "full" if how["full"] else "quick"
    folder = check_suite(how, f"{chosen.name}-{effort}")
    chosen.choose(tuple(tracks or ()))
    work = Benchmark(
        suite=chosen,
        effort=effort,
        policies=tuple(policies or ()),
        folder=folder,
        tracks=tuple(tracks or ()),
        seeds=how["seeds"],
        published=not measure_all,
    )
    for label, reason in work.trained_on_test_split().items():
        if not trained_anywhere:
            raise ConfigError(
                f"{label} is no candidate: {reason}; to measure it all the same: --trained-anywhere"
            )
        note(Text(f"{label} was trained on the test split: {reason}", style="yellow"))
    for label, reason in work.unfit().items():
        note(Text(f"{label} is measured where it can act: {reason}", style="yellow"))
    runs = work.runs()
    if not runs:
        only = [f"--split {split}" for split in splits or ()] + [f"--hosts {size}" for size in hosts or ()]
        raise ConfigError(f"{' '.join(only)}: no {effort} case of these tracks is left")
    todo, taken = work.todo(force=how["force"]), len(work.taken())
    if taken:
        note(Text(origin(work)))
    there = len(runs) - taken - len(todo)
    counts = [
        f"{len(runs)} runs",
        *([f"{taken} are published"] if taken else []),
        *([f"{there} are there already"] if there else []),
        *([f"{len(todo)} to do"] if taken or there else []),
    ]
    left_out = "; none of them is done" if no_runs else ""
    note(Text(f"{chosen.name} ({effort}): {len(work.labels)} policies, {', '.join(counts)}{left_out}"))
    if work.seeds_of()[-1] == 1:
        note(Text(ONE_SEED, style="yellow"))
    if not no_runs:
        check_runs(todo)
    if not how["dry_run"]:
        words = _words(work, suite, splits or (), hosts or (), trained_anywhere)
        _perform(work, how["workers"], how["force"], no_runs, words)


def _words(
    work: Benchmark, suite: str, splits: Sequence[str], hosts: Sequence[int], trained_anywhere: bool
) -> str:
    """The command without what the results do not depend on: the same for every user and folder."""
    words = ["dragonfly-env", "benchmark", *(re.sub(r"[^=@,:]*/", "", spec) for spec in work.policies)]
    words += ["--suite", suite] if suite != DEFAULT_SUITE else []
    words += [f"--{work.effort}"]
    for flag, values in (("--track", work.tracks), ("--split", splits), ("--hosts", hosts)):
        words += [word for value in values for word in (flag, str(value))]
    words += ["--seeds", str(work.seeds)] if work.seeds else []
    words += ["--trained-anywhere"] if trained_anywhere else []
    return " ".join(map(shlex.quote, words))


def _perform(work: Benchmark, workers: int | None, force: bool, no_runs: bool, command: str) -> None:
    from dragonfly_env.lab.benchmark.report import render_leaderboard, write_reports
    from dragonfly_env.sweeps.progress import Bar

    report = None
    if not no_runs:
        with resumable(), Bar(console(error=True)) as bar:
            report = work.execute(workers=workers, progress=bar, force=force)
    if report is not None:
        tell_failures(report)
    scores = work.scores()
    show(render_leaderboard(work, scores))
    with console(error=True).status("writing tables and figures"):
        files = write_reports(work, scores, command)
    for name, path in files.items():
        note(Text(f"{name + ':':<13}{path}", style="bold" if name == "page" else ""))
    if report is not None and report.failures:
        raise typer.Exit(FAILED)
