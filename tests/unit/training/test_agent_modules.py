"""A class of the user's own, ``file.py:Class`` or ``module:Class``: how it is found, and what identifies it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.scenario import Scenario
from dragonfly_env.training.agents import AgentSource

POLICY = """
from __future__ import annotations

from dataclasses import dataclass

import beside_the_policy


@dataclass
class Mine:
    scope: str = "source"
    action: str = "path"
    word: str = beside_the_policy.WORD

    def act(self, batch):
        return batch.minimal_actions()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "a")
    Path("a").mkdir()
    Path("a/beside_the_policy.py").write_text("WORD = 'x'\n")


def scenario(policy: str) -> Scenario:
    settings = {"topology": {"p": 1, "a": 3, "h": 1}, "traffic": ["uniform"], "loads": [0.2], "arrays": False}
    return Scenario.from_dict({**settings, "policies": [policy], "warmup_ns": 500, "measure_ns": 5000})


@pytest.mark.parametrize("name", ["numpy", "my-policy.v2"])
def test_a_file_of_any_name_is_loaded_with_the_modules_next_to_it(name: str) -> None:
    Path("a", f"{name}.py").write_text(POLICY)
    policy = AgentSource.find(f"a/{name}.py:Mine").load()
    assert policy.word == "x"  # type: ignore[attr-defined]


def test_the_file_of_a_class_makes_new_runs_when_it_changes_and_not_when_it_moves() -> None:
    Path("a/mine.py").write_text(POLICY)
    before = AgentSource.find("a/mine.py:Mine")
    Path("moved.py").write_text(POLICY)
    assert AgentSource.find("moved.py:Mine").sha256 == before.sha256
    Path("a/mine.py").write_text(POLICY.replace("minimal_actions()", "mask.argmax(axis=1)"))
    assert AgentSource.find("a/mine.py:Mine").sha256 != before.sha256
    with pytest.raises(dfe.ConfigError, match="must not change while its runs are done"):
        before.load()


DRAWING = """
import numpy as np

class Drawing:
    scope, action = "source", "path"

    def __init__(self):
        self.draws = np.random.default_rng(1)

    def act(self, batch):
        return np.where(self.draws.random() < 0.5, batch.minimal_actions(), batch.mask.argmax(axis=1))
"""


def test_an_agent_that_draws_batch_by_batch_measures_the_same_with_and_without_progress() -> None:
    Path("drawing.py").write_text(DRAWING)
    (run,) = scenario("drawing.py:Drawing").runs()
    run = dataclasses.replace(run, measure_ns=5000.0)
    shares: list[float] = []
    plain = measure(run)
    shown = measure(run, progress=shares.append)
    assert shown["trace_hash"] == plain["trace_hash"]
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
