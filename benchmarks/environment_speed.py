"""Family ``environment``: decisions and agent-steps per CPU-second, and what each layer over the core costs.

One network (1,056 hosts, uniform 0.8, everything else at its default), each sample an episode after a warm-up that
the core does alone. "Actions given" means recorded: all packets go minimally, so core, batched environment and views
simulate nearly the same thing, and their differences are the layers. The random actions are drawn inside the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from benchmarks.effort import Effort
from benchmarks.random_actions import random_legal
from benchmarks.result import Result
from benchmarks.workload import Report
from benchmarks.yardstick.beside import Beside
from benchmarks.yardstick.program import program
from dragonfly_env import dragonfly_v0
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.views import Rounds

IntArray: TypeAlias = npt.NDArray[np.int64]

_SEED = 1
_WARMUP_SHARE = 0.2  # of the core's own benchmark: the reset of every sample simulates it
_VIEW_SHARE = 0.125  # views take so much longer that their episodes are shorter


@dataclass(frozen=True, slots=True)
class Episode:
    """One measured episode.

    Attributes:
        work: Packet-hops, decisions or agent-steps, as the case says.
        decisions: Answered; of the core alone as many as the batched environment answers meanwhile.
        packet_hops: Of the network.
        cpu_s: Of this process, without building, reset and warm-up.
        wall_s: The same.
        yardstick_hops_per_s: The yardstick's speed next to it.
    """

    work: int
    decisions: int
    packet_hops: int
    cpu_s: float
    wall_s: float
    yardstick_hops_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured, under its name in the result file.

    Attributes:
        unit: Of the samples.
        scale: Work of one unit.
        goal: If any.
        run: One episode.
        duration_ns: Of each episode.
    """

    unit: str
    scale: float
    goal: float | None
    run: Callable[[], Episode]
    duration_ns: float


class Clock:
    """Times a block."""

    def __enter__(self) -> Clock:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.cpu_s, self.wall_s = time.process_time() - self._cpu, time.perf_counter() - self._wall


class Bench:
    """The cases of one network.

    Args:
        config: What is simulated.
        warmup_ns: Before each episode.
        duration_ns: Of each episode of core and batched environment.
    """

    def __init__(self, config: dfe.SimulationConfig, *, warmup_ns: float, duration_ns: float) -> None:
        self.config = config
        self.warmup_ns = warmup_ns
        view_ns = float(round(duration_ns * _VIEW_SHARE))
        self.generator = np.random.default_rng(_SEED)
        self.batched = BatchedRoutingEnv(
            config, duration_ns=duration_ns, warmup_ns=warmup_ns, transitions=False
        )
        settings: dict[str, Any] = {"config": config, "duration_ns": view_ns, "warmup_ns": warmup_ns}
        self.parallel = dragonfly_v0.parallel_env(**settings)
        self.aec = dragonfly_v0.env(**settings)
        self.answers, _ = self._record(self.batched)
        _, orders = self._record(self.parallel.core)
        idle = self.parallel.core.num_actions
        names = self.parallel.possible_agents
        self.turns = [action for actions, order in orders for action in actions[order.rows].tolist()]
        self.rounds: list[dict[str, int]] = []
        for actions, order in orders:
            for i in range(len(order)):
                where = order.slice(i)
                acting = [names[agent] for agent in order.agents[where].tolist()]
                self.rounds.append(
                    {
                        **dict.fromkeys(names, idle),
                        **dict(zip(acting, actions[order.rows[where]].tolist(), strict=True)),
                    }
                )
        self.decisions = sum(map(len, self.answers))
        self.cases = {
            "core alone, min": Case("M packet-hops / CPU-s", 1e6, None, self._run_core, duration_ns),
            "batched, actions given": Case(
                "M decisions / CPU-s", 1e6, None, lambda: self._run_batched(given=True), duration_ns
            ),
            "batched, random legal actions": Case(
                "M decisions / CPU-s", 1e6, 2.0, lambda: self._run_batched(given=False), duration_ns
            ),
            "parallel, actions given": Case("k agent-steps / CPU-s", 1e3, 400.0, self._run_parallel, view_ns),
            "AEC, actions given": Case("k agent-steps / CPU-s", 1e3, 300.0, self._run_aec, view_ns),
        }

    @staticmethod
    def _record(env: BatchedRoutingEnv) -> tuple[list[IntArray], list[tuple[IntArray, Rounds]]]:
        """The minimal actions of an episode, batch by batch, and the order in which views ask for them."""
        answers, orders = [], []
        batch: DecisionBatch = env.reset(seed=_SEED)
        while not env.done:
            actions = batch.minimal_actions()
            answers.append(actions)
            orders.append((actions, Rounds(batch.agents, batch.time_ns)))
            batch = env.step(actions)
        return answers, orders

    def _run_core(self) -> Episode:
        simulation = dfe.Simulation(self.config.replace(seed=_SEED, policy="min"))
        simulation.run(self.warmup_ns)
        simulation.reset_statistics()
        with Clock() as clock:
            simulation.run(self.cases["core alone, min"].duration_ns)
        hops = simulation.metrics().packet_hops
        return Episode(hops, self.decisions, hops, clock.cpu_s, clock.wall_s)

    def _run_batched(self, *, given: bool) -> Episode:
        env = self.batched
        batch = env.reset(seed=_SEED)
        count = 0
        if given:
            with Clock() as clock:
                for actions in self.answers:
                    env.step(actions)
            count = self.decisions
        else:
            with Clock() as clock:
                while not env.done:
                    count += len(batch)
                    batch = env.step(random_legal(batch.mask, self.generator))
        return self._episode(env, count, count, clock)

    def _run_parallel(self) -> Episode:
        env = self.parallel
        env.reset(seed=_SEED)
        with Clock() as clock:
            for actions in self.rounds:
                env.step(actions)
        return self._episode(env.core, len(self.rounds) * len(env.possible_agents), len(self.turns), clock)

    def _run_aec(self) -> Episode:
        env = self.aec
        env.reset(seed=_SEED)
        actions = iter(self.turns)
        with Clock() as clock:
            for _ in env.agent_iter(len(self.turns)):
                env.last()
                env.step(next(actions))
        return self._episode(env.unwrapped.core, len(self.turns), len(self.turns), clock)

    @staticmethod
    def _episode(env: BatchedRoutingEnv, work: int, decisions: int, clock: Clock) -> Episode:
        if not env.done:
            raise RuntimeError("the recorded actions do not lead to the end of the episode")
        return Episode(work, decisions, env.metrics().packet_hops, clock.cpu_s, clock.wall_s)


