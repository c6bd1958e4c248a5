"""Time left: the speed so far goes on."""

from __future__ import annotations

import io

from rich.console import Console

from dragonfly_env.sweeps.progress import Bar


def test_a_line_every_ten_seconds_says_how_long_the_rest_takes() -> None:
    now = [100.0]
    console = Console(file=io.StringIO(), width=200)
    with Bar(console, clock=lambda: now[0]) as bar:
        bar.start(30.0, 4)
        for seconds, work in ((5.0, 10.0), (12.0, 5.0), (13.0, 1.0), (60.0, 14.0)):
            now[0] = 100.0 + seconds
            bar.advance(work, "min")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text == "2/4 runs, min: 12 s elapsed, about 12 s left\n"


def test_a_terminal_shows_the_table_above_the_bar_and_draws_it_in_a_twentieth_of_the_time() -> None:
    now, drawn = [100.0], []

    def table() -> str:
        drawn.append(now[0])
        now[0] += 0.1  # drawing takes a while
        return f"table {len(drawn)}"

    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with Bar(console, clock=lambda: now[0], table=table) as bar:
        bar.start(4.0, 4)
        for seconds in (1.0, 3.0, 7.0):
            now[0] = 100.0 + seconds
            bar.advance(1.0, "min")
    assert drawn == [101.0, 107.0]
    shown = "\n".join(map(str, bar._bar.get_renderables()))
    assert shown.startswith("table 2\n")
