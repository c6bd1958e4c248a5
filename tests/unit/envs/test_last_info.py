"""The last info of an episode has its metrics, in every view and under one key; and views take a configuration by
position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly(p=1, a=3, h=1), traffic="adv+1", load=0.4)
OTHER = CONFIG.replace(load=0.2)
SHORT: dict[str, Any] = {"duration_ns": 800.0}
Infos = list[dict[str, Any]]


def parallel(config: Any) -> tuple[Infos, Infos]:
    """Infos on the way, and those of the end in the order of the agents."""
    env = dragonfly_v0.parallel_env(config, **SHORT)
    env.reset()
    before: Infos = []
    while env.agents:
        infos = env.step(dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True)))[-1]
        before += list(infos.values()) if env.agents else []
    return before, list(infos.values())


def turn_by_turn(config: Any) -> tuple[Infos, Infos]:
    env = dragonfly_v0.env(config, **SHORT)
    env.reset()
    before: Infos = []
    last: Infos = []
    for _ in env.agent_iter():
        seen, _, _, truncated, info = env.last()
        (last if truncated else before).append(info)
        assert seen is not None
        env.step(None if truncated else int(np.flatnonzero(seen["action_mask"])[0]))
    return before, last


@pytest.mark.parametrize("play", [parallel, turn_by_turn])
def test_the_last_infos_of_routers_have_the_metrics_of_their_network(
    play: Callable[[Any], tuple[Infos, Infos]],
) -> None:
    before, last = play([CONFIG, OTHER])
    assert not any("metrics" in info for info in before)
    loads = [round(info["metrics"].offered_load, 1) for info in last]
    assert sorted(set(loads)) == [0.2, 0.4]
    assert loads == sorted(loads, reverse=True), "the routers of the first network come first"


def test_the_last_info_of_a_packet_has_the_metrics_of_its_network_so_far() -> None:
    env: Any = gymnasium.make("dragonfly_env/PacketRouting-v0", config=CONFIG, duration_ns=5_000.0).unwrapped
    delivered = []
    for _ in range(5):
        env.reset()
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
            over = terminated or truncated
            assert ("metrics" in info) == over
        assert info["metrics"] == env.core.metrics()
        delivered.append(info["metrics"].packets_delivered)
    assert delivered[0] < delivered[1] < delivered[2], "of one network"
