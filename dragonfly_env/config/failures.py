"""``Failures``: links and routers of a machine that do not work, and links that carry a share of their rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, check_real, config_error, parse_assignments
from dragonfly_env.config.rows import Record, integer, real, setting, show_changes

_MOST = 2**31 - 1
_LEAST_RATE = 0.01


def _check_links(name: str, value: object) -> tuple[tuple[int, int], ...]:
    pairs = []
    for item in _items(name, value):
        ends = item.split(":") if isinstance(item, str) else item
        try:
            router, port = (int(end) for end in ends)
        except (TypeError, ValueError):
            raise config_error(name, item, "must be a router and its port, e.g. 17:9") from None
        pairs.append((check_integer(name, router, 0, _MOST), check_integer(name, port, 0, _MOST)))
    return tuple(sorted(set(pairs)))


def _check_rates(name: str, value: object) -> tuple[tuple[int, int, float], ...]:
    if isinstance(value, Mapping):
        value = [(*ends, rate) if isinstance(ends, tuple) else (ends,) for ends, rate in value.items()]
    rates: dict[tuple[int, int], float] = {}
    for item in _items(name, value):
        parts = item.split(":") if isinstance(item, str) else item
        try:
            router, port, rate = int(parts[0]), int(parts[1]), float(parts[2])
        except (TypeError, ValueError, IndexError):
            raise config_error(
                name, item, "must be a router, its port and a share of the rate, e.g. 17:9:0.5"
            ) from None
        end = check_integer(name, router, 0, _MOST), check_integer(name, port, 0, _MOST)
        rates[end] = check_real(name, rate, _LEAST_RATE, 1.0)
    return tuple((*end, rate) for end, rate in sorted(rates.items()))


def _check_routers(name: str, value: object) -> tuple[int, ...]:
    numbers = []
    for item in _items(name, value):
        given = int(item) if isinstance(item, str) and item.isdecimal() else item
        numbers.append(check_integer(name, given, 0, _MOST))
    return tuple(sorted(set(numbers)))


def _items(name: str, value: object) -> Iterable[Any]:
    """The items of a list; text and a number are those that a person types, separated by slashes."""
    if isinstance(value, str):
        return [item for item in value.split("/") if item.strip()]
    if isinstance(value, int):
        return [value]
    if not isinstance(value, Iterable):
        raise config_error(name, value, "must be a list")
    return value


def _share(doc: str) -> Any:
    return real(0.0, 0.0, 1.0, doc=doc)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Failures(Record):
    """Links and routers of a ``Dragonfly`` that do not work, and degraded links: shares, which are drawn, and lists.

    A share of n links is that of ``round(share * n)`` links, all sets alike; the draws follow from ``seed`` and the
    wiring alone. A dead link carries nothing in either direction; parallel links of one port die together. A dead
    router has no links, and its hosts neither send nor receive. Shares count links between live and dead routers alike.
    A degraded link carries a share of its rate in both directions: a packet takes longer on it, and shortest paths take
    no notice. A link that is dead, too, is dead.

    Raises:
        ConfigError: If a share is out of range; from ``Dragonfly``, if there is no such link or router, or if live
            routers cannot reach each other any more.

    Example:
        >>> failed = dfe.Failures(global_links=0.02, seed=1)
        >>> topology = dfe.Dragonfly.preset("1056", failed=failed)
        >>> topology.num_dead_links, len(topology.relayed_groups())
        (11, 11)
        >>> failed = dfe.Failures(links=[(0, 5)], router_numbers=[7])
        >>> dfe.Dragonfly.preset("72", failed=failed).num_dead_links
        6
        >>> slow = dfe.Failures(degraded_links={(0, 5): 0.25})
        >>> float(dfe.Dragonfly.preset("72", failed=slow).link_rates().min())
        0.25
    """

    called: ClassVar[str] = "a record of failures"
    global_links: float = _share("Share of the links between groups that are dead.")
    local_links: float = _share("Share of the links inside groups that are dead.")
    routers: float = _share("Share of the routers that are dead.")
    seed: int = integer(1, 0, 2**63 - 1, doc="Seed of the draws.")
    links: tuple[tuple[int, int], ...] = setting(
        (),
        _check_links,
        "",
        "Dead links, each by a router at one of its ends and the port there.",
        allowed="pairs of router and port; in text 17:9/20:5",
    )
    router_numbers: tuple[int, ...] = setting(
        (), _check_routers, "", "Dead routers by number.", allowed="numbers; in text 3/12"
    )
    degraded_global_links: float = _share("Share of the links between groups that are degraded.")
    degraded_rate: float = real(
        0.5, _LEAST_RATE, 1.0, doc="Share of its rate that a link of degraded_global_links carries."
    )
    degraded_links: tuple[tuple[int, int, float], ...] = setting(
        (),
        _check_rates,
        "",
        "Degraded links, each by a router at one of its ends, the port there and the share of its rate.",
        allowed="rows of router, port and share, or a mapping; in text 17:9:0.5/20:5:0.25",
    )

    def __repr__(self) -> str:
        return show_changes(self)

    def __str__(self) -> str:
        return "+".join(f"{name}={value}" for name, value in self._typed().items())

    def _typed(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as a person types them."""
        texts: dict[str, Any] = {}
        for name, value in self.to_dict().items():
            if name in ("links", "degraded_links"):
                value = "/".join(":".join(map(str, row)) for row in value)
            elif name == "router_numbers":
                value = "/".join(map(str, value))
            texts[name] = value
        return texts

    def to_dict(self) -> Any:
        """The fields that differ from their defaults, for TOML and JSON."""
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        values = Record.to_dict(self)
        return {name: value for name, value in values.items() if getattr(self, name) != defaults[name]}

    def drawn_on(self, whole: _core.Topology) -> tuple[list[tuple[int, int]], list[int]]:
        """The dead links, each by one end, and the dead routers of a whole machine.

        Raises:
            ConfigError: If there is no such link or router.
        """
        links, is_global = _links_of(whole)
        random = np.random.default_rng([self.seed, whole.num_routers, whole.radix])
        dead = [
            *_drawn(random, links[is_global, :2], self.global_links),
            *_drawn(random, links[~is_global, :2], self.local_links),
        ]
        routers = [int(row[0]) for row in _drawn(random, np.arange(whole.num_routers)[:, None], self.routers)]
        known = _far_ends(whole)
        for end in self.links:
            _check_end("failed.links", end, known)
        for router in self.router_numbers:
            check_integer("failed.router_numbers", router, 0, whole.num_routers - 1)
        return (
            sorted({(int(router), int(port)) for router, port in dead} | set(self.links)),
            sorted({*routers, *self.router_numbers}),
        )

    def degraded_on(self, whole: _core.Topology) -> list[tuple[int, int, float]]:
        """The degraded links of a whole machine: router, port and share of the rate, a row for each end.

        Raises:
            ConfigError: If there is no such link.
        """
        links, is_global = _links_of(whole)
        random = np.random.default_rng([self.seed, whole.num_routers, whole.radix, 1])
        drawn = _drawn(random, links[is_global, :2], self.degraded_global_links)
        rates = dict.fromkeys(((router, port) for router, port in drawn), self.degraded_rate)
        far = _far_ends(whole)
        for router, port, rate in self.degraded_links:
            _check_end("failed.degraded_links", (router, port), far)
            rates.pop(far[router, port], None)
            rates[router, port] = rate
        return [(*end, rate) for near, rate in rates.items() if rate < 1.0 for end in (near, far[near])]


