"""``make fuzz``: try inputs until one is tired of it; a table of what became of them, and every fault once."""

from __future__ import annotations

import contextlib
import random
import signal
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from tests.fuzz.registry import TARGETS
from tests.fuzz.search import Fault, Search, Tally

_NAMES = [target.name for target in TARGETS]


def main(
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"One of {', '.join(_NAMES)}; may be repeated.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time to search for. [dim]\\[default: until Ctrl-C][/dim]")
    ] = None,
    inputs: Annotated[
        int | None, typer.Option(min=1, help="End after so many inputs, of all targets together.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of all inputs. [dim]\\[default: another each time][/dim]")
    ] = None,
    first: Annotated[int, typer.Option(min=0, help="Number of the first input of each target.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    memory_gb: Annotated[
        float, typer.Option(min=0.0, help="Address space of a worker; 0: no limit, as sanitizers need it.")
    ] = 4.0,
) -> None:
    """Try generated inputs on everything that takes some; exit code 1 if one of them went wrong."""
    if unknown := [name for name in only or () if name not in _NAMES]:
        raise typer.BadParameter(f"{unknown[0]!r}; must be one of {', '.join(_NAMES)}", param_hint="--only")
    chosen = seed if seed is not None else random.SystemRandom().randrange(2**32)
    search = Search(
        [target for target in TARGETS if not only or target.name in only],
        seed=chosen,
        first=first,
        seconds=seconds,
        inputs=inputs,
        jobs=jobs,
        memory_bytes=round(memory_gb * 2**30) or None,
    )
    console = Console()
    console.print(f"seed {chosen}", highlight=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, for a search in the background
    with contextlib.suppress(KeyboardInterrupt):  # the way to end a search without limit
        if console.is_terminal:
            with Live(console=console, transient=True, auto_refresh=False) as live:
                search.go(lambda: live.update(_table(search), refresh=True), lambda name: None)
        else:
            search.go(
                lambda: None,
                lambda name: print(_line(name, search.tally(name)), flush=True),
            )
    for fault in search.faults.values():
        _show(console, fault)
    console.print(_table(search))
    raise typer.Exit(1 if search.faults else 0)


def _line(name: str, tally: Tally) -> str:
    return (
        f"{name}: {tally.tried} tried, {tally.refused} refused, {tally.run} run, {tally.wrong} wrong, "
        f"{tally.seconds:.0f} s"
    )


def _table(search: Search) -> Table:
    table = Table()
    table.add_column("target", no_wrap=True)
    for heading in ("tried", "refused", "run", "wrong", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = {name: search.tally(name) for name in search.tallies}
    for name, tally in {**rows, "all": search.total}.items():
        table.add_row(
            name,
            f"{tally.tried:,}",
            f"{tally.refused:,}",
            f"{tally.run:,}",
            f"{tally.wrong:,}",
            f"{tally.seconds:,.0f}",
            style="red" if tally.wrong else None,
            end_section=name == list(rows)[-1],
        )
    return table


def _show(console: Console, fault: Fault) -> None:
    finding = fault.finding
    times = f"{fault.inputs} inputs; the first" if fault.inputs > 1 else "input"
    console.rule(f"{finding.target}: {times} {finding.number}", style="red", align="left")
    for text in (finding.detail.rstrip() or finding.summary, f"again: {finding.again}"):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
