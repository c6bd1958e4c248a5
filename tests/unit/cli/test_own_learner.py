"""A learner of your own, with a file format of its own: trained, kept, continued and evaluated by its class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import load_agent
from tests.unit.cli_arguments import run

pytestmark = pytest.mark.usefixtures("undrawn")

# Its file is its own, and save() makes no folder.
OWN = """
import json
from pathlib import Path

import numpy as np


class Mine:
    name, scope, action = "mine", "source", "path"

    def __init__(self, *, seed=0, optimism=0.0):
        self.metadata = {}
        self.seed, self.optimism = seed, optimism
        self.sums, self.counts = np.zeros(8), np.zeros(8)

    def env_options(self):
        return {"scope": self.scope, "action": self.action}

    def prepare(self, env):
        from beside import FIRST  # looked for next to this file, whenever it runs

        self.first = FIRST

    def set_training(self, on):
        self.training = on

    def act(self, batch):
        means = self.optimism + self.sums / np.maximum(self.counts, 1)
        return np.where(batch.mask, means[: batch.mask.shape[1]], -np.inf).argmax(axis=1)

    def learn(self, transitions):
        np.add.at(self.sums, transitions.actions, transitions.rewards)
        np.add.at(self.counts, transitions.actions, 1)

    def statistics(self):
        return {}

    def save(self, path):
        with open(path, "wb") as file:
            np.savez(file, sums=self.sums, counts=self.counts, metadata=json.dumps([self.metadata, self.seed]))

    @classmethod
    def load(cls, path):
        made = cls()
        with np.load(path) as arrays:
            made.sums, made.counts = arrays["sums"], arrays["counts"]
            made.metadata, made.seed = json.loads(str(arrays["metadata"]))
        return made


class Half:
    name, scope, action = "half", "source", "path"

    def act(self, batch):
        return batch.minimal_actions()
"""
SHORT = ("--topology", "p=1,a=3,h=1", "--load", "0.4", "--episode", "2000", "--no-tensorboard")
MEASURED = (
    *("--topology", "p=1,a=3,h=1", "--warmup", "0", "--measure", "2000", "--workers", "1"),
    "--no-plots",
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    Path("beside.py").write_text("FIRST = 1\n")


def class_of_the_file() -> Any:
    namespace: dict[str, Any] = {}
    exec(OWN.replace("from beside import FIRST", "FIRST = 1"), namespace)
    return namespace["Mine"]


def test_a_file_of_an_own_learner_is_loaded_by_its_class() -> None:
    mine = class_of_the_file()
    agent = mine(seed=5)
    agent.sums[2] = 3.0
    agent.save("agent.zip")
    loaded = load_agent("agent.zip", mine)
    assert (type(loaded), loaded.sums[2], loaded.seed) == (mine, 3.0, 5)  # type: ignore[attr-defined]
    with pytest.raises(dfe.ConfigError, match=r"name the class: load_agent\(path, Class\)"):
        load_agent("agent.zip")


def test_an_own_learner_is_trained_goes_on_and_is_evaluated() -> None:
    command = ("train", "own.py:Mine", *SHORT, "--out", "out", "-a", "optimism=2.5", "--seed", "7")
    done = run(*command, "--episodes", "2")
    assert done.exit_code == 0, done.output
    assert "dragonfly-env evaluate own.py:Mine@out/agent.zip min ugal-n" in done.stderr
    learned = np.load("out/agent.zip")["counts"].sum()
    assert learned > 0
    further = run(*command, "--episodes", "4", "--resume")
    assert further.exit_code == 0, further.output
    assert np.load("out/agent.zip")["counts"].sum() > learned

    measured = run("evaluate", "own.py:Mine@out/agent.zip", "min", *MEASURED)
    assert measured.exit_code == 0, measured.output
    table = pd.read_parquet(next(Path("results").glob("evaluate-*/results.parquet")))
    assert table["policy"].tolist() == ["out", "min"]
    assert set(table["load"]) == {0.4}, "the network and traffic that it was trained with"
    named = run("evaluate", "x=own.py:Mine@out/agent.zip", "min", *MEASURED, "--out", "named")
    assert named.exit_code == 0, named.output
    assert pd.read_parquet("named/results.parquet")["policy"].tolist() == ["x", "min"]


def test_a_learner_no_one_trained_is_not_measured_without_a_word() -> None:
    with pytest.warns(UserWarning, match="own.py:Mine is a learner as it is made, without any training"):
        assert run("evaluate", "own.py:Mine", "-l", "0.4", "--traffic", "adv+1", *MEASURED).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "own.py:Half"), "must be a learner, such as make_agent"),
        (("train", "own.py:Mine", "-a", "opt=1"), "must be arguments of own.py:Mine"),
        (
            ("evaluate", "own.py:Mine@own.py", "-l", "0.4", "--traffic", "adv+1"),
            "must be what load() of its class",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
