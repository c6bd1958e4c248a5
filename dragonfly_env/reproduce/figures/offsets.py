"""ADV+i for every i: figures 7 and 10 of LIA, TACO 2025."""

from __future__ import annotations

from matplotlib.figure import Figure

from dragonfly_env.plots.style import grid, looks, policy_legend
from dragonfly_env.reproduce.findings import Findings
from dragonfly_env.reproduce.offsets import offset_of, remote_counter, throughput_by_offset


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
        points = throughput_by_offset(findings, figure, policy)
        panel.plot(list(points), list(points.values()), **look[policy].line, marker=look[policy].marker,
                   label=policy)  # fmt: skip
    h = findings.setup.topology(cells[0].hosts).h
    last = max(offset_of(cell) for cell in cells)
    for multiple in range(h, last + 1, h):
        panel.axvline(multiple, color="#999999", linestyle=":", linewidth=1.0, zorder=1)
    panel.set_title(f"ADV+i, offered load {cells[0].load:g}, {cells[0].hosts:,} hosts (h = {h})")
    panel.set_xlabel("offset i of the destination group (dotted: multiples of h)")
    panel.set_ylabel("accepted load")
    panel.set_ylim(0.0, 0.55)
    policy_legend(drawn, panel)
    return drawn


def saturation_counters(findings: Findings, figure: str) -> Figure:
    """The remote counter at which detours -G- saturate, by offset; dashed: what theory says.

    Raises:
        NotFoundYetError: If nothing of it was simulated.
    """
    cells = findings.simulated(figure)
    drawn, axes = grid(4.8, 3.0, 1, 1)
    panel = axes[0][0]
    panel.bar(
        [cell.traffic for cell in cells],
        [float(remote_counter(findings, cell).mean()) for cell in cells],
        color="#0072b2",
    )
    panel.axhline(20.0, color="#999999", linestyle="--", linewidth=1.0, label="a local link that is full: 20")
    panel.set_ylabel("packets of a router\nin 200 ns on one type of link")
    panel.legend(frameon=False, fontsize=8, loc="lower left")
    return drawn
