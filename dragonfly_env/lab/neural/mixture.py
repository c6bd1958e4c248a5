"""What a network is trained on, and by what it is chosen: scenarios listed in ``mixture.toml``, and workloads and
overload listed in ``applications.toml``.

They are the trainer's own, so that a network sees more than the cases of a suite. None of them is a case of the
suite's test split, nor has its pattern, its load of a known pattern, or a size that only occurs there: that is
checked whenever a mixture is read.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.checks.documents import parse_toml
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.lab.benchmark.training import why_in_test_split, why_workload_in_test_split
from dragonfly_env.sweeps.run import Point
from dragonfly_env.sweeps.scenario import Table, parse_loads
from dragonfly_env.traffic import Adversarial, ClosedLoop, DemandMatrix, Pattern, parse_traffic

KINDS = ("groups", "routers")
"""Whose destinations are drawn: those of whole groups, or of each router."""

MATCHED = "matched"
"""The name of ``matched_routers`` in mixtures."""


def random_demands(kind: str, topology: Dragonfly, targets: int, seed: int) -> DemandMatrix:
    """Every group, or router, sends to ``targets`` random others, each in another group, and hears from as many.

    Args:
        kind: One of ``KINDS``.
        topology: Where.
        targets: How many; one that is drawn twice gets twice as much.
        seed: Of the draws.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    count = topology.num_groups if kind == "groups" else topology.num_routers
    group = np.arange(count) // (count // topology.num_groups)
    matrix = np.zeros((count, count))
    for _ in range(targets):
        to = draws.permutation(count)
        while (inside := np.flatnonzero(group[to] == group)).size:
            for one, other in zip(inside, draws.integers(0, count, inside.size), strict=True):
                to[one], to[other] = to[other], to[one]
        matrix[np.arange(count), to] += 1
    return DemandMatrix(matrix)


