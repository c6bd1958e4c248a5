"""``dragonfly-env train``: its files, resuming, and its messages."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import types
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tiny_learner  # conftest.py has put it where commands find it

import dragonfly_env as dfe
from dragonfly_env.agents.learner import load_agent, read_metadata
from tests.unit.cli_arguments import run as command

pytestmark = pytest.mark.usefixtures("tiny", "undrawn")

SHORT = [
    *("--topology", "p=1,a=3,h=1", "--load", "0.4", "--episode", "2000", "--checkpoint-every", "2"),
    *("--evaluate-every", "0", "--no-tensorboard"),
]


run = functools.partial(command, "train")


def episodes(folder: str = "out") -> pd.DataFrame:
    return pd.read_csv(Path(folder) / "episodes.csv")


def interrupt_after(monkeypatch: pytest.MonkeyPatch, learned: int) -> None:
    """Ctrl-C when the agent has learned so many times."""
    real, calls = tiny_learner.TinyLearner.learn, [0]

    def learn(self: Any, transitions: Any) -> None:
        calls[0] += 1
        if calls[0] == learned:
            raise KeyboardInterrupt
        real(self, transitions)

    monkeypatch.setattr(tiny_learner.TinyLearner, "learn", learn)


@pytest.mark.drawn
def test_a_training_leaves_agent_course_and_provenance_behind() -> None:
    done = run("tiny", *SHORT, "--episodes", "5", "--out", "out", "-a", "exploration=0.5", "-a", "sizes=3,4")
    assert done.exit_code == 0, done.stderr
    assert "5 of 5 episodes" in done.stdout
    assert "dragonfly-env evaluate out/agent.zip min ugal-n" in done.stderr
    table = episodes()
    assert table["episode"].tolist() == [1, 2, 3, 4, 5]
    assert table["decisions"].is_monotonic_increasing
    assert table["simulated_ns"].iloc[-1] == 10_000
    assert sorted(file.name for file in Path("out/checkpoints").iterdir()) == [
        "episode-0002.zip",
        "episode-0004.zip",
        "latest.zip",
    ]
    for name in ("learning.png", "learning.svg"):
        assert (Path("out") / name).stat().st_size > 1000
    made = read_metadata("out/agent.zip")
    assert made["package_version"] == dfe.__version__
    assert made["configuration"]["topology"]["a"] == 3
    assert made["configuration"]["load"] == 0.4
    assert made["agent_settings"] == {"exploration": 0.5, "sizes": [3, 4]}
    assert made["training"]["episode"] == 5
    assert made["training"]["decisions"] == table["decisions"].iloc[-1]
    assert {"platform", "machine", "python_version", "libraries", "date", "seed"} <= made.keys()
    assert isinstance(load_agent("out/agent.zip"), tiny_learner.TinyLearner)


def test_resume_goes_on_from_the_newest_checkpoint() -> None:
    assert run("tiny", *SHORT, "--episodes", "3", "-o", "out").exit_code == 0
    before = episodes()
    resumed = ("tiny", *SHORT, "-o", "out", "--resume")
    longer = (*resumed, "--episodes", "5")
    done = run(*longer)
    assert done.exit_code == 0, done.stderr
    after = episodes()
    assert after["episode"].tolist() == [1, 2, 3, 4, 5]
    assert after["latency_mean_ns"].tolist()[:3] == before["latency_mean_ns"].tolist()
    assert after["decisions"].is_monotonic_increasing
    assert read_metadata("out/agent.zip")["training"]["decisions"] == after["decisions"].iloc[-1]
    again = run(*longer)
    assert again.exit_code == 0, again.stderr
    assert "complete already: out" in again.stderr
    refused = run(*resumed, "-a", "exploration=0.1", "--episodes", "6")
    assert refused.exit_code == 2
    assert "--agent-setting exploration=0.1: cannot change in a training that is resumed" in refused.stderr


def test_ctrl_c_keeps_the_agent_and_prints_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["tiny", *SHORT, "--episodes", "6", "-o", "out"]
    monkeypatch.setattr(sys, "argv", ["dragonfly-env", "train", *command, "--restart"])
    with monkeypatch.context() as patch:
        interrupt_after(patch, 45)
        stopped = run(*command, "--restart")
    assert stopped.exit_code == 130, stopped.stderr
    assert "Traceback" not in stopped.stderr
    kept = len(episodes())
    assert 0 < kept < 6
    assert (
        f"interrupted after {kept} of 6 episodes, which are kept in out; to go on: dragonfly-env"
        in stopped.stderr
    )
    assert stopped.stderr.rstrip().endswith("-o out --resume")  # --restart may not be given together
    assert Path("out/checkpoints/latest.zip").exists()
    assert not Path("out/agent.zip").exists()
    done = run(*command, "--resume")
    assert done.exit_code == 0, done.stderr
    assert episodes()["episode"].tolist() == [1, 2, 3, 4, 5, 6]
    load_agent("out/agent.zip")


def test_an_existing_training_is_overwritten_with_restart_alone() -> None:
    command = ("tiny", *SHORT, "--episodes", "2", "-o", "out")
    assert run(*command).exit_code == 0
    other = [{"0.4": "0.5"}.get(word, word) for word in command]
    refused = run(*other)
    assert refused.exit_code == 2
    assert (
        "error: --out out: holds a training: choose another folder, --resume or --restart" in refused.stderr
    )
    assert read_metadata("out/agent.zip")["configuration"]["load"] == 0.4
    done = run(*other, "--restart")
    assert done.exit_code == 0, done.stderr
    assert read_metadata("out/agent.zip")["configuration"]["load"] == 0.5
    assert len(episodes()) == 2


def test_several_seeds_train_several_agents() -> None:
    done = run("tiny", *SHORT, "--episodes", "1", "-s", "3", "-s", "4", "-o", "out")
    assert done.exit_code == 0, done.stderr
    assert "evaluate out/seed-3/agent.zip out/seed-4/agent.zip min ugal-n" in done.stderr
    assert [read_metadata(f"out/seed-{seed}/agent.zip")["seed"] for seed in (3, 4)] == [3, 4]


def test_a_training_of_more_than_a_minute_says_its_time_first(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = types.SimpleNamespace(perf_counter=functools.partial(next, itertools.count(0.0, 10.0)))
    monkeypatch.setattr("dragonfly_env.agents.training.time", clock)  # each episode takes ten seconds
    command = ("tiny", *SHORT, "-o", "out")
    lines = run(*command, "--episodes", "8").stderr.splitlines()
    assert lines[0] == "about 1 min 10 s to go, by the first episode; without evaluations"
    assert lines[1].startswith("episode 1/8: ")
    assert "to go" not in run(*command, "--episodes", "9", "--resume").stderr
    lines = run(*command, "--episodes", "17", "--resume").stderr.splitlines()
    assert lines[0].startswith("about 1 min 10 s to go")  # by the first episode of this run
    assert "to go" not in run(*command, "--episodes", "7", "--restart").stderr
    assert "to go" not in run(*command, "--episodes", "400", "--restart", "--minutes", "1").stderr
    decisions = episodes()["decisions"].iloc[0]
    limited = ("--episodes", "400", "--restart", "--decisions", str(8 * decisions))
    assert run(*command, *limited).stderr.startswith("about 1 min 10 s to go")


def test_the_agent_is_evaluated_now_and_then() -> None:
    done = run("tiny", *SHORT[:-3], "--evaluate-every", "2", "--episodes", "4", "-o", "out")
    assert done.exit_code == 0, done.stderr
    steady = (
        "evaluation after episode 4, not exploring, other seeds, 50 µs after 20 µs of warm-up: mean latency "
    )
    assert steady in " ".join(done.stdout.split())
    assert episodes()["evaluation/latency_mean_ns"].notna().tolist() == [False, True, False, True]


def test_options_reach_the_network() -> None:
    done = run(
        "tiny",
        *SHORT,
        *("--episodes", "1", "-o", "out", "--network", "lia", "--set", "routing_delay_ns=50"),
        *("--traffic", "uniform", "--warmup", "500", "--warmup-policy", "ugal-n:bias_packets=1"),
    )
    assert done.exit_code == 0, done.stderr
    made = read_metadata("out/agent.zip")
    configuration = made["configuration"]
    assert configuration["network"]["routing_delay_ns"] == 50
    assert configuration["network"]["packet_bytes"] == 250
    assert configuration["traffic"]["pattern"] == "uniform"
    assert configuration["policy"]["bias_packets"] == 1
    assert made["warmup_ns"] == 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deep-w"], "AGENT deep-w: must be one of 'path-times', 'deep-q', 'ppo', "),
        (["tiny", "-a", "exploratoin=1"], "did you mean 'exploration'"),
        (["tiny", "--warmup", "50000"], "--warmup 50000: must be below episode_ns = 50000"),
        (
            ["tiny", "--out", "/proc/nowhere"],
            "--out /proc/nowhere: must be a folder that can be written to",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert re.search(message, done.stderr) or message in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["deep-q", "ppo"])
def test_the_shipped_agents_train_save_and_go_on(kind: str) -> None:
    pytest.importorskip("torch")
    settings = ["--topology", "72", "--episode", "1000", "--evaluate-every", "0", "-o", "out"]
    done = run(kind, *settings, "--episodes", "2")
    assert done.exit_code == 0, done.stderr
    assert list(Path("out/tensorboard").iterdir())
    done = run(kind, *settings, "--episodes", "3", "--resume")
    assert done.exit_code == 0, done.stderr
    assert episodes()["episode"].tolist() == [1, 2, 3]
