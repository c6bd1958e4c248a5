"""Reference implementations: the rule for single decisions, on batches made by hand, and errors for other
environments.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.baselines import RULES
from tests.ready import ready

# References of policies that learn are other objects: tests/unit/agents/test_reference_learners.py.
NAMES = [name for name in dfe.policies() if not ready(name).learns]

KINDS = {"minimal": 0, "lgl": 1, "lg": 2, "gl": 3, "g": 4}
CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4)

# A path: (port, packets on the port, packets on its VC), or None where there is none.
Path = tuple[int, int, int] | None


def batch_of(kinds: tuple[str, ...], *rows: tuple[Path, ...]) -> dfe.DecisionBatch:
    """A batch with these candidates."""
    candidates = np.zeros((len(rows), len(kinds)), dtype=_core.candidate_dtype)
    for i, row in enumerate(rows):
        for k, path in enumerate(row):
            if path is None:
                candidates[i, k]["kind"] = candidates[i, k]["port"] = -1
                continue
            candidates[i, k]["kind"] = KINDS[kinds[k]]
            candidates[i, k]["port"], candidates[i, k]["occupancy"], candidates[i, k]["vc_occupancy"] = path
    n = len(rows)
    layout: Any = SimpleNamespace(candidates=kinds, num_actions=len(kinds), features={})
    return dfe.DecisionBatch(
        layout=layout,
        obs=np.zeros((n, 0), dtype=np.float32),
        mask=candidates["kind"] >= 0,
        agents=np.zeros(n, dtype=np.int32),
        decision_ids=np.arange(n),
        packets=np.zeros(n, dtype=_core.packet_dtype),
        time_ns=np.zeros(n),
        candidates=candidates,
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RULES])
def test_the_others_say_who_runs_them(name: str) -> None:
    policy = ready(name)
    batch = dfe.BatchedRoutingEnv.for_policy(CONFIG, policy, duration_ns=500.0).reset()
    for call in (
        lambda: policy.act(batch),
        lambda: policy.reference(None),
        lambda: dfe.agents.evaluate_policy(policy, CONFIG, native=False),
    ):
        with pytest.raises(
            dfe.StateError, match=rf"'{name}' runs in the core only.*SimulationConfig\(policy='{name}'"
        ):
            call()


@pytest.mark.parametrize("policy", ["ugal-n", "par"])
def test_a_nonminimal_path_needs_more_than_twice_its_queue_and_ties_stay_minimal(policy: str) -> None:
    batch = batch_of(
        ("minimal", "lgl"),
        ((5, 6, 0), (6, 3, 0)),  # 6 > 2 * 3 is false
        ((5, 7, 0), (6, 3, 0)),  # true
        ((5, 0, 0), (6, 0, 0)),
        ((5, 1, 0), (6, 0, 0)),
    )
    assert dfe.make_policy(policy).act(batch).tolist() == [0, 1, 0, 1]


def test_the_bias_is_added_on_the_side_of_the_nonminimal_path() -> None:
    batch = batch_of(
        ("minimal", "lgl"), ((5, 7, 0), (6, 3, 0)), ((5, 8, 0), (6, 3, 0)), ((5, 0, 0), (6, 0, 0))
    )
    assert dfe.make_policy("ugal-n", bias_packets=1).act(batch).tolist() == [0, 1, 0]
    assert dfe.make_policy("ugal-n", bias_packets=1.5).act(batch).tolist() == [0, 1, 0]
    assert dfe.make_policy("ugal-n", bias_packets=-0.5).act(batch).tolist() == [1, 1, 1]


def test_paths_through_one_port_are_compared_by_their_vcs() -> None:
    batch = batch_of(
        ("minimal", "lgl"),
        ((5, 9, 1), (5, 9, 0)),  # occupancies of the port: 9 > 18 is false
        ((5, 9, 2), (5, 9, 1)),
        ((5, 9, 0), (6, 1, 9)),  # other ports: the VCs say nothing
    )
    assert dfe.make_policy("ugal-n").act(batch).tolist() == [1, 0, 1]


def test_the_least_occupied_candidate_of_a_kind_stands_for_all_and_the_first_of_equals() -> None:
    kinds = ("minimal", "minimal", "lgl", "lgl", "lgl")
    policy = dfe.make_policy("ugal-n", minimal_candidates=2, nonminimal_candidates=3)
    batch = batch_of(
        kinds,
        ((5, 9, 0), (6, 8, 0), (7, 4, 0), (8, 3, 0), (9, 3, 0)),
        ((5, 8, 0), (6, 8, 0), (7, 4, 0), (8, 4, 0), (9, 4, 0)),
        ((5, 9, 0), (6, 8, 0), (7, 4, 0), (8, 5, 0), (9, 6, 0)),
    )
    assert policy.act(batch).tolist() == [3, 0, 1]
    two = dfe.make_policy("ugal-n", minimal_candidates=2, nonminimal_candidates=2)
    assert two.act(batch_of(kinds, ((5, 9, 0), (6, 9, 0), (7, 5, 0), (8, 5, 0), (9, 0, 0)))).tolist() == [0]


def test_without_a_nonminimal_path_packets_stay_minimal() -> None:
    batch = batch_of(("minimal", "lgl"), ((5, 99, 0), None))
    for policy in ("min", "val-n", "ugal-n", "par", "ugal-n:bias_packets=-1e9"):
        assert dfe.make_policy(policy).act(batch).tolist() == [0]


@pytest.mark.parametrize(
    ("name", "column"), [("val-n", 1), ("val-g", 2), ("vlb-lg", 2), ("vlb-gl", 3), ("vlb-g", 4)]
)
def test_valiant_takes_the_first_draw_of_its_kind(name: str, column: int) -> None:
    kinds = ("minimal", "lgl", "lg", "gl", "g", "lgl", "lg")
    batch = batch_of(kinds, tuple((5, 0, 0) for _ in kinds))
    assert dfe.make_policy(name).act(batch).tolist() == [column]


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        ("val-n", ("minimal", "lg")),
        ("ugal-g", ("minimal",)),
        ("ugal-n:nonminimal_candidates=3", ("minimal", "lgl", "lgl")),
        ("par:minimal_candidates=2", ("minimal", "lgl")),
        ("min", ("minimal", "minimal")),
        ("ugal-n", ("minimal", "minimal", "lgl")),
    ],
)
def test_an_environment_without_the_candidates_is_refused(policy: str, kinds: tuple[str, ...]) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^candidates = .*must have \d '.*for_policy"):
        dfe.make_policy(policy).act(batch_of(kinds, tuple((5, 0, 0) for _ in kinds)))