def matched_routers(topology: Dragonfly, offset: int, seed: int) -> DemandMatrix:
    """Every router sends to one router so many groups ahead, and hears from one: which one is drawn.

    Under such demands the last local link to a router is full before all else. ``tornado`` is one of them: half way
    round, and with the routers in order.

    Args:
        topology: Where.
        offset: Groups, above 0 and below the number of groups.
        seed: Of the draws.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    routers, groups = topology.num_routers // topology.num_groups, topology.num_groups
    if not 0 < offset < groups:
        raise config_error("offset", offset, f"must be from 1 to {groups - 1}, the groups being {groups}")
    matrix = np.zeros((topology.num_routers, topology.num_routers))
    for group in range(groups):
        first = (group + offset) % groups * routers
        matrix[np.arange(group * routers, (group + 1) * routers), first + draws.permutation(routers)] = 1
    return DemandMatrix(matrix)


_STEADY = "mixture.toml"
_APPLICATIONS = "applications.toml"
_MOST_SEED = 2**31 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Mixture:
    """Scenarios to learn from, and others by which the best network is chosen."""

    training: tuple[Point, ...]
    validation: tuple[Point, ...]

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], suite: Suite) -> Mixture:
        """From a TOML document.

        Raises:
            ConfigError: For a mistake in it, or a scenario of the test split of ``suite``.
        """
        table = Table(settings)
        parts = {
            part: tuple(task for block in table.items(part) for task in _block(part, block, suite))
            for part in ("training", "validation")
        }
        table.finish()
        names = [task.traffic_label for tasks in parts.values() for task in tasks]
        for name in names:
            if names.count(name) > 1:
                raise config_error("mixture", name, "must be listed only once")
        return cls(**parts)

    def only(self, hosts: Sequence[int], patterns: Sequence[str], window_share: float) -> Mixture:
        """The scenarios of these sizes and patterns (none: all), with shorter windows.

        Raises:
            ConfigError: If no scenario to learn from is left.
        """

        def some(tasks: tuple[Point, ...]) -> tuple[Point, ...]:
            return tuple(
                _within(task, (task.warmup_ns + task.measure_ns) * window_share)
                for task in tasks
                if (not hosts or task.config.topology.num_hosts in hosts)
                and (not patterns or _pattern_name(task) in patterns)
            )

        left = Mixture(some(self.training), some(self.validation))
        if not left.training:
            raise config_error("hosts", tuple(hosts), f"must be sizes of the mixture with {tuple(patterns)}")
        return left


def own_mixture(suite: Suite, *, applications: bool) -> Mixture:
    """That of the package.

    Args:
        suite: None of its test split may be in it.
        applications: Whether workloads and overload are in it, as for ``neural-v2``.
    """
    files = (_STEADY, _APPLICATIONS) if applications else (_STEADY,)
    blocks: dict[str, list[Any]] = {"training": [], "validation": []}
    for file in files:
        text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        for part, listed in parse_toml(text, file).items():
            blocks[part] += listed
    return Mixture.from_dict(blocks, suite)


def _within(task: Point, duration_ns: float) -> Point:
    """With a third of a run before anything counts, in whole picoseconds. Workloads run to their end."""
    if task.closed_loop:
        return task
    warmup_ns = round(duration_ns / 3, 3)
    return dataclasses.replace(task, warmup_ns=warmup_ns, measure_ns=round(duration_ns - warmup_ns, 3))


def _block(part: str, value: object, suite: Suite) -> Iterator[Point]:
    """Every combination of what one entry lists."""
    table = Table(value, part)
    network = table.text("network", "")
    topology = _topology(table)
    duration_ns = table.time_ns("duration_ns", 0.0, 1.0)
    rows, workloads = table.items("traffic"), table.items("workloads")
    table.finish()
    for text in workloads:
        workload = parse_traffic(str(text))
        if not isinstance(workload, ClosedLoop):
            raise config_error(f"{part}.workloads", text, "must be workloads, which run to their end")
        if reason := why_workload_in_test_split(suite, workload, topology):
            raise config_error("mixture", str(text), f"must not be in it: {reason}")
        label = f"{text}, {topology.num_hosts} hosts, {network}"
        yield _task(label, topology, network, duration_ns, traffic=workload)
    for row in rows:
        choice = Table(row, f"{part}.traffic")
        label, pattern, offset = _pattern(choice, topology)
        loads = parse_loads(choice.items("loads"), choice.field("loads"))
        choice.finish()
        for load in loads:
            if reason := why_in_test_split(suite, label, offset, load, topology):
                raise config_error("mixture", f"{label} {load:g}", f"must not be in it: {reason}")
            name = f"{label} {load:g}, {topology.num_hosts} hosts, {network}"
            yield _task(
                name, topology, network, duration_ns, traffic=pattern, load=load, injection="bernoulli"
            )


def _task(label: str, topology: Dragonfly, network: str, duration_ns: float, **traffic: Any) -> Point:
    config = dfe.SimulationConfig(
        topology=topology, network=dfe.NetworkConfig.preset(network), policy="min", seed=1, **traffic
    )
    task = Point(
        policy_label="min", traffic_label=label, config=config, warmup_ns=0.0, measure_ns=duration_ns
    )
    return _within(task, duration_ns)


def _pattern_name(task: Point) -> str:
    """``adv+3``, ``matched:6/1``; of a workload its program alone: ``halo3d``."""
    return re.split(r"[:,]" if task.closed_loop else " ", task.traffic_label)[0]


def _topology(table: Table) -> dfe.Dragonfly:
    """A published system by its number of hosts, or one that is described by p, a and h."""
    hosts, described = table.take("hosts"), table.take("topology")
    if (hosts is None) == (described is None):
        raise config_error(table.field("hosts"), hosts, "must be given, or else topology, not both")
    if described is not None:
        return dfe.Dragonfly.from_dict(described)
    return dfe.Dragonfly.preset(str(check_integer(table.field("hosts"), hosts, 1, 2**31 - 1)))


def _pattern(choice: Table, topology: dfe.Dragonfly) -> tuple[str, Pattern, int | None]:
    """A pattern with its name in tables, and the offset in groups if it has one.

    The name is ``adv+3``, or ``groups:3/1`` for random demands (targets, seed), ``matched:6/1`` (offset, seed).
    """
    text = choice.text("pattern", "")
    if text not in (*KINDS, MATCHED):
        pattern = parse_traffic(text)
        if not isinstance(pattern, Pattern):
            raise config_error(choice.field("pattern"), text, "must be a pattern of its own")
        return text, pattern, pattern.offset if isinstance(pattern, Adversarial) else None
    if text == MATCHED:
        offset = choice.integer("offset", 1, 1, topology.num_groups - 1)
        seed = choice.integer("seed", 0, 0, _MOST_SEED)
        return f"{text}:{offset}/{seed}", matched_routers(topology, offset, seed), offset
    targets, seed = choice.integer("targets", 2, 1, 1000), choice.integer("seed", 0, 0, _MOST_SEED)
    return f"{text}:{targets}/{seed}", random_demands(text, topology, targets, seed), None
