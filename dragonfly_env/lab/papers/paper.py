"""A paper: which simulations each of its figures needs, what draws it, and what its text claims."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias, TypeVar

from matplotlib.figure import Figure

from dragonfly_env.checks.values import (
    check_choice,
    check_real,
    config_error,
    parse_assignments,
    unknown_name,
)
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.papers.claims import (
    THROUGHPUT_TOLERANCE,
    Claim,
    Evidence,
    Measure,
    Measured,
    PaperFindings,
    Place,
    Relation,
    ordering,
    shows,
)
from dragonfly_env.lab.papers.findings import read_rows_of
from dragonfly_env.lab.work import Work
from dragonfly_env.policy import Policy, make_policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import Point, Run
from dragonfly_env.traffic import parse_traffic

_T = TypeVar("_T")
Statement: TypeAlias = Callable[[Evidence], Measured]

Settings = tuple[tuple[str, Any], ...]
"""(name, value) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Simulated time and seeds of a reproduction, and its differences from the paper."""

    name: str  # ``"quick"`` or ``"full"``
    seeds: int  # runs per point; from two on there are confidence intervals
    # whether windows are as published and every claim can be decided; if not, only those that are marked for a quick
    # run
    decides: bool
    hosts: int = 0  # size of the system, if all figures have the same
    warmup_ns: float = 0.0  # warm-up of policies without memory
    learner_warmup_ns: float = 0.0  # warm-up of policies that learn
    measure_ns: float = 0.0  # measured after that
    transient_ns: float = 0.0  # length of curves over time: from an empty network, or after a change
    conditions: str = ""  # text of the report on the runs; empty: the windows
    injection: str = ""  # injection process; empty: the published one
    learner_settings: Settings = ()  # parameters for every policy that learns, to see what they change
    variant: str = "usual"  # the name of the model variant: how what the paper leaves open is read

    def either(self, quick: _T, full: _T) -> _T:
        """The value of a quick or of a full run."""
        return quick if self.name == "quick" else full

    def shortened(self, share: float, field: str = "share") -> Effort:
        """Shorten warm-ups and windows, for a machine that has no day for it."""
        share = check_real(field, share, 0.01, 1.0)
        if share < 1.0 and self.conditions:
            raise config_error(field, share, "must be 1 where runs end with their jobs")
        return replace(
            self,
            warmup_ns=self.warmup_ns * share,
            learner_warmup_ns=self.learner_warmup_ns * share,
            measure_ns=self.measure_ns * share,
        )


@dataclass(frozen=True, slots=True)
class Routing:
    """A policy as a paper uses it."""

    label: str  # name in figures and claims
    name: str = ""  # name in the registry; empty: the label
    settings: Settings = ()  # parameters that differ from the defaults, as (name, value) pairs

    @classmethod
    def parse(cls, label: str) -> Routing:
        """The policy of a label that says itself what it is: ``name`` or ``name:parameter=value``."""
        name, _, parameters = label.partition(":")
        return cls(label, name, tuple(parse_assignments(parameters, label).items()))

    @property
    def learns(self) -> bool:
        """Whether it needs the long warm-up."""
        return make_policy(self.name or self.label).learns

    def policy(self, effort: Effort) -> Policy:
        """The policy, with what the effort changes in learners."""
        changes = dict(effort.learner_settings) if self.learns else {}
        return make_policy(self.name or self.label, **{**dict(self.settings), **changes})


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings that all simulations of a paper share."""

    arrangement: str  # arrangement of the global links
    network: str  # name of the network preset
    source_queue_packets: int | None = None  # room in a host's source queue, or None for unbounded
    source_queue_full: str = "stall"  # next packet at a full queue: ``stall`` or ``lose``
    injection: str = "periodic"  # injection process, unless the user names another one

    def sources(self, effort: Effort) -> dict[str, Any]:
        """Fields of the configuration of open-loop traffic."""
        return {
            "injection": effort.injection or self.injection,
            "source_queue_packets": self.source_queue_packets,
            "source_queue_full": self.source_queue_full,
        }

    def topology(self, hosts: int) -> Dragonfly:
        """The system with this many hosts."""
        return Dragonfly.preset(str(hosts), arrangement=self.arrangement)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure, or a statement that is checked like one."""

    name: str  # name on the command line and of the file, e.g. ``fig5``
    title: str
    points: Callable[[Effort], tuple[Point, ...]]  # simulations for an effort; may be none
    # draws it from what was found, as far as that goes; `NotFoundYetError` if nothing of it was simulated
    draw: Callable[[PaperFindings], Figure]


PointsOf: TypeAlias = Callable[[Effort], Iterable[Point]]
"""The simulations of a figure, for an effort."""


@functools.cache
def runs_of(point: Point, seeds: int) -> tuple[Run, ...]:
    """A point with seeds from 1 on."""
    return tuple(point.run(seed) for seed in range(1, seeds + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A model variant: one way to model what a paper leaves open."""

    name: str  # name on the command line; points follow from it (`Effort.variant`)
    summary: str  # assumption, a sentence for the report
    arbitration_prefix: str = ""  # prefix of the arbitration's name, in points of the paper's file


