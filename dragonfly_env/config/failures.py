"""``Failures``: links and routers of a machine that do not work."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, config_error, parse_assignments
from dragonfly_env.config.rows import Record, integer, real, setting, show_changes

_MOST = 2**31 - 1


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
    """Links and routers of a ``Dragonfly`` that do not work: shares, which are drawn, and lists.

    A share of n links is that of ``round(share * n)`` links, all sets alike; the draws follow from ``seed`` and the
    wiring alone. A dead link carries nothing in either direction; parallel links of one port die together. A dead
    router has no links, and its hosts neither send nor receive. Shares count links between live and dead routers alike.

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

    def __repr__(self) -> str:
        return show_changes(self)

    def __str__(self) -> str:
        return "+".join(f"{name}={value}" for name, value in self._typed().items())

    def _typed(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as a person types them."""
        texts: dict[str, Any] = {}
        for name, value in self.to_dict().items():
            if name == "links":
                value = "/".join(f"{router}:{port}" for router, port in value)
            elif name == "router_numbers":
                value = "/".join(map(str, value))
            if value and not (name == "seed" and value == 1):
                texts[name] = value
        return texts

    def to_dict(self) -> Any:
        """The fields that differ from their defaults, for TOML and JSON."""
        values = Record.to_dict(self)
        return {
            name: value
            for name, value in values.items()
            if value not in (0.0, []) and (name, value) != ("seed", 1)
        }

    def drawn_on(self, whole: _core.Topology) -> tuple[list[tuple[int, int]], list[int]]:
        """The dead links, each by one end, and the dead routers of a whole machine.

        Raises:
            ConfigError: If there is no such link or router.
        """
        ends = whole.links().astype(np.int64)
        links = ends[(ends[:, 0] < ends[:, 2])]
        is_global = whole.group_of_routers()[links[:, 0]] != whole.group_of_routers()[links[:, 2]]
        random = np.random.default_rng([self.seed, whole.num_routers, whole.radix])
        dead = [
            *_drawn(random, links[is_global, :2], self.global_links),
            *_drawn(random, links[~is_global, :2], self.local_links),
        ]
        routers = [int(row[0]) for row in _drawn(random, np.arange(whole.num_routers)[:, None], self.routers)]
        known = {(router, port) for router, port, _, _ in ends.tolist()}
        for link in self.links:
            if link not in known:
                raise config_error(
                    "failed.links", f"{link[0]}:{link[1]}", "must be a router and a port with a link"
                )
        for router in self.router_numbers:
            check_integer("failed.router_numbers", router, 0, whole.num_routers - 1)
        return (
            sorted({(int(router), int(port)) for router, port in dead} | set(self.links)),
            sorted({*routers, *self.router_numbers}),
        )


def _drawn(random: np.random.Generator, rows: npt.NDArray[np.int64], share: float) -> list[list[int]]:
    """A share of the rows, without repetition. All sets of rows of that size are alike."""
    chosen = random.permutation(len(rows))[: round(share * len(rows))]
    return rows[np.sort(chosen)].tolist()  # type: ignore[no-any-return]


def parse_failures(value: object) -> Failures | None:
    """Failures from what a user gives: the object, its table, or its text, ``"global_links=0.02+seed=1"``; nothing
    dead becomes None.
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
    shares = failed is not None and (failed.global_links or failed.local_links or failed.routers)
    return failed if failed is not None and (shares or failed.links or failed.router_numbers) else None
