"""Drawings as SVG: a network with its real links, paths through it, and the inside of a router."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from itertools import pairwise

import dragonfly_env as dfe

_SIZE = 560
_SMALL_PLUS = dfe.Dragonfly(p=2, h=2, group=dfe.LeafSpine(leaves=2, spines=2))
_STYLE = """\
<style>
  text { font: 13px system-ui, sans-serif; fill: #333 } .small { font-size: 11px; fill: #666 }
  .group { fill: #f2f5fa; stroke: #c9d3e3 } .router { fill: #fff; stroke: #345 } .host { fill: #9aa9bd }
  .local { stroke: #9fb3d1 } .global { stroke: #d9d9d9 } .box { fill: #f2f5fa; stroke: #7d90ad }
  .cross { stroke: #b91c1c; stroke-width: 3 }
  .dead { stroke: #b91c1c; stroke-width: 1.5; stroke-dasharray: 5 4 }
  .line { stroke: #345; fill: none } .minimal { stroke: #1a7f37; stroke-width: 3; fill: none }
  .nonminimal { stroke: #c2410c; stroke-width: 3; fill: none }
  .fill-minimal { fill: #1a7f37 } .fill-intermediate { fill: #c2410c }
  .packet { fill: #4f7cc4 }
</style>
"""

Point = tuple[float, float]


def _svg(width: int, height: int, parts: Iterable[str]) -> str:
    markers = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{size}" markerHeight="{size}" '
        f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{color}"/></marker>'
        for name, color, size in (
            ("tip", "#345", 7),
            ("tip-minimal", "#1a7f37", 4),
            ("tip-nonminimal", "#c2410c", 4),
        )
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    ground = f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>'
    return "\n".join([head, _STYLE, f"<defs>{markers}</defs>", ground, *parts, "</svg>"]) + "\n"


def _line(a: Point, b: Point, kind: str, tip: str = "") -> str:
    end = f' marker-end="url(#{tip})"' if tip else ""
    return f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" class="{kind}"{end}/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{text}</text>'


def _circle(centre: Point, radius: float, kind: str) -> str:
    return f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius}" class="{kind}"/>'


class _Map:
    """Positions of the groups, routers and hosts in the drawing of a small network."""

    def __init__(self, topology: dfe.Dragonfly) -> None:
        self.topology = topology
        self.groups = [self._on_circle(g / topology.num_groups, 205) for g in range(topology.num_groups)]

    @staticmethod
    def _on_circle(turn: float, radius: float, centre: Point = (_SIZE / 2, _SIZE / 2)) -> Point:
        angle = 2 * math.pi * turn - math.pi / 2
        return centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)

    def router(self, number: int) -> Point:
        group, index = self._place(number)
        if isinstance(shape := self.topology.group, dfe.LeafSpine):
            row, out = (shape.leaves, 12) if index < shape.leaves else (shape.spines, -30)
            return self._in_row(group, (index % shape.leaves - (row - 1) / 2) * 56, out)
        return self._on_circle((index + 0.5) / self.topology.a, 31, self.groups[group])

    def host(self, router: int, slot: int) -> Point:
        group, index = self._place(router)
        aside = slot - (self.topology.p - 1) / 2
        if isinstance(shape := self.topology.group, dfe.LeafSpine):
            return self._in_row(group, (index - (shape.leaves - 1) / 2) * 56 + aside * 16, 36)
        turn = (index + 0.5) / self.topology.a + aside * 0.07
        return self._on_circle(turn, 48, self.groups[group])

    def _place(self, router: int) -> tuple[int, int]:
        """The group of a router, and its place there."""
        return self.topology.group_of(router), int(self.topology.place_of_routers()[router])

    def _in_row(self, group: int, aside: float, out: float) -> Point:
        """A point of a group, from its middle: along the circle of groups, and away from the middle of the network."""
        angle = 2 * math.pi * group / self.topology.num_groups - math.pi / 2
        x, y = self.groups[group]
        return (
            x + out * math.cos(angle) - aside * math.sin(angle),
            y + out * math.sin(angle) + aside * math.cos(angle),
        )

    def links(self) -> list[str]:
        topology, drawn = self.topology, []
        for router in range(topology.num_routers):
            for port in range(topology.p, topology.radix):
                end = topology.neighbor(router, port)
                if end is not None and end[0] > router:
                    drawn.append(_line(self.router(router), self.router(end[0]), topology.port_kind(port)))
        return sorted(drawn, key=lambda line: "local" in line)  # global ones below

    def network(self) -> list[str]:
        topology = self.topology
        parts = [_circle(centre, 58, "group") for centre in self.groups] + self.links()
        for router in range(topology.num_routers):
            for slot in range(topology.hosts_of_routers()[router]):
                spot = self.host(router, slot)
                parts += [_line(self.router(router), spot, "local"), _circle(spot, 3, "host")]
            parts.append(_circle(self.router(router), 6, "router"))
        for group, (x, y) in enumerate(self.groups):
            parts.append(_text(x, y + 4, str(group), "small"))
        return parts

    def path(self, routers: list[int], kind: str) -> list[str]:
        hops = pairwise(map(self.router, routers))
        return [_line(self._before(b, a), self._before(a, b), kind, f"tip-{kind}") for a, b in hops]

    @staticmethod
    def _before(end: Point, start: Point) -> Point:
        """The point where a line from ``start`` leaves the circle of the router there."""
        length = math.dist(start, end)
        return (start[0] + (end[0] - start[0]) * 7 / length, start[1] + (end[1] - start[1]) * 7 / length)


def _failures_drawing() -> str:
    topology = dfe.Dragonfly.preset("72", failed="global_links=0.08+router_numbers=7")
    drawn = _Map(topology)
    links = topology.dead_links().tolist()
    dead = [
        _line(drawn.router(router), drawn.router(peer), "dead")
        for router, _, peer, _ in links
        if router < peer
    ]
    for router in topology.dead_routers().tolist():
        x, y = drawn.router(router)
        dead += [_line((x - 7, y - s * 7), (x + 7, y + s * 7), "cross") for s in (1, -1)]
    return _svg(_SIZE, _SIZE, [*drawn.network(), *dead])


def minimal_way(topology: dfe.Dragonfly, source: int, destination: int) -> list[int]:
    """The routers of a shortest path."""
    way = [source]
    while way[-1] != destination:
        end = topology.neighbor(way[-1], topology.minimal_port(way[-1], destination))
        assert end is not None  # minimal ports lead somewhere
        way.append(end[0])
    return way


def _example(topology: dfe.Dragonfly) -> tuple[list[int], list[int]]:
    """A minimal path of three hops and one of six by another group, which meet only at their ends."""
    a = topology.a
    for source, intermediate, destination in itertools.product(
        range(a), range(3 * a, 4 * a), range(6 * a, 7 * a)
    ):
        minimal = minimal_way(topology, source, destination)
        long = (
            minimal_way(topology, source, intermediate) + minimal_way(topology, intermediate, destination)[1:]
        )
        if len(minimal) == 4 and len(long) == 7 and len({*minimal, *long}) == 9:
            return minimal, long
    raise LookupError("no such paths in this network")


def _paths_drawing() -> str:
    topology = dfe.Dragonfly.preset("72")
    drawn = _Map(topology)
    minimal, long = _example(topology)
    source, intermediate, destination = long[0], long[3], long[-1]
    legend = [
        _line((14, 20), (44, 20), "minimal", "tip-minimal"),
        _text(52, 24, f"minimal: {len(minimal) - 1} hops", anchor="start"),
        _line((14, 42), (44, 42), "nonminimal", "tip-nonminimal"),
        _text(52, 46, f"non-minimal (lgl): {len(long) - 1} hops", anchor="start"),
    ]
    ends = [
        _circle(drawn.router(source), 6, "fill-minimal"),
        _circle(drawn.router(destination), 6, "fill-minimal"),
        _circle(drawn.router(intermediate), 6, "fill-intermediate"),
    ]
    paths = [*drawn.path(long, "nonminimal"), *drawn.path(minimal, "minimal")]
    return _svg(_SIZE, _SIZE, [*drawn.network(), *paths, *ends, *legend])


def _box(x: int, y: int, width: int, height: int, text: str = "") -> str:
    label = _text(x + width / 2, y + height / 2 + 4, text) if text else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" class="box"/>{label}'


def _queue(x: int, y: int, height: int, packets: int) -> list[str]:
    """Packets in a buffer, the first one at x."""
    form = f'y="{y}" width="11" height="{height}" class="packet"'
    return [f'<rect x="{x - 14 * k}" {form}/>' for k in range(packets)]


def _router_drawing() -> str:
    parts = [_box(300, 40, 90, 190, "crossbar")]
    for row, port in enumerate(("host", "local", "global")):
        y = 50 + 64 * row
        parts += [_text(40, y + 26, port, anchor="start"), _line((88, y + 22), (126, y + 22), "line", "tip")]
        for vc in range(1 if port == "host" else 3):
            parts += [_box(130, y + 15 * vc, 110, 13), *_queue(226, y + 15 * vc + 2, 9, 3 - vc)]
        parts += [
            _line((244, y + 22), (296, y + 22), "line", "tip"),
            _line((392, y + 22), (436, y + 22), "line", "tip"),
            _box(440, y + 8, 84, 28),
            *_queue(508, y + 15, 14, row + 1),
            _line((526, y + 22), (572, y + 22), "line", "tip"),
            _text(580, y + 26, port, anchor="start"),
        ]
    parts += [
        _text(185, 28, "input buffers, one per VC"),
        _text(482, 28, "output queues"),
        _text(
            320,
            262,
            "the router decides when a packet's head arrives; the decision takes effect one routing delay later",
            "small",
        ),
        _text(320, 280, "a packet leaves when the next router has room for all of it: one credit", "small"),
    ]
    return _svg(640, 296, parts)


def _decision_drawing() -> str:
    parts = [_line((40, 110), (600, 110), "line", "tip"), _text(606, 130, "time", "small", "end")]
    for k, x in enumerate((90, 130, 190, 230)):
        parts += [_circle((x, 110), 5, "packet"), _line((x, 104), (x, 66 - 12 * (k % 2)), "local")]
        parts.append(_line((x, 116), (x + 250, 160), "nonminimal", "tip-nonminimal"))
    parts += [
        _text(160, 40, "routers decide"),
        _text(410, 182, "actions take effect, each one routing delay later"),
        '<rect x="80" y="94" width="164" height="32" rx="6" fill="none" stroke="#1a7f37" stroke-dasharray="5 4"/>',
        _text(256, 98, "one batch: at most one routing delay long", "fill-minimal", "start"),
    ]
    return _svg(640, 200, parts)


def _span(x: int, y: int, to: int, text: str, kind: str) -> list[str]:
    """A time from x to another x, with its ends and a label."""
    ends = [_line((end, y - 7), (end, y + 7), kind) for end in (x, to)]
    return [_line((x, y), (to, y), kind), *ends, _text((x + to) / 2, y - 8, text, f"fill-{kind}")]


def _credit_drawing() -> str:
    parts = [_line((40, 112), (690, 112), "line", "tip"), _text(694, 132, "time", "small", "end")]
    for x, above, below in (
        (90, "router A decides", "observation, mask, action"),
        (350, "router B decides", "next observation, next mask"),
        (600, "delivered", "done"),
    ):
        parts += [_circle((x, 112), 6, "packet"), _line((x, 104), (x, 76), "local")]
        parts += [_text(x, 66, above), _text(x, 136, below, "small")]
    parts += [_text(220, 102, "queue, link", "small"), _text(475, 102, "queue, links", "small")]
    parts += _span(90, 176, 350, 'A: reward "hop"', "minimal")
    parts += _span(350, 176, 600, 'B: reward "hop"', "minimal")
    parts += _span(90, 216, 600, 'A: reward "delivery"', "nonminimal")
    parts += _span(350, 254, 600, 'B: reward "delivery"', "nonminimal")
    above = "One packet, two decisions: which time each reward of transitions() covers."
    below = 'With "delivery" a transition ends at the delivery and has no next decision.'
    return _svg(
        720, 306, [*parts, _text(40, 28, above, "", "start"), _text(40, 290, below, "small", "start")]
    )


def drawings() -> dict[str, str]:
    """The drawings by their path below ``docs/``; what is not in ``images/drawn`` is committed."""
    return {
        "images/drawn/network.svg": _svg(_SIZE, _SIZE, _Map(dfe.Dragonfly.preset("72")).network()),
        "images/drawn/dragonfly-plus.svg": _svg(_SIZE, _SIZE, _Map(_SMALL_PLUS).network()),
        "images/drawn/failures.svg": _failures_drawing(),
        "images/drawn/paths.svg": _paths_drawing(),
        "images/drawn/router.svg": _router_drawing(),
        "images/decision.svg": _decision_drawing(),
        "images/credit.svg": _credit_drawing(),
    }