USUAL = Variant(name="usual", summary="")
"""The first variant of every paper goes by this name, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSetting:
    """Settings that a paper states; the report puts those of the reproduction next to them."""

    hosts: tuple[int, ...] = ()  # sizes of its systems; empty: every size is as good
    warmup_ns: float | None = None  # warm-up; None: not stated
    measure_ns: float | None = None  # the measured window; None: runs have none
    seeds: int | None = None  # runs per point; None: not stated
    seeds_reason: str = ""  # reason for another number of seeds, or the paper's words instead of a number


PUBLISHED = PublishedSetting()
"""Settings of a paper that states none."""


@dataclass(slots=True, kw_only=True, eq=False)
class Paper:
    """A publication that one command reproduces. Its module adds figures by `figure`, and claims by `claim` and
    `states`.
    """

    name: str  # name on the command line
    reference: str  # authors, title, venue
    setup: Setup
    efforts: tuple[Effort, ...]  # ways to reproduce it: quick and full
    figures: tuple[PaperFigure, ...] = ()  # figures in the paper's order
    # numbers that its text states, by `claim` and `states`
    stated: list[Claim] = field(default_factory=list)
    order: Callable[[Claim], Any] = operator.attrgetter("sentence")  # order of the claims in the report
    # by the id of a claim: why it deviates. ``experiment: ...`` (what was run and what came of it), ``public simulator:
    # ...`` (its figure, which deviates as ours does) or ``open: ...`` (what was tried). Names in braces stand for what
    # the same report measured: ``{mean}``, ``{percent}``, ``{details}``, a policy, ... (`explanations`)
    explanations: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[Variant, ...] = (USUAL,)  # model variants, the usual one first
    # kinds of runs (by their traffic's label, ``*`` for anything) for which fewer seeds than an effort's are enough
    few_seeds: Mapping[str, int] = field(default_factory=dict)
    # assumptions about terms and gaps of the paper, one sentence each, for the report
    interpretations: tuple[str, ...] = ()
    published: PublishedSetting = PUBLISHED  # systems, windows and seeds of the paper
    # condition under which a claim is met, for the report
    rule: str = (
        "Met: within 2 % (throughput, hops and their ratios), 8 % (latencies, their ratios, times) or 0.02 (gaps "
        'between throughputs, savings, speed-ups) of the published number, to both sides, unless the paper says "at '
        'most" or "at least" or the claims table gives bounds; and where two policies are compared, the better one is '
        "the one that was published."
    )

    def figure(
        self, name: str, title: str, draw: Callable[..., Figure], **options: Any
    ) -> Callable[[PointsOf], PointsOf]:
        """Make a function from an effort to points a figure of the paper, which ``draw(findings, name, **options)``
        draws.
        """

        def add(points: PointsOf) -> PointsOf:
            self.figures += (
                PaperFigure(
                    name=name,
                    title=title,
                    # Worked out once: placing the jobs of a machine takes a while.
                    points=functools.cache(lambda effort: tuple(points(effort))),
                    draw=functools.partial(draw, figure=name, **options),
                ),
            )
            return points

        return add

    def points(
        self,
        effort: Effort,
        cases: Mapping[str, Iterable[float]],  # loads by traffic
        policies: Iterable[str | Routing],
        *,
        hosts: int = 0,  # 0: that of the effort
        network: Mapping[str, Any] | None = None,  # differences from the network of the paper
        # steps of traffic that changes: times in ns, patterns, loads
        steps: Iterable[tuple[float, str, float]] = (),
        warmup_ns: float | None = None,  # None: that of the effort
        measure_ns: float | None = None,
        **fields: Any,  # further fields of the configuration
    ) -> Iterator[Point]:
        """Every combination of traffic, policies and loads."""
        changed = dict(network or {})
        if prefix := self.variant(effort.variant).arbitration_prefix:
            usual = NetworkConfig.preset(self.setup.network).arbitration
            changed["arbitration"] = prefix + changed.get("arbitration", usual)
        traffic = [list(step) for step in steps]
        shared: dict[str, Any] = {
            "topology": self.setup.topology(hosts or effort.hosts),
            "network": NetworkConfig.preset(self.setup.network, **changed),
            "seed": 1,
            **fields,
        }
        routings = [
            variant if isinstance(variant, Routing) else Routing.parse(variant) for variant in policies
        ]
        for (pattern, loads), routing in itertools.product(cases.items(), routings):
            closed = not traffic and parse_traffic(pattern).is_closed_loop
            usual_ns = effort.learner_warmup_ns if routing.learns else effort.warmup_ns
            for load in loads:
                offered: dict[str, Any] = {} if closed else {"load": load, **self.setup.sources(effort)}
                yield Point(
                    config=SimulationConfig(
                        **shared, **offered, traffic=traffic or pattern, policy=routing.policy(effort)
                    ),
                    policy_label=routing.label,
                    traffic_label=pattern,
                    warmup_ns=usual_ns if warmup_ns is None else warmup_ns,
                    measure_ns=effort.measure_ns if measure_ns is None else measure_ns,
                )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of its text, in the order of the report."""
        return tuple(
            replace(claim, explanation=self.explanations.get(claim.id, ""))
            for claim in sorted(self.stated, key=self.order)
        )

    @property
    def usual(self) -> Variant:
        """The usual variant."""
        return self.variants[0]

    def claim(
        self,
        name: str,
        place: Place,
        measure: Measure,
        published: float = 0.0,
        *,
        unit: str = "",  # empty: that of the relation or of the quantity
        tolerance: float = 0.0,  # 0: that of the quantity
        met: tuple[float | None, float | None] = (None, None),  # its own bounds
        **more: Any,
    ) -> None:
        """Add a claim."""
        relation = measure.relation
        first = measure.metrics[0] if measure.metrics else None
        self.stated.append(
            Claim(
                id=name,
                published=float(published),
                unit=unit or relation.unit or ("" if first is None or relation.is_ordering else first.unit),
                tolerance=tolerance or (THROUGHPUT_TOLERANCE if first is None else first.tolerance),
                low=met[0],
                high=met[1],
                **place._asdict(),
                **measure._asdict(),
                **more,
            )
        )

    def states(
        self,
        name: str,
        place: Place,
        note: str,
        policy: str = "",
        reference: str = "",
        *,
        relation: Relation = ordering,
        **more: Any,
    ) -> Callable[[Statement], Statement]:
        """Add a claim that the function measures."""

        def add(statement: Statement) -> Statement:
            self.claim(name, place, shows(statement, policy, reference, relation), note=note, **more)
            return statement

        return add

    def runs(self, point: Point, effort: Effort) -> tuple[Run, ...]:
        """The runs of a point."""
        enough = (few for kind, few in self.few_seeds.items() if fnmatchcase(point.traffic_label, kind))
        return runs_of(point, min(effort.seeds, next(enough, effort.seeds)))

    def effort(self, name: str) -> Effort:
        """The effort with this name."""
        return next(effort for effort in self.efforts if effort.name == name)

    def variant(self, name: str, field: str = "variant", also: str = "") -> Variant:
        """The model variant with this name."""
        known = {variant.name: variant for variant in self.variants}
        if name == USUAL.name:
            return self.usual
        return known[check_choice(field, name, (*known, *([also] if also else [])))]

    def choose(self, names: tuple[str, ...]) -> tuple[PaperFigure, ...]:
        """Figures by name, in the paper's order; ``all`` or nothing for every one."""
        known = [figure.name for figure in self.figures]
        for name in names:
            if name not in (*known, "all"):
                raise unknown_name("figures", name, [*known, "all"], "'dragonfly-env reproduce --help'")
        if not names or "all" in names:
            return self.figures
        return tuple(figure for figure in self.figures if figure.name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Work):
    """A paper, the part of it that is wanted, and how."""

    paper: Paper
    figures: tuple[PaperFigure, ...]  # wanted figures
    effort: Effort  # simulated times, and differences from the paper
    only_claims: bool = False  # simulate only what the claims need; figures that show more are not drawn

    @property
    def variant(self) -> Variant:
        """The model variant: how the paper's open points are modelled."""
        return self.paper.variant(self.effort.variant)

    def wanted(self, figure: PaperFigure) -> tuple[Point, ...]:
        """The points of a figure that are simulated: all, or what the claims need."""
        points = figure.points(self.effort)
        if not self.only_claims:
            return points
        claims = [claim for claim in self.paper.claims if claim.quick or self.effort.decides]
        return tuple(point for point in points if any(claim.needs(figure.name, point) for claim in claims))

    def claims(self) -> tuple[Claim, ...]:
        """Claims on the wanted figures, and on those that the folder holds already."""
        shown = {figure.name for figure in self.figures}
        for figure in self.paper.figures:
            names = (figure.name, *(f"{figure.name}-{variant.name}" for variant in self.paper.variants))
            if any((self.folder / f"{name}.png").exists() for name in names):
                shown.add(figure.name)
        return tuple(claim for claim in self.paper.claims if claim.figure in shown)

    def runs(self) -> tuple[Run, ...]:
        """Every run of the wanted figures, once."""
        points = dict.fromkeys(point for figure in self.figures for point in self.wanted(figure))
        runs = (run for point in points for run in self.paper.runs(point, self.effort))
        return tuple({run.id: run for run in runs}.values())

    def findings(self) -> PaperFindings:
        """Results in the folder, of all figures of the paper."""
        points = {figure.name: figure.points(self.effort) for figure in self.paper.figures}
        every = dict.fromkeys(point for some in points.values() for point in some)
        ids = {point: [run.id for run in self.paper.runs(point, self.effort)] for point in every}
        rows = read_rows_of(self.folder, ids)
        return PaperFindings(points=points, rows=rows, name=self.paper.reference, claims=self.paper.claims)
