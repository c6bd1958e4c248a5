"""Everything public that takes arguments, each with arguments that it accepts."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0, experiments, traffic
from dragonfly_env.envs.bias import BiasControl
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.experiments.choices import PolicyChoice, TrafficChoice
from dragonfly_env.policies import parse_policy, policy_class, policy_from_dict

_TOPOLOGY = dfe.Dragonfly(1, 2, 1)
_COLUMNS: dict[str, Any] = {"time_ns": [0, 5.5], "src": [0, 1], "dst": [3, 4], "bytes": [128, 300]}
# Two messages and then silence: any simulated time passes at once.
_QUIET = dfe.SimulationConfig(topology=_TOPOLOGY, traffic=traffic.Trace.from_columns(**_COLUMNS))
_LOADED = dfe.SimulationConfig(topology=_TOPOLOGY, policy="ugal-n", load=0.3)
_SCENARIO: dict[str, Any] = {
    "topology": {"p": 1, "a": 2, "h": 1},
    "policies": ["min"],
    "traffic": ["uniform"],
    "loads": [0.2],
    "measure_ns": 100.0,
    "warmup_ns": 0.0,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """Something public.

    Args:
        name: For people.
        bind: Gives the callable; what it belongs to is made anew each time.
        good: Arguments that it accepts.
        more: Further parameters, which it has a default for.
    """

    name: str
    bind: Callable[[], Callable[..., Any]]
    good: Mapping[str, Any]
    more: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(dict.fromkeys((*self.good, *self.more)))

    def make(self, given: Mapping[str, Any]) -> Any:
        """Call it; whatever it yields one by one is asked for the first time."""
        result = self.bind()(**{**self.good, **given})
        return next(result, None) if isinstance(result, Iterator) else result


def public_calls(folder: Path) -> list[Call]:
    """All of them.

    Args:
        folder: For their files.
    """
    return [
        *_settings(),
        *_methods_of_topology(),
        *_methods_of_simulation(),
        *_traffic(),
        *_environments(),
        *_agents(folder),
        *_experiments(folder),
    ]


def _of(function: Callable[..., Any], **good: Any) -> Call:
    return Call(function.__qualname__, lambda: function, good, _optional(function, good))


def _optional(function: Callable[..., Any], good: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters
    return tuple(name for name, found in parameters.items() if found.kind in kinds and name not in good)


def _method(make: Callable[[], Any], name: str, **good: Any) -> Call:
    """A method of an object that is made anew for every call."""
    return Call(name, lambda: getattr(make(), name), good)


def _settings() -> list[Call]:
    fields = tuple(field.name for field in dataclasses.fields(dfe.SimulationConfig))
    network = tuple(field.name for field in dataclasses.fields(dfe.NetworkConfig))
    policies = ("ugal-n", "par", "val-n", "q-routing", "q-adaptive", "q-adaptive-queue")
    return [
        _of(dfe.SimulationConfig, topology=_TOPOLOGY),
        _of(dfe.SimulationConfig.from_dict, values=_LOADED.to_dict()),
        _of(dfe.SimulationConfig.from_json, text=_LOADED.to_json()),
        _of(dfe.SimulationConfig.from_toml, source=_LOADED.to_toml()),
        Call("replace", lambda: _LOADED.replace, {}, fields),
        _of(dfe.NetworkConfig),
        Call("NetworkConfig.preset", lambda: dfe.NetworkConfig.preset, {"name": "lia"}, network),
        _of(dfe.NetworkConfig.from_dict, values={"preset": "lia"}),
        Call("replace", lambda: dfe.NetworkConfig().replace, {}, network),
        _of(parse_policy, policy="min"),
        _of(policy_class, name="min"),
        _of(policy_from_dict, values={"name": "ugal-n", "bias_packets": 2}),
        *(
            Call("make_policy", lambda: dfe.make_policy, {"name": name}, _optional(policy_class(name), {}))
            for name in policies
        ),
        _of(dfe.agents.RandomPolicy),
        _of(dfe.agents.QAdaptive.for_system, topology=_TOPOLOGY),
    ]


def _methods_of_topology() -> list[Call]:
    changes = ("p", "a", "h", "g", "arrangement", "trunking", "group")
    return [
        _of(dfe.Dragonfly, p=1, a=2, h=1),
        _of(dfe.Dragonfly.from_dict, values={"p": 1, "a": 2, "h": 1}),
        Call("Dragonfly.preset", lambda: dfe.Dragonfly.preset, {"name": "72"}, changes),
        Call("Dragonfly.replace", lambda: _TOPOLOGY.replace, {}, changes),
        _of(_TOPOLOGY.router_of, host=0),
        _of(_TOPOLOGY.group_of, router=0),
        _of(_TOPOLOGY.neighbor, router=0, port=1),
        _of(_TOPOLOGY.minimal_hops, router=0, dst_router=1),
        _of(_TOPOLOGY.minimal_port, router=0, dst_router=1),
        _of(_TOPOLOGY.port_kind, port=0),
        _of(_TOPOLOGY.to_networkx),
    ]


def _methods_of_simulation() -> list[Call]:
    quiet = functools.partial(dfe.Simulation, _QUIET)
    learner = dfe.Simulation(_QUIET.replace(policy="q-routing"))
    metrics = dfe.simulate(_LOADED, measure_ns=500)
    return [
        _of(dfe.Simulation, config=_QUIET),
        _of(dfe.simulate, config=_QUIET, measure_ns=100),
        _method(quiet, "run", duration_ns=100),
        _method(quiet, "drain", max_ns=100),
        _method(functools.partial(dfe.Simulation, _LOADED), "set_policy", policy="ugal-n"),
        _of(learner.load_q_table, values=learner.q_table().copy()),
        _of(metrics.latency_percentile_ns, q=50),
    ]


def _traffic() -> list[Call]:
    patterns = (traffic.Uniform, traffic.Adversarial, traffic.Hotspot)
    network = dfe.NetworkConfig()
    source = {"load": 0.5, "injection": "periodic", "seed": 1, "message_packets": 1, "network": network}
    return [
        *(_of(pattern) for pattern in patterns),
        _of(traffic.DemandMatrix, matrix=np.eye(6)),
        _of(traffic.HostMixture, parts=[([0, 1], "uniform")]),
        _of(traffic.WeightedMixture, parts=[(1.0, "uniform"), (2.0, "adv+1")]),
        _of(traffic.Schedule, steps=[(0, "uniform", 0.5)]),
        _of(traffic.Schedule.from_dict, values={"schedule": [[0, "uniform", 0.5]]}),
        _of(traffic.Trace.from_columns, **_COLUMNS),
        _of(traffic.Trace.from_dict, values={"trace": _COLUMNS}),
        _of(traffic.Trace.from_frame, frame=pd.DataFrame(_COLUMNS)),
        _of(traffic.Trace.from_file, path="x.csv"),
        _of(traffic.parse_traffic, traffic="uniform"),
        _of(traffic.traffic_from_dict, values={"pattern": "adv", "offset": 1}),
        _of(traffic.make_source, traffic=traffic.Uniform(), topology=_TOPOLOGY, **source),
        _of(traffic.Uniform().check, topology=_TOPOLOGY),
        _of(traffic.Uniform().build, topology=_TOPOLOGY.to_core(), seed=1),
        _of(traffic.Hotspot.from_arguments, arguments={"hosts": 3}),
        _of(traffic.DemandMatrix.from_arguments, arguments={"matrix": np.eye(6)}),
        _of(_QUIET.traffic.check, topology=_TOPOLOGY),
        _of(_QUIET.traffic.build_source, topology=_TOPOLOGY.to_core(), packet_bytes=128),
    ]


def _started(make: Callable[[], Any]) -> Any:
    env = make()
    env.reset(seed=1)
    return env


def _environments() -> list[Call]:
    batched = functools.partial(dfe.BatchedRoutingEnv, _QUIET, duration_ns=1_000)
    begun = functools.partial(_started, batched)
    settings = (*_optional(dfe.BatchedRoutingEnv, {}), "illegal_action", "render_mode", "for_policy")
    waiting = begun().pending
    observed = {"layout": waiting.layout, "obs": np.array(waiting.obs), "mask": np.array(waiting.mask)}
    parallel = functools.partial(dragonfly_v0.parallel_env, config=_QUIET, duration_ns=1_000)
    return [
        _of(dfe.BatchedRoutingEnv, config=_QUIET),
        Call(
            "for_policy",
            lambda: dfe.BatchedRoutingEnv.for_policy,
            {"config": _QUIET, "policy": dfe.make_policy("min")},
            settings,
        ),
        _method(batched, "reset", seed=1),
        _method(begun, "step", actions=waiting.minimal_actions()),
        _method(begun, "drain", policy=None),
        _method(begun, "extend", duration_ns=100),
        _of(dfe.DecisionBatch.from_observations, **observed),
        *(
            Call(name, lambda make=make: make, {"config": _QUIET, "duration_ns": 1_000}, settings)
            for name, make in (
                ("parallel_env", dragonfly_v0.parallel_env),
                ("env", dragonfly_v0.env),
                ("raw_env", dragonfly_v0.raw_env),
                ("RouterVecEnv", dfe.RouterVecEnv),
                ("PacketRouting", PacketRouting),
            )
        ),
        _of(BiasControl, config=_LOADED),
        _method(functools.partial(BiasControl, _LOADED), "reset", seed=1, options=None),
        _method(functools.partial(_started, functools.partial(BiasControl, _LOADED)), "step", action=1),
        _method(functools.partial(PacketRouting, _QUIET), "reset", seed=1, options=None),
        _method(parallel, "reset", seed=1, options=None),
        _method(functools.partial(_started, parallel), "step", actions={}),
    ]


def _agents(folder: Path) -> list[Call]:
    learner = dfe.Simulation(_QUIET.replace(policy="q-routing"))
    agent = dfe.agents.make_agent("deep-q")
    env = dfe.agents.make_env(_QUIET, agent, duration_ns=1_000)
    agent.prepare(env)
    agent.save(folder / "agent.zip")
    saved = dfe.agents.save_q_table(learner, folder / "table.npz")
    short: dict[str, Any] = {"config": _QUIET, "warmup_ns": 100, "measure_ns": 100}
    kinds = [(kind, dfe.agents.agent_class(kind).settings_class) for kind in dfe.agents.AGENTS]
    return [
        _of(dfe.agents.load_agent, path=folder / "agent.zip"),
        _of(dfe.agents.read_metadata, path=folder / "agent.zip"),
        _of(dfe.agents.load_q_table, simulation=learner, path=saved),
        _of(dfe.agents.save_q_table, simulation=learner, path=saved),
        _of(dfe.agents.agent_class, kind="deep-q"),
        _of(dfe.agents.agent_settings, kind="deep-q"),
        *(_of(settings) for _, settings in kinds),
        *(
            Call(
                "make_agent",
                lambda: dfe.agents.make_agent,
                {"kind": kind, "seed": 1},
                _optional(settings, {}),
            )
            for kind, settings in kinds
        ),
        _of(agent.save, path=folder / "agent.zip"),
        _of(agent.prepare, env=env),
        _of(dfe.agents.make_env, config=_QUIET, policy=dfe.make_policy("min"), duration_ns=1_000),
        _of(dfe.agents.evaluate_policy, policy="min", **short),
        _of(dfe.agents.evaluate_over_seeds, policy="min", seeds=[1], **short),
        Call(
            "train",
            lambda: dfe.agents.train,
            {"agent": agent, "config": _QUIET, "episodes": 1, "episode_ns": 500},
            tuple(
                name
                for name in _optional(dfe.agents.train, {})
                if name not in ("evaluation_ns", "evaluation_warmup_ns", "log_dir")
            ),
        ),
    ]


def _experiments(folder: Path) -> list[Call]:
    scenario = experiments.Scenario.from_dict(_SCENARIO)
    experiments.run_sweep(scenario, folder / "results", jobs=1)
    results = experiments.load_results(folder / "results")
    (folder / "scenario.toml").write_text('policies = ["min"]\ntraffic = ["uniform"]\nloads = [0.1]\n')
    return [
        _of(experiments.Scenario.from_dict, settings=_SCENARIO),
        *(
            Call("Scenario.from_dict", lambda: _from_keys, {}, (name,))
            for name in (
                *_SCENARIO,
                "network",
                "seeds",
                "threads",
                "arrays",
                "injection",
                "series_bin_ns",
                "name",
            )
        ),
        _of(experiments.Scenario.from_toml, path=folder / "scenario.toml"),
        _of(PolicyChoice.parse, value="min"),
        _of(TrafficChoice.parse, value="uniform"),
        _of(experiments.load_results, path=folder / "results"),
        _of(results.select),
        _of(experiments.aggregate, results=results, columns=["accepted_load"]),
    ]


def _from_keys(**changes: Any) -> experiments.Scenario:
    scenario = experiments.Scenario.from_dict({**_SCENARIO, **changes})
    scenario.runs()
    return scenario
