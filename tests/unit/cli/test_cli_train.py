"""``dragonfly-env train``: what it leaves behind, that it goes on where it was, and its messages."""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import tiny_learner  # conftest.py has put it where commands find it

import dragonfly_env as dfe
from dragonfly_env.agents.registry import load_agent, read_metadata
from dragonfly_env.sweeps.storage import METADATA_KEY
from tests.unit.cli_arguments import run as command

pytestmark = pytest.mark.usefixtures("tiny", "undrawn")

SHORT = [
    *("--topology", "p=1,a=3,h=1", "--load", "0.4", "--episode-ns", "2000", "--checkpoint-every", "2"),
    *("--evaluate-every", "0", "--no-tensorboard"),
]


run = functools.partial(command, "train")


def episodes(folder: str = "out") -> pd.DataFrame:
    return pd.read_parquet(Path(folder) / "episodes.parquet")


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
    done = run(
        "tiny", *SHORT, "--duration-ns", "9000", "--out", "out", "-a", "exploration=0.5", "-a", "sizes=3,4"
    )
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
    stored = json.loads(pq.read_metadata("out/episodes.parquet").metadata[METADATA_KEY])
    assert stored["configuration"] == made["configuration"]
    assert isinstance(load_agent("out/agent.zip"), tiny_learner.TinyLearner)


def test_the_same_command_keeps_what_is_complete_and_a_longer_one_goes_on() -> None:
    assert run("tiny", *SHORT, "--duration-ns", "6000", "-o", "out").exit_code == 0
    before = episodes()
    stamp = Path("out/agent.zip").stat().st_mtime_ns
    again = run("tiny", *SHORT, "--duration-ns", "6000", "-o", "out")
    assert again.exit_code == 0, again.stderr
    assert "complete already: out" in again.stderr
    assert Path("out/agent.zip").stat().st_mtime_ns == stamp
    longer = run("tiny", *SHORT, "--duration-ns", "10000", "-o", "out")
    assert longer.exit_code == 0, longer.stderr
    assert "going on after episode 3 in out" in longer.stderr
    after = episodes()
    assert after["episode"].tolist() == [1, 2, 3, 4, 5]
    assert after["latency_mean_ns"].tolist()[:3] == before["latency_mean_ns"].tolist()
    assert after["decisions"].is_monotonic_increasing
    assert run("tiny", *SHORT, "--duration-ns", "10000", "-o", "whole").exit_code == 0
    whole = episodes("whole")
    # The seeds of the episodes are those of an uninterrupted training: so is the offered traffic.
    assert whole["decisions"].tolist() == after["decisions"].tolist()


