"""The learning benchmark works and says what it measured; what it measures is not tested."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")

from benchmarks import learning
from benchmarks.learning_figure import draw


def test_it_trains_measures_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("WARMUP_NS", 500.0),
        ("MEASURE_NS", 2_500.0),
        ("CURVE_WARMUP_NS", 0.0),
        ("CURVE_NS", 2_500.0),
        ("HELD_OUT_SEEDS", (101,)),
        ("BASELINES", ("min", "val-g", "ugal-n", "par")),
        ("ELSEWHERE", (("uniform", 0.5),)),
    ):
        monkeypatch.setattr(learning, name, value)
    cases = {
        "deep-q, ports": learning.Case("deep-q", {"first_transitions": 100}, episodes=2, episode_ns=2_000.0),
        "deep-q, mixture, ports": learning.Case("deep-q", episodes=2, episode_ns=2_000.0, mixture=True),
        "masked-ppo, paths": learning.Case(
            "masked-ppo", {"rollout_steps": 32, "batch_steps": 64}, episodes=2, episode_ns=2_000.0
        ),
    }
    monkeypatch.setattr(learning, "CASES", cases)
    content = learning.run(tmp_path, list(cases), range(1, 2), jobs=1)
    assert [run["case"] for run in content["runs"]] == list(cases)
    for run in content["runs"]:
        assert [point.get("episode") for point in run["curve"]] == [None, 1, 2]
        assert run["training_cpu_s"] > 0
    stored = json.loads(json.dumps(content))
    table = learning.summary(stored)
    assert all(f"**{name}**" in table for name in cases)
    assert draw(stored, tmp_path / "curves.png").stat().st_size > 10_000
