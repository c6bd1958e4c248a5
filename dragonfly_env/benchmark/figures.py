"""Policies x cells as a heat map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from dragonfly_env.benchmark.scores import Scores
from dragonfly_env.plots.style import grid

WORST = 4.0
"""Ratios above it have one colour."""


def heat_map(scores: Scores) -> Figure:
    """The ratio of every policy in every cell: white is level with the best reference, red worse, blue better.

    The user's own policies come first, marked.
    """
    found = ratios_of(scores)
    drawn, axes = grid(max(5.0, 1.9 + 0.22 * len(found.cells)), 2.6 + 0.24 * len(found.policies), 1, 1)
    panel = axes[0][0]
    image = panel.imshow(
        np.clip(found.values, 1 / WORST, WORST), aspect="auto", cmap="RdBu_r", norm=LogNorm(1 / WORST, WORST)
    )
    panel.set_yticks(range(len(found.policies)), found.labels, fontsize=8)
    names = [f"{cell} ({board}, {part})" for board, part, cell in found.cells]
    panel.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    panel.grid(visible=False)
    ticks = [1 / WORST, 0.5, 1.0, 2.0, WORST]
    bar = drawn.colorbar(image, ax=panel, ticks=ticks, fraction=0.025, pad=0.01)
    bar.set_ticklabels([f"{tick:g}" for tick in ticks[:-1]] + [f"{WORST:g} or more"])
    bar.set_label("ratio to the best reference (log scale)")
    bar.ax.minorticks_off()
    return drawn


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios as a matrix.

    Attributes:
        values: (policies, cells); NaN where something was not measured.
        policies: Of the rows: those of the user first.
        own: How many are the user's.
        cells: (board, part, cell) of the columns, in the order of the suite.
    """

    values: npt.NDArray[np.float64]
    policies: list[str]
    cells: list[tuple[str, str, str]]
    own: int

    @property
    def labels(self) -> list[str]:
        """The rows' names, with a mark at the user's own."""
        return [f"▶ {name}" if row < self.own else name for row, name in enumerate(self.policies)]


def ratios_of(scores: Scores) -> Ratios:
    """The ratio of every policy in every cell."""
    rows = scores.table[["board", "part", "cell", "policy", "ratio"]].itertuples(index=False)
    found = {((str(row[0]), str(row[1]), str(row[2])), str(row[3])): float(row[4]) for row in rows}
    cells = list(dict.fromkeys(cell for cell, _ in found))
    policies = [policy for policy in scores.policies if any(name == policy for _, name in found)]
    table = scores.table
    mine = set(table[table["kind"] == ""]["policy"].astype(str))
    policies.sort(key=lambda policy: policy not in mine)
    values = np.array(
        [[found.get((cell, policy), np.nan) for cell in cells] for policy in policies], np.float64
    )
    return Ratios(values, policies, cells, sum(policy in mine for policy in policies))
