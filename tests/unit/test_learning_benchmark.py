"""The learning benchmark works and says what it measured; what it measures is not tested."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")

from benchmarks import learning, learning_baselines
from benchmarks.learning_figure import draw


def test_it_trains_measures_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("WARMUP_NS", 500.0),
        ("MEASURE_NS", {"72": 2_500.0}),
        ("CURVE_WARMUP_NS", 0.0),
        ("CURVE_NS", 2_500.0),
        ("HELD_OUT_SEEDS", {"72": (101,)}),
        ("ELSEWHERE", {"72": (("uniform", 0.5),)}),
    ):
        monkeypatch.setattr(learning, name, value)
    monkeypatch.setattr(learning_baselines, "UNTUNED", ("min", "val-g", "ugal-n", "par"))
    monkeypatch.setattr(learning_baselines, "TUNED", {"ugal-g": ("bias_packets", (-10, 10))})
    monkeypatch.setattr(learning_baselines, "ONLINE", ("q-adaptive-queue",))
    cases = {
        "deep-q, ports": learning.Case("deep-q", {"first_transitions": 100}, episodes=2, episode_ns=2_000.0),
        "deep-q, mixture, ports": learning.Case("deep-q", episodes=2, episode_ns=2_000.0, mixture=True),
        "ppo, beside, paths": learning.Case(
            "ppo",
            {"rollout_transitions": 200, "batch_transitions": 100},
            episodes=2,
            episode_ns=2_000.0,
            beside=(("adv+1", 0.3), ("uniform", 0.5)),
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


def test_parameters_are_tuned_by_what_was_measured() -> None:
    bias = {-10.0: 1_300.0, -20.0: 1_200.0}

    def latency_ns(policy: object) -> float:
        return bias.get(getattr(policy, "bias_packets", 0.0), 2_000.0)

    tuned = [one for one in learning_baselines.baselines(latency_ns) if one.kind == "tuned"]
    assert [one.name for one in tuned] == [f"{name}:bias_packets=-20" for name in learning_baselines.TUNED]
    kinds = {one.kind for one in learning_baselines.baselines(latency_ns)}
    assert kinds == {"untuned", "random", "tuned", "online", "shipped"}
