"""A paper as data: which simulations each of its figures needs, what draws it, and what its text claims."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from matplotlib.figure import Figure

from dragonfly_env.checks.values import check_choice, check_real, config_error, unknown_name
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.papers.claims import Claim, read_claims
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.policies import Policy, make_policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.run import Point, Run
from dragonfly_env.traffic import parse_traffic

Settings = tuple[tuple[str, Any], ...]
"""(name, value) pairs."""
Step = tuple[float, str, float]
"""(time_ns, pattern, load) of a schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much simulated time and how many seeds a reproduction spends, and what it does unlike the paper.

    Attributes:
        name: ``"quick"`` or ``"full"``.
        seeds: Runs per point; from two on there are confidence intervals.
        warmup_ns: Before measuring, for policies without memory.
        learner_warmup_ns: The same for those that learn.
        measure_ns: Measured after that.
        transient_ns: Length of curves over time: from an empty network, or after a change.
        decides: Whether windows are as published and every claim can be decided; if not, only those that are
            marked for a quick run.
        conditions: What the report says of the runs; empty: the windows.
        injection: How hosts generate packets; empty: as published.
        learner_settings: Parameters for every policy that learns, to see what they change.
        variant: The name of the model variant: how what the paper leaves open is read.
    """

    name: str
    seeds: int
    warmup_ns: float
    learner_warmup_ns: float
    measure_ns: float
    transient_ns: float
    decides: bool
    conditions: str = ""
    injection: str = ""
    learner_settings: Settings = ()
    variant: str = "usual"

    def warmup_of(self, learns: bool) -> float:
        """The warm-up of a policy that learns, or not."""
        return self.learner_warmup_ns if learns else self.warmup_ns

    def shortened(self, share: float, field: str = "share") -> Effort:
        """The same with shorter warm-ups and windows: what a machine can do that has no day for it.

        Args:
            share: Of the warm-ups and windows, up to 1. Curves over time keep their length.
            field: What messages call it.

        Raises:
            ConfigError: For a share out of range, or where runs end with their jobs.
        """
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
    """A policy as a paper uses it.

    Attributes:
        label: Its name in figures and claims.
        name: Its name in the registry; empty: the label.
        settings: Parameters that differ from the defaults, as (name, value) pairs.
        learns: Whether it needs the long warm-up.
    """

    label: str
    name: str = ""
    settings: Settings = ()
    learns: bool = False

    def policy(self, effort: Effort) -> Policy:
        """The policy, with what the effort changes in learners."""
        changes = dict(effort.learner_settings) if self.learns else {}
        return make_policy(self.name or self.label, **{**dict(self.settings), **changes})


@dataclass(frozen=True, slots=True)
class Setup:
    """What all simulations of a paper share.

    Attributes:
        arrangement: Of the global links.
        network: Name of the network preset.
        source_queue_packets: Room in a host's source queue, or None for unbounded.
        source_queue_full: What a full one does to the next packet: ``stall`` or ``lose``.
        injection: How hosts generate packets, unless the user says otherwise.
    """

    arrangement: str
    network: str
    source_queue_packets: int | None
    source_queue_full: str = "stall"
    injection: str = "periodic"

    def topology(self, hosts: int) -> Dragonfly:
        """The system with this many hosts."""
        return Dragonfly.preset(str(hosts), arrangement=self.arrangement)

    def point(
        self,
        effort: Effort,
        hosts: int,
        traffic: str,
        load: float,
        routing: Routing,
        *,
        warmup_ns: float | None = None,
        measure_ns: float | None = None,
        schedule: tuple[Step, ...] = (),
        network: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Point:
        """A simulation up to its seed.

        Args:
            effort: Its windows, unless there are others, and what it does unlike the paper.
            hosts: Size of the system.
            traffic: A pattern or workload, or the name of a schedule.
            load: Offered load; of a schedule its first; of a workload that runs to its end nothing.
            routing: The policy.
            warmup_ns: Simulated time before measuring; None: the effort's.
            measure_ns: Simulated time that is measured; None: the effort's.
            schedule: Steps, if the traffic changes.
            network: What differs from the network of the paper.
            more: Further fields of the configuration: ``series_bin_ns``, ``packet_log``.

        Raises:
            ConfigError: If a setting is impossible.
        """
        if schedule or not parse_traffic(traffic).is_closed_loop:
            more |= {
                "load": load,
                "injection": effort.injection or self.injection,
                "source_queue_packets": self.source_queue_packets,
                "source_queue_full": self.source_queue_full,
            }
        return Point(
            config=SimulationConfig(
                topology=self.topology(hosts),
                network=NetworkConfig.preset(self.network, **(network or {})),
                traffic=[list(step) for step in schedule] or traffic,
                policy=routing.policy(effort),
                seed=1,
                **more,
            ),
            policy_label=routing.label,
            traffic_label=traffic,
            warmup_ns=effort.warmup_of(routing.learns) if warmup_ns is None else warmup_ns,
            measure_ns=effort.measure_ns if measure_ns is None else measure_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure, or a statement that is checked like one.

    Attributes:
        name: On the command line and as the file's name, e.g. ``fig5``.
        title: What it shows.
        simulated: What must be simulated, for an effort; may be nothing.
        drawn: Draws the figure of this name from what was found, as far as that goes.
    """

    name: str
    title: str
    simulated: Callable[[Effort], tuple[Point, ...]]
    drawn: Callable[[Findings, str], Figure]

    def points(self, effort: Effort) -> tuple[Point, ...]:
        """What must be simulated: worked out once, as placing the jobs of a machine takes a while."""
        return _points(self, effort)

    def draw(self, findings: Findings) -> Figure:
        """The figure.

        Raises:
            NotFoundYetError: If nothing of it was simulated.
        """
        return self.drawn(findings, self.name)