def _links_of(whole: _core.Topology) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """(L, 4) each link once, by its lower router, and (L,) whether it joins two groups."""
    ends = whole.links().astype(np.int64)
    links = ends[ends[:, 0] < ends[:, 2]]
    groups = whole.group_of_routers()
    return links, groups[links[:, 0]] != groups[links[:, 2]]


def _far_ends(whole: _core.Topology) -> dict[tuple[int, int], tuple[int, int]]:
    """The router and port at the other end of every router and port with a link."""
    return {(router, port): (peer, back) for router, port, peer, back in whole.links().tolist()}


def _check_end(field: str, end: tuple[int, int], known: Mapping[tuple[int, int], object]) -> None:
    if end not in known:
        raise config_error(field, f"{end[0]}:{end[1]}", "must be a router and a port with a link")


def _drawn(random: np.random.Generator, rows: npt.NDArray[np.int64], share: float) -> list[list[int]]:
    """A share of the rows, without repetition. All sets of rows of that size are alike."""
    chosen = random.permutation(len(rows))[: round(share * len(rows))]
    return rows[np.sort(chosen)].tolist()  # type: ignore[no-any-return]


def parse_failures(value: object) -> Failures | None:
    """Failures from what a user gives: the object, its table, or its text, ``"global_links=0.02+seed=1"``; nothing
    dead or degraded becomes None.
    """
    if value is None or isinstance(value, Failures):
        failed = value
    elif isinstance(value, str):
        failed = Failures.from_dict(parse_assignments(value.replace("+", ","), "failed"))
    elif isinstance(value, Mapping):
        failed = Failures.from_dict(value)
    else:
        raise config_error(
            "failed", value, "must be Failures(...), a table or text such as global_links=0.02"
        )
    without_effect = {"seed", "degraded_rate"}
    return failed if failed is not None and failed.to_dict().keys() - without_effect else None
