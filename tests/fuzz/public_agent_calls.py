"""The public part above the environments: learners, agents, experiments; with arguments that are accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env import sweeps
from dragonfly_env.sweeps.scenario import PolicyChoice, TrafficChoice
from tests.fuzz.call import Call, of, optional

_SCENARIO: dict[str, Any] = {
    "topology": {"p": 1, "a": 2, "h": 1},
    "policies": ["min"],
    "traffic": ["uniform"],
    "loads": [0.2],
    "measure_ns": 100.0,
    "warmup_ns": 0.0,
}
# Without what makes a training longer or needs another extra.
_LEFT_OUT = ("evaluation_ns", "evaluation_warmup_ns", "log_dir")


def learners(quiet: dfe.SimulationConfig, loaded: dfe.SimulationConfig) -> list[Call]:
    """Policies that learn in the core, and their reference implementations.

    Args:
        quiet: A configuration with next to no traffic.
        loaded: One with some.
    """
    kinds = (dfe.agents.QAdaptive, dfe.agents.QAdaptiveQueue, dfe.agents.QAdaptiveFast, dfe.agents.QRouting)
    topology = loaded.topology
    simulation = dfe.Simulation(quiet.replace(policy="q-routing"))
    return [
        of(dfe.agents.RandomPolicy),
        *(of(kind) for kind in kinds),
        *(of(kind.for_system, topology=topology) for kind in kinds if kind is not dfe.agents.QRouting),
        *(
            of(kind().reference, env=dfe.BatchedRoutingEnv.for_policy(quiet, kind(), duration_ns=1_000))
            for kind in kinds
        ),
        of(simulation.load_q_table, values=simulation.q_table().copy()),
        of(dfe.agents.QRouting().env_options_on, topology=topology),
    ]


def agents(quiet: dfe.SimulationConfig, folder: Path) -> list[Call]:
    """Neural agents, their files, training and evaluation.

    Args:
        quiet: A configuration with next to no traffic.
        folder: For their files.
    """
    learner = dfe.Simulation(quiet.replace(policy="q-routing"))
    agent = dfe.agents.make_agent("deep-q")
    env = dfe.agents.make_env(quiet, agent, duration_ns=1_000)
    agent.prepare(env)
    agent.save(folder / "agent.zip")
    exported = dfe.agents.make_agent("deep-q", action="port")
    exported.prepare(dfe.agents.make_env(quiet, exported, duration_ns=1_000))
    scores = dfe.agents.make_agent("ppo")
    scores.prepare(dfe.agents.make_env(quiet, scores, duration_ns=1_000))
    saved = dfe.agents.save_q_table(learner, folder / "table.npz")
    short: dict[str, Any] = {"config": quiet, "warmup_ns": 100, "measure_ns": 100}
    training: dict[str, Any] = {"agent": agent, "config": quiet, "episodes": 1, "episode_ns": 500}
    more = tuple(name for name in optional(dfe.agents.train, training) if name not in _LEFT_OUT)
    kinds = [dfe.agents.agent_class(kind) for kind in dfe.agents.AGENTS]
    return [
        of(dfe.agents.load_agent, path=folder / "agent.zip"),
        of(type(agent).load, path=folder / "agent.zip"),
        of(dfe.agents.read_metadata, path=folder / "agent.zip"),
        of(dfe.agents.load_q_table, simulation=learner, path=saved),
        of(dfe.agents.save_q_table, simulation=learner, path=saved),
        of(dfe.agents.agent_class, kind="deep-q"),
        of(dfe.agents.agent_settings, kind="deep-q"),
        *(of(kind) for kind in kinds),
        *(of(kind.settings_class) for kind in kinds),
        *(
            Call(
                "make_agent",
                lambda: dfe.agents.make_agent,
                {"kind": kind.kind, "seed": 1},
                optional(kind.settings_class, {}),
            )
            for kind in kinds
        ),
        of(agent.save, path=folder / "agent.zip"),
        of(exported.export_mlp, path=folder / "exported.npz"),
        of(scores.export_mlp, path=folder / "scores.npz"),
        of(agent.prepare, env=env),
        of(dfe.agents.make_env, config=quiet, policy=dfe.make_policy("min"), duration_ns=1_000),
        of(dfe.agents.evaluate_policy, policy="min", **short),
        of(dfe.agents.evaluate_over_seeds, policy="min", seeds=[1], **short),
        Call("train", lambda: dfe.agents.train, training, more, functions=("callback",)),
        Call("fit", lambda: dfe.agents.fit, training, more, functions=("callback",)),
    ]


def experiments_calls(folder: Path) -> list[Call]:
    """Scenarios, sweeps and their results.

    Args:
        folder: For their files.
    """
    scenario = sweeps.Scenario.from_dict(_SCENARIO)
    sweeps.run_all(scenario, folder / "results", workers=1)
    results = sweeps.load_results(folder / "results")
    (folder / "scenario.toml").write_text('policies = ["min"]\ntraffic = ["uniform"]\nloads = [0.1]\n')
    further = ("network", "seeds", "threads", "arrays", "injection", "series_bin_ns", "name")
    return [
        of(sweeps.Scenario.from_dict, settings=_SCENARIO),
        *(Call("Scenario.from_dict", lambda: _from_keys, {}, (name,)) for name in (*_SCENARIO, *further)),
        of(sweeps.Scenario.from_toml, path=folder / "scenario.toml"),
        of(PolicyChoice.parse, value="min"),
        of(TrafficChoice.parse, value="uniform"),
        Call(
            "run_all",
            lambda: sweeps.run_all,
            {"wanted": [*scenario.points()], "folder": folder / "results", "workers": 1},
            ("seeds", "name", "redo"),
        ),
        of(
            sweeps.Point,
            config=scenario.runs()[0].config,
            policy_label="min",
            traffic_label="uniform",
            warmup_ns=0.0,
            measure_ns=100.0,
        ),
        of(next(scenario.points()).run, seed=1),
        of(sweeps.load_results, path=folder / "results"),
        of(results.select),
        of(sweeps.aggregate, results=results, columns=["accepted_load"]),
    ]


def _from_keys(**changes: Any) -> sweeps.Scenario:
    scenario = sweeps.Scenario.from_dict({**_SCENARIO, **changes})
    scenario.runs()
    return scenario
