"""``dragonfly-env reproduce``: the figures of a paper and what it claims, by one command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from dragonfly_env.checks.values import check_choice, parse_assignment, split_items, split_settings
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import FAILED, Typed, option, rows
from dragonfly_env.cli.comparison import note_failures, note_long, note_missing, resumable, this_command
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import items, suite_folder
from dragonfly_env.config.rows import MACHINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dragonfly_env.lab.papers import Reproduction
    from dragonfly_env.lab.papers.claims import PaperFindings

_EVERY = "all"


def reproduce(
    how: Annotated[Typed, rows(options.Work)],
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER",
            help="hpdc21 (Kang, Wang, Lan: Q-adaptive), taco25 (Benito, Vallejo, Beivide: LIA) or aries (Chunduri et "
            "al.: routing bias). Without it: a list.",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE...",
            help="hpdc21: fig5, fig6, fig7, fig8, fig9, maxq (Q-routing with a limit of hops), overload (over time),"
            " windows, memory; taco25: fig5, fig6, fig7, fig9, fig10, fig10bc, fig11, fig12, fig13, fig14, "
            "fig15, fig16, fig17, fig17c, fig18, fig19, queues, signals, windows, windows5, windows7, windows9, "
            "windows14 (windows of the paper); aries: fig2 to fig14, table1, table2, larger (messages), open "
            "(parameters that are not public; --full only); or all. [dim]\\[default: all][/dim]",
            show_default=False,
            parser=split_items,
            callback=options.joined,
        ),
    ] = None,
    injection: Annotated[
        str | None, option("--injection", "periodic or bernoulli.", default="as published", metavar="NAME")
    ] = None,
    learner: Annotated[
        list[str] | None,
        items(
            "--learner",
            "Parameters of learning policies, e.g. integer_values=true.",
            split=split_settings,
            metavar="NAME=VALUE",
        ),
    ] = None,
    variant: Annotated[
        str,
        option(
            "--variant",
            "Model variant of what the paper leaves open: round-robin or transit-first (taco25), or all.",
            default="the first",
            metavar="NAME",
            show_default=False,
        ),
    ] = "usual",
    only_claims: Annotated[bool, option("--only-claims", "Simulate only what the claims need.")] = False,
    windows: Annotated[
        float,
        option("--windows", "Shorten warm-ups and windows to this share (not for aries).", metavar="SHARE"),
    ] = 1.0,
    full: options.Full = False,
    seeds: options.SeedCount = None,
    out: Annotated[
        Path | None,
        option("--out -o", "The results folder.", MACHINE, default="results/PAPER-MODE[-VARIANT]"),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Reproduce a paper: run what its figures need, draw them, and check what its text claims.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops at once and keeps what is finished; the same
    command again does the rest. Figures share runs, and further figures may be added to the same folder later.

    [bold]Examples[/bold]
    dragonfly-env reproduce
    dragonfly-env reproduce hpdc21
    dragonfly-env reproduce hpdc21 fig5 fig6 --full --out results/hpdc21
    dragonfly-env reproduce taco25 --full --seeds 1 --windows 0.2 --only-claims
    dragonfly-env reproduce taco25 fig14 fig15 --variant all
    dragonfly-env reproduce aries table2 --seeds 20

    [bold]Results folder[/bold]
    claims.md and claims.csv (published and measured values, verdicts), fig5.png and other figures
    """
    from dragonfly_env.lab.papers import PAPERS, Reproduction, find_paper

    if paper is None:
        table = Table("paper", "figures", box=box.SIMPLE_HEAD)
        for known in PAPERS:
            table.add_row(known.name, " ".join(figure.name for figure in known.figures))
        show(table)
        return
    chosen = find_paper(paper)
    effort = chosen.effort("full" if full else "quick").shortened(windows, "--windows")
    read = chosen.variants if variant == _EVERY else (chosen.variant(variant, "--variant", also=_EVERY),)
    suffix = (
        [_EVERY]
        if variant == _EVERY
        else [known_variant.name for known_variant in read if known_variant is not chosen.usual]
    )
    folder = suite_folder(out, "-".join([chosen.name, effort.name, *suffix]), seeds)
    wanted = chosen.choose(tuple(figures or ()))
    usual_injection = injection or chosen.setup.injection
    effort = replace(
        effort,
        seeds=seeds or effort.seeds,
        injection=check_choice("--injection", usual_injection, ("periodic", "bernoulli")),
        learner_settings=tuple(dict(parse_assignment(pair, "--learner") for pair in learner or ()).items()),
    )
    works = [
        Reproduction(
            paper=chosen,
            figures=wanted,
            effort=replace(effort, variant=known_variant.name),
            folder=folder,
            only_claims=only_claims,
        )
        for known_variant in read
    ]
    doing: options.Work = how.make()
    for work in works:
        _announce(work, doing, several=len(works) > 1, dry_run=dry_run)
    if not dry_run:
        _perform(works, doing)


