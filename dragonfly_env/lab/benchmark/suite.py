"""A suite: tracks of cases, the policies that they are measured against, and which cases one may train on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal, TypeAlias, cast, get_args

from dragonfly_env.checks.files import parse_toml
from dragonfly_env.checks.values import check_choice, check_integer, config_error, unknown_name
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.errors import ConfigError
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import Point
from dragonfly_env.sweeps.scenario import PolicyChoice, Table, TrafficChoice, parse_loads

Effort: TypeAlias = Literal["quick", "full"]
Split: TypeAlias = Literal["train", "test"]
Quantity: TypeAlias = Literal["latency", "accepted-load", "latency-after-change", "makespan"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
SPLITS: tuple[Split, ...] = get_args(Split)
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
KINDS = ("untuned", "tuned", "online")
"""Kinds of reference policies: heuristics as published, heuristics with parameters tuned on the train split, and
learners that begin with nothing."""

SHOWN = ("trained",)
"""Kinds of policies that are published next to the references and are no references: learners that were trained
before."""

RETIRED = ("omniscient",)
"""Kinds of policies that the package no longer has, and whose published results are still shown: policies that know the
traffic beforehand."""

_MOST_SEEDS = 1000
_FOLDER = "suites"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkCase:
    """A simulation up to its policy and seed."""

    track: str  # the track's name
    split: Split  # ``train``, or ``test``, which must not be trained on
    network: str  # a preset's name
    hosts: str  # a topology preset's name
    traffic: TrafficChoice  # pattern, workload or schedule, with its name in tables
    load: float  # offered load; the first one of a schedule, 1 for a workload
    warmup_ns: float  # Before measuring. Learners that begin with nothing learn in it; no policy gets more.
    measure_ns: float  # measured; a workload ends at its completion if that comes first
    series_bin_ns: float | None  # width of the bins of a time series, where one is needed

    @property
    def name(self) -> str:
        """One line that tells it from all others of its track."""
        load = "" if self.traffic.traffic.is_closed_loop or self.series_bin_ns else f" {self.load:g}"
        return f"{self.traffic.label}{load}, {self.hosts} hosts, {self.network}"

    def point(self, policy: PolicyChoice) -> Point:
        """The simulation with a policy."""
        closed = self.traffic.traffic.is_closed_loop
        offered: dict[str, Any] = {} if closed else {"load": self.load, "injection": "bernoulli"}
        return Point(
            config=SimulationConfig(
                topology=Dragonfly.preset(self.hosts),
                network=NetworkConfig.preset(self.network),
                traffic=self.traffic.traffic,
                policy=policy.policy,
                seed=1,
                series_bin_ns=self.series_bin_ns,
                **offered,
            ),
            policy_label=policy.label,
            traffic_label=self.traffic.label,
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
            arrays=self.series_bin_ns is not None,
            agent=policy.agent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Cases that are scored by one quantity."""

    name: str  # on the command line and in tables
    title: str
    # ``latency`` (mean), ``accepted-load``, ``latency-after-change`` (mean of the packets that were generated in
    # ``after_ns`` after each change of a schedule), ``makespan``
    quantity: Quantity
    after_ns: float
    cases: Mapping[Effort, tuple[BenchmarkCase, ...]]  # by effort

    @property
    def more_is_better(self) -> bool:
        """Whether the highest value wins."""
        return self.quantity == "accepted-load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A versioned benchmark."""

    name: str  # with its version
    title: str
    tracks: tuple[Track, ...]  # in the order of tables
    references: Mapping[str, tuple[str, ...]]  # policies by kind: the best one of a case is the measure
    # policies by kind whose results are published, too, and that are no references
    shown: Mapping[str, tuple[str, ...]]
    # policies by kind that the package no longer has, and whose published results are shown
    retired: Mapping[str, tuple[str, ...]]
    seeds: Mapping[Effort, int]  # by effort: runs of each case

    def choose(self, names: tuple[str, ...]) -> tuple[Track, ...]:
        """Tracks by name, in the suite's order; nothing for all."""
        known = [track.name for track in self.tracks]
        for name in names:
            if name not in known:
                raise unknown_name("track", name, known)
        return tuple(track for track in self.tracks if not names or track.name in names)

    def narrowed(self, splits: Collection[str] = (), hosts: Collection[int] = ()) -> Suite:
        """Return the suite with fewer cases."""
        sizes = [int(case.hosts) for track in self.tracks for some in track.cases.values() for case in some]
        for split in splits:
            check_choice("split", split, SPLITS)
        for size in hosts:
            if size not in sizes:
                listed = ", ".join(map(str, sorted(set(sizes))))
                raise config_error("hosts", size, f"must be a size of {self.name}: {listed}")

        def left(case: BenchmarkCase) -> bool:
            return (not splits or case.split in splits) and (not hosts or int(case.hosts) in hosts)

        tracks = tuple(
            replace(track, cases={effort: tuple(filter(left, some)) for effort, some in track.cases.items()})
            for track in self.tracks
        )
        return replace(self, tracks=tracks)

    @property
    def reference_specs(self) -> dict[str, str]:
        """All reference policies, each with its kind."""
        return {spec: kind for kind, specs in self.references.items() for spec in specs}

    @property
    def shown_specs(self) -> dict[str, str]:
        """All policies that are published and are no references, each with its kind."""
        return {spec: kind for kind, specs in self.shown.items() for spec in specs}

    @property
    def retired_names(self) -> dict[str, str]:
        """All policies that are only in the published results, each with its kind."""
        return {name: kind for kind, names in self.retired.items() for name in names}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Suite:
        """From a TOML document, as the suites of the package are."""
        table = Table(settings)
        references = Table(table.take("references", {}), "references")
        shown = Table(table.take("shown", {}), "shown")
        retired = Table(table.take("retired", {}), "retired")
        seeds = Table(table.take("seeds", {}), "seeds")
        suite = cls(
            name=table.text("name", ""),
            title=table.text("title", ""),
            references={kind: tuple(map(str, references.items(kind))) for kind in KINDS},
            shown={kind: tuple(map(str, shown.items(kind))) for kind in SHOWN},
            retired={kind: tuple(map(str, retired.items(kind))) for kind in RETIRED},
            seeds={effort: seeds.integer(effort, 1, 1, _MOST_SEEDS) for effort in EFFORTS},
            tracks=tuple(_tracks(table.take("tracks", {}))),
        )
        for read in (table, references, shown, retired, seeds):
            read.finish()
        return suite


