"""The training loop and the evaluation, with a learner that needs no PyTorch."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import (
    evaluate_over_seeds,
    fit,
    train,
)
from dragonfly_env.agents.random_policy import any_legal
from dragonfly_env.baselines.mlp_arithmetic import best_legal

TINY = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.6)
SHORT: dict[str, Any] = {"episode_ns": 3_000.0}


class MeanOfActions:
    """Remembers the mean reward of every action, for all observations alike; explores one decision in four."""

    name, scope, action = "mean-of-actions", "source", "path"

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.sums, self.counts = np.zeros(16), np.zeros(16)
        self.training = False
        self.learned_in_episodes: list[int] = []

    def env_options(self) -> dict[str, Any]:
        return {"scope": self.scope, "action": self.action}

    def prepare(self, env: Any) -> None:
        self.num_actions = env.num_actions

    def set_training(self, on: bool) -> None:
        self.training = on

    def act(self, batch: Any) -> Any:
        means = self.sums / np.maximum(self.counts, 1)
        actions = best_legal(np.broadcast_to(means[: batch.mask.shape[1]], batch.mask.shape), batch.mask)
        if not self.training:
            return actions
        return np.where(batch.draws[:, 0] < 0.25, any_legal(batch.mask, batch.draws[:, 1]), actions)

    def learn(self, transitions: Any) -> None:
        assert self.training
        np.add.at(self.sums, transitions.actions, transitions.rewards)
        np.add.at(self.counts, transitions.actions, 1)

    def statistics(self) -> dict[str, float]:
        return {"transitions": float(self.counts.sum())}

    def save(self, path: str | Path) -> None:
        with Path(path).open("wb") as file:
            np.save(file, self.counts)

    @classmethod
    def load(cls, path: str | Path) -> MeanOfActions:
        agent = cls()
        agent.counts = np.load(path)
        return agent


def test_every_episode_is_reported_and_counts_grow() -> None:
    progress = fit(MeanOfActions(), TINY, episodes=3, **SHORT)
    assert [p.episode for p in progress] == [1, 2, 3]
    assert {p.episodes for p in progress} == {3}
    for before, after in itertools.pairwise(progress):
        assert after.decisions > before.decisions > 0
        assert after.simulated_ns > before.simulated_ns > 0
        assert after.wall_s > before.wall_s > 0
        assert after.statistics["transitions"] > before.statistics["transitions"]
    assert all(p.latency_mean_ns > 0 and p.reward_mean < 0 for p in progress)


def test_a_training_goes_on_with_the_traffic_that_it_would_have_had() -> None:
    class Still(MeanOfActions):
        def learn(self, transitions: Any) -> None:
            """Learn nothing, so that an episode depends on its traffic only."""

    whole = fit(Still(), TINY, episodes=4, **SHORT)
    rest = fit(Still(), TINY, episodes=4, first_episode=2, **SHORT)
    assert [p.episode for p in rest] == [3, 4]
    assert [p.latency_mean_ns for p in rest] == [p.latency_mean_ns for p in whole[2:]]


def test_a_learner_that_wants_to_is_told_of_the_end_of_every_episode() -> None:
    class Told(MeanOfActions):
        def end_episode(self) -> None:
            self.learned_in_episodes.append(int(self.counts.sum()))

    agent = Told()
    progress = fit(agent, TINY, episodes=3, **SHORT)
    assert agent.learned_in_episodes == [p.statistics["transitions"] for p in progress]


def test_evaluations_come_as_often_as_set_and_at_the_end() -> None:
    agent = MeanOfActions()
    options: dict[str, Any] = {"evaluation_warmup_ns": 1_000.0, "evaluation_ns": 2_000.0, **SHORT}
    progress = fit(agent, TINY, episodes=5, evaluate_every=2, evaluation_seeds=(1, 2), **options)
    assert [p.episode for p in progress if p.evaluation] == [2, 4, 5]
    last = progress[-1].evaluation
    assert last is not None
    again = evaluate_over_seeds(agent, TINY, (1, 2), warmup_ns=1_000.0, measure_ns=2_000.0)
    assert [m.to_dict() for m in last.metrics] == [m.to_dict() for m in again.metrics]
    assert progress[-1].to_dict()["evaluation/latency_mean_ns"] == last.latency_mean_ns
    assert "evaluation/latency_mean_ns" not in progress[0].to_dict()


def test_checkpoints_are_written_and_the_latest_one_even_when_interrupted(tmp_path: Path) -> None:
    agent = MeanOfActions()
    training = train(agent, TINY, episodes=9, checkpoint_dir=tmp_path, checkpoint_every=2, **SHORT)
    saved = [next(training).checkpoint for _ in range(3)]
    assert saved == [None, tmp_path / "episode-0002.zip", None]
    assert (tmp_path / "latest.zip").read_bytes() == (tmp_path / "episode-0002.zip").read_bytes()
    training.close()
    assert MeanOfActions.load(tmp_path / "latest.zip").counts.sum() == agent.counts.sum()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["episode-0002.zip", "latest.zip"]
    assert not agent.training


def test_the_clock_ends_a_training() -> None:
    assert len(fit(MeanOfActions(), TINY, episodes=9, stop_after_s=0, **SHORT)) == 1


def test_an_evaluation_does_not_change_what_an_episode_logs() -> None:
    class Exploring(MeanOfActions):
        def statistics(self) -> dict[str, float]:
            return {"epsilon": 0.25 if self.training else 0.0}

    options = {"evaluation_warmup_ns": 0.0, "evaluation_ns": 1_000.0, "evaluation_seeds": (1,)}
    progress = fit(Exploring(), TINY, episodes=2, evaluate_every=1, **options, **SHORT)
    assert [entry.evaluation is None for entry in progress] == [False, False]
    assert [entry.statistics["epsilon"] for entry in progress] == [0.25, 0.25]


def test_the_counts_of_a_resumed_training_go_on() -> None:
    agent = MeanOfActions()
    whole = fit(MeanOfActions(), TINY, episodes=3, **SHORT)
    (first,) = fit(agent, TINY, episodes=1, **SHORT)
    earlier = {"decisions": first.decisions, "simulated_ns": first.simulated_ns, "wall_s": 1e6}
    rest = fit(agent, TINY, episodes=3, first_episode=1, earlier=earlier, **SHORT)
    assert [entry.simulated_ns for entry in rest] == [entry.simulated_ns for entry in whole[1:]]
    assert rest[0].decisions > first.decisions
    assert all(entry.wall_s > 1e6 for entry in rest)
    going_on: dict[str, Any] = {"episodes": 4, "first_episode": 1, "earlier": earlier, **SHORT}
    assert len(fit(agent, TINY, stop_after_decisions=first.decisions + 1, **going_on)) == 1
    assert len(fit(agent, TINY, stop_after_s=1e5, **going_on)) == 3


def test_event_files_for_tensorboard_hold_the_progress(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra [sb3]")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    progress = fit(MeanOfActions(), TINY, episodes=2, log_dir=tmp_path, **SHORT)
    events = EventAccumulator(str(tmp_path)).Reload()
    logged = events.Scalars("episode/latency_mean_ns")
    assert [event.step for event in logged] == [1, 2]
    assert [event.value for event in logged] == pytest.approx([p.latency_mean_ns for p in progress])
    assert "statistics/transitions" in events.Tags()["scalars"]


def test_scenarios_next_to_each_other_are_one_training() -> None:
    """An episode has the decisions of all; its figures, and those of evaluations, are the means."""
    configs = [TINY.replace(load=load) for load in (0.2, 0.6)]
    options = {"episodes": 2, "episode_ns": 2_000.0, "evaluate_every": 2, "evaluation_warmup_ns": 0.0}
    together = fit(MeanOfActions(), configs, evaluation_ns=2_000.0, **options)
    alone = [fit(MeanOfActions(), config, evaluation_ns=2_000.0, **options) for config in configs]
    assert together[-1].decisions > max(entry[-1].decisions for entry in alone)
    found = together[-1].evaluation
    assert found is not None
    low, high = (metrics.offered_load for metrics in found.metrics)
    assert low == pytest.approx(0.2, abs=0.05)
    assert high == pytest.approx(0.6, abs=0.05)
    accepted = [metrics.accepted_load for metrics in found.metrics]
    assert found.accepted_load == pytest.approx(sum(accepted) / 2)
    again = fit(MeanOfActions(), configs, evaluation_ns=2_000.0, **options)
    assert [entry.reward_mean for entry in again] == [entry.reward_mean for entry in together]
    with pytest.raises(dfe.ConfigError, match="config"):
        fit(MeanOfActions(), [], **options)


def test_drawn_scenarios_are_others_in_every_episode() -> None:
    seen = []

    def draw(seed: int) -> dfe.SimulationConfig:
        seen.append(seed)
        return TINY.replace(load=0.2 + seed % 5 / 10)

    fit(MeanOfActions(), draw, episodes=3, episode_ns=1_500.0)
    assert len(set(seen)) == 4  # seeds of the constructor and of each episode