def _announce(work: Reproduction, doing: options.Work, *, several: bool, dry_run: bool) -> None:
    """Check the runs of a reproduction, and say how many there are; in a dry run also how long they will take."""
    from dragonfly_env.sweeps.runner import check_runs

    runs = work.runs()
    todo = work.todo(force=doing.force)
    names = " ".join(figure.name for figure in work.figures)
    there = f", {len(runs) - len(todo)} are there already" if len(todo) < len(runs) else ""
    check_runs(todo)
    note_long(todo, doing.workers, always=dry_run)
    which = f"{work.effort.name}, {work.variant.name}" if several else work.effort.name
    note(Text(f"{work.paper.name} {names} ({which}): {len(runs)} runs{there}"))


def _perform(works: Sequence[Reproduction], how: options.Work) -> None:
    """Simulate, draw and judge, one model variant after the other; one table for all."""
    from dragonfly_env.lab.papers import judge_all
    from dragonfly_env.lab.papers.report import (
        JudgedReproduction,
        render_verdicts,
        variants_in,
        write_reports,
    )
    from dragonfly_env.sweeps.progress import Bar

    folder, judged, failed, missing = works[0].folder, [], False, 0
    pictures: dict[str, str] = {}
    for work in works:
        with resumable(), Bar(console(error=True)) as bar:
            report = work.execute(progress=bar, **how.arguments())
        if report is not None:
            note_failures(report)
            failed |= bool(report.failures)
            missing += report.missing
            if report.missing:
                note_missing(report)
                continue
        findings = work.findings()
        with console(error=True).status("drawing figures"):
            pictures |= _draw(work, findings)
        verdicts = judge_all(
            work.claims(),
            findings,
            decides_all=work.effort.decides,
            variant=work.variant.name,
            published=work.paper.published,
        )
        judged.append(JudgedReproduction(work, verdicts))
        wanted = {figure.name for figure in work.figures}
        title = f"variant {work.variant.name}" if len(work.paper.variants) > 1 else None
        show(render_verdicts([verdict for verdict in verdicts if verdict.claim.figure in wanted], title))
    if missing:
        raise typer.Exit(FAILED if failed else 0)
    dropped = [
        name for name in variants_in(folder) if name not in {reproduction.variant for reproduction in judged}
    ]
    table, page = write_reports(judged, pictures, this_command())
    note(Text(f"figures: {', '.join(str(folder / name) for name in pictures.values())}"))
    note(Text(f"table:   {page}, {table}", style="bold"))
    if dropped:
        left = f"the table no longer has variant {', '.join(dropped)}; its runs are kept, --variant all shows every one"
        note(Text(left, style="yellow"))
    if failed:
        raise typer.Exit(FAILED)


def _draw(work: Reproduction, findings: PaperFindings) -> dict[str, str]:
    """Draw the wanted figures (PNG, with an SVG next to it); titles and files of all that the folder then holds."""
    from dragonfly_env.lab.papers.findings import NotFoundYetError
    from dragonfly_env.plots.style import add_title, save

    usual = work.variant is work.paper.usual
    pictures = {}
    for figure in work.paper.figures:
        name = figure.name if usual else f"{figure.name}-{work.variant.name}"
        title = figure.title if usual else f"{figure.title} ({work.variant.name})"
        if figure not in work.figures:
            if (work.folder / f"{name}.png").exists():
                pictures[title] = f"{name}.png"
            continue
        try:
            drawn = figure.draw(findings)
        except NotFoundYetError as reason:
            note(Text(f"no figure {figure.name}: {reason}", style="yellow"))
            continue
        add_title(drawn, "\n".join([title, *_conditions(findings, figure.name)]))
        pictures[title] = save(drawn, work.folder, name)[0].name
    return pictures


def _conditions(findings: PaperFindings, figure: str) -> list[str]:
    """The line below the title of a figure; nothing for a figure without runs."""
    from dragonfly_env.plots.style import conditions

    if not findings.of(figure):
        return []
    results = findings.results(figure)
    intervals = ", 95 % intervals" if results.table["seed"].nunique() > 1 else ""
    return [conditions(results) + intervals]
