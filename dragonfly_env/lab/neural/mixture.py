"""What a network is trained on, and by what it is chosen: scenarios listed in ``mixture.toml``.

They are the trainer's own, so that a network sees more than the cases of a suite. None of them is a case of the
suite's test split, nor has its pattern, its load of a known pattern, or a size that only occurs there: that is
checked whenever a mixture is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.checks.documents import parse_toml
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.lab.benchmark.training import why_in_test_split
from dragonfly_env.sweeps.run import Point
from dragonfly_env.sweeps.scenario import Table, parse_loads
from dragonfly_env.traffic import Adversarial, DemandMatrix, Pattern, parse_traffic

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


_FILE = "mixture.toml"
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
                and (not patterns or task.traffic_label.split(" ")[0] in patterns)
            )

        left = Mixture(some(self.training), some(self.validation))
        if not left.training:
            raise config_error("hosts", tuple(hosts), f"must be sizes of the mixture with {tuple(patterns)}")
        return left


def own_mixture(suite: Suite) -> Mixture:
    """That of ``neural-v1``."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return Mixture.from_dict(parse_toml(text, _FILE), suite)


def _within(task: Point, duration_ns: float) -> Point:
    """With a third of a run before anything counts, in whole picoseconds."""
    warmup_ns = round(duration_ns / 3, 3)
    return dataclasses.replace(task, warmup_ns=warmup_ns, measure_ns=round(duration_ns - warmup_ns, 3))


def _block(part: str, value: object, suite: Suite) -> Iterator[Point]:
    """Every combination of what one entry lists."""
    table = Table(value, part)
    network = table.text("network", "")
    topology = _topology(table)
    duration_ns = table.time_ns("duration_ns", 0.0, 1.0)
    rows = table.items("traffic")
    table.finish()
    for row in rows:
        choice = Table(row, f"{part}.traffic")
        label, pattern, offset = _pattern(choice, topology)
        loads = parse_loads(choice.items("loads"), choice.field("loads"))
        choice.finish()
        for load in loads:
            if reason := why_in_test_split(suite, label, offset, load, topology):
                raise config_error("mixture", f"{label} {load:g}", f"must not be in it: {reason}")
            task = Point(
                policy_label="min",
                traffic_label=f"{label} {load:g}, {topology.num_hosts} hosts, {network}",
                config=dfe.SimulationConfig(
                    topology=topology,
                    network=dfe.NetworkConfig.preset(network),
                    traffic=pattern,
                    load=load,
                    injection="bernoulli",
                    policy="min",
                    seed=1,
                ),
                warmup_ns=0.0,
                measure_ns=duration_ns,
            )
            yield _within(task, duration_ns)


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