def figure(
    name: str,
    title: str,
    simulated: Callable[[Effort], tuple[Point, ...]],
    drawn: Callable[..., Figure],
    **how: Any,
) -> PaperFigure:
    """A figure; ``how`` are further arguments of ``drawn``."""
    return PaperFigure(name=name, title=title, simulated=simulated, drawn=functools.partial(drawn, **how))


@functools.cache
def _points(figure: PaperFigure, effort: Effort) -> tuple[Point, ...]:
    return figure.simulated(effort)


@functools.cache
def runs_of(point: Point, seeds: int) -> tuple[Run, ...]:
    """A point with seeds from 1 on."""
    return tuple(point.run(seed) for seed in range(1, seeds + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A model variant: one way to model what a paper leaves open.

    Attributes:
        name: On the command line; points follow from it (`Effort.variant`).
        summary: What it assumes, a sentence for the report.
    """

    name: str
    summary: str


USUAL = Variant(name="usual", summary="")
"""As the paper's points are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSetting:
    """What a paper says of its simulations, next to which the report puts those of a reproduction.

    Attributes:
        hosts: Sizes of its systems; empty: every size is as good.
        warmup_ns: Before measuring; None: not stated.
        measure_ns: The measured window; None: runs have none.
        seeds: Runs per point; None: not stated.
        seeds_reason: Why a reproduction does another number, or what the paper says instead of one.
    """

    hosts: tuple[int, ...] = ()
    warmup_ns: float | None = None
    measure_ns: float | None = None
    seeds: int | None = None
    seeds_reason: str = ""


PUBLISHED = PublishedSetting()
"""Of a paper that states nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A publication that one command reproduces.

    Attributes:
        name: On the command line.
        reference: Authors, title, venue.
        setup: What all of its simulations share.
        efforts: Ways to reproduce it, by name.
        figures: Its figures, in order.
        few_seeds: Kinds of runs (by their traffic's label) for which fewer seeds than an effort's are enough.
        rule: When a claim is met, for the report.
        interpretations: How terms and gaps of the paper were read, one sentence each, for the report.
        other_variants: Further model variants.
        published: Systems, windows and seeds of the paper.
        usual: The usual variant.
    """

    name: str
    reference: str
    setup: Setup
    efforts: tuple[Effort, ...]
    figures: tuple[PaperFigure, ...]
    few_seeds: Mapping[str, int] = field(default_factory=dict, hash=False)
    interpretations: tuple[str, ...] = ()
    other_variants: tuple[Variant, ...] = ()
    published: PublishedSetting = PUBLISHED
    usual: Variant = USUAL
    rule: str = (
        "Met: within 2 % (throughput, hops and their ratios), 8 % (latencies, their ratios, times) or 0.02 (gaps "
        'between throughputs, savings, speed-ups) of the published number, to both sides, unless the paper says "at '
        'most" or "at least" or the claims table gives bounds; and where two policies are compared, the better one is '
        "the one that was published."
    )

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Every variant, the usual one first."""
        return (self.usual, *self.other_variants)

    def claims(self) -> tuple[Claim, ...]:
        """What its text states in numbers."""
        return read_claims(__package__, f"{self.name}_claims.csv")

    def runs(self, point: Point, effort: Effort) -> tuple[Run, ...]:
        """The runs of a point."""
        return runs_of(point, min(effort.seeds, self.few_seeds.get(point.traffic_label, effort.seeds)))

    def effort(self, name: str) -> Effort:
        """The effort with this name."""
        return next(effort for effort in self.efforts if effort.name == name)

    def variant(self, name: str, field: str = "variant", also: str = "") -> Variant:
        """The model variant with this name.

        Args:
            name: Of a variant; ``usual`` is always the usual one.
            field: What messages call it.
            also: Another name that messages offer, which the caller handles.

        Raises:
            ConfigError: For an unknown name, with those that the paper has.
        """
        known = {variant.name: variant for variant in self.variants}
        if name == USUAL.name:
            return self.usual
        return known[check_choice(field, name, (*known, *([also] if also else [])))]

    def choose(self, names: tuple[str, ...]) -> tuple[PaperFigure, ...]:
        """Figures by name, in the paper's order; ``all`` or nothing for every one.

        Raises:
            ConfigError: For an unknown name, with the nearest one.
        """
        known = [figure.name for figure in self.figures]
        for name in names:
            if name not in (*known, "all"):
                raise unknown_name("figure", name, [*known, "all"])
        if not names or "all" in names:
            return self.figures
        return tuple(figure for figure in self.figures if figure.name in names)
