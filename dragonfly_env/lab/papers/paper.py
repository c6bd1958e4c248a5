"""A paper as data: which simulations each of its figures needs, what draws it, and what its text claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from dragonfly_env.checks.values import check_choice, check_real, config_error, unknown_name
from dragonfly_env.lab.papers.cells import Cell, Setup
from dragonfly_env.lab.papers.claims import Claim
from dragonfly_env.lab.papers.findings import Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much simulated time and how many seeds a reproduction spends.

    Attributes:
        name: ``"quick"`` or ``"full"``.
        seeds: Runs per cell; from two on there are confidence intervals.
        warmup_ns: Before measuring, for policies without memory.
        learner_warmup_ns: The same for those that learn.
        measure_ns: Measured after that.
        transient_ns: Length of curves over time: from an empty network, or after a change.
        decides: Whether windows are as published and every claim can be decided; if not, only those that are
            marked for a quick run.
        conditions: What the report says of the runs; empty: the windows.
    """

    name: str
    seeds: int
    warmup_ns: float
    learner_warmup_ns: float
    measure_ns: float
    transient_ns: float
    decides: bool
    conditions: str = ""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure, or a statement that is checked like one.

    Attributes:
        name: On the command line and as the file's name, e.g. ``fig5``.
        title: What it shows.
        cells: What must be simulated, for an effort; may be nothing.
        draw: Draws it from what was found, as far as that goes.
    """

    name: str
    title: str
    cells: Callable[[Effort], tuple[Cell, ...]]
    draw: Callable[[Findings], Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read what a paper leaves open.

    Attributes:
        name: On the command line.
        summary: What it takes to be so, a sentence for the report.
        adjust: The simulation that takes the place of a cell.
    """

    name: str
    summary: str
    adjust: Callable[[Cell], Cell]


USUAL = Reading(name="usual", summary="", adjust=lambda cell: cell)
"""As the paper's cells are written."""


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
        claims: What its text states in numbers.
        rule: When a claim is met, for the report.
        readings: How terms and gaps of the paper were read, one sentence each, for the report.
        other_readings: Other ways to read what it leaves open, beside the usual one.
        published: Systems, windows and seeds of the paper.
        usual: What the usual reading is called and takes to be so.
    """

    name: str
    reference: str
    setup: Setup
    efforts: tuple[Effort, ...]
    figures: tuple[PaperFigure, ...]
    claims: Callable[[], tuple[Claim, ...]]
    readings: tuple[str, ...] = ()
    other_readings: tuple[Reading, ...] = ()
    published: PublishedSetting = PUBLISHED
    usual: Reading = USUAL
    rule: str = (
        "Met: within 2 % (throughput, hops and their ratios), 8 % (latencies, their ratios, times) or 0.02 (gaps "
        'between throughputs, savings, speed-ups) of the published number, to both sides, unless the paper says "at '
        'most" or "at least" or the claims table gives bounds; and where two policies are compared, the better one is '
        "the one that was published."
    )

    @property
    def variants(self) -> tuple[Reading, ...]:
        """Every reading, the usual one first."""
        return (self.usual, *self.other_readings)

    def effort(self, name: str) -> Effort:
        """The effort with this name."""
        return next(effort for effort in self.efforts if effort.name == name)

    def reading(self, name: str, field: str = "reading", also: str = "") -> Reading:
        """The reading with this name.

        Args:
            name: Of a reading; ``usual`` is always the usual one.
            field: What messages call it.
            also: Another name that messages offer, which the caller handles.

        Raises:
            ConfigError: For an unknown name, with those that the paper has.
        """
        known = {reading.name: reading for reading in self.variants}
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
