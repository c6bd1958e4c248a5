"""A user's file is its contents, with the helpers next to it: nothing stale, and nobody else's."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path

import pytest

import dragonfly_env as dfe
from dragonfly_env.sweeps.measure import measure
from dragonfly_env.sweeps.runner import run_all
from dragonfly_env.sweeps.scenario import PolicyChoice, Scenario
from dragonfly_env.training.agents import AgentSource

POLICY = """
import helper
from parts.deep import DEPTH

class Mine:
    scope, action = "source", "path"
    word = helper.WORD
    depth = DEPTH

    def act(self, batch):
        import lazy  # only now
        self.seen = lazy.WORD
        return batch.minimal_actions()
"""


def write(folder: Path, **contents: str) -> Path:
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    files = {"mine": POLICY, "helper": "WORD = 'x'", "lazy": "WORD = 'x'", "parts/deep": "DEPTH = 1"}
    for name, text in {**files, **contents}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scenario(*policies: str) -> Scenario:
    settings = {"topology": {"p": 1, "a": 3, "h": 1}, "traffic": ["uniform"], "loads": [0.2], "arrays": False}
    return Scenario.from_dict({**settings, "policies": list(policies), "warmup_ns": 500, "measure_ns": 500})


def test_files_of_one_name_in_two_folders_are_two_modules_with_helpers_of_their_own() -> None:
    for folder in ("a", "b"):
        write(Path(folder), helper=f"WORD = {folder!r}", lazy=f"WORD = 'lazy {folder}'")
    plan = scenario("one=a/mine.py:Mine", "two=b/mine.py:Mine")
    for folder, run in zip("ab", plan.runs(), strict=True):
        assert run.agent is not None
        policy, at_work = run.agent.load()
        assert policy.word == folder  # type: ignore[attr-defined]
        with at_work():
            assert f"lazy {folder}" == importlib.import_module("lazy").WORD
    shas = {run.agent.sha256 for run in plan.runs() if run.agent is not None}
    assert len(shas) == 2
    assert not {"helper", "lazy", "mine", "parts"} & sys.modules.keys()
    assert not [entry for entry in sys.path if entry.endswith(("/a", "/b"))]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    "changed", ["mine", "helper", "lazy", "parts/deep"], ids=lambda name: name.replace("/", ".")
)
def test_a_change_of_whatever_a_policy_imports_makes_new_runs(changed: str, jobs: int) -> None:
    write(Path("a"))
    write(Path("b"), mine=f"{POLICY}\n# of b\n")
    names = ("one=a/mine.py:Mine", "two=b/mine.py:Mine")
    assert run_all(scenario(*names), Path("out"), workers=jobs).finished == 2
    file = Path("a") / f"{changed}.py"
    file.write_text(file.read_text() + "\nMORE = 1\n")
    again = run_all(scenario(*names), Path("out"), workers=jobs)
    assert (again.finished, again.reused, again.failures) == (1, 1, ())


def test_a_changed_helper_is_loaded_anew_within_the_second() -> None:
    words = []
    for word in ("p", "q", "r"):
        write(Path("a"), helper=f"WORD = {word!r}")
        policy, _ = AgentSource.find("a/mine.py:Mine").load()
        words.append(policy.word)  # type: ignore[attr-defined]
    assert words == ["p", "q", "r"]
    assert not list(Path("a").rglob("*.pyc"))


def test_what_no_one_imports_does_not_count() -> None:
    write(Path("a"))
    before = AgentSource.find("a/mine.py:Mine").sha256
    (Path("a") / "other.py").write_text("WORD = 'unused'")
    assert AgentSource.find("a/mine.py:Mine").sha256 == before


def test_a_file_that_changes_while_its_runs_are_done_is_refused() -> None:
    write(Path("a"))
    source = AgentSource.find("a/mine.py:Mine")
    write(Path("a"), lazy="WORD = 'y'")
    with pytest.raises(dfe.ConfigError, match="must not change while its runs are done"):
        source.load()


def test_a_module_next_to_the_command_is_told_apart_like_a_file() -> None:
    write(Path())
    before = AgentSource.find("mine:Mine").sha256
    write(Path(), lazy="WORD = 'y'")
    assert AgentSource.find("mine:Mine").sha256 != before


@pytest.mark.parametrize("name", ["random", "numpy", "my-policy.v2", "json"])
def test_a_file_may_be_called_like_any_other_module(name: str) -> None:
    text = POLICY.replace("import helper", "import helper, dataclasses, math")
    write(Path("a"), **{name: text})
    before = dict(sys.modules)
    report = run_all(scenario(f"a/{name}.py:Mine"), Path("out"), workers=1)
    assert report.failures == ()
    assert {key: sys.modules[key] for key in before} == before


def test_a_file_called_like_this_package_is_refused() -> None:
    write(Path("a"), dragonfly_env=POLICY)
    with pytest.raises(dfe.ConfigError, match="must not be called dragonfly_env"):
        PolicyChoice.parse("a/dragonfly_env.py:Mine")


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
    plain, _ = measure(run)
    shown, _ = measure(run, progress=shares.append)
    assert shown["trace_hash"] == plain["trace_hash"]
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
