"""Figures and a page from the results of a sweep."""

from __future__ import annotations

from dragonfly_env.checks.extras import import_matplotlib, require_analysis

require_analysis(__name__)
import_matplotlib()

# isort: split
# ruff: noqa: E402
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dragonfly_env.checks.values import unknown_name
from dragonfly_env.errors import ConfigError
from dragonfly_env.plots.distributions import distribution_figure
from dragonfly_env.plots.fairness import fairness_figure
from dragonfly_env.plots.jobs import job_figure
from dragonfly_env.plots.links import global_links_figure, ports_figure
from dragonfly_env.plots.loads import load_figure
from dragonfly_env.plots.page import write_page
from dragonfly_env.plots.series import series_figure
from dragonfly_env.plots.slowdowns import has_slowdowns, slowdown_figure
from dragonfly_env.plots.style import FORMATS, add_title, conditions, plain, save
from dragonfly_env.sweeps.results import Results
from dragonfly_env.sweeps.summary import has_jobs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FORMATS", "DrawnFigures", "draw", "load_figure", "save", "write_page"]

FIGURES: dict[str, tuple[str, Callable[[Results, float | None], Figure]]] = {
    "loads": (
        "Mean latency, accepted load and hops over offered load",
        lambda results, load: load_figure(results),
    ),
    "distributions": (
        "Latency distributions: quartiles, 5th to 95th percentile, mean and p99",
        distribution_figure,
    ),
    "series": ("Accepted load and latency over simulated time", series_figure),
    "fairness": (
        "Accepted load by the router's place in its group: mean over groups, lowest to highest (line), "
        "offered load (dotted)",
        fairness_figure,
    ),
    "global-links": ("Utilisation of the links between groups", global_links_figure),
    "jobs": ("Jobs: run time, MPI share and operations, quartiles over placements and seeds", job_figure),
    "slowdowns": ("Messages of jobs: latency over that of the message alone, by size", slowdown_figure),
    "ports": ("Utilisation of the ports of a router, mean over groups", ports_figure),
}
"""Every kind of figure: its name on the command line, what it shows, and what draws it (from results and a
load)."""


@dataclass(frozen=True, slots=True)
class DrawnFigures:
    """The figures that were drawn.

    Attributes:
        files: Every file written, the page last.
        skipped: Kinds of figures that these results cannot show, with the reason.
    """

    files: tuple[Path, ...]
    skipped: dict[str, str]


def draw(
    results: Results,
    folder: Path,
    *,
    kinds: Sequence[str] = (),
    load: float | None = None,
    formats: Sequence[str] = ("png", "svg"),
    page: bool = True,
) -> DrawnFigures:
    """Draw figures, and the HTML page that holds them.

    Args:
        results: Runs.
        folder: Where the files go.
        kinds: Names of `FIGURES`; empty for all that the results can show (``jobs`` only where there are jobs,
            ``slowdowns`` only where these were recorded).
        load: For figures with room for one load only: that load, or None for the one where policies differ
            most.
        formats: Formats of the pictures.
        page: Write ``index.html`` too.

    Returns:
        What was drawn. Only without ``kinds`` can something be skipped.

    Raises:
        ConfigError: For an unknown kind or format, a load without runs, a kind that the results
            cannot show,
            or a folder that cannot be written to.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.plots import draw
        >>> from dragonfly_env.sweeps import Scenario, load_results, run_all
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min"], "traffic": ["uniform"],
        ...      "loads": [0.2], "warmup_ns": 0, "measure_ns": 1_000}
        ... )
        >>> report = run_all(scenario, Path("results"), workers=1)
        >>> results = load_results(Path("results"))
        >>> drawn = draw(results, Path("figures"), formats=["png"], kinds=["ports"])
        >>> [file.name for file in drawn.files]
        ['ports.png', 'index.html']
    """
    for kind in kinds:
        if kind not in FIGURES:
            raise unknown_name("kind", kind, FIGURES)
    shown = results.relabelled(plain)
    written: list[Path] = []
    pictures: dict[str, Path] = {}
    skipped: dict[str, str] = {}
    shows = {
        "jobs": any(has_jobs(results, traffic) for traffic in results.traffic),
        "slowdowns": has_slowdowns(results),
    }
    for kind in kinds or (kind for kind in FIGURES if shows.get(kind, True)):
        caption, make = FIGURES[kind]
        try:
            figure = make(shown, load)
        except ConfigError as error:
            if kinds or load is not None:
                raise
            skipped[kind] = str(error)
            continue
        add_title(figure, f"{shown.name}: {caption[:1].lower()}{caption[1:]}\n{conditions(shown)}")
        paths = save(figure, folder, kind, formats)
        written.extend(paths)
        if kind != "loads" and "png" in formats:
            pictures[caption] = paths[list(formats).index("png")]
    if page:
        written.append(write_page(results, folder / "index.html", pictures))
    return DrawnFigures(tuple(written), skipped)