def _tracks(value: object) -> Iterator[Track]:
    for name, settings in Table(value, "tracks").rest().items():
        table = Table(settings, f"tracks.{name}")
        quantity = cast(
            "Quantity", check_choice(table.field("quantity"), table.text("quantity", ""), QUANTITIES)
        )
        title, after_ns = table.text("title", name), table.time_ns("after_ns", 0.0, 0.0)
        series_bin_ns = table.optional_time_ns("series_bin_ns", 1.0)
        listed = [case for block in table.items("cases") for case in _block(name, series_bin_ns, block)]
        table.finish()
        cases = {effort: tuple(case for of, case in listed if of == effort) for effort in EFFORTS}
        yield Track(name=name, title=title, quantity=quantity, after_ns=after_ns, cases=cases)


def _block(track: str, series_bin_ns: float | None, value: object) -> Iterator[tuple[Effort, BenchmarkCase]]:
    """Every combination of what one entry of ``cases`` lists."""
    table = Table(value, f"tracks.{track}.cases")
    effort = cast("Effort", check_choice(table.field("effort"), table.text("effort", "full"), EFFORTS))
    split = cast("Split", check_choice(table.field("split"), table.text("split", ""), SPLITS))
    networks = [str(item) for item in table.items("networks")]
    sizes = [str(check_integer(table.field("hosts"), item, 1, 2**31 - 1)) for item in table.items("hosts")]
    patterns = [TrafficChoice.parse(item) for item in table.items("traffic")]
    loads = parse_loads(table.items("loads"), table.field("loads"))
    warmup_ns, measure_ns = table.time_ns("warmup_ns", 0.0, 0.0), table.time_ns("measure_ns", 0.0, 1.0)
    table.finish()
    for traffic in patterns:
        own = (1.0,) if traffic.traffic.is_closed_loop else traffic.loads or loads
        if not own:
            raise config_error(table.field("loads"), [], f"must hold at least one load for {traffic.label!r}")
        for network in networks:
            for hosts in sizes:
                for load in own:
                    yield (
                        effort,
                        BenchmarkCase(
                            track=track,
                            split=split,
                            network=network,
                            hosts=hosts,
                            traffic=traffic,
                            load=load,
                            warmup_ns=warmup_ns,
                            measure_ns=measure_ns,
                            series_bin_ns=series_bin_ns,
                        ),
                    )


def suites() -> tuple[str, ...]:
    """The suites of the package."""
    folder = resources.files(__package__).joinpath(_FOLDER)
    return tuple(
        sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    )


def find_suite(name: str) -> Suite:
    """A suite of the package."""
    if name not in suites():
        raise unknown_name("suite", name, suites())
    text = resources.files(__package__).joinpath(_FOLDER, f"{name}.toml").read_text(encoding="utf-8")
    try:
        return Suite.from_dict(parse_toml(text, name))
    except ConfigError as error:
        raise ConfigError(f"suite {name}: {error}") from error
