"""Scenarios: what a file or options mean, the runs that follow, their identity, and every mistake that one can make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragonfly_env import ConfigError
from dragonfly_env.sweeps import Scenario
from dragonfly_env.sweeps.scenario import parse_loads

SMALL: dict[str, Any] = {
    "topology": "72",
    "policies": ["min", "ugal-n"],
    "traffic": ["uniform"],
    "loads": [0.2, 0.4],
    "seeds": [1, 2],
}


def only_id(**changes: Any) -> str:
    """The id of the only run of a scenario with one policy, traffic, load and seed."""
    base = {**SMALL, "policies": ["min"], "loads": [0.2], "seeds": [1]}
    (run,) = Scenario.from_dict({**base, **changes}).runs()
    return run.id


def test_runs_are_the_product_of_all_lists_in_a_fixed_order() -> None:
    scenario = Scenario.from_dict({**SMALL, "traffic": ["uniform", "adv+1"]})
    described = [run.describe() for run in scenario.runs()]
    assert len(described) == 2 * 2 * 2 * 2
    assert described[:3] == [
        "min under uniform at load 0.2, seed 1",
        "min under uniform at load 0.2, seed 2",
        "min under uniform at load 0.4, seed 1",
    ]
    assert described[-1] == "ugal-n under adv+1 at load 0.4, seed 2"
    assert described == [run.describe() for run in scenario.runs()]


@pytest.mark.parametrize(
    "spelling",
    [
        {"topology": {"preset": "72"}},
        {"topology": {"p": 2, "a": 4, "h": 2}},
        {"network": {"preset": "default", "packet_bytes": 128}},
        {"policies": "min"},
        {"traffic": [{"pattern": "uniform", "loads": [0.2]}]},
        {"loads": "0.2:0.2:0.1"},
        {"threads": 4},
        {"name": "another title"},
    ],
)
def test_the_same_configuration_spelled_otherwise_is_the_same_run(spelling: dict[str, Any]) -> None:
    assert only_id(**spelling) == only_id()


@pytest.mark.parametrize(
    "change",
    [
        {"topology": {"preset": "72", "arrangement": "absolute"}},
        {"network": "q-adaptive"},
        {"network": {"global_latency_ns": 299.0}},
        *({"policies": ["val-n"]}, {"traffic": ["adv+1"]}, {"loads": [0.21]}, {"seeds": [2]}),
        *({"warmup_ns": 1.0}, {"measure_ns": 1.0}, {"injection": "poisson"}),
        *({"source_queue_packets": 20}, {"message_packets": 2}, {"series_bin_ns": 100.0}),
        {"arrays": False},
    ],
)
def test_any_difference_in_the_configuration_is_another_run(change: dict[str, Any]) -> None:
    assert only_id(**change) != only_id()


def test_a_policy_with_parameters_is_labelled_by_them() -> None:
    scenario = Scenario.from_dict(
        {**SMALL, "policies": ["ugal-n", "ugal-n:bias_packets=2", {"name": "ugal-n", "bias_packets": 4}]}
    )
    assert [choice.label for choice in scenario.policies] == [
        "ugal-n",
        "ugal-n:bias_packets=2",
        "ugal-n:bias_packets=4",
    ]
    biases = [choice.policy.parameters["bias_packets"] for choice in scenario.policies]  # type: ignore[union-attr]
    assert biases == [0.0, 2.0, 4.0]


def test_a_traffic_may_have_loads_and_times_of_its_own() -> None:
    runs = Scenario.from_dict(
        {
            **SMALL,
            "policies": ["min"],
            "seeds": [7],
            "warmup_ns": 10_000,
            "traffic": ["uniform", {"pattern": "adv+1", "loads": ["0.05:0.15:0.05"], "warmup_ns": 30_000}],
        }
    ).runs()
    assert [(run.traffic_label, run.load, run.warmup_ns) for run in runs] == [
        ("uniform", 0.2, 10_000.0),
        ("uniform", 0.4, 10_000.0),
        ("adv+1", 0.05, 30_000.0),
        ("adv+1", 0.1, 30_000.0),
        ("adv+1", 0.15, 30_000.0),
    ]


def test_policies_that_learn_may_have_a_longer_warmup() -> None:
    settings = {
        **SMALL,
        "policies": ["min", "q-adaptive"],
        "traffic": ["uniform", "all-to-all"],
        "loads": [0.2],
        "seeds": [1],
        "warmup_ns": 10_000,
        "learner_warmup_ns": 50_000,
    }
    scenario = Scenario.from_dict(settings)
    assert [(run.traffic_label, run.policy_label, run.warmup_ns) for run in scenario.runs()] == [
        ("uniform", "min", 10_000.0),
        ("uniform", "q-adaptive", 50_000.0),
        ("all-to-all", "min", 0.0),  # no warm-up: the start of a closed loop is part of its makespan
        ("all-to-all", "q-adaptive", 0.0),
    ]


def test_a_schedule_of_traffic_brings_its_own_loads() -> None:
    steps = [[0, "uniform", 0.3], [5_000, "adv+1", 0.2]]
    (run,) = Scenario.from_dict(
        {"topology": "72", "policies": ["min"], "traffic": [{"schedule": steps}]}
    ).runs()
    assert run.load == 0.3
    assert run.traffic_label == "uniform 0.3 from 0 us, then adv+1 0.2 from 5 us"


@pytest.mark.parametrize(
    ("values", "loads"),
    [
        ([0.5, 0.1], (0.1, 0.5)),
        (["0.1:0.5:0.1"], (0.1, 0.2, 0.3, 0.4, 0.5)),
        (["0.1:0.45:0.1"], (0.1, 0.2, 0.3, 0.4)),
        (["0.1,0.2", 0.2, "1"], (0.1, 0.2, 1.0)),
        (["0.3"], (0.3,)),
    ],
)
def test_loads_are_numbers_or_ranges_with_both_ends(values: list[object], loads: tuple[float, ...]) -> None:
    assert parse_loads("loads", values) == loads


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topology": "1057"}, r"1057.*did you mean '1056'"),
        ({"network": "q-adaptiv"}, "did you mean 'q-adaptive'"),
        ({"network": {"global_latency": 300}}, "did you mean 'global_latency_ns'"),
        ({"policies": ["ugla-n"]}, "'ugla-n'.*did you mean 'ugal-n'"),
        ({"policies": ["ugal-n:bias=2"]}, "did you mean 'bias_packets'"),
        ({"policies": ["a=min", "b=min"]}, "policies = 'b': must be listed only once; it is the same as 'a'"),
        ({"traffic": [{"loads": [0.1]}]}, "either a pattern or a schedule"),
        ({"loads": []}, r"loads = \[\]"),
        ({"loads": [1.5]}, "load = 1.5"),
        ({"seeds": list(range(100_000))}, "number of runs"),
        ({"warmup_ns": 0.0001}, "warmup_ns = 0.0001: .*picoseconds"),
        ({"threads": 0}, "threads = 0"),
        ({"polices": ["min"]}, "polices.*did you mean 'policies'"),
    ],
)
def test_a_mistake_is_a_config_error_that_names_field_and_value(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Scenario.from_dict({**SMALL, **change}).runs()


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('policies = ["min"]\ntraffic = ["uniform"]\nloads = [2.0]\n')
    with pytest.raises(ConfigError, match=r"mine\.toml: load = 2\.0"):
        Scenario.from_toml(file)
