"""``dragonfly-env benchmark pack``, ``verify`` and ``accepted``: submissions to the benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dragonfly_env.checks.files import check_file
from dragonfly_env.checks.values import check_real
from dragonfly_env.cli import options
from dragonfly_env.cli.benchmark import DEFAULT_SUITE
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import check_suite, option

if TYPE_CHECKING:
    from dragonfly_env.lab.benchmark.suite import Effort


def benchmark_pack(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="A policy as 'dragonfly-env benchmark' takes it; a name may be before it: "
            "[bold]mine=agent.zip[/bold].",
        ),
    ],
    out: Annotated[Path, option("--out -o", "The file of the submission.")],
    results: Annotated[
        Path | None,
        option("--results", "The results folder with its runs. [dim]\\[default: results/SUITE-MODE][/dim]"),
    ] = None,
    training: Annotated[
        Path | None,
        option(
            "--training",
            "TOML file that declares the training. [dim]\\[default: the one next to the policy, or what a saved "
            "agent says][/dim]",
        ),
    ] = None,
    suite: Annotated[str, option("--suite", "The suite, with its version.")] = DEFAULT_SUITE,
    tracks: Annotated[
        list[str] | None, option("--track", "Only this track; repeat. Without it: all.")
    ] = None,
    full: Annotated[
        bool, option("--full/--quick", "The cases that were measured.", show_default="quick")
    ] = False,
    seeds: Annotated[
        int | None,
        option("--seeds", "Runs of each case. [dim]\\[default: quick 1, full 5][/dim]", metavar="N"),
    ] = None,
) -> None:
    """Pack a measured policy into one file, with its training and its results, so that others can verify it.

    All runs must be in the results folder; 'dragonfly-env benchmark' does them.
    The file holds the weights, the saved agent or the source of the class.

    [bold]Examples[/bold]

    dragonfly-env benchmark mine=agent.zip --out results/mine

    dragonfly-env benchmark pack mine=agent.zip --results results/mine --training mine.toml --out mine.zip
    """
    from dragonfly_env.lab.benchmark import Benchmark, find_suite
    from dragonfly_env.lab.benchmark.declaration import read_declaration
    from dragonfly_env.lab.benchmark.submission import pack

    out = check_file("--out", out)
    effort: Effort = "full" if full else "quick"
    chosen = find_suite(suite)
    how: options.Given = {"out": results, "seeds": seeds, "workers": None}
    folder = check_suite(how, f"{chosen.name}-{effort}")
    work = Benchmark(
        suite=chosen,
        effort=effort,
        policies=(policy,),
        folder=folder,
        tracks=tuple(tracks or ()),
        seeds=seeds,
    )
    made = pack(work, out, None if training is None else read_declaration(training))
    note(Text(f"{out}: {made.label}, {len(made.results)} runs, {made.declaration.describe()}"))
    note(Text(f"SHA-256 {made.sha256}"))


def benchmark_verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A submission.")],
    run_code: Annotated[
        bool,
        option(
            "--run-code",
            "Allow the source code in it to run on this machine, with all your rights. Read it first.",
        ),
    ] = False,
    share: Annotated[float, option("--share", "The share of its runs that are done again; 1: all.")] = 0.1,
    seed: Annotated[
        int | None,
        option("--seed", "Of the choice of these runs. [dim]\\[default: another one each time][/dim]"),
    ] = None,
    workers: Annotated[
        int | None, option("--workers -j", "Runs at a time. [dim]\\[default: one per processor][/dim]")
    ] = None,
) -> None:
    """Check a submission: its hashes, its training against the test split, and a random part of its runs, bit by bit.

    Code that a submission holds is not run unless [bold]--run-code[/bold] is given. A
    submission that is refused ends with exit code 2 and the reason.

    [bold]Examples[/bold]

    dragonfly-env benchmark verify mine.zip

    dragonfly-env benchmark verify mine.zip --share 1 --run-code
    """
    from dragonfly_env.lab.benchmark.submission import verify
    from dragonfly_env.sweeps.progress import Bar

    share = check_real("--share", share, 0.0, 1.0, open_low=True)
    with Bar(console(error=True)) as bar:
        found = verify(file, run_code=run_code, share=share, seed=seed, workers=workers, reporter=bar)
    made = found.submission
    show(
        f"{made.label}: accepted. {found.again} of {len(made.results)} runs were done again, with the same bits.\n"
        f"training: {made.declaration.describe()}, none of it on the test split\n"
        f"cases: {found.cases} of {found.of}\n"
        f"SHA-256: {made.sha256}"
    )


def benchmark_accepted(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="With the files of submissions, *.zip.")],
) -> None:
    """Print a Markdown table of the submissions in a folder. No code of theirs runs.

    The table repeats what the files say; [bold]verify[/bold] each of them first.

    [bold]Examples[/bold]

    dragonfly-env benchmark accepted submissions
    """
    from dragonfly_env.lab.benchmark.submission import accepted

    show(accepted(folder))