_LAYERS = {
    "core": ("core alone, min", None),
    "batches": ("batched, actions given", "core alone, min"),
    "parallel view": ("parallel, actions given", "batched, actions given"),
    "AEC view": ("AEC, actions given", "batched, actions given"),
}
"""What a layer costs: the case with it, less the case without it."""


def measure(effort: Effort, report: Report) -> list[Result]:
    """Measure all cases in turns.

    Args:
        effort: ``core_topology``, ``core_warmup_ns``, ``host_ns`` and ``rounds`` are used.
        report: Told of the progress.

    Returns:
        Speeds, and what the layers cost in CPU-nanoseconds per decision.
    """
    report("recording actions")
    topology = dfe.Dragonfly.preset(effort.core_topology)
    config = dfe.SimulationConfig(topology=topology, traffic="uniform", load=0.8)
    bench = Bench(
        config,
        warmup_ns=effort.core_warmup_ns * _WARMUP_SHARE,
        duration_ns=effort.sample_ns(topology.num_hosts),
    )
    beside = Beside(program(), effort.yardstick_laps)
    episodes: dict[str, list[Episode]] = {name: [] for name in bench.cases}
    for i in range(effort.rounds + 1):
        for name, case in bench.cases.items():
            report(f"round {i} of {effort.rounds}: {name}")
            episode, hops_per_s = beside.measure(case.run)
            episodes[name].append(replace(episode, yardstick_hops_per_s=hops_per_s))
    episodes = {name: each[1:] for name, each in episodes.items()}  # the first ones filled caches and pools
    return [*_speeds(bench, episodes), *_layers(bench, episodes)]


def _parameters(bench: Bench) -> dict[str, Any]:
    return {
        "config": bench.config.to_dict(),
        "num_hosts": bench.config.topology.num_hosts,
        "num_agents": bench.batched.num_agents,
        "num_features": bench.batched.num_features,
        "num_actions": bench.batched.num_actions,
        "warmup_ns": bench.warmup_ns,
        "decisions_per_batch": bench.decisions / len(bench.answers),
        "decisions_per_round": len(bench.turns) / len(bench.rounds),
    }


def _speeds(bench: Bench, episodes: dict[str, list[Episode]]) -> list[Result]:
    return [
        Result(
            family="environment",
            name=name,
            unit=case.unit,
            samples=[episode.work / episode.cpu_s / case.scale for episode in episodes[name]],
            higher_is_better=True,
            goal=case.goal,
            parameters={**_parameters(bench), "duration_ns": case.duration_ns},
            details={
                field: [getattr(episode, field) for episode in episodes[name]]
                for field in ("work", "decisions", "packet_hops", "cpu_s", "wall_s")
            },
            yardstick_hops_per_s=[episode.yardstick_hops_per_s for episode in episodes[name]],
        )
        for name, case in bench.cases.items()
    ]


def _layers(bench: Bench, episodes: dict[str, list[Episode]]) -> list[Result]:
    per_decision = {
        name: [1e9 * episode.cpu_s / episode.decisions for episode in each] for name, each in episodes.items()
    }
    return [
        Result(
            family="environment",
            name=f"cost of the {layer}",
            unit="CPU-ns / decision",
            samples=[
                a - b
                for a, b in zip(
                    per_decision[above],
                    per_decision[below] if below else [0.0] * len(per_decision[above]),
                    strict=True,
                )
            ],
            higher_is_better=False,
            parameters=_parameters(bench),
            yardstick_hops_per_s=[episode.yardstick_hops_per_s for episode in episodes[above]],
        )
        for layer, (above, below) in _LAYERS.items()
    ]
