"""``PacketRouting``: the same journeys as in an environment in which NumPy decides for all other packets.

What is registered is tested: a new policy needs no line here.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from gymnasium.utils import seeding

import dragonfly_env as dfe
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.envs.packet import PacketRouting
from tests.parity.rules import act
from tests.products import in_turn
from tests.ready import ready, weights_file

POLICIES = [name for name in dfe.policies() if not ready(name).learns]
BUSY: dict[str, Any] = {"traffic": "adv+1", "load": 0.25, "duration_ns": 6_000.0, "warmup_ns": 500.0}
SEED = 3


def is_left(episode: int, step: int) -> bool:
    """Now and then an episode is not played to its end."""
    return episode % 5 == 4 and step == 1


def played(env: PacketRouting, episodes: int) -> list[Any]:
    """All that an agent with random legal actions sees, and the hashes of all networks."""
    rng = np.random.default_rng(SEED)
    history: list[Any] = []
    for episode in range(episodes):
        seen, info = env.reset(seed=SEED if episode == 0 else None)
        over, step = False, 0
        while not over and not is_left(episode, step):
            history.append((seen["observation"].tobytes(), info["action_mask"].tolist()))
            history.append([info[name] for name in ("source_host", "number", "time_ns")])
            history.append(env.decision.draws.tolist())
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            seen, reward, terminated, truncated, info = env.step(action)
            over, step = terminated or truncated, step + 1
            latency_ns = info.get("latency_ns", 0.0)
            history.append((reward, terminated, truncated, None if math.isnan(latency_ns) else latency_ns))
        history.append(env.core.trace_hash())
    return history


def expected(policy: dfe.Policy, like: PacketRouting, episodes: int) -> list[Any]:
    """Reference results, from batches with the decisions of all packets."""
    options = {field.name: getattr(like.core.options, field.name) for field in dataclasses.fields(EnvOptions)}
    env = dfe.BatchedRoutingEnv(like.core.config, **options)
    rng, tags = np.random.default_rng(SEED), seeding.np_random(SEED)[0]
    batch, fresh = env.reset(seed=SEED), True
    history: list[Any] = []
    for episode in range(episodes):
        while not len(rows := np.flatnonzero(fresh & (batch.packets["hops"] == 0))):
            fresh = True
            batch = env.reset() if env.done else env.step(act(policy, batch))
            env.transitions()
        row, over, step = int(tags.choice(rows)), False, 0
        created_ns, fresh = float(batch.packets["created_ns"][row]), False
        while not over and not is_left(episode, step):
            history.append((batch.obs[row].tobytes(), batch.mask[row].astype(int).tolist()))
            packet, decided_ns = batch.packets[row], float(batch.time_ns[row])
            history.append([packet["source_host"], packet["number"], batch.time_ns.min()])
            history.append(batch.draws[row : row + 1].tolist())
            decision, actions = batch.decision_ids[row], act(policy, batch).copy()
            actions[row] = rng.choice(np.flatnonzero(batch.mask[row]))
            while True:
                batch = env.step(actions)
                legs = env.transitions()
                (found,) = np.nonzero(legs.decision_ids == decision)
                if len(found) or env.done:
                    break
                actions = act(policy, batch)
            delivered = bool(legs.done[found].any())
            leg_ns = float(legs.latency_ns[found[0]]) if len(found) else env.time_ns - decided_ns
            over, step = delivered or env.done, step + 1
            latency_ns = (decided_ns + leg_ns - created_ns if delivered else None) if over else 0.0
            history.append((-leg_ns / 1_000, delivered, over and not delivered, latency_ns))
            if not over:
                row = int(np.flatnonzero(batch.decision_ids == legs.next_decision_ids[found[0]])[0])
        history.append(env.trace_hash())
    return history


def compare(background: dfe.Policy, episodes: int = 25, **settings: Any) -> None:
    env = PacketRouting(background=background, **{**BUSY, **settings})
    history = played(env, episodes)
    assert history == expected(background, env, episodes)
    assert len(set(map(str, history))) > episodes


@pytest.mark.parametrize("name", POLICIES)
def test_the_core_decides_as_the_reference_does(name: str) -> None:
    compare(ready(name))


@pytest.mark.parametrize(
    "settings",
    [
        {"scope": "all"},
        {"scope": "source"},
        {"policy": "ugal-n"},  # its packets on non-minimal paths go on after "min" took its place
        {"policy": "q-adaptive"},
        {"action": "path", "scope": "progressive", "nonminimal_kinds": ("lgl", "g", "l")},
        # Routers whose only global link leads to the destination group have no choice.
        {
            "action": "path",
            "scope": "source",
            "nonminimal_kinds": ("g",),
            "topology": dfe.Dragonfly(p=2, a=2, h=1, g=3),
            "traffic": "uniform",
        },
        {"traffic": "all-to-all", "load": 1.0},
        {"topology": dfe.Dragonfly(p=2, a=4, h=2, g=3)},
        {"topology": dfe.Dragonfly(p=2, h=1, g=5, group=dfe.Grid(rows=2, columns=3))},
        {"topology": dfe.Dragonfly.preset("1056"), "traffic": "uniform", "duration_ns": 1_500.0},
        {
            "topology": dfe.Dragonfly.preset("1056"),
            "traffic": "uniform",
            "duration_ns": 1_500.0,
            "threads": 2,
        },
        {"load": 0.004, "duration_ns": 20_000.0},
    ],
    ids=str,
)
def test_minimal_routing_is_the_same_everywhere(settings: dict[str, Any]) -> None:
    compare(ready("min"), 12, **settings)


OBSERVATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"minimal_candidates": 2, "nonminimal_candidates": 3},
    {"avoid_destination_group": False},
    {"nonminimal_kinds": ("g",)},  # fewer virtual channels than the default
    {"features": ("is_minimal",)},
)


@pytest.mark.parametrize(
    ("background", "options"),
    in_turn(["min", "val-n", "ugal-n", "par", "lia", "ad0", "neural-v1"], OBSERVATIONS, each=2),
    ids=str,
)
def test_the_background_has_candidates_of_its_own(background: str, options: dict[str, Any]) -> None:
    """Packets of the background go as in a simulation of its policy, with any observation of the agent."""
    settings = {"topology": "342", "traffic": "adv+1", "load": 0.3, "policy": background, "seed": 5}
    paths = {"action": "path", "scope": "source"} if background == "min" else {}
    if background == "ad0" and "nonminimal_kinds" in options:
        options = {"nonminimal_kinds": ("lg", "l")}
    env = PacketRouting(
        dfe.SimulationConfig(**settings), background=background, duration_ns=3_000.0, **paths, **options
    )
    env.core.reset()
    while not env.core.done:
        env.core.seek()
    alone = dfe.Simulation(dfe.SimulationConfig(**settings))
    alone.run(3_000)
    assert env.core.trace_hash() == alone.trace_hash() != 0
    played(env, 12)


@pytest.mark.parametrize(
    ("warms_up", "background"),
    in_turn(["min", "val-n", "par", "ad0", "q-adaptive", "neural-v1"], ["par", "min", "ad0", "ugal-n"]),
)
def test_any_policy_may_route_the_warm_up(warms_up: str, background: str) -> None:
    env = PacketRouting(background=background, policy=warms_up, **BUSY)
    assert played(env, 12) == played(PacketRouting(background=background, policy=warms_up, **BUSY), 12)


def test_a_background_of_ports_may_take_longer_routes_than_the_agent() -> None:
    weights = weights_file(seed=3, action="port", scope="every", max_hops=6)
    env = PacketRouting(background=f"mlp:weights={weights}", max_hops=4, **BUSY)
    assert len(played(env, 20)) > 20
