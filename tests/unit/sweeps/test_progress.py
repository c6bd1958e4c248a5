"""Time left: the speed so far goes on."""

from __future__ import annotations

import io

from rich.console import Console

from dragonfly_env.sweeps.progress import Bar
from dragonfly_env.sweeps.run import in_order
from dragonfly_env.sweeps.scenario import Scenario


def test_expensive_runs_go_first() -> None:
    settings = {"topology": "72", "traffic": ["uniform"], "loads": [0.1, 0.2, 0.3], "policies": ["min"]}
    assert [run.load for run in in_order(Scenario.from_dict(settings).runs())] == [0.3, 0.2, 0.1]


def test_a_line_every_ten_seconds_says_how_long_the_rest_takes() -> None:
    now = [100.0]
    console = Console(file=io.StringIO(), width=200)
    with Bar(console, clock=lambda: now[0]) as bar:
        bar.start(30.0, "0/3 runs")
        for seconds, done in ((5.0, 10.0), (12.0, 15.0), (13.0, 16.0), (60.0, 30.0)):
            now[0] = 100.0 + seconds
            bar.advance(done, "1/3 runs", "min")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text == "1/3 runs, min: 12 s elapsed, about 12 s left\n"
