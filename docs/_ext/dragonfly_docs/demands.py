"""Drawings of traffic: which router's hosts send to which router's, counted in a short run."""

from __future__ import annotations

import numpy as np

import dragonfly_env as dfe
from dragonfly_docs.systems import smallest_preset
from dragonfly_env import _core

FOLDER = "images/drawn"
_SIZE = 288
_MARGIN = 34


def _counts(example: str, topology: dfe.Dragonfly, *, closed_loop: bool) -> np.ndarray:
    config = dfe.SimulationConfig(
        topology=topology, traffic=example, load=0.3, policy="ugal-n", packet_log=True, seed=1
    )
    simulation = dfe.Simulation(config)
    if closed_loop:
        simulation.run_to_completion(1e6)
    else:
        simulation.run(20_000)
    log = simulation.packet_log()
    counts = np.zeros((topology.num_routers, topology.num_routers))
    router = topology.router_of_hosts()
    np.add.at(counts, (router[log["src"]], router[log["dst"]]), 1)
    return counts


def _drawing(counts: np.ndarray, group: int) -> str:
    routers = len(counts)
    cell = _SIZE / routers
    shades = np.sqrt(counts / max(counts.max(), 1))  # keeps few packets visible next to many
    squares: dict[str, list[str]] = {}  # squares by shade
    for y, x in np.argwhere(counts > 0):
        square = f"M{_MARGIN + x * cell:g} {_MARGIN + y * cell:g}h{cell:g}v{cell:g}h-{cell:g}z"
        squares.setdefault(f"{shades[y, x]:.2f}", []).append(square)
    cells = [
        f'<path fill="#1d4f91" fill-opacity="{shade}" d="{"".join(squares[shade])}"/>'
        for shade in sorted(squares)
    ]
    borders = [_MARGIN + k * cell for k in range(0, routers + 1, group)]
    lines = [
        f'<path d="M{_MARGIN} {at:g} h{_SIZE} M{at:g} {_MARGIN} v{_SIZE}" stroke="#c9d3e3"/>'
        for at in borders
    ]
    whole = _SIZE + _MARGIN + 10
    words = 'font-family="system-ui, sans-serif" font-size="12" fill="#555"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" width="{whole}" height="{whole}">',
            f'<rect width="{whole}" height="{whole}" rx="8" fill="#fff"/>',
            f'<text x="{_MARGIN}" y="22" {words}>to the hosts of router 0 ... {routers - 1}, group by group</text>',
            f'<text transform="translate(22 {_MARGIN + _SIZE}) rotate(-90)" {words}>from {routers - 1} ... 0</text>',
            *cells,
            *lines,
            "</svg>\n",
        ]
    )


def drawn_on(topology: str | None) -> bool:
    """Whether there is a drawing of what runs on this preset: larger networks would make larger files."""
    return topology == "72"


def demand_drawings() -> dict[str, str]:
    """A drawing for every pattern that a text can name and 72 hosts can run, by its path below ``docs/``."""
    drawn = {}
    for info in _core.patterns():
        if not info["example"] or not drawn_on(name := smallest_preset(traffic=info["example"])):
            continue
        topology = dfe.Dragonfly.preset(str(name))
        counts = _counts(info["example"], topology, closed_loop=info["closed_loop"])
        drawn[f"{FOLDER}/traffic-{info['name']}.svg"] = _drawing(counts, topology.a)
    return drawn
