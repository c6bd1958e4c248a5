"""Doing what a benchmark needs: its cases times policies times seeds, as one resumable sweep.

Runs whose results come with the package are not done: see `reference_results`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import knowledge_of
from dragonfly_env.envs.options import needed_options
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.bounds import CaseBounds
from dragonfly_env.lab.benchmark.measured import Measured, measured_of
from dragonfly_env.lab.benchmark.reference_results import Key, ReferenceResult, read_references, table_of
from dragonfly_env.lab.benchmark.scores import Outcome, Scores, outcome_of, score
from dragonfly_env.lab.benchmark.suite import BenchmarkCase, Effort, Suite, Track
from dragonfly_env.lab.benchmark.training import scenarios_of, trained_on_test_split, training_cost
from dragonfly_env.lab.work import Work
from dragonfly_env.policy import Policy
from dragonfly_env.sweeps.point import AnyPolicy, Run
from dragonfly_env.sweeps.results import read_runs
from dragonfly_env.sweeps.runner import check_run
from dragonfly_env.sweeps.scenario import parse_policy_choice
from dragonfly_env.training.agents import AgentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark(Work):
    """Policies on a suite."""

    suite: Suite
    effort: Effort  # ``quick`` or ``full``
    # Policies to measure next to the references: built-in ones, saved agents, ``module:Class``. Several trained ones
    # with the same name are trainings of one policy; they are called ``name#1``, ``name#2``, ...
    policies: tuple[str, ...]
    tracks: tuple[str, ...] = ()  # tracks of the suite; nothing for all
    seeds: int | None = None  # runs of each case; None for the suite's
    published: bool = True  # take published results for runs that the folder does not hold
    _results: dict[Key, ReferenceResult] = field(default_factory=dict, init=False, repr=False, compare=False)
    _choices: dict[str, AnyPolicy] = field(default_factory=dict, init=False, repr=False, compare=False)
    _made: dict[tuple[str, ...], dict[str, Run]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _trainings: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _only_shown: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _refused: dict[tuple[str, ...], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        choices = [parse_policy_choice(spec) for spec in dict.fromkeys(self.policies)]
        labels = [label for label, _ in choices]
        self._choices.update(map(parse_policy_choice, self.suite.reference_specs))
        for number, (name, policy) in enumerate(choices):
            label = name
            can_be_trained = isinstance(policy, AgentSource) or policy.name == "mlp"
            if labels.count(name) > 1 and can_be_trained:
                label = f"{name}#{labels[: number + 1].count(name)}"
                self._trainings[label] = name
            if self._choices.setdefault(label, policy) != policy:
                raise config_error(
                    "policies", label, f"must not be called {label!r}, which is another one here"
                )
        if self.published:
            for label, policy in map(parse_policy_choice, self.suite.shown_specs):
                if self._choices.setdefault(label, policy) is policy:
                    self._only_shown.add(label)
            self._results.update(read_references(table_of(self.suite.name)))

    @property
    def chosen(self) -> tuple[Track, ...]:
        """The tracks that are wanted."""
        return self.suite.choose(self.tracks)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every reference policy, by its label."""
        return _by_label(self.suite.reference_specs)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every policy that is measured, references first."""
        return tuple(label for label in self._choices if label not in self._only_shown)

    def seeds_of(self) -> range:
        """The seeds of every case."""
        return range(1, (self.seeds or self.suite.seeds[self.effort]) + 1)

    def unfit(self) -> dict[str, str]:
        """Policies that cannot act on some case, each with the first reason: they are measured on the others only."""
        reasons: dict[str, str] = {}
        for _, case, label in self._wanted():
            if reason := self.refusal(case, label):
                reasons.setdefault(label, reason)
        return reasons

    def trained_on_test_split(self) -> dict[str, str]:
        """Saved agents whose files name scenarios of the suite's test split, each with the first reason."""
        found = {
            label: trained_on_test_split(self.suite, scenarios_of(policy.metadata()))
            for label, policy in self._choices.items()
            if isinstance(policy, AgentSource) and policy.is_file
        }
        return {label: reason for label, reason in found.items() if reason}

    def runs(self) -> tuple[Run, ...]:
        """Every run, once."""
        return tuple(self._by_id().values())

    def reference_runs(self) -> int:
        """Number of runs of the reference policies."""
        kinds = self.kinds
        return len(
            {
                name
                for _, case, label in self._wanted()
                if label in kinds
                for name in self._runs_of(case, label)
            }
        )

    def taken(self) -> tuple[ReferenceResult, ...]:
        """The published results that are used, one per run that is not done for it."""
        return tuple(self._taken().values())

    def runs_here(self) -> tuple[Run, ...]:
        """Runs that are the folder's, done or to be done: those whose results are not published."""
        taken = self._taken()
        return tuple(run for name, run in self._by_id().items() if name not in taken)

    def scores(self) -> Scores:
        """Results of the folder and published ones, each case against its best reference."""
        outcomes: list[Outcome] = []
        bounds = CaseBounds.read(self.suite.name)
        of_suite = self.suite.seeds[self.effort]
        for track, case, label in self._wanted(shown=True):
            each = (self._measured(track, case, name) for name in self._runs_of(case, label))
            if found := [measured for measured in each if measured is not None]:
                outcomes.append(outcome_of(track, case, label, found, bounds.of(track, case, of_suite)))
        return score(
            outcomes,
            self.chosen,
            self.effort,
            {**self.kinds, **self.shown},
            tuple(self._choices),
            {label: training_cost(policy) for label, policy in self._choices.items()},
            self._trainings,
            {
                outcome.policy: self._knowledge(outcome)
                for outcome in {o.policy: o for o in outcomes}.values()
            },
        )

    @property
    def shown(self) -> dict[str, str]:
        """The kind of every policy that is published and is no reference, by its label."""
        return _by_label(self.suite.shown_specs)

    def _knowledge(self, outcome: Outcome) -> str:
        """The knowledge of a policy: ``local``, ``delayed`` or ``ideal``."""
        policy = self._choices[outcome.policy]
        if isinstance(policy, Policy):
            return policy.knowledge
        return knowledge_of(needed_options(policy.load(), outcome.case.topology).get("features"))

    def _taken(self) -> dict[str, ReferenceResult]:
        """The published results that are used, by run. A run of several tracks is done if one lacks its result."""
        if not self._results:
            return {}
        found: dict[str, ReferenceResult] = {}
        lacking: set[str] = set()
        for track, case, label in self._wanted():
            for name in self._runs_of(case, label):
                if (result := self._published(track, name)) is not None:
                    found[name] = result
                else:
                    lacking.add(name)
        return {name: result for name, result in found.items() if name not in lacking and not self.held(name)}

    def _measured(self, track: Track, case: BenchmarkCase, name: str) -> Measured | None:
        """The outcome of a run: a result in the folder goes before a published one."""
        result = self._published(track, name)
        if result is not None and not self.held(name):
            return result
        rows = read_runs(self.folder, [name]).to_pylist()
        return measured_of(track, case, rows[0]) if rows else None

    def _published(self, track: Track, name: str) -> ReferenceResult | None:
        return self._results.get((name, track.quantity, track.after_ns))

    def _by_id(self) -> dict[str, Run]:
        return {
            name: run
            for _, case, label in self._wanted()
            if not self.refusal(case, label)
            for name, run in self._runs_of(case, label).items()
        }

    def _runs_of(self, case: BenchmarkCase, label: str) -> dict[str, Run]:
        """A policy in a case, once per seed, by id: a hash of all that makes a run, so both are worked out once."""
        key = (case.track, case.split, case.name, label)
        if key not in self._made:
            point = case.point(label, self._choices[label])
            runs = [point.run(seed) for seed in self.seeds_of()]
            self._made[key] = {run.id: run for run in runs}
        return self._made[key]

    def refusal(self, case: BenchmarkCase, label: str) -> str:
        """Return the reason why a policy cannot act in a case, or an empty string; each combination is tried once."""
        where = (label, case.typed, case.network)
        if where not in self._refused:
            try:
                check_run(next(iter(self._runs_of(case, label).values())))
                self._refused[where] = ""
            except ConfigError as reason:
                self._refused[where] = str(reason)
        return self._refused[where]

    def _wanted(self, *, shown: bool = False) -> Iterator[tuple[Track, BenchmarkCase, str]]:
        """Every policy in every case; ``shown``: also those that are only shown."""
        for track in self.chosen:
            for case in track.cases[self.effort]:
                for label in self._choices if shown else self.labels:
                    yield track, case, label


def _by_label(specs: Mapping[str, str]) -> dict[str, str]:
    """The kinds of policies by their labels."""
    return {parse_policy_choice(spec)[0]: kind for spec, kind in specs.items()}
