"""ADV+i for every i: figures 7 and 10 of LIA, TACO 2025."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.lab.papers.figures.published import error_of, legend_handles, mark, published_of
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.offsets import offset_of, remote_counter, remote_counters
from dragonfly_env.plots.style import fitting_legend, grid, looks


def offset_curves(findings: Findings, figure: str) -> Figure:
    """Throughput over the offset; dotted: multiples of h.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    policies = tuple(dict.fromkeys(cell.policy for cell in cells))
    look = looks(policies)
    drawn, axes = grid(7.2, 3.2, 1, 1)
    panel = axes[0][0]
    for policy in policies:
        own = sorted((cell for cell in cells if cell.policy == policy), key=offset_of)
        found = [error_of(findings.values(cell, "accepted_load")) for cell in own]
        halves = [half for _, half in found]
        panel.errorbar([offset_of(cell) for cell in own], [mean for mean, _ in found],
                       yerr=halves if any(halves) else None, **look[policy].line, marker=look[policy].marker,
                       label=policy, capsize=2.0, elinewidth=0.9)  # fmt: skip
    stated = published_of(findings, figure, "throughput")
    colours = {policy: look[policy].colour for policy in policies}
    mark(panel, stated, {point.cell: offset_of(point.cell) for point in stated}, colours)
    h = findings.setup.topology(cells[0].hosts).h
    last = max(offset_of(cell) for cell in cells)
    for multiple in range(h, last + 1, h):
        panel.axvline(multiple, color="#999999", linestyle=":", linewidth=1.0, zorder=1)
    panel.set_title(f"ADV+i, offered load {cells[0].load:g}, {cells[0].hosts:,} hosts (h = {h})")
    panel.set_xlabel("offset i of the destination group (dotted: multiples of h)")
    panel.set_ylabel("accepted load")
    panel.set_ylim(0.0, 0.55)
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, [*handles, *legend_handles(stated)], "outside upper center")
    return drawn


def saturation_counters(findings: Findings, figure: str) -> Figure:
    """The remote counter at which detours -G- saturate, by offset; dashed: what theory says.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    drawn, axes = grid(4.8, 3.0, 1, 1)
    panel = axes[0][0]
    found = [error_of(remote_counter(findings, cell)) for cell in cells]
    halves = [half for _, half in found]
    panel.bar(
        [cell.traffic for cell in cells],
        [mean for mean, _ in found],
        yerr=halves if any(halves) else None,
        capsize=2.5,
        color="#0072b2",
    )
    for stated in {claim.published for claim in findings.claims if claim.metric == "knee"}:
        panel.axhline(stated, color="black", linewidth=1.2, label=f"published: {stated:g}")
    panel.axhline(20.0, color="#999999", linestyle="--", linewidth=1.0, label="a local link that is full: 20")
    panel.set_ylabel("packets of a router\nin 200 ns on one type of link")
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, handles, "outside upper center")
    return drawn


def mixture_counters(findings: Findings, figure: str) -> Figure:
    """The remote counters at which -G- saturates under mixtures of two destinations; dashed: what theory says.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = [cell for cell in findings.simulated(figure) if cell.policy == "vlb-g"]
    drawn, axes = grid(4.8, 3.0, 1, 1)
    panel = axes[0][0]
    labels, heights = [], []
    for cell in cells:
        offsets = cell.traffic.removeprefix("weighted:").replace("=0.5", "").replace(",", " ")
        for link, counter in sorted(remote_counters(findings, cell).items()):
            labels.append(f"{offsets}\nR+{link}")
            heights.append(float(counter.mean()))
    panel.bar(labels, heights, color="#0072b2")
    panel.tick_params(axis="x", labelsize=7)
    panel.axhline(20.0, color="#999999", linestyle="--", linewidth=1.0, label="a local link that is full: 20")
    panel.set_ylabel("packets of a router\nin 200 ns on one type of link")
    for stated in {claim.published for claim in findings.claims if claim.metric == "mixture_knee"}:
        panel.axhline(stated, color="black", linewidth=1.2, label=f"published: {stated:g}")
    handles, _ = panel.get_legend_handles_labels()
    fitting_legend(drawn, handles, "outside upper center")
    return drawn
