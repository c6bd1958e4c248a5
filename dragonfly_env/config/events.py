"""``LinkEvent``: a link that fails, or comes back, while a run goes on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, config_error, ns_to_ps, parse_time
from dragonfly_env.config.rows import Record, boolean, setting, show_changes, time_ns

_MOST = 2**31 - 1
_EXAMPLE = "must be a time, a link and down or up, e.g. 50us:17:9:down"


def check_link(name: str, value: object) -> tuple[int, int]:
    """A link by a router at one of its ends and the port there: a pair, or text such as ``"17:9"``."""
    ends: Any = value.split(":") if isinstance(value, str) else value
    try:
        router, port = (int(end) for end in ends)
    except (TypeError, ValueError):
        raise config_error(name, value, "must be a router and its port, e.g. 17:9") from None
    return check_integer(name, router, 0, _MOST), check_integer(name, port, 0, _MOST)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class LinkEvent(Record):
    """A link of a ``Dragonfly`` that fails, or comes back, during a run: an item of ``SimulationConfig.events``.

    Nothing is lost: a link that fails sends nothing more, and what has left its port arrives. Routers know of the event
    ``SimulationConfig.event_notice_ns`` later; until then packets for the link wait in front of it.

    Raises:
        ConfigError: From ``SimulationConfig``, if there is no such link, or if it is dead, or alive, already.

    Example:
        >>> events = [
        ...     dfe.LinkEvent(time_ns=5_000, link=(0, 5), up=False),
        ...     dfe.LinkEvent(time_ns=10_000, link=(0, 5), up=True),
        ... ]
        >>> config = dfe.SimulationConfig(topology="72", events=events)
        >>> print(*config.events)
        5000ns:0:5:down 10000ns:0:5:up
    """

    called: ClassVar[str] = "an event of a link"
    time_ns: float = time_ns(dataclasses.MISSING, open_low=True, doc="Time of the event.")  # type: ignore[arg-type]
    link: tuple[int, int] = setting(
        dataclasses.MISSING,
        check_link,
        "",
        "The link, by a router at one of its ends and the port there; parallel links of the port change together.",
        allowed="a pair of router and port; in text 17:9",
    )
    up: bool = boolean(False, doc="Whether the link comes back; otherwise it fails.")

    def __repr__(self) -> str:
        return show_changes(self)

    def __str__(self) -> str:
        return f"{self.time_ns:g}ns:{self.link[0]}:{self.link[1]}:{'up' if self.up else 'down'}"

    def to_core(self) -> tuple[int, int, int, bool]:
        """Time in ps, router, port, and whether the link comes back."""
        return ns_to_ps("time_ns", self.time_ns), *self.link, self.up


def parse_events(name: str, value: object) -> tuple[LinkEvent, ...]:
    """Events from what a user gives: objects, tables, or texts ``"50us:17:9:down"``; several links are separated by
    slashes, and several events in one text by commas.
    """
    if isinstance(value, str):
        value = [item for item in value.split(",") if item.strip()]
    if isinstance(value, (Mapping, LinkEvent)) or not isinstance(value, Iterable):
        raise config_error(name, value, "must be a list of events")
    events: list[LinkEvent] = []
    for item in value:
        if isinstance(item, LinkEvent):
            events.append(item)
        elif isinstance(item, Mapping):
            events.append(LinkEvent.from_dict(item))
        elif isinstance(item, str):
            events += _typed(name, item)
        else:
            raise config_error(name, item, _EXAMPLE)
    return tuple(sorted(events, key=lambda event: (event.time_ns, event.link, event.up)))


def _typed(name: str, text: str) -> list[LinkEvent]:
    """Events as a person types them."""
    time, _, rest = text.strip().partition(":")
    links, _, change = rest.rpartition(":")
    if change not in ("down", "up") or not links:
        raise config_error(name, text, _EXAMPLE)
    return [
        LinkEvent(time_ns=parse_time(name, time), link=check_link(name, link), up=change == "up")
        for link in links.split("/")
    ]


def check_events(topology: _core.Topology, events: tuple[LinkEvent, ...], notice_ns: float) -> None:
    """Raise ``ConfigError`` if links do not exist, or if routers cannot reach each other after an event."""
    if events:
        _core.check_link_events(
            topology, [event.to_core() for event in events], ns_to_ps("event_notice_ns", notice_ns)
        )
