"""Everything public that takes values, each with some that it accepts; ``public_surface`` says what is missing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0, job_bias_v0, traffic
from dragonfly_env.envs import job_bias
from dragonfly_env.envs.bias import BiasControl
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.plots import tiles
from dragonfly_env.policies import parse_policy, policy_class, policy_from_dict
from tests.fuzz.call import Call, method, of, optional
from tests.fuzz.public_agent_calls import agents, experiments_calls, learners
from tests.ready import empty_split_file

_TOPOLOGY = dfe.Dragonfly(1, 2, 1)
_COLUMNS: dict[str, Any] = {"time_ns": [0, 5.5], "src": [0, 1], "dst": [3, 4], "bytes": [128, 300]}
# Two messages and then silence: any simulated time passes at once.
_QUIET = dfe.SimulationConfig(topology=_TOPOLOGY, traffic=traffic.Trace.from_columns(**_COLUMNS))
_CLOSED = dfe.SimulationConfig(topology=_TOPOLOGY, traffic="all-to-all")
_LOADED = dfe.SimulationConfig(topology=_TOPOLOGY, policy="ugal-n", load=0.3)
_JOBS = dfe.SimulationConfig(
    topology=_TOPOLOGY, policy="ugal-n", jobs=[dfe.Job("all-to-all:message_bytes=300", hosts=4)]
)
_MODES = ("ugal-n", dfe.make_policy("ugal-n", bias_packets=3))


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
        *_heuristics(folder),
        *learners(_QUIET, _LOADED),
        *agents(_QUIET, folder),
        *experiments_calls(folder),
    ]


def _settings() -> list[Call]:
    fields = tuple(field.name for field in dataclasses.fields(dfe.SimulationConfig))
    network = tuple(field.name for field in dataclasses.fields(dfe.NetworkConfig))
    policies = ("ugal-n", "par", "val-n", "q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")
    return [
        of(dfe.SimulationConfig, topology=_TOPOLOGY),
        of(dfe.SimulationConfig.from_dict, values=_LOADED.to_dict()),
        of(dfe.SimulationConfig.from_json, text=_LOADED.to_json()),
        of(dfe.SimulationConfig.from_toml, source=_LOADED.to_toml()),
        Call("replace", lambda: _LOADED.replace, {}, fields),
        of(dfe.NetworkConfig),
        Call("NetworkConfig.preset", lambda: dfe.NetworkConfig.preset, {"name": "lia"}, network),
        of(dfe.NetworkConfig.from_dict, values={"preset": "lia"}),
        Call("replace", lambda: dfe.NetworkConfig().replace, {}, network),
        of(dfe.NetworkConfig().to_core, watchdog_ns=1e6),
        of(dfe.LinkConfig),
        of(dfe.Grid, rows=2, columns=2),
        of(parse_policy, policy="min"),
        of(policy_class, name="min"),
        of(policy_from_dict, values={"name": "ugal-n", "bias_packets": 2}),
        *(
            Call("make_policy", lambda: dfe.make_policy, {"name": name}, optional(policy_class(name), {}))
            for name in policies
        ),
    ]


def _heuristics(folder: Path) -> list[Call]:
    network = dfe.baselines.MlpNetwork.random(hidden_units=(2,))
    file = network.save(folder / "mlp.npz")
    named = (
        "Minimal",
        "Par",
        "Piggyback",
        "UgalIdeal",
        "Acor",
        "PiggybackAcor",
        "Tpr",
        "Lia",
        "Aries",
        "Neural",
    )
    kinds = [getattr(dfe.baselines, name) for name in named]
    return [
        *(of(kind) for kind in kinds),
        of(dfe.baselines.AriesMode, mode="ad3"),
        of(dfe.baselines.Ugal, detour="lgl"),
        of(dfe.baselines.Valiant, detour="lg"),
        of(dfe.baselines.Mlp, weights=str(file)),
        of(dfe.baselines.StaticOptimum, split=empty_split_file()),
        of(dfe.most_load, topology=_TOPOLOGY, traffic="uniform"),
        of(dfe.latency_floor, config=_LOADED),
        of(
            dfe.baselines.MlpNetwork,
            **{
                field.name: getattr(network, field.name)
                for field in dataclasses.fields(network)
                if field.init
            },
        ),
        of(dfe.baselines.MlpNetwork.random, hidden_units=(2,)),
        of(dfe.baselines.MlpNetwork.load, path=str(file)),
        of(network.save, path=str(folder / "other.npz")),
    ]


def _methods_of_topology() -> list[Call]:
    changes = ("p", "a", "h", "g", "arrangement", "trunking", "group")
    return [
        of(dfe.Dragonfly, p=1, a=2, h=1),
        of(dfe.Dragonfly.from_dict, values={"p": 1, "a": 2, "h": 1}),
        Call("Dragonfly.preset", lambda: dfe.Dragonfly.preset, {"name": "72"}, changes),
        Call("Dragonfly.replace", lambda: _TOPOLOGY.replace, {}, changes),
        of(_TOPOLOGY.router_of, host=0),
        of(_TOPOLOGY.group_of, router=0),
        of(_TOPOLOGY.neighbor, router=0, port=1),
        of(_TOPOLOGY.minimal_hops, router=0, dst_router=1),
        of(_TOPOLOGY.minimal_port, router=0, dst_router=1),
        of(_TOPOLOGY.minimal_ports, router=0, dst_router=1),
        of(_TOPOLOGY.port_kind, port=0),
        of(_TOPOLOGY.port_links, port=0),
        of(_TOPOLOGY.to_networkx),
    ]


def _methods_of_simulation() -> list[Call]:
    quiet = functools.partial(dfe.Simulation, _QUIET)
    learner = dfe.Simulation(_QUIET.replace(policy="q-routing"))
    metrics = dfe.simulate(_LOADED, measure_ns=500)
    return [
        of(dfe.Simulation, config=_QUIET),
        of(dfe.simulate, config=_QUIET, measure_ns=100),
        method(quiet, "run", duration_ns=100),
        method(quiet, "drain", max_ns=100),
        method(functools.partial(dfe.Simulation, _CLOSED), "run_to_completion", limit_ns=100),
        method(functools.partial(dfe.Simulation, _LOADED), "set_policy", policy="ugal-n"),
        method(functools.partial(dfe.Simulation, _JOBS), "set_job_policy", job=0, policy="ugal-n"),
        method(quiet, "run_in_windows", window_ns=5, duration_ns=10),
        of(learner.load_q_table, values=learner.q_table().copy()),
        of(metrics.latency_percentile_ns, q=50),
        of(metrics.message_latency_percentile_ns, q=50),
    ]


def _traffic() -> list[Call]:
    patterns = (traffic.Uniform, traffic.Adversarial, traffic.Hotspot)
    job = tuple(field.name for field in dataclasses.fields(dfe.Job))
    return [
        *(of(pattern) for pattern in patterns),
        of(dfe.AllToAll),
        of(dfe.AllToAll().check, topology=_TOPOLOGY),
        of(dfe.AllToAll().build, topology=_TOPOLOGY.to_core(), seed=1, packet_bytes=128),
        of(dfe.AllToAll.from_arguments, arguments={"in_flight": 2}),
        of(traffic.DemandMatrix, matrix=np.eye(6), demand_unit="GB/s"),
        of(traffic.HostMixture, parts=[([0, 1], "uniform")]),
        of(traffic.WeightedMixture, parts=[(1.0, "uniform"), (2.0, "adv+1")]),
        of(traffic.Schedule, steps=[(0, "uniform", 0.5)]),
        of(traffic.Schedule(((0, "uniform", 0.5),)).check, topology=_TOPOLOGY),
        of(traffic.Schedule.from_dict, values={"schedule": [[0, "uniform", 0.5]]}),
        of(traffic.Trace.from_columns, **_COLUMNS),
        of(traffic.Trace.from_dict, values={"trace": _COLUMNS}),
        of(traffic.Trace.from_frame, frame=pd.DataFrame(_COLUMNS)),
        of(traffic.Trace.from_file, path="x.csv"),
        of(traffic.parse_traffic, traffic="uniform"),
        of(traffic.traffic_from_dict, values={"pattern": "adv", "offset": 1}),
        of(traffic.Uniform().check, topology=_TOPOLOGY),
        of(traffic.Uniform().build, topology=_TOPOLOGY.to_core(), seed=1),
        of(traffic.Hotspot.from_arguments, arguments={"hosts": 3}),
        of(traffic.HostMixture.from_arguments, arguments={"parts": [{"hosts": [0], "traffic": "uniform"}]}),
        of(traffic.WeightedMixture.from_arguments, arguments={"parts": [{"weight": 1, "traffic": "adv+1"}]}),
        of(traffic.DemandMatrix.from_arguments, arguments={"matrix": np.eye(6)}),
        of(_QUIET.traffic.check, topology=_TOPOLOGY),
        of(traffic.Silence().check, topology=_TOPOLOGY),
        of(dfe.Job, program="milc", hosts=4),
        of(dfe.Job.from_dict, values={"program": "milc", "hosts": 4}),
        of(dfe.Job.parse, text="milc:hosts=4,scale=0.5"),
        Call("replace", lambda: dfe.Job("milc", 4).replace, {}, job),
        of(_QUIET.traffic.build_source, topology=_TOPOLOGY.to_core(), packet_bytes=128),
    ]


def _started(make: Callable[[], Any]) -> Any:
    env = make()
    env.reset(seed=1)
    return env


def _ended(make: Callable[[], Any]) -> Any:
    env = _started(make)
    while not env.done:
        env.step(env.pending.minimal_actions())
    return env


def _environments() -> list[Call]:
    batched = functools.partial(dfe.BatchedRoutingEnv, _QUIET, duration_ns=1_000)
    logged = functools.partial(dfe.BatchedRoutingEnv, _QUIET.replace(packet_log=True), duration_ns=1_000)
    begun = functools.partial(_started, batched)
    ended = functools.partial(_ended, batched)
    settings = (*optional(dfe.BatchedRoutingEnv, {}), "illegal_action", "render_mode", "for_policy")
    waiting = begun().pending
    observed = {"layout": waiting.layout, "obs": np.array(waiting.obs), "mask": np.array(waiting.mask)}
    paths = _started(functools.partial(batched, action="path")).pending
    packet = functools.partial(PacketRouting, _LOADED, duration_ns=1_000)
    parallel = functools.partial(dragonfly_v0.parallel_env, config=_QUIET, duration_ns=1_000)
    jobs = ("modes", "reward", "interval_ns", "duration_ns", "warmup_ns", "render_mode", "jobs")
    choosing = {"config": _JOBS, "modes": _MODES, "interval_ns": 100, "duration_ns": 200, "warmup_ns": 100}
    in_turn = functools.partial(job_bias_v0.raw_env, **choosing)
    at_once = functools.partial(job_bias_v0.parallel_env, **choosing)
    windows = dfe.Simulation(_LOADED).run_in_windows(100, 300)
    return [
        of(dfe.BatchedRoutingEnv, config=_QUIET),
        Call(
            "for_policy",
            lambda: dfe.BatchedRoutingEnv.for_policy,
            {"config": _QUIET, "policy": dfe.make_policy("min")},
            settings,
        ),
        method(batched, "reset", seed=1, options=None),
        *(method(begun, name, scenario=0) for name in ("metrics", "trace_hash", "state")),
        method(functools.partial(_started, logged), "packet_log", scenario=0),
        method(begun, "step", actions=waiting.minimal_actions()),
        method(ended, "drain", policy=None),
        method(ended, "extend", duration_ns=100),
        of(dfe.DecisionBatch.from_observations, **observed),
        of(waiting.layout.counts, obs=np.array(waiting.obs), name="hops"),
        of(waiting.layout.quantities, obs=np.array(waiting.obs), name="hops"),
        of(paths.layout.decode_candidates, obs=np.array(paths.obs)),
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
        *(
            Call(name, lambda make=make: make, {"config": _JOBS, "modes": _MODES}, jobs)
            for name, make in (
                ("parallel_env", job_bias_v0.parallel_env),
                ("env", job_bias_v0.env),
                ("raw_env", job_bias_v0.raw_env),
            )
        ),
        of(job_bias.ParallelJobBias, config=_JOBS, modes=_MODES),
        of(job_bias.AecJobBias, config=_JOBS, modes=_MODES),
        method(in_turn, "reset", seed=1, options=None),
        method(functools.partial(_started, in_turn), "step", action=0),
        method(functools.partial(_started, in_turn), "observe", agent="job_0"),
        method(functools.partial(_started, in_turn), "last", observe=True),
        of(in_turn().observation_space, agent="job_0"),
        of(in_turn().action_space, agent="job_0"),
        method(at_once, "reset", seed=1, options=None),
        method(functools.partial(_started, at_once), "step", actions={"job_0": 0}),
        of(tiles.tiles_figure, counters=windows.whole),
        of(tiles.counters_figure, windows=windows),
        of(BiasControl, config=_LOADED),
        method(functools.partial(BiasControl, _LOADED), "reset", seed=1, options=None),
        method(functools.partial(_started, functools.partial(BiasControl, _LOADED)), "step", action=1),
        method(packet, "reset", seed=1, options=None),
        method(functools.partial(_started, packet), "step", action=0),
        method(packet, "set_background", background="min"),
        method(parallel, "reset", seed=1, options=None),
        method(
            functools.partial(_started, parallel), "step", actions=dict.fromkeys(_started(parallel).agents, 0)
        ),
        method(batched, "check_changes", options=None),
        method(functools.partial(dfe.RouterVecEnv, _QUIET, duration_ns=1_000), "set_options", options=None),
        method(functools.partial(dfe.RouterVecEnv, _QUIET, duration_ns=1_000), "seed", seed=1),
    ]
