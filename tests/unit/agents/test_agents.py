"""Agents as files and by kind, choices among legal actions; needs no PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dragonfly_env.agents import load_agent, make_agent, read_metadata
from dragonfly_env.agents.learner import read_agent, write_agent
from dragonfly_env.agents.random_policy import any_legal
from dragonfly_env.errors import ConfigError

WITHOUT_TORCH = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "stable_baselines3", "sb3_contrib", "tensorboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import dragonfly_env
import dragonfly_env.agents as agents

for kind in agents.learners():
    try:
        agents.make_agent(kind)
    except dragonfly_env.ConfigError as error:
        assert "pip install '.[sb3]'" in str(error), error
    else:
        raise AssertionError(kind)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_without_the_extra_an_agent_says_what_to_install() -> None:
    done = run(WITHOUT_TORCH)
    assert done.returncode == 0, done.stderr


def test_unknown_kinds_and_settings_name_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'deep-q'"):
        make_agent("deep-Q")
    with pytest.raises(
        ConfigError, match=r"^lr = 0.1: .* setting; did you mean 'learning_rate'\? 'dragonfly-env info"
    ):
        make_agent("deep-q", lr=0.1)


def test_a_saved_agent_is_one_file_and_a_damaged_or_old_one_is_one_clear_error(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "folder" / "agent.zip"
    write_agent(path, {"kind": "some", "metadata": {"a": (1, "b")}, "weights": {"w": torch.arange(999.0)}})
    assert [file.name for file in path.parent.iterdir()] == ["agent.zip"]
    assert torch.equal(read_agent(path)["weights"]["w"], torch.arange(999.0))
    assert read_metadata(path) == {"a": (1, "b")}
    with pytest.raises(ConfigError, match="must be one of 'path-times', 'deep-q', 'ppo'"):
        load_agent(path)
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:-200])
    (tmp_path / "text.zip").write_text("no agent")
    write_agent(tmp_path / "old.zip", {"kind": "deep-q", "format": 2})
    torch.save({"format": 4, "kind": Path("a class")}, tmp_path / "pickle.zip")
    for name in ("missing.zip", "cut.zip", "text.zip", "old.zip", "pickle.zip"):
        with pytest.raises(ConfigError, match=r"^agent = .*must be a saved agent of format 4"):
            load_agent(tmp_path / name)


def test_random_legal_actions_are_legal_and_equally_likely() -> None:
    rng = np.random.default_rng(0)
    mask = rng.random((6, 5)) < 0.5
    mask[:, 3] = True
    counts = np.zeros(mask.shape)
    for _ in range(4_000):
        chosen = any_legal(mask, rng.random(6))
        counts[np.arange(6), chosen] += 1
    assert (counts[~mask] == 0).all()
    for row, legal in zip(counts, mask, strict=True):
        np.testing.assert_allclose(row[legal] / 4_000, 1 / legal.sum(), atol=0.04)
    nearly_one = np.full(6, np.nextafter(1.0, 0.0))
    assert mask[np.arange(6), any_legal(mask, nearly_one)].all()
