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
