"""A suite: tracks of cases, the policies that they are measured against, and which cases one may train on."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal, TypeAlias, get_args

from dragonfly_env.checks.files import parse_toml
from dragonfly_env.checks.values import check_choice, config_error, unknown_name
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly, read_topology
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.point import AnyPolicy, Point, split_policy
from dragonfly_env.sweeps.scenario import TrafficChoice, parse_loads

Effort: TypeAlias = Literal["quick", "full"]
Split: TypeAlias = Literal["train", "test"]
Quantity: TypeAlias = Literal["latency", "accepted-load", "latency-after-change", "makespan"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
SPLITS: tuple[Split, ...] = get_args(Split)
KINDS = ("untuned", "tuned", "online")
"""Kinds of reference policies: heuristics as published, heuristics with parameters tuned on the train split, and
learners that begin with nothing."""

SHOWN = ("trained",)
"""Kinds of policies that are published next to the references and are no references: learners that were trained
before."""

_FOLDER = "suites"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkCase:
    """A simulation up to its policy and seed."""

    track: str  # the track's name
    split: Split  # ``train``, or ``test``, which must not be trained on
    network: str  # a preset's name
    machine: str  # a line that names the topology in tables
    typed: str  # the topology as a person types it: a preset, or parameters
    traffic: TrafficChoice  # pattern, workload or schedule, with its name in tables
    load: float  # offered load; the first one of a schedule, 1 for a workload
    warmup_ns: float  # warm-up; learners that begin with nothing learn in it, and no policy gets more
    measure_ns: float  # measured; a workload ends at its completion if that comes first
    series_bin_ns: float | None  # width of the bins of a time series, where one is needed

    @property
    def name(self) -> str:
        """A line that is unique within the track."""
        load = "" if self.traffic.traffic.is_closed_loop or self.series_bin_ns else f" {self.load:g}"
        return f"{self.traffic.label}{load}, {self.machine}, {self.network}"

    @property
    def topology(self) -> Dragonfly:
        """The machine."""
        return _machine(self.typed)

    @property
    def hosts(self) -> int:
        """The size of the machine."""
        return self.topology.num_hosts

    def point(self, label: str, policy: AnyPolicy) -> Point:
        """The simulation with a policy."""
        deciding, agent = split_policy(policy)
        closed = self.traffic.traffic.is_closed_loop
        offered: dict[str, Any] = {} if closed else {"load": self.load, "injection": "bernoulli"}
        return Point(
            config=SimulationConfig(
                topology=self.topology,
                network=NetworkConfig.preset(self.network),
                traffic=self.traffic.traffic,
                policy=deciding,
                seed=1,
                series_bin_ns=self.series_bin_ns,
                **offered,
            ),
            policy_label=label,
            traffic_label=self.traffic.label,
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
            arrays=self.series_bin_ns is not None,
            agent=agent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Cases that are scored by one quantity."""

    name: str  # name on the command line and in tables
    title: str
    # ``latency`` (mean), ``accepted-load``, ``latency-after-change`` (mean of the packets that were generated in
    # ``after_ns`` after each change of a schedule), ``makespan``
    quantity: Quantity
    after_ns: float
    cases: Mapping[Effort, tuple[BenchmarkCase, ...]]  # cases by effort

    @property
    def more_is_better(self) -> bool:
        """Whether the highest value wins."""
        return self.quantity == "accepted-load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A versioned benchmark."""

    name: str  # name with the version
    title: str
    tracks: tuple[Track, ...]  # tracks in the order of tables
    references: Mapping[str, tuple[str, ...]]  # policies by kind: the best one of a case is the measure
    # policies by kind whose results are published, too, and that are no references
    shown: Mapping[str, tuple[str, ...]]
    seeds: Mapping[Effort, int]  # runs of each case, by effort

    def choose(self, names: tuple[str, ...]) -> tuple[Track, ...]:
        """Tracks by name, in the suite's order; nothing for all."""
        known = [track.name for track in self.tracks]
        for name in names:
            if name not in known:
                raise unknown_name("track", name, known)
        return tuple(track for track in self.tracks if not names or track.name in names)

    def narrowed(self, splits: Collection[str] = (), hosts: Collection[int] = ()) -> Suite:
        """Return the suite with fewer cases."""
        sizes = [case.hosts for track in self.tracks for some in track.cases.values() for case in some]
        for split in splits:
            check_choice("split", split, SPLITS)
        for size in hosts:
            if size not in sizes:
                listed = ", ".join(map(str, sorted(set(sizes))))
                raise config_error("hosts", size, f"must be a size of {self.name}: {listed}")

        def left(case: BenchmarkCase) -> bool:
            return (not splits or case.split in splits) and (not hosts or case.hosts in hosts)

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

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Suite:
        """Read a suite from a TOML document, the form of the package's suites."""

        def by_kind(name: str, kinds: Sequence[str]) -> dict[str, tuple[str, ...]]:
            return {kind: tuple(settings.get(name, {}).get(kind, ())) for kind in kinds}

        return cls(
            name=settings["name"],
            title=settings["title"],
            references=by_kind("references", KINDS),
            shown=by_kind("shown", SHOWN),
            seeds=settings["seeds"],
            tracks=tuple(_track(name, table) for name, table in settings["tracks"].items()),
        )


@functools.cache
def _machine(typed: str) -> Dragonfly:
    return Dragonfly.from_dict(read_topology("machines", typed))


def _track(name: str, table: Mapping[str, Any]) -> Track:
    series_bin_ns = table.get("series_bin_ns")
    cases: dict[Effort, list[BenchmarkCase]] = {effort: [] for effort in EFFORTS}
    for block in table["cases"]:
        cases[block.get("effort", "full")] += _cases(name, series_bin_ns, block)
    return Track(
        name=name,
        title=table["title"],
        quantity=table["quantity"],
        after_ns=float(table.get("after_ns", 0.0)),
        cases={effort: tuple(some) for effort, some in cases.items()},
    )


def _cases(track: str, series_bin_ns: float | None, block: Mapping[str, Any]) -> Iterator[BenchmarkCase]:
    """Every combination of what one entry of ``cases`` lists."""
    usual = parse_loads("loads", block.get("loads", ()))
    machines = [(f"{hosts} hosts", str(hosts)) for hosts in block.get("hosts", ())]
    machines += block.get("machines", {}).items()
    for traffic in map(TrafficChoice.parse, block["traffic"]):
        loads = (1.0,) if traffic.traffic.is_closed_loop else traffic.loads or usual
        for network, (machine, typed), load in itertools.product(block["networks"], machines, loads):
            yield BenchmarkCase(
                track=track,
                split=block["split"],
                network=network,
                machine=machine,
                typed=typed,
                traffic=traffic,
                load=load,
                warmup_ns=float(block.get("warmup_ns", 0.0)),
                measure_ns=float(block["measure_ns"]),
                series_bin_ns=series_bin_ns,
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
    return Suite.from_dict(parse_toml(text, name))