def test_ctrl_c_keeps_the_agent_and_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["tiny", *SHORT, "--duration-ns", "12000", "-o", "out"]
    monkeypatch.setattr(sys, "argv", ["dragonfly-env", "train", *command, "--fresh"])
    with monkeypatch.context() as patch:
        interrupt_after(patch, 45)
        stopped = run(*command, "--fresh")
    assert stopped.exit_code == 130, stopped.stderr
    assert "Traceback" not in stopped.stderr
    kept = len(episodes())
    assert 0 < kept < 6
    assert (
        f"interrupted: {kept} of 6 episodes are kept in out; to go on: dragonfly-env train tiny"
        in stopped.stderr
    )
    assert stopped.stderr.rstrip().endswith("-o out")  # and not --fresh
    assert Path("out/checkpoints/latest.zip").exists()
    assert not Path("out/agent.zip").exists()
    done = run(*command)
    assert done.exit_code == 0, done.stderr
    assert f"going on after episode {kept} in out" in done.stderr
    assert episodes()["episode"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_shorter_command_makes_an_agent_of_what_an_interrupted_one_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        interrupt_after(patch, 45)
        assert run("tiny", *SHORT, "--duration-ns", "12000", "-o", "out").exit_code == 130
    kept = len(episodes())
    done = run("tiny", *SHORT, "--duration-ns", "2000", "-o", "out")
    assert done.exit_code == 0, done.stderr
    assert read_metadata("out/agent.zip")["training"]["episode"] == kept
    load_agent("out/agent.zip")


def test_a_killed_training_goes_on_from_its_last_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends it: here an error in the third episode, after the checkpoint of the second."""
    command = ["tiny", *SHORT, "--duration-ns", "8000", "-o", "out"]
    real = tiny_learner.TinyLearner.save

    def save(self: Any, path: Any) -> None:
        real(self, path)
        if "episode-0002" in str(path):
            monkeypatch.setattr(tiny_learner.TinyLearner, "learn", fail)

    def fail(self: Any, transitions: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(tiny_learner.TinyLearner, "save", save)
        learn = tiny_learner.TinyLearner.learn
        assert isinstance(run(*command).exception, RuntimeError)
        monkeypatch.setattr(tiny_learner.TinyLearner, "learn", learn)
    done = run(*command)
    assert done.exit_code == 0, done.stderr
    assert "going on after episode 2" in done.stderr
    assert episodes()["episode"].tolist() == [1, 2, 3, 4]


def test_another_training_is_not_overwritten_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("tiny", *SHORT, "--duration-ns", "4000", "-o", "out").exit_code == 0
    for other, field in (
        (["--load", "0.5"], "configuration.load = 0.4, not 0.5"),
        (["--seed", "2"], "seed = 1, not 2"),
        (["--traffic", "uniform"], "configuration.traffic"),
        (["-a", "exploration=0.1"], "agent_settings.exploration = None, not 0.1"),
        (["--episode-ns", "1000"], "episode_ns = 2000.0, not 1000.0"),
    ):
        refused = run("tiny", *SHORT, "--duration-ns", "4000", "-o", "out", *other)
        assert refused.exit_code == 2
        assert f"error: out = 'out': holds a training with {field}" in refused.stderr
    done = run("tiny", *SHORT, "--duration-ns", "4000", "-o", "out", "--load", "0.5", "--fresh")
    assert done.exit_code == 0, done.stderr
    assert read_metadata("out/agent.zip")["configuration"]["load"] == 0.5
    assert len(episodes()) == 2


def test_several_seeds_train_several_agents() -> None:
    done = run("tiny", *SHORT, "--duration-ns", "2000", "-s", "3", "-s", "4", "-o", "out")
    assert done.exit_code == 0, done.stderr
    assert "evaluate out/seed-3/agent.zip out/seed-4/agent.zip min ugal-n" in done.stderr
    assert [read_metadata(f"out/seed-{seed}/agent.zip")["seed"] for seed in (3, 4)] == [3, 4]


def test_the_time_may_be_limited() -> None:
    done = run("tiny", *SHORT, "--duration-ns", "20000", "--minutes", "1e-9", "-o", "out")
    assert done.exit_code == 0, done.stderr
    assert "1 of 10 episodes" in done.stdout
    assert run("tiny", *SHORT, "--duration-ns", "20000", "--minutes", "1e-9", "-o", "out").exit_code == 0
    assert len(episodes()) == 1


def test_the_agent_is_evaluated_now_and_then() -> None:
    done = run("tiny", *SHORT, "--duration-ns", "8000", "--evaluate-every", "2", "-o", "out")
    assert done.exit_code == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert any(line.startswith("episode 1 exploring, 2 us from an empty network") for line in lines)
    steady = "evaluation after 4 not exploring, other seeds, 50 us after 20 us of warm-up"
    assert any(line.startswith(steady) for line in lines), "what was measured otherwise says so"
    assert episodes()["evaluation/latency_mean_ns"].notna().tolist() == [False, True, False, True]


def test_options_reach_the_network() -> None:
    done = run(
        "tiny",
        *SHORT,
        *("--duration-ns", "2000", "-o", "out", "--network", "lia", "--arrangement", "absolute"),
        *("--set", "routing_delay_ns=50", "--injection", "poisson", "--source-queue", "30"),
        *("--traffic", "uniform"),
        *("--message-packets", "2", "--warmup-ns", "500", "--warmup-policy", "ugal-n:bias_packets=1"),
    )
    assert done.exit_code == 0, done.stderr
    made = read_metadata("out/agent.zip")
    configuration = made["configuration"]
    assert configuration["network"]["routing_delay_ns"] == 50
    assert configuration["network"]["packet_bytes"] == 250
    assert configuration["topology"]["arrangement"] == "absolute"
    assert configuration["injection"] == "poisson"
    assert configuration["source_queue_packets"] == 30
    assert configuration["message_packets"] == 2
    assert configuration["traffic"]["pattern"] == "uniform"
    assert configuration["policy"]["bias_packets"] == 1
    assert made["warmup_ns"] == 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deep-w"], r"agent = 'deep-w': did you mean 'deep-q'\? It must be one of 'deep-q', "),
        (["tiny", "-a", "exploratoin=1"], "did you mean 'exploration'"),
        (["tiny", "-a", "exploration"], "must have the form name=value"),
        (["tiny", "--seed", "5000000000"], "seed = 5000000000: must"),
        (["tiny", "--duration-ns", "nan"], "duration_ns = nan: must"),
        (["tiny", "--duration-ns", "1e12", "--episode-ns", "1"], "episodes = 1000000000000: must"),
        (["tiny", "--episode-ns", "-5"], "episode_ns = -5.0: must"),
        (["tiny", "--warmup-ns", "50000"], "warmup_ns = 50000.0: must be below episode_ns = 50000"),
        (["tiny", "--warmup-policy", "ugl-n"], "did you mean 'ugal-n'"),
        (["tiny", "--minutes", "0"], "stop_after_s = 0.0: must"),
        (["tiny", "--evaluate-every", "-1"], "evaluate_every = -1: must"),
        (["tiny", "--checkpoint-every", "0"], "checkpoint_every = 0: must"),
        (
            ["tiny", "--out", "/proc/nowhere"],
            "results folder = '/proc/nowhere': must be a folder that can be written to",
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


def test_a_damaged_folder_is_named() -> None:
    Path("out").mkdir()
    Path("out/training.json").write_text("{}")
    done = run("tiny", *SHORT, "-o", "out")
    assert done.exit_code == 2
    assert "training = 'out/training.json': must be what an earlier training wrote" in done.stderr


@pytest.mark.parametrize("kind", ["deep-q", "ppo"])
def test_without_the_extra_the_message_says_what_to_install(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in list(sys.modules):
        if name.startswith(
            ("torch.", "stable_baselines3", "sb3_contrib", "dragonfly_env.agents._sb3")
        ) or name in (
            "torch",
            "dragonfly_env.agents.deep_q",
            "dragonfly_env.agents.ppo",
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    done = run(kind, *SHORT, "-o", "out")
    assert done.exit_code == 2
    assert 'pip install "dragonfly-env[sb3]"' in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["deep-q", "ppo"])
def test_the_shipped_agents_train_save_and_go_on(kind: str) -> None:
    pytest.importorskip("torch")
    settings = ["--topology", "72", "--episode-ns", "1000", "--evaluate-every", "0", "-o", "out"]
    done = run(kind, *settings, "--duration-ns", "2000")
    assert done.exit_code == 0, done.stderr
    assert list(Path("out/tensorboard").iterdir())
    done = run(kind, *settings, "--duration-ns", "3000")
    assert done.exit_code == 0, done.stderr
    assert episodes()["episode"].tolist() == [1, 2, 3]
