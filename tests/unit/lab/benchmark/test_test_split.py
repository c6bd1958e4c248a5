"""The test split is not trained on: scenarios are recognised, and agents by what their files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.agents import make_agent
from dragonfly_env.cli import app
from dragonfly_env.lab.benchmark import BenchmarkCase, find_suite
from dragonfly_env.lab.benchmark.training import scenarios_of, trained_on_test_split, why_in_test_split
from dragonfly_env.traffic import parse_traffic

SUITE = find_suite("dragonfly-v3")


@pytest.mark.parametrize(
    ("pattern", "load", "hosts", "words"),
    [
        ("adv+1", 0.2, 1056, ""),
        ("uniform", 0.5, 72, ""),
        ("uniform", 0.6, 72, "uniform at a load of 0.6 is a case of the test split of dragonfly-v3"),
        ("adv+2", 0.35, 72, "adv+2 is a pattern of the test split of dragonfly-v3"),
        ("adv+16", 0.35, 1056, "adv+16 is a pattern"),
        ("adv+16", 0.35, 342, ""),
        ("uniform", 0.3, 2550, "has 2550 hosts in its test split only"),
    ],
)
def test_a_scenario_is_in_the_test_split_by_its_pattern_its_load_or_its_size(
    pattern: str, load: float, hosts: int, words: str
) -> None:
    offset = getattr(parse_traffic(pattern), "offset", None) if pattern.startswith("adv") else None
    reason = why_in_test_split(SUITE, pattern, offset, load, dfe.Dragonfly.preset(hosts))
    assert words in reason
    assert bool(words) == bool(reason)


@pytest.mark.parametrize("case", SUITE.choose(("machines",))[0].cases["full"], ids=lambda case: case.name)
def test_no_machine_of_its_track_may_be_trained_on(case: BenchmarkCase) -> None:
    assert "in its test split only" in why_in_test_split(SUITE, "adv+1", 1, 0.2, case.topology)


def test_other_damage_to_the_same_machine_may_be_trained_on() -> None:
    damaged = dfe.Dragonfly.preset("1056", failed="global_links=0.02+seed=2")
    assert not why_in_test_split(SUITE, "adv+1", 1, 0.2, damaged)


def told(traffic: Any, load: float = 0.3, hosts: str = "72") -> dict[str, Any]:
    return dfe.SimulationConfig(topology=dfe.Dragonfly.preset(hosts), traffic=traffic, load=load).to_dict()


@pytest.mark.parametrize(
    ("metadata", "refused"),
    [
        ({"configuration": told("adv+1")}, False),
        ({"configuration": told("permutation")}, True),
        ({"configuration": told([(0.0, "uniform", 0.3), (1_000.0, "advc", 0.1)])}, True),
        ({"configuration": told("adv+1"), "scenarios": [told("adv+1"), told("tornado")]}, True),
        ({"scenarios": [told("adv+1"), told("adv+4", hosts="342")]}, False),
    ],
)
def test_an_agent_is_judged_by_every_scenario_that_its_file_names(
    metadata: dict[str, Any], refused: bool
) -> None:
    assert bool(trained_on_test_split(SUITE, scenarios_of(metadata))) == refused


@pytest.mark.filterwarnings("ignore::dragonfly_env.agents.NetworkMismatchWarning")
def test_the_command_refuses_such_an_agent_unless_it_is_told_to_take_it(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    agent = make_agent("ppo", hidden_units=(4,))
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="advc", load=0.3)
    agent.prepare(dfe.BatchedRoutingEnv.for_policy(config, agent, duration_ns=1_000.0))
    agent.metadata = {"configuration": config.to_dict()}
    agent.save(tmp_path / "cheat.zip")
    arguments = ["benchmark", str(tmp_path / "cheat.zip"), "--dry-run", "--out", str(tmp_path / "none")]
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2
    assert "cheat: advc is a pattern" in " ".join(refused.output.split())
    taken = CliRunner().invoke(app, [*arguments, "--allow-test-training"])
    assert taken.exit_code == 0, taken.output
    assert "cheat was trained on the test split: advc" in " ".join(taken.output.split())
