"""Parameters of Aries and its machines that are not public: AR01, AR04 and AR07 by parameter, in small runs.

Levels, ties, where and how often is decided, how large messages and packets are, and what else runs. A variant is a
kind of runs of its own, which no claim names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from matplotlib.figure import Figure

from dragonfly_env.colors import REFERENCE, SERIES, SPAN
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.lab.papers.aries_points import BOTH, JOB_HOSTS, SIZES, ensemble, in_the_mix, mix_of
from dragonfly_env.lab.papers.claims import of_pair
from dragonfly_env.lab.papers.findings import Findings, NotFoundYetError
from dragonfly_env.lab.papers.job_metrics import RUN_TIME, tile_metric
from dragonfly_env.lab.papers.paired import Comparison, paired_ratio, reduction_of
from dragonfly_env.lab.papers.paper import Effort, Settings
from dragonfly_env.plots.style import grid
from dragonfly_env.sweeps.point import Point


def _small_packets() -> Settings:
    """Settings that make the usual network that of packets of 64 bytes."""
    small, usual = NetworkConfig.preset("aries"), NetworkConfig.preset("aries-256")
    names = [field.name for field in fields(small)]
    return tuple(
        (name, getattr(small, name)) for name in names if getattr(small, name) != getattr(usual, name)
    )


def _small_buffers() -> Settings:
    """An eighth of a tile for a virtual channel on copper instead of half of one, as if eight shared it evenly. Levels
    stay: they are parts of the largest buffer, that of rank 3.
    """
    usual = NetworkConfig.preset("aries-256").links
    links = tuple(
        (name, link if name == "rank-3" else replace(link, buffer_packets=link.buffer_packets // 4))
        for name, link in usual
        if link.buffer_packets is not None
    )
    return (("links", links),)


DISPERSED = ("random-routers", "groups=6")
"""Placements of milc. A placement on one group leaves its messages no choice of a path between groups."""

_SHOWN = (
    ("milc", reduction_of, RUN_TIME, "AR01: 1 - AD3 / AD0, milc in the mix", (0.05, 0.20)),
    ("hacc", reduction_of, RUN_TIME, "AR04: the same, hacc on two groups", (-0.10, -0.005)),
    (
        "stalls",
        paired_ratio,
        tile_metric("network", "ratio"),
        "AR07: stalls per flit, AD3 / AD0, 8 milc of 64",
        (0.35, 0.8),
    ),
)


_TRIED: dict[str, dict[str, Any]] = {
    "as everywhere": {},
    "level_empty=0": {"modes": {"level_empty": 0}},
    "levels=16": {"modes": {"levels_near": 16, "levels_far": 16}},
    "levels=32": {"modes": {"levels_near": 32, "levels_far": 32}},
    "levels=48": {"modes": {"levels_near": 48, "levels_far": 48}},
    "wire_share=0": {"modes": {"wire_share": 0}},
    "ties=random": {"modes": {"ties": "random"}},
    "levels=32, ties=random": {"modes": {"levels_near": 32, "levels_far": 32, "ties": "random"}},
    "gateways=nearest": {"modes": {"gateways": "nearest"}},
    "gateways=nearest, ties=random": {"modes": {"gateways": "nearest", "ties": "random"}},
    "decide=source": {"modes": {"decide": "source"}},
    "in_group=false": {"modes": {"in_group": False}},
    "in_destination_group=true": {"modes": {"in_destination_group": True}},
    "later_nonminimal=any": {"modes": {"later_nonminimal": "any"}},
    "buffers / 4": {"network": _small_buffers()},
    "packets of 64 bytes": {"network": _small_packets(), "only_milc": True},
    "fill=0.6": {"fill": 0.6},
    "fill=1": {"fill": 1.0},
    "messages x 5": {"messages": 5.0, "only_milc": True},
    "mix's messages x 5": {"mix_messages": 5.0, "only_milc": True},
}
"""Arguments of `_points`, by name."""


def open_points(effort: Effort) -> tuple[Point, ...]:
    """Points of up to three experiments for all that is tried, in the sizes of a quick run; in a full run only."""
    if effort.name == "quick":
        return ()
    return tuple(point for name, tried in _TRIED.items() for point in _points(effort, name, **tried))


def _points(
    effort: Effort,
    name: str,
    *,
    modes: Mapping[str, Any] | None = None,  # parameters of all modes, see docs/aries.md
    fill: float | None = None,  # part of the machine that the mix fills
    messages: float = 1.0,  # messages of the watched job and the mix are so many times as large
    mix_messages: float = 1.0,  # messages of the mix, on top of that
    network: Settings = (),  # differences from the usual network
    only_milc: bool = False,  # leave out the other experiments: they lack what differs, or take too long
) -> tuple[Point, ...]:
    """The experiments of a variant."""
    quick = SIZES["quick"]
    size = replace(quick, scale=messages * quick.scale)
    filling = {} if fill is None else {"fill": fill}
    mix = mix_of(size, **{**filling, "scale": mix_messages * size.scale})
    common: dict[str, Any] = {
        "sizing": size,
        "modes": [replace(mode, settings=tuple((modes or {}).items())) for mode in BOTH],
        "network": dict(network),
    }
    mixed = {"mix": mix, "packet_log": False, **common}
    points = in_the_mix(effort, "milc", label=f"milc, {name}", placements=DISPERSED, **mixed)
    if not only_milc:
        points += in_the_mix(effort, "hacc", label=f"hacc, {name}", placements=("groups=2",), **mixed)
    if not only_milc and fill is None:
        label = f"stalls, {name}"
        points += ensemble(
            effort, "milc", "consecutive", copies=8, hosts=2 * JOB_HOSTS, label=label, **common
        )
    return points


def _variants(findings: Findings, figure: str) -> list[str]:
    labels = (point.traffic_label for point in findings.points[figure])
    return list(dict.fromkeys(label.partition(", ")[2] for label in labels))


def sweep_of(findings: Findings, figure: str) -> dict[str, dict[str, Comparison]]:
    """Return the simulated comparisons by experiment and variant."""
    found: dict[str, dict[str, Comparison]] = {}
    for experiment, compare, metric, *_ in _SHOWN:
        found[experiment] = {}
        for name in _variants(findings, figure):
            try:
                pair = of_pair(findings, figure, f"{experiment}, {name}", metric, ("ad3", "ad0"))
            except NotFoundYetError:
                continue
            found[experiment][name] = compare(*pair)
    return found


def open_panels(findings: Findings, figure: str) -> Figure:
    """Draw a panel per claim, its bounds shaded, with 95 % intervals."""
    findings.simulated(figure)
    found = sweep_of(findings, figure)
    names = [name for name in _variants(findings, figure) if any(name in some for some in found.values())]
    drawn, axes = grid(3.6, 4.2, 1, len(_SHOWN), sharey=True)
    for panel, (experiment, _, _, title, bounds) in zip(axes[0], _SHOWN, strict=True):
        for name, comparison in found[experiment].items():
            panel.errorbar(
                comparison.mean, names.index(name), xerr=comparison.bars, fmt="o", color=SERIES[0], capsize=3
            )
        panel.axvspan(*bounds, color=SPAN, zorder=0, label="met")
        panel.axvline(1.0 if experiment == "stalls" else 0.0, color=REFERENCE, linestyle="--", linewidth=1.0)
        panel.set_title(title, fontsize=9)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].set_ylim(len(names) - 0.5, -0.5)
    axes[0][0].legend(frameon=False)
    return drawn
