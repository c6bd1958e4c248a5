"""Time left: the core and policies in Python each at the speed of their own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from dragonfly_env.sweeps.progress import Bar, Estimate
from dragonfly_env.sweeps.run import Run, in_order
from dragonfly_env.sweeps.scenario import Scenario

AGENT = """
import numpy as np

class Mine:
    def act(self, batch):
        return np.argmax(batch.mask, axis=1)
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Three of the core and three of a policy in Python, at 0.1, 0.2 and 0.3."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(AGENT)
    settings = {"topology": "72", "traffic": ["uniform"], "loads": [0.1, 0.2, 0.3]}
    return Scenario.from_dict({**settings, "policies": ["min", "mine.py:Mine"]}).runs()


def test_each_kind_of_run_is_estimated_from_its_own(runs: list[Run]) -> None:
    estimate = Estimate.of(runs, 2)

    def add(run: Run, seconds: float | None) -> None:
        estimate.add("" if run.agent is None else "Mine", run.work, seconds)

    core, python = runs[:3], runs[3:]
    assert estimate.left_s is None
    add(core[0], 1.0)
    assert estimate.left_s is None
    assert estimate.left_of("") == pytest.approx(5.0 / 2)
    add(python[0], 100.0)
    assert estimate.left_of("Mine") == pytest.approx(500.0 / 2)
    assert estimate.left_s == pytest.approx(505.0 / 2)
    add(python[1], None)  # failed: says nothing about speed
    assert estimate.left_of("Mine") == pytest.approx(300.0 / 2)
    for run in (*core[1:], python[2]):
        add(run, 1.0)
    assert estimate.left_s == 0.0


def test_the_cheapest_run_of_a_policy_in_python_goes_first(runs: list[Run]) -> None:
    order = [(run.policy_label, run.load) for run in in_order(runs)]
    assert order[0] == ("Mine", 0.1)
    assert sorted(order[1:3]) == [("Mine", 0.3), ("min", 0.3)]
    assert len(order) == len(set(order)) == 6
    core = [run for run in runs if run.agent is None]
    assert [run.load for run in in_order(core)] == [0.3, 0.2, 0.1]


def test_the_first_run_in_python_says_how_long_the_others_take(runs: list[Run]) -> None:
    console = Console(file=io.StringIO(), width=200)
    with Bar(console) as bar:
        bar.start(runs, 1)
        bar.advance(runs[0], 0.1)
        bar.advance(runs[3], 60.0)
        bar.advance(runs[4], 120.0)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("Mine in Python: its first run took 1 min 00 s, the others take about 5 min 00 s") == 1
