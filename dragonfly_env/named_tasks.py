"""Named tasks: each fixes what is simulated, what routers decide and are rewarded with, and how a policy is scored.

A task has scenarios: kinds of traffic on a network. Environments of a shared policy (``"batched"``, ``"vec"``) hold
all scenarios next to each other. In the PettingZoo views (``"parallel"``, ``"aec"``) an agent is a router of one
network, so every episode has one scenario, which its seed chooses. ``"packet"`` (Gymnasium) has the first scenario.

A policy is scored by a quantity of which less is better, per scenario and seed: packets in the system, source queues
included, on average over a window; or with an application, the time of its iterations. By Little's law the first is
latency times throughput, so it orders policies by latency where the network carries the load. Above saturation latency
favors a policy that delivers only what is near, and packets in the system do not.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import json
import math
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dragonfly_env._version import installed_version
from dragonfly_env.agents.evaluation import evaluate_policy
from dragonfly_env.agents.random_policy import RandomPolicy
from dragonfly_env.batch_policy import BatchPolicy
from dragonfly_env.checks.files import refusing, write_text
from dragonfly_env.checks.values import check_choice, check_integer, check_seeds, config_error, unknown_name
from dragonfly_env.config.failures import Failures
from dragonfly_env.config.rows import read_only, to_fields
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.decisions.layout import knowledge_of
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.options import needed_options
from dragonfly_env.envs.scenarios import scenario_seed
from dragonfly_env.jobs import Job
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.intervals import interquartile_mean
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.registration import SUITE, TASKS
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

View = Literal["parallel", "aec", "vec", "batched", "packet"]
VIEWS: tuple[View, ...] = ("parallel", "aec", "vec", "batched", "packet")
PACKETS, ITERATION = "packets in the system", "ns per iteration"
LEAST_SCORE = -100.0
"""The least score of a scenario: how badly a network is congested says nothing about a policy."""
ZERO, RANDOM = "ugal-n", "random"
"""Policies whose score is 0: with paths, and where every router chooses ports."""
PORT_REFERENCES = ("min", RANDOM, "q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast")
"""The references of a task in which every router chooses ports."""
REFERENCES = (
    *("min", ZERO, "ugal-g:bias_packets=-10", "par:bias_packets=10"),
    *("lia", "q-adaptive-fast", "neural-v1"),
)
"""The policies of which the best has the score 100. Their biases are, of -20, -10, -5, 5, 10 and 20 packets, those with
the fewest packets in the system in Mixed-72 (geometric mean over the scenarios)."""
BOUND = "bound"
"""The name under which the references have the least that any routing can reach."""

_CONFIG_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
_FILE = "task_references.csv"
_FORMAT = 1
"""The format of result files."""
_WEIGHTS = Path(__file__).resolve().parent / "agents" / "weights"


@dataclasses.dataclass(frozen=True, slots=True)
class TaskScore:
    """The score of a policy in a task.

    Example:
        >>> result = dfe.task("Adversarial-72").evaluate("ugal-n", seeds=[101])
        >>> result.task, abs(result.score) < 5
        ('Adversarial-72', True)
    """

    task: str
    """The name of the task."""
    score: float
    """The mean over the scenarios of the normalised score: 0 is that of ``Task.zero``, 100 that of the best reference,
    and no scenario has less than -100."""
    low: float
    """The score with the seed that has the lowest."""
    high: float
    """The score with the seed that has the highest."""
    scores: Mapping[str, float]
    """Normalised score by scenario."""
    values: Mapping[str, tuple[float, ...]]
    """The task's quantity for each seed, by scenario."""
    metrics: Mapping[str, tuple[Metrics, ...]] = dataclasses.field(repr=False)
    """Metrics of each seed, by scenario."""
    ratio: float
    """The quantity over the bound (over the best reference where the bound is not known): geometric mean over the
    scenarios."""
    saturated: int
    """The number of scenarios in which the network accepts less than is offered with some seed."""
    track: str
    """The knowledge that the policy needs: ``"local"``, ``"delayed"`` or ``"ideal"``."""
    suite: str = SUITE
    """The version of the tasks."""

    @property
    def latency_mean_ns(self) -> float:
        """Mean packet latency: the mean over scenarios and seeds."""
        return fmean(run.latency_mean_ns for runs in self.metrics.values() for run in runs)

    def save(self, file: str | Path, policy: str, training: Mapping[str, Any] | None = None) -> None:
        """Write the result file: the scores by scenario, the values by seed, and where they come from.

        Args:
            file: Path of the file, JSON; missing folders are made.
            policy: Name of the policy. Results with the same name are trainings of one algorithm.
            training: ``seed``, ``decisions`` and ``cpu_s`` (CPU seconds) of the training, and its settings; None: the
                policy was not trained for this result.

        Raises:
            ConfigError: If the file cannot be written.

        Example:
            >>> result = dfe.task("Adversarial-72").evaluate("ugal-n", seeds=[101])
            >>> result.save("results/ugal-n.json", "ugal-n")
        """
        contents = {
            "format": _FORMAT,
            "suite": self.suite,
            "task": self.task,
            "track": self.track,
            "policy": policy,
            "score": round(self.score, 3),
            "low": round(self.low, 3),
            "high": round(self.high, 3),
            "ratio": round(self.ratio, 5),
            "saturated": self.saturated,
            "scores": {name: round(score, 3) for name, score in self.scores.items()},
            "values": {
                name: [float(f"{value:.6g}") for value in values] for name, values in self.values.items()
            },
            "latency_mean_ns": round(self.latency_mean_ns, 1),
            "training": training,
            "package_version": installed_version(),
            "platform": platform.platform(),
        }
        path = Path(file)
        with refusing("file", path, "must be a file that can be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(json.dumps(contents, indent=1) + "\n", path)


@dataclasses.dataclass(frozen=True, slots=True)
class TaskSummary:
    """The score of an algorithm in a task, over independent trainings.

    Example:
        >>> summary = dfe.task("Adversarial-72").summary([80.0, 84.0, 82.0, 20.0])
        >>> summary.trainings, summary.score, summary.worst
        (4, 81.0, 20.0)
    """

    task: str
    """The name of the task."""
    trainings: int
    """Number of trainings."""
    score: float
    """The interquartile mean: the mean of the middle half of the trainings."""
    low: float
    """The lower end of its 95 % bootstrap interval."""
    high: float
    """The upper end."""
    worst: float
    """The score of the worst training."""
    best: float
    """The score of the best training."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A named task; ``dfe.task`` finds it.

    Example:
        >>> task = dfe.task("Mixed-72")
        >>> list(task.train)[:2]
        ['uniform 0.6', 'adv+1 0.35']
        >>> task.options["scope"], task.options["duration_ns"], task.decisions
        ('source', 20000.0, 2000000)
    """

    name: str
    """The name."""
    teaches: str
    """Skill of a policy that solves the task; completes "has learned"."""
    train: Mapping[str, SimulationConfig]
    """Scenarios to train on, by name."""
    test: Mapping[str, SimulationConfig]
    """Scenarios of the evaluation, by name: with other seeds, and in a zero-shot task other networks and traffic."""
    options: Mapping[str, Any]
    """The keyword arguments of the environment, see ``EnvOptions``."""
    decisions: int = 2_000_000
    """The budget of a training."""
    quantity: str = PACKETS
    """Measured quantity: ``"packets in the system"``, or ``"ns per iteration"`` of the application."""
    seeds: tuple[int, ...] = (101, 102, 103, 104, 105)
    """Seeds of the evaluation. A training must not use them."""
    warmup_ns: float = 50_000.0
    """Time before the measured window, in which the evaluated policy routes, too."""
    measure_ns: float = 100_000.0
    """Length of the measured window."""
    chooses: str = ""
    """The only actions that evaluated policies may choose: ``"port"``, at every router; empty: any."""

    @property
    def zero(self) -> str:
        """The reference whose score is 0."""
        return RANDOM if self.chooses == "port" else ZERO

    @property
    def reference_policies(self) -> tuple[str, ...]:
        """The references, of which the best has the score 100."""
        return PORT_REFERENCES if self.chooses == "port" else REFERENCES

    @property
    def has_one_network(self) -> bool:
        """Whether training and evaluation have the same network, so that a policy may differ between routers."""
        return len({config.topology for config in (*self.train.values(), *self.test.values())}) == 1

    def __post_init__(self) -> None:
        for name in ("train", "test", "options"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return to_fields(self)

    def scenarios(self, split: str = "train") -> Mapping[str, SimulationConfig]:
        """The scenarios of ``"train"`` or ``"test"``, by name."""
        return self.train if check_choice("split", split, ("train", "test")) == "train" else self.test

    def baseline(self) -> Policy:
        """The policy ``mlp`` with the weights of this task's baseline: of the trainings by its recipe, the median one.

        Raises:
            ConfigError: If no weights of this task come with the package.

        Example:
            >>> dfe.task("Adversarial-72").baseline().scope
            'source'
        """
        file = _WEIGHTS / f"{self.name}.npz"
        if not file.exists():
            known = ", ".join(sorted(path.stem for path in _WEIGHTS.glob("*.npz")))
            raise config_error("task", self.name, f"has no weights; these have: {known}")
        return Policy("mlp", {"weights": str(file)})

    def measure(self, policy: BatchPolicy | str, scenario: str, seed: int) -> Metrics:
        """Measure a policy in one scenario of the evaluation, with one seed; ``"random"``: any legal action."""
        return evaluate_policy(
            self._ready(policy),
            self.test[scenario],
            seed=seed,
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
        )

    def _ready(self, policy: BatchPolicy | str) -> BatchPolicy:
        """The policy as an object that says which environment it needs."""
        if policy == RANDOM:
            return RandomPolicy(action=self.options["action"], scope=self.options["scope"])
        if isinstance(policy, str):
            return parse_policy(policy)
        return policy if hasattr(policy, "env_options") else _Trained(policy, self.options)

    def track(self, policy: BatchPolicy | str) -> str:
        """The knowledge that a policy needs: that of the features that it observes, or what a policy of the core says.

        Raises:
            ConfigError: For a policy that this task does not measure.

        Example:
            >>> task = dfe.task("Adversarial-72")
            >>> task.track("par"), task.track("pb"), task.track("neural-v1")
            ('local', 'delayed', 'ideal')
        """
        ready = self._ready(policy)
        needed = needed_options(ready, next(iter(self.test.values())).topology)
        if self.chooses and (needed["action"], needed["scope"]) not in (("port", "every"), ("port", "all")):
            raise config_error("policy", policy, f"must choose ports at every router in {self.name}")
        return ready.knowledge if isinstance(ready, Policy) else knowledge_of(needed.get("features"))

    def value(self, metrics: Metrics) -> float:
        """The quantity of this task in a run; NaN if no iteration of the application has ended."""
        if self.quantity == PACKETS:
            return metrics.packets_in_system_mean
        return metrics.jobs[0].iterations.mean_ns

    def evaluate(self, policy: BatchPolicy | str, *, seeds: Sequence[int] | None = None) -> TaskScore:
        """Measure a policy in all scenarios of the evaluation.

        Args:
            policy: The name of a policy, or an object with ``act(batch)``. An object that says nothing of ``scope``,
                ``action`` and ``features`` gets those of the task.
            seeds: Seeds of the traffic; None: those of the task.

        Raises:
            ConfigError: For an unknown policy, a policy that this task does not measure, or a learner that was trained
                on another layout.
        """
        chosen = self.seeds if seeds is None else check_seeds("seeds", seeds)
        track = self.track(policy)
        return self.score(
            {name: tuple(self.measure(policy, name, seed) for seed in chosen) for name in self.test}, track
        )

    def score(self, metrics: Mapping[str, tuple[Metrics, ...]], track: str) -> TaskScore:
        """The score of runs, by scenario, with as many seeds in each, of a policy of a track."""
        values = {name: tuple(map(self.value, runs)) for name, runs in metrics.items()}
        scores = {name: self.normalised(name, fmean(some)) for name, some in values.items()}
        by_seed = [
            fmean(map(self.normalised, values, column)) for column in zip(*values.values(), strict=True)
        ]
        return TaskScore(
            task=self.name,
            score=fmean(scores.values()),
            low=min(by_seed),
            high=max(by_seed),
            scores=scores,
            values=values,
            metrics=metrics,
            ratio=geometric_mean(fmean(some) / self._least(name) for name, some in values.items()),
            saturated=sum(any(run.saturated for run in runs) for runs in metrics.values()),
            track=track,
        )

    def summary(self, results: Sequence[TaskScore | float]) -> TaskSummary:
        """The score of an algorithm: the interquartile mean over independent trainings, with its bootstrap interval
        (Agarwal et al., NeurIPS 2021).

        Args:
            results: A ``TaskScore`` or its score for each training, as ``evaluate`` returns it.

        Raises:
            ConfigError: Without results.
        """
        scores = np.array(
            [result.score if isinstance(result, TaskScore) else result for result in results], float
        )
        if len(scores) == 0:
            raise config_error("results", list(results), "must have the result of one training at least")
        return TaskSummary(
            self.name,
            len(scores),
            *interquartile_mean(scores),
            worst=float(scores.min()),
            best=float(scores.max()),
        )

    def references(self) -> Mapping[str, Mapping[str, float]]:
        """The quantity of the reference policies by scenario and policy, means over the seeds, as measured for this
        release; ``"bound"`` is the least that any routing can reach, NaN where it is not known.
        """
        return _references()[self.name]

    def normalised(self, scenario: str, value: float) -> float:
        """The score of a value in a scenario: 0 is that of ``zero``, 100 that of the best reference. In between and
        beyond, equal factors count equally; the least score is -100.
        """
        zero = self.references()[scenario][self.zero]
        score = 100.0 * math.log(zero / value) / math.log(zero / self._best(scenario))
        return score if math.isnan(score) else max(LEAST_SCORE, score)

    def _best(self, scenario: str) -> float:
        """The value of the best reference."""
        return min(value for name, value in self.references()[scenario].items() if name != BOUND)

    def _least(self, scenario: str) -> float:
        """The bound; that of the best reference where it is not known."""
        bound = self.references()[scenario][BOUND]
        return self._best(scenario) if math.isnan(bound) else bound

    def reference_scores(self) -> dict[str, float]:
        """The scores of the reference policies and of the bound: means over the scenarios."""
        by_scenario = self.references()
        return {
            policy: fmean(self.normalised(name, known[policy]) for name, known in by_scenario.items())
            for policy in (*self.reference_policies, BOUND)
        }


class _Trained:
    """A policy that decides the batches of a task's environment without saying which environment it needs."""

    def __init__(self, policy: Any, options: Mapping[str, Any]) -> None:
        stated = {
            name: getattr(policy, name) for name in ("scope", "action", "features") if hasattr(policy, name)
        }
        self._policy, self._options = policy, {**options, **stated}
        self.name = getattr(policy, "name", type(policy).__name__)
        self.scope: str = self._options["scope"]
        self.action: str = self._options["action"]

    def env_options(self) -> dict[str, Any]:
        return self._options

    def act(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        actions: npt.NDArray[np.int64] = self._policy.act(batch)
        return actions


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnScenario:
    """The function that chooses one of several scenarios by the seed of an episode."""

    scenarios: tuple[SimulationConfig, ...]

    def __call__(self, seed: int) -> SimulationConfig:
        """The scenario of an episode."""
        return self.scenarios[seed % len(self.scenarios)]


def tasks() -> tuple[str, ...]:
    """The names of all tasks, the easiest first.

    Example:
        >>> dfe.tasks()[:3]
        ('Adversarial-72', 'Ports-72', 'Mixed-72')
    """
    return tuple(_TASKS)


@functools.cache
def task(name: str) -> Task:
    """The task of a name.

    Raises:
        ConfigError: For an unknown name.

    Example:
        >>> dfe.task("Overload-72").test["adv+1 0.6"].load
        0.6
    """
    if name not in _TASKS:
        raise unknown_name("task", name, tasks(), "tasks()")
    return _TASKS[name](name)


def make_task(
    name: str, view: View = "parallel", *, split: str = "train", seed: int | None = None, **changes: Any
) -> Any:
    """An environment of a task.

    Args:
        name: One of ``dfe.tasks()``.
        view: ``"parallel"`` or ``"aec"`` (PettingZoo): one scenario per episode, which the seed of the episode
            chooses of those on the network of the last one. ``"batched"`` (``BatchedRoutingEnv``) or ``"vec"``
            (``RouterVecEnv``): all scenarios next to each other. ``"packet"`` (``PacketRouting``): the first scenario.
        split: ``"train"`` or ``"test"``: which scenarios.
        seed: Seed of the first episode; None: drawn from the operating system.
        **changes: Settings of the view that differ from those of the task: options of the environment, or fields of
            ``SimulationConfig``.

    Raises:
        ConfigError: For an unknown name, view or setting.

    Example:
        >>> env = dfe.make_task("Mixed-72", "parallel", seed=1)
        >>> observations, infos = env.reset()
        >>> len(env.agents), dfe.make_task("Mixed-72", "batched").num_scenarios
        (36, 4)
    """
    chosen, view = task(name), check_choice("view", view, VIEWS)  # type: ignore[assignment]
    first = secrets.randbits(48) if seed is None else check_integer("seed", seed, 0, 2**64 - 1)
    fields = {key: changes[key] for key in changes if key in _CONFIG_FIELDS}
    options = {**chosen.options, **{key: changes[key] for key in changes if key not in fields}}
    configs = tuple(
        config.replace(**fields, seed=scenario_seed(first, number))
        for number, config in enumerate(chosen.scenarios(split).values())
    )
    several: Any = configs if len(configs) > 1 else configs[0]
    if view == "batched":
        return BatchedRoutingEnv(several, **options)
    if view == "vec":
        from dragonfly_env.envs.vec import RouterVecEnv

        return RouterVecEnv(several, **options)
    if view == "packet":
        from dragonfly_env.envs.packet import PacketRouting

        return PacketRouting(configs[0], **options)
    from dragonfly_env import dragonfly_v0

    make = dragonfly_v0.parallel_env if view == "parallel" else dragonfly_v0.env
    alike = tuple(config for config in configs if config.topology == configs[-1].topology)
    if len(alike) == 1:
        return make(alike[0], **options)
    return make(DrawnScenario(alike), seed=first, **options)


# The tasks.

_MIXED = (("uniform", 0.6), ("adv+1", 0.35), ("weighted:uniform=0.5,adv+1=0.5", 0.5), ("adv+3", 0.3))
_CHANGE_NS = 10_000.0
# Quantities per decision or per candidate path, in units that mean the same in every network.
_SIZE_FREE = {
    "features": (
        *("candidate_kind", "candidate_hops", "candidate_time_packets", "candidate_packets"),
        *("candidate_vc_packets", "candidate_link_packets", "destination_demand", "destination_group_demand"),
    ),
    "occupancy_unit": "packets",
}


def _scenario(topology: int | str | Dragonfly, traffic: Any, load: float, **fields: Any) -> SimulationConfig:
    machine = topology if isinstance(topology, Dragonfly) else Dragonfly.preset(str(topology))
    return SimulationConfig(topology=machine, traffic=traffic, load=load, **fields)


def _scenarios(
    topology: int | str | Dragonfly, *offered: tuple[str, float], suffix: str = ""
) -> dict[str, SimulationConfig]:
    return {f"{traffic} {load:g}{suffix}": _scenario(topology, traffic, load) for traffic, load in offered}


def _options(**changes: Any) -> dict[str, Any]:
    """The options of an environment. Credits are about the mean latency of a random choice in the task's episodes: with
    such a credit PPO learns best (see the default of ``latency_credit_ns``).
    """
    usual = {"scope": "source", "action": "path", "reward": "hop", "share": "group", "duration_ns": 50_000.0}
    return {**usual, **changes}


def _adversarial(name: str) -> Task:
    scenarios = _scenarios(72, ("adv+1", 0.35))
    teaches = "to spread packets over non-minimal paths where every group sends to the next"
    return Task(name=name, teaches=teaches, train=scenarios, test=scenarios, options=_options())


def _ports(name: str) -> Task:
    scenarios = _scenarios(72, ("adv+1", 0.35))
    teaches = "to spread packets hop by hop: every router chooses the next port, as in Q-routing"
    options = _options(scope="every", action="port", share="router", latency_credit_ns=1700.0)
    return Task(name=name, teaches=teaches, train=scenarios, test=scenarios, options=options, chooses="port")


def _mixed(name: str) -> Task:
    scenarios = _scenarios(72, *_MIXED)
    teaches = "one policy for several kinds of traffic, which it has to recognize"
    options = _options(latency_credit_ns=1500.0, duration_ns=20_000.0)
    return Task(name=name, teaches=teaches, train=scenarios, test=scenarios, options=options)


def _shifting(name: str) -> Task:
    """The mixture one kind after the other, from the beginning of the run to the end of the measured window."""
    steps = [(number * _CHANGE_NS, *_MIXED[number % len(_MIXED)]) for number in range(15)]
    scenarios = {"a change every 10 us": _scenario(72, steps, 0.5)}
    teaches = "to notice within microseconds that the traffic has changed"
    return Task(
        name=name,
        teaches=teaches,
        train=scenarios,
        test=scenarios,
        options=_options(latency_credit_ns=1500.0),
    )


def _overload(name: str) -> Task:
    scenarios = _scenarios(72, ("adv+1", 0.6))  # any routing carries at most 0.5625
    teaches = "to carry as much as possible where more is offered than any routing can carry"
    return Task(
        name=name,
        teaches=teaches,
        train=scenarios,
        test=scenarios,
        options=_options(latency_credit_ns=4000.0),
    )


def _jobs(name: str) -> Task:
    """The placement is the same for all seeds: another one moves the time of an iteration by 3 %."""
    # More iterations than any run has time for.
    job = Job("milc:scale=0.001,gap_ns=2000", hosts=36, placement="random-routers", iterations=10_000, seed=1)
    scenarios = {"milc next to adv+1 0.35": _scenario(72, "adv+1", 0.35, jobs=[job])}
    return Task(
        name=name,
        teaches="to make an application fast whose ranks wait for one another, next to traffic that does not wait",
        train=scenarios,
        test=scenarios,
        options=_options(latency_credit_ns=2500.0),
        quantity=ITERATION,
        seeds=tuple(range(101, 111)),
        measure_ns=400_000.0,
    )


def _mixed_342(name: str) -> Task:
    scenarios = _scenarios(342, *_MIXED[:3], ("adv+4", 0.3))
    return Task(
        name=name,
        teaches="the mixture in a larger network, where every router sends fewer of the packets",
        train=scenarios,
        test=scenarios,
        options=_options(latency_credit_ns=2000.0, duration_ns=20_000.0),
        warmup_ns=30_000.0,
        measure_ns=50_000.0,
    )


def _traffic(name: str) -> Task:
    """Only the evaluation has congested links inside groups, and hosts that send to one other host."""
    return Task(
        name=name,
        teaches="rules that hold under traffic that no training had, in the same network",
        train=_scenarios(342, *_MIXED[:3]),
        test=_scenarios(342, ("adv+3", 0.3), ("permutation", 0.4)),
        options=_options(latency_credit_ns=1500.0, duration_ns=20_000.0, **_SIZE_FREE),
        seeds=(101, 102, 103),
        warmup_ns=30_000.0,
        measure_ns=50_000.0,
    )


def _sizes(name: str) -> Task:
    def of(hosts: int, *kinds: tuple[str, float]) -> dict[str, SimulationConfig]:
        return _scenarios(hosts, *kinds, suffix=f", {hosts:,} hosts")

    kinds = _MIXED[:3]
    return Task(
        name=name,
        teaches="rules that hold in networks larger than any of the training, under the same kinds of traffic",
        train={**of(72, *kinds), **of(342, *kinds)},
        test={**of(1056, *kinds), **of(2550, _MIXED[1])},
        options=_options(latency_credit_ns=1500.0, duration_ns=20_000.0, **_SIZE_FREE),
        seeds=(101, 102),
        warmup_ns=20_000.0,
        measure_ns=20_000.0,
    )


def _zero_shot(name: str) -> Task:
    kinds = (("adv+4", 0.3), ("permutation", 0.4), ("random-neighbors", 0.4), ("stencil3d", 0.3))
    return _of_unseen_machines(
        name,
        "rules that hold in a network and under traffic that no training had",
        _scenarios(1056, *kinds),
    )


def _dragonfly_plus(name: str) -> Task:
    kinds = (("uniform", 0.6), ("adv+1", 0.35), ("adv+4", 0.3), ("permutation", 0.4))
    return _of_unseen_machines(
        name,
        "rules that hold in a Dragonfly+, whose groups of leaves and spines no training had",
        _scenarios("dfp-272", *kinds),
    )


def _failures(name: str) -> Task:
    """The traffic is known from the training; the dead links are not."""
    damaged = Dragonfly.preset("1056", failed=Failures(global_links=0.05, seed=1))
    return _of_unseen_machines(
        name,
        "rules that hold in a machine with dead links, where some groups reach each other by others alone",
        _scenarios(damaged, *_MIXED[:3]),
        seeds=(101, 102),
        warmup_ns=20_000.0,
        measure_ns=20_000.0,
    )


def _of_unseen_machines(
    name: str, teaches: str, test: Mapping[str, SimulationConfig], **measured: Any
) -> Task:
    """A task with training on whole machines of 342 hosts. ``adv+3`` congests links inside groups, as no traffic does
    at 72 hosts.
    """
    return Task(
        name=name,
        teaches=teaches,
        train=_scenarios(342, *_MIXED[:3], ("adv+3", 0.3)),
        test=test,
        options=_options(latency_credit_ns=1500.0, duration_ns=20_000.0, **_SIZE_FREE),
        **{"warmup_ns": 30_000.0, "measure_ns": 50_000.0, **measured},
    )


def _ports_1056(name: str) -> Task:
    scenarios = _scenarios(1056, ("adv+4", 0.3))
    return Task(
        name=name,
        teaches="to spread packets hop by hop over global links and over those inside groups, among 264 routers",
        train=scenarios,
        test=scenarios,
        options=_options(
            scope="every", action="port", share="router", latency_credit_ns=2500.0, duration_ns=10_000.0
        ),
        decisions=4_000_000,
        seeds=(101, 102),
        warmup_ns=20_000.0,
        measure_ns=20_000.0,
        chooses="port",
    )


def _moe(name: str) -> Task:
    """The job is that of the tutorial on training steps, with a quarter of its bytes and computing times, so that a
    window holds several steps. On consecutive hosts minimal paths need four times as long as the best.
    """
    job = Job(
        "moe:model=deepseek-moe-16b,dp=32,ep=32,tp=2,pp=4,layers=4,micro_batches=2,skew=0.2,efficiency=0.036,"
        "scale=0.0001",
        placement="consecutive",
        iterations=10_000,
    )
    scenarios = {"moe next to uniform 0.3": _scenario(1056, "uniform", 0.3, jobs=[job])}
    return Task(
        name=name,
        teaches="to shorten the training step of a mixture of experts, whose exchanges are uneven and come in bursts",
        train=scenarios,
        test=scenarios,
        options=_options(latency_credit_ns=2500.0, duration_ns=200_000.0, **_SIZE_FREE),
        decisions=5_000_000,
        quantity=ITERATION,
        seeds=(101, 102),
        measure_ns=1_000_000.0,
    )


_TASKS: dict[str, Callable[[str], Task]] = dict(
    zip(
        TASKS,
        (
            *(_adversarial, _ports, _mixed, _shifting, _overload, _jobs),
            *(_mixed_342, _traffic, _sizes, _zero_shot, _dragonfly_plus, _failures, _ports_1056, _moe),
        ),
        strict=True,
    )
)


@functools.cache
def _references() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """The quantity by task, scenario and policy; an empty value is not known."""
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in _TASKS}
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        value = float(row["value"]) if row["value"] else math.nan
        found[row["task"]].setdefault(row["scenario"], {})[row["policy"]] = value
    known: Mapping[str, Mapping[str, Mapping[str, float]]] = read_only(found)
    return known
