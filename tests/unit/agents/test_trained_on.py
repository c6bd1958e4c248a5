"""Agents know on which network they were trained, and say when they act on another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import NetworkMismatchWarning, evaluate_policy, fit, load_agent, make_agent
from dragonfly_env.agents.learner import read_agent

SMALL = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.5)
ELSEWHERE = SMALL.replace(topology=dfe.Dragonfly(p=1, a=3, h=1, arrangement="absolute"))
SHORT: dict[str, Any] = {"warmup_ns": 0.0, "measure_ns": 1_000.0}


@pytest.fixture(params=["deep-q", "ppo"])
def trained(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A loaded agent that was trained a little on `SMALL`, and its file."""
    pytest.importorskip("torch", reason="needs the extra [sb3]")
    agent = make_agent(request.param, hidden_units=(4,))
    fit(agent, SMALL, episodes=1, episode_ns=1_000.0)
    agent.save(tmp_path / "agent.zip")
    return load_agent(tmp_path / "agent.zip")


def test_another_arrangement_is_told(trained: Any) -> None:
    message = r"was trained in another network .*topology.arrangement was 'palmtree' and is 'absolute'"
    with pytest.warns(NetworkMismatchWarning, match=message):
        evaluate_policy(trained, ELSEWHERE, **SHORT)


def test_looking_elsewhere_changes_nothing_and_learning_there_does(trained: Any, tmp_path: Path) -> None:
    file = tmp_path / "again.zip"
    with pytest.warns(NetworkMismatchWarning):
        evaluate_policy(trained, ELSEWHERE, **SHORT)
    trained.save(file)
    assert read_agent(file)["trained_on"]["topology"] == SMALL.topology.to_dict()
    assert read_agent(file)["trained_on"]["network"] == SMALL.network.to_dict()
    with pytest.warns(NetworkMismatchWarning):
        fit(trained, ELSEWHERE, episodes=1, episode_ns=1_000.0)
    trained.save(file)
    assert read_agent(file)["trained_on"]["topology"]["arrangement"] == "absolute"


SMALL_BUFFERS = SMALL.replace(
    network=dfe.NetworkConfig(local_buffer_packets=3, global_buffer_packets=3, output_buffer_packets=4)
)


def test_the_unit_of_the_training_is_saved_and_packets_are_converted(trained: Any, tmp_path: Path) -> None:
    """Equal queues in another unit give the same actions, and so the same run."""
    hashes = set()
    for unit in ("buffers", "packets"):
        env = dfe.BatchedRoutingEnv(
            SMALL, **{**trained.env_options(), "occupancy_unit": unit, "duration_ns": 3_000.0}
        )
        trained.prepare(env)
        batch = env.reset(seed=1)
        while not env.done:
            batch = env.step(trained.act(batch))
        hashes.add(env.trace_hash())
    assert len(hashes) == 1
    with pytest.warns(NetworkMismatchWarning, match="local_buffer_packets"):
        evaluate_policy(trained, SMALL_BUFFERS, **SHORT)
    trained.save(tmp_path / "agent.zip")
    header = read_agent(tmp_path / "agent.zip")
    assert header["settings"]["occupancy_unit"] == header["layout"]["occupancy_unit"] == "buffers"


@pytest.mark.parametrize("unit", ["packets", "ns"])
@pytest.mark.parametrize("kind", ["deep-q", "ppo"])
def test_an_agent_in_physical_units_is_trained_on_networks_with_other_buffers(kind: str, unit: str) -> None:
    pytest.importorskip("torch", reason="needs the extra [sb3]")
    agent = make_agent(kind, hidden_units=(4,), action="path", scope="source", occupancy_unit=unit)
    fit(agent, [SMALL, SMALL_BUFFERS], episodes=1, episode_ns=1_000.0)
    with pytest.warns(NetworkMismatchWarning):
        evaluate_policy(agent, SMALL_BUFFERS, **SHORT)
