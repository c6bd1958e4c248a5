"""Family ``environment``: decisions and agent-steps per CPU-second, and what each layer over the core costs.

One network (1,056 hosts, uniform 0.8, everything else at its default), each sample an episode after a warm-up that
the core does alone. "Actions given" means recorded: all packets go minimally, so core, batched environment and views
simulate nearly the same thing, and their differences are the layers. The random actions are drawn inside the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dragonfly_env as dfe
from benchmarks.result import Effort, Result
from benchmarks.workload import Report, random_legal
from dragonfly_env import dragonfly_v0

_SEED = 1
_WARMUP_SHARE = 0.2  # share of the core benchmark's warm-up: the reset of every sample simulates it
_VIEW_SHARE = 0.125  # views take so much longer that their episodes are shorter
_CORE, _BATCHED = "core alone, min", "batched, actions given"
_PARALLEL, _AEC = "parallel, actions given", "AEC, actions given"
_RANDOM = "batched, random legal actions"
_UNITS = {_CORE: "M packet-hops / CPU-s", _BATCHED: "M decisions / CPU-s", _RANDOM: "M decisions / CPU-s"}
_LAYERS = {
    "core": (_CORE, None),
    "batches": (_BATCHED, _CORE),
    "parallel view": (_PARALLEL, _BATCHED),
    "AEC view": (_AEC, _BATCHED),
}
"""The cost of each layer: the case with the layer, less the case without it."""


class Episode(NamedTuple):
    """A measured episode: work (packet-hops, decisions or agent-steps), decisions, CPU-seconds without the reset."""

    work: int
    decisions: int
    cpu_s: float


class Bench:
    """The cases of one network; views play shorter episodes than core and batched environment."""

    def __init__(self, config: dfe.SimulationConfig, *, warmup_ns: float, duration_ns: float) -> None:
        self.config = config
        self.warmup_ns = warmup_ns
        self.duration_ns = duration_ns
        self.generator = np.random.default_rng(_SEED)
        self.batched = dfe.BatchedRoutingEnv(
            config, duration_ns=duration_ns, warmup_ns=warmup_ns, transitions=False
        )
        view_ns = float(round(duration_ns * _VIEW_SHARE))
        settings: dict[str, Any] = {"config": config, "duration_ns": view_ns, "warmup_ns": warmup_ns}
        self.parallel = dragonfly_v0.parallel_env(**settings)
        self.aec = dragonfly_v0.env(**settings)
        self.actions = []
        batch = self.batched.reset(seed=_SEED)
        while not self.batched.done:
            self.actions.append(batch.minimal_actions())
            batch = self.batched.step(self.actions[-1])
        self.decisions = sum(map(len, self.actions))
        self.rounds = self._recorded_rounds()
        idle = self.parallel.core.num_actions  # the AEC view leaves idle routers out
        self.turns = [action for each in self.rounds for action in each.values() if action != idle]
        self.cases: dict[str, Callable[[], Episode]] = {
            _CORE: self._run_core,
            _BATCHED: self._run_given,
            _RANDOM: self._run_random,
            _PARALLEL: self._run_parallel,
            _AEC: self._run_aec,
        }

    def _recorded_rounds(self) -> list[dict[str, int]]:
        """The minimal actions of the parallel view, round by round; routers without a decision stay idle."""
        env, rounds = self.parallel, []
        env.reset(seed=_SEED)
        while env.agents:
            idle = dict.fromkeys(env.agents, env.core.num_actions)
            rounds.append(
                idle | dict(zip(env.acting, env.round_batch.minimal_actions().tolist(), strict=True))
            )
            env.step(rounds[-1])
        return rounds

    def _run_core(self) -> Episode:
        simulation = dfe.Simulation(self.config.replace(seed=_SEED, policy="min"))
        simulation.run(self.warmup_ns)
        simulation.reset_statistics()
        begin = time.process_time()
        simulation.run(self.duration_ns)
        cpu_s = time.process_time() - begin
        return Episode(simulation.metrics().packet_hops, self.decisions, cpu_s)

    def _run_given(self) -> Episode:
        self.batched.reset(seed=_SEED)
        begin = time.process_time()
        for actions in self.actions:
            self.batched.step(actions)
        return Episode(self.decisions, self.decisions, time.process_time() - begin)

    def _run_random(self) -> Episode:
        env, count = self.batched, 0
        batch = env.reset(seed=_SEED)
        begin = time.process_time()
        while not env.done:
            count += len(batch)
            batch = env.step(random_legal(batch.mask, self.generator))
        return Episode(count, count, time.process_time() - begin)

    def _run_parallel(self) -> Episode:
        env = self.parallel
        env.reset(seed=_SEED)
        begin = time.process_time()
        for actions in self.rounds:
            env.step(actions)
        cpu_s = time.process_time() - begin
        assert not env.agents
        return Episode(len(self.rounds) * len(env.possible_agents), len(self.turns), cpu_s)

    def _run_aec(self) -> Episode:
        env = self.aec
        env.reset(seed=_SEED)
        actions = iter(self.turns)
        begin = time.process_time()
        for _ in env.agent_iter(len(self.turns)):
            env.last()
            env.step(next(actions))
        return Episode(len(self.turns), len(self.turns), time.process_time() - begin)


def measure(effort: Effort, report: Report) -> list[Result]:
    """Speeds of all cases, measured in turns, and the CPU-nanoseconds per decision of each layer."""
    report("recording actions")
    topology = dfe.Dragonfly.preset(effort.core_topology)
    config = dfe.SimulationConfig(topology=topology, traffic="uniform", load=0.8)
    warmup_ns = effort.core_warmup_ns * _WARMUP_SHARE
    bench = Bench(config, warmup_ns=warmup_ns, duration_ns=effort.sample_ns(topology.num_hosts))
    episodes: dict[str, list[Episode]] = {name: [] for name in bench.cases}
    for i in range(effort.rounds + 1):
        for name, case in bench.cases.items():
            report(f"round {i} of {effort.rounds}: {name}")
            episodes[name].append(case())
    episodes = {name: each[1:] for name, each in episodes.items()}  # the first ones filled caches and pools
    parameters = {"config": config.to_dict(), "warmup_ns": warmup_ns, "duration_ns": bench.duration_ns}
    speeds = [
        Result(
            name=name,
            unit=_UNITS.get(name, "k agent-steps / CPU-s"),
            samples=[e.work / e.cpu_s / (1e6 if name in _UNITS else 1e3) for e in episodes[name]],
            parameters=parameters,
        )
        for name in bench.cases
    ]
    costs = {name: [1e9 * e.cpu_s / e.decisions for e in each] for name, each in episodes.items()}
    layers = [
        Result(
            name=f"cost of the {layer}",
            unit="CPU-ns / decision",
            samples=[
                a - b
                for a, b in zip(costs[above], costs[below] if below else [0.0] * effort.rounds, strict=True)
            ],
            parameters=parameters,
        )
        for layer, (above, below) in _LAYERS.items()
    ]
    return speeds + layers
