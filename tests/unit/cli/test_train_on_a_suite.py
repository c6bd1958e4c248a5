"""``dragonfly-env train --suite``: what a benchmark suite trains on, next to each other in every episode."""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents.learner import read_metadata
from dragonfly_env.lab.benchmark.suite import find_suite
from dragonfly_env.lab.benchmark.training import training_scenarios
from tests.unit.cli_arguments import run as command

pytestmark = pytest.mark.usefixtures("tiny", "undrawn")

SHORT = ("--episode", "200", "--evaluate-every", "0", "--no-tensorboard", "--suite", "dragonfly-v3")
run = functools.partial(command, "train")


def test_scenarios_are_the_open_loop_cases_of_the_training_part() -> None:
    suite = find_suite("dragonfly-v3")
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), threads=2)
    found = training_scenarios(suite, config)
    offered = {(scenario.traffic_object.spec, scenario.load) for scenario in found}
    assert len(offered) == len(found)
    assert {("uniform", 0.3), ("uniform", 0.8), ("adv+1", 0.45), ("adv+4", 0.2), ("adv+1", 1.0)} <= offered
    trained = {
        (case.traffic.traffic.spec, case.load)
        for track in suite.tracks
        for cases in track.cases.values()
        for case in cases
        if case.split == "train"
    }
    assert offered <= trained, "nothing of the test split"
    for scenario in found:
        assert (scenario.topology, scenario.network, scenario.threads) == (config.topology, config.network, 2)
        assert scenario.injection == "bernoulli", "as the benchmark measures"
    lia = training_scenarios(suite, config.replace(network="lia"))
    assert {scenario.network for scenario in lia} == {dfe.NetworkConfig.preset("lia")}


@pytest.mark.parametrize("topology", [dfe.Dragonfly(p=1, a=3, h=1), dfe.Dragonfly.preset("2550")])
def test_a_network_that_a_suite_does_not_train_on_is_refused(topology: dfe.Dragonfly) -> None:
    config = dfe.SimulationConfig(topology=topology)
    with pytest.raises(dfe.ConfigError, match=r"trains on other networks .*72 hosts with 'default'"):
        training_scenarios(find_suite("dragonfly-v3"), config)


def test_a_learner_is_trained_on_all_of_it() -> None:
    done = run("tiny", *SHORT, "--episodes", "2", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "scenarios next to each other: " in done.stderr
    made = read_metadata("out/agent.zip")
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"))
    expected = training_scenarios(find_suite("dragonfly-v3"), config)
    assert [scenario["load"] for scenario in made["scenarios"]] == [scenario.load for scenario in expected]
    alone = run("tiny", *SHORT[:-2], "--episodes", "2", "--out", "alone")
    assert alone.exit_code == 0, alone.output
    rows, of_one = (pd.read_csv(Path(folder) / "episodes.csv") for folder in ("out", "alone"))
    assert rows["decisions"].iloc[-1] > 5 * of_one["decisions"].iloc[-1]


def test_a_mistake_is_one_line() -> None:
    done = run("tiny", *SHORT[:-1], "dragonfly-v2", "--episodes", "3")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "--suite dragonfly-v2: must be one of 'dragonfly-v3'" in done.stderr
