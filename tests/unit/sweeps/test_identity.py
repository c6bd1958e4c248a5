"""Identity of a run: files and classes count by their content, not by their place or name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import baselines
from dragonfly_env.sweeps.point import REVISIONS, Run, with_published_names
from dragonfly_env.sweeps.scenario import Scenario

CLASS = """
class Policy:
    name = "own"

    def act(self, batch):
        return batch.mask.argmax(axis=1)

"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scenario(**changes: Any) -> Scenario:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["none"], "loads": [0.2], "arrays": False}
    return Scenario.from_dict({**settings, "warmup_ns": 0, "measure_ns": 1000, **changes})


def test_identifiers_keep_the_names_of_fields_and_values_in_published_results() -> None:
    network = {"decide_at": "retry-same-paths", "congestion_metric": "port"}
    published = {"decide_at": "attempt-same-path", "paths_weighed_by": "port"}
    assert with_published_names({"network": network, "seed": 1}) == {"network": published, "seed": 1}


def test_traffic_that_says_itself_how_much_it_offers_is_described_without_a_load() -> None:
    trace = dfe.traffic.Trace.from_columns(time_ns=[0], src=[0], dst=[9], bytes=[128])
    config = dfe.SimulationConfig(topology="72", traffic=trace)
    run = Run(config=config, policy_label="min", traffic_label="messages", warmup_ns=0, measure_ns=500)
    assert run.describe() == "min under messages, seed 1"


def only(plan: Scenario) -> Run:
    (run,) = plan.runs()
    return run


def test_a_setting_that_is_younger_than_the_published_results_counts_if_it_is_on() -> None:
    usual, recorded = (only(scenario(traffic=["uniform"], message_slowdown=on)) for on in (False, True))
    assert "message_slowdown" in usual.configuration
    assert usual.id == "b046d5e9c89b3636"
    assert recorded.id != usual.id


def trace(num_bytes: int, file: str) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(f"time_ns,src,dst,bytes\n0,0,9,{num_bytes}\n")
    return file


def matrix(value: int, file: str) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    demands = np.ones((72, 72))
    demands[0, 1] = value
    np.save(file, demands)
    return file


def weights(value: int, file: str) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    return str(baselines.MlpNetwork.random(seed=value).save(file))


def class_in_a_file(value: int, file: str) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(f"{CLASS}VALUE = {value}\n")
    return file


KINDS = {
    "trace": (trace, ".csv", lambda file: {"traffic": [f"trace:{file}"]}),
    "demand matrix": (matrix, ".npy", lambda file: {"traffic": [f"demand:{file}"]}),
    "weights": (weights, ".npz", lambda file: {"policies": [f"mlp:weights={file}"], "traffic": ["uniform"]}),
    "weights of a job": (
        weights,
        ".npz",
        lambda file: {
            "jobs": [{"program": "milc:gap_ns=1", "hosts": 4, "policy": {"name": "mlp", "weights": file}}]
        },
    ),
    "class": (class_in_a_file, ".py", lambda file: {"policies": [f"{file}:Policy"], "traffic": ["uniform"]}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_content_is_identity(kind: str) -> None:
    write, suffix, use = KINDS[kind]
    first = write(1, f"a/one{suffix}")
    known = only(scenario(**use(first))).id
    same_name = write(1, f"b/one{suffix}")
    assert only(scenario(**use(same_name))).id == known
    write(2, f"a/one{suffix}")
    assert only(scenario(**use(first))).id != known
    write(1, f"a/one{suffix}")
    assert only(scenario(**use(first))).id == known
    if suffix != ".py":  # a module's name is part of its code
        assert only(scenario(**use(write(1, f"b/other{suffix}")))).id == known


def test_a_saved_agent_is_known_by_its_content() -> None:
    from tests.unit.tiny_learner import TinyLearner

    Path("a").mkdir()
    Path("tiny.py").write_text("from tests.unit.tiny_learner import TinyLearner\n")
    agent = TinyLearner()
    config = dfe.SimulationConfig(topology="72")
    agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
    agent.save("first.zip")
    shutil.copy("first.zip", "a/second.zip")
    runs = [
        only(scenario(policies=[f"{label}tiny.py:TinyLearner@{file}"], traffic=["uniform"]))
        for label in ("", "mine=")
        for file in ("first.zip", "a/second.zip")
    ]
    assert len({run.id for run in runs}) == 1
    assert {run.policy_label for run in runs} == {"first", "second", "mine"}


def test_a_configuration_means_the_file_that_it_was_made_with() -> None:
    config = dfe.SimulationConfig(topology="72", traffic=f"trace:{trace(128, 't.csv')}")
    told = config.to_json()
    assert dfe.SimulationConfig.from_json(told) == config
    trace(256, "t.csv")
    assert config.to_json() == told
    with pytest.raises(dfe.ConfigError, match=r"sha256 = .*the file must be the one with"):
        dfe.SimulationConfig.from_json(told)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"traffic": ["all-to-all"]}, ["all-to-all"]),
        ({"traffic": ["graph500:scale=8"]}, ["graph500"]),
        ({"traffic": ["uniform"], "policies": ["acor"]}, ["acor"]),
        ({"traffic": ["uniform"], "policies": ["ugal-n"]}, []),
        ({"traffic": ["uniform"], "network": "lia"}, ["round-robin"]),
        ({"jobs": [{"program": "halo3d:side=4", "hosts": 8}]}, []),
    ],
    ids=str,
)
def test_the_id_of_a_run_knows_how_often_the_rules_that_it_uses_were_changed(
    changes: dict[str, Any], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result of the rules before is not taken for one of those of today."""
    run = only(scenario(**changes))
    today = run.id
    assert run.configuration.get("revisions", {}) == {name: REVISIONS[name] for name in names}
    for name in names:
        monkeypatch.setitem(REVISIONS, name, REVISIONS[name] + 1)
    assert (only(scenario(**changes)).id != today) == bool(names)
