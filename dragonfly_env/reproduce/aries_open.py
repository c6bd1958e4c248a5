"""What is not public about Aries and its machines: AR01, AR04 and AR07 by parameter, in small runs.

Levels, ties, where and how often is decided, and what else runs. A variant is a kind of runs of its own, which no claim
names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from dragonfly_env.plots.style import grid
from dragonfly_env.reproduce.aries_cells import BOTH, JOB_HOSTS, SIZES, ensemble, in_the_mix, mix_of
from dragonfly_env.reproduce.cells import Cell
from dragonfly_env.reproduce.figures.panels import COLOURS
from dragonfly_env.reproduce.findings import Findings, NotFoundYetError
from dragonfly_env.reproduce.job_cells import JobCell
from dragonfly_env.reproduce.paired import COMPARISONS, Comparison, of_pair
from dragonfly_env.reproduce.paper import Effort

VARIANTS: dict[str, dict[str, Any]] = {
    "as in the preset": {},
    "level_empty=0": {"level_empty": 0},
    "levels=16": {"levels_near": 16, "levels_far": 16},
    "levels=32": {"levels_near": 32, "levels_far": 32},
    "levels=256": {"levels_near": 256, "levels_far": 256},
    "wire_share=0": {"wire_share": 0},
    "ties=random": {"ties": "random"},
    "decide=source": {"decide": "source"},
    "in_group=false": {"in_group": False},
}
"""Parameters of all modes (docs/aries.md says what is known of each)."""

FILLS = (0.3, 0.6, 1.0)
"""Of the mix, beside the usual one."""

_SEEDS = 4
_SHOWN = (
    ("milc", "reduction", "run_time", "AR01: 1 - AD3 / AD0, milc in the mix", (0.05, 0.20)),
    ("hacc", "reduction", "run_time", "AR04: the same, hacc on two groups", (-0.10, -0.005)),
    (
        "stalls",
        "paired-ratio",
        "network_ratio",
        "AR07: stalls per flit, AD3 / AD0, 8 milc of 64",
        (0.35, 0.8),
    ),
)


def _variants() -> dict[str, tuple[dict[str, Any], float | None]]:
    """By name: parameters of the modes, and how full the machine is."""
    varied: dict[str, tuple[dict[str, Any], float | None]] = {
        name: (own, None) for name, own in VARIANTS.items()
    }
    return {**varied, **{f"fill={fill:g}": ({}, fill) for fill in FILLS}}


def open_cells(effort: Effort) -> tuple[Cell, ...]:
    """Three experiments for every variant, with the sizes of a quick run; none in one."""
    if not effort.decides:
        return ()
    size = SIZES["quick"]
    cells: list[JobCell] = []
    for name, (settings, fill) in _variants().items():
        modes = [replace(mode, settings=tuple(sorted(settings.items()))) for mode in BOTH]
        mix = mix_of(size) if fill is None else mix_of(size, fill=fill)
        common: dict[str, Any] = {"sizing": size, "modes": modes, "most_seeds": _SEEDS}
        cells += in_the_mix(effort, "milc", label=f"milc, {name}", mix=mix, packet_log=False, **common)
        cells += in_the_mix(
            effort, "hacc", label=f"hacc, {name}", mix=mix, placements=("groups=2",), **common
        )
        if fill is None:
            cells += ensemble(
                effort,
                "milc",
                "consecutive",
                copies=8,
                hosts=2 * JOB_HOSTS,
                label=f"stalls, {name}",
                **common,
            )
    return tuple(cells)


def sweep_of(findings: Findings, figure: str) -> dict[str, dict[str, Comparison]]:
    """By experiment and variant: what was simulated of them."""
    found: dict[str, dict[str, Comparison]] = {}
    for experiment, relation, metric, *_ in _SHOWN:
        found[experiment] = {}
        for name in _variants():
            try:
                pair = of_pair(findings, figure, f"{experiment}, {name}", metric, ("ad3", "ad0"))
            except NotFoundYetError:
                continue
            found[experiment][name] = COMPARISONS[relation](*pair)
    return found


def open_panels(findings: Findings, figure: str) -> Figure:
    """One panel per claim, its bounds shaded, with 95 % intervals.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    findings.simulated(figure)
    found = sweep_of(findings, figure)
    drawn, axes = grid(3.6, 3.6, 1, len(_SHOWN))
    for panel, (experiment, _, _, title, bounds) in zip(axes[0], _SHOWN, strict=True):
        for place, one in enumerate(found[experiment].values()):
            error = [[one.mean - one.low], [one.high - one.mean]] if one.low == one.low else None
            panel.errorbar(one.mean, place, xerr=error, fmt="o", color=COLOURS[0], capsize=3)
        panel.axvspan(*bounds, color="#f0e6c8", zorder=0, label="met")
        panel.axvline(1.0 if experiment == "stalls" else 0.0, color="#999999", linestyle="--", linewidth=1.0)
        panel.set_yticks(range(len(found[experiment])), list(found[experiment]))
        panel.invert_yaxis()
        panel.set_title(title, fontsize=9)
    axes[0][0].legend(frameon=False)
    return drawn
