"""Chunduri et al.: routing bias on Aries systems, IPDPS 2021, as data. Sections III to V give the experiments.

Figure 1 is an input (sizes of jobs). Figures 2 to 8 and table II are production runs, 9 to 12 controlled ones, 13 and
14 compare the whole machine before and after its default was changed.
"""

from __future__ import annotations

from typing import Any

from dragonfly_env.lab.papers.aries_cells import (
    APPLICATIONS,
    BOTH,
    MODES,
    all_alike,
    alone,
    ensemble,
    in_the_mix,
    mix_of_cori,
    with_larger_messages,
)
from dragonfly_env.lab.papers.aries_open import open_cells, open_panels
from dragonfly_env.lab.papers.aries_readings import READINGS
from dragonfly_env.lab.papers.cells import Cell, Setup
from dragonfly_env.lab.papers.claims import Claim, read_claims
from dragonfly_env.lab.papers.figures.applications import (
    operation_bars,
    reductions,
    run_time_boxes,
    shares,
    z_scores,
)
from dragonfly_env.lab.papers.figures.tiles import latency_percentiles, ratios_of_runs, tile_bars
from dragonfly_env.lab.papers.paper import Effort, Paper, PaperFigure

SETUP = Setup(arrangement="palmtree", network="aries-256", source_queue_packets=None)


def _effort(name: str, seeds: int, decides: bool) -> Effort:
    return Effort(
        name=name,
        seeds=seeds,
        warmup_ns=0.0,
        learner_warmup_ns=0.0,
        measure_ns=0.0,
        transient_ns=0.0,
        decides=decides,
        conditions="a seed is a placement with phases and a mix of its own, the same for all modes; jobs run to their "
        "end.",
    )


QUICK = _effort("quick", 4, False)
FULL = _effort("full", 40, True)

CONTROLLED = ("consecutive", "random-routers")


def production_cells(effort: Effort) -> tuple[Cell, ...]:
    """Table II and figure 7: every application in the mix."""
    return tuple(cell for name in APPLICATIONS for cell in in_the_mix(effort, name))


def milc_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figures 5 and 6."""
    return in_the_mix(effort, "milc")


def reorder_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 2."""
    return milc_cells(effort) + in_the_mix(effort, "milc-reorder")


def size_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 3: 128, 256 and, in a full run, 512 nodes."""
    cells = milc_cells(effort) + in_the_mix(effort, "milc", hosts=16, label="milc of 16 in the mix")
    return cells + (
        in_the_mix(effort, "milc", hosts=64, label="milc of 64 in the mix") if effort.decides else ()
    )


def cori_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 4: for orientation, in a full run only."""
    if not effort.decides:
        return ()
    return in_the_mix(effort, "milc", label="milc on Cori in the mix", system="cori-m8", most_seeds=6)


def hacc_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 8, and the same where the job's traffic is between two groups alone."""
    return in_the_mix(effort, "hacc") + in_the_mix(
        effort, "hacc", label="hacc on two groups in the mix", placements=("groups=2",)
    )


def controlled_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 9: all applications, all modes, compact and dispersed."""
    return tuple(
        cell
        for name in APPLICATIONS
        for placement in CONTROLLED
        for cell in ensemble(effort, name, placement)
    )


def large_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 10: eight jobs of 512 nodes, compact and dispersed (the paper does not say)."""
    return tuple(
        cell
        for placement in CONTROLLED
        for cell in ensemble(
            effort, "milc", placement, copies=8, hosts=64, modes=BOTH, label=f"8 milc of 64, {placement}"
        )
    )


def compared_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 11: production, isolated and controlled runs of milc."""
    controlled = (cell for placement in CONTROLLED for cell in ensemble(effort, "milc", placement))
    return (
        *(cell for cell in controlled if cell.routing in BOTH),
        *alone(effort, "milc", BOTH),
        *milc_cells(effort),
    )


def fft_cells(effort: Effort) -> tuple[Cell, ...]:
    """Figure 12: consecutive placement (the paper does not say), and every job on two groups."""
    return tuple(
        cell
        for placement in ("consecutive", "groups=2")
        for cell in ensemble(effort, "hacc", placement, modes=MODES)
    )


def isolated_cells(effort: Effort) -> tuple[Cell, ...]:
    """Table I: what computing times are calibrated to."""
    return tuple(cell for name in APPLICATIONS for cell in alone(effort, name))


def aries_claims() -> tuple[Claim, ...]:
    """What sections II to V state."""
    return read_claims(__package__, "aries_claims.csv")


def _figure(name: str, title: str, cells: Any, draw: Any, **how: Any) -> PaperFigure:
    return PaperFigure(name=name, title=title, cells=cells, draw=lambda findings: draw(findings, name, **how))


CLAIMS = aries_claims()

ARIES = Paper(
    name="aries",
    reference="Chunduri et al.: routing bias on Aries systems, IPDPS 2021",
    setup=SETUP,
    efforts=(QUICK, FULL),
    figures=(
        _figure("table1", "MPI shares of isolated runs", isolated_cells, shares, claims=CLAIMS),
        _figure("table2", "What AD3 gains in production", production_cells, reductions, claims=CLAIMS),
        _figure("fig2", "MILC and MILCREORDER in production", reorder_cells, run_time_boxes),
        _figure("fig3", "MILC of other sizes in production", size_cells, run_time_boxes),
        _figure("fig4", "MILC on Cori in production", cori_cells, run_time_boxes),
        _figure("fig5", "What MILC spends its time in", milc_cells, operation_bars),
        _figure("fig6", "Tiles of MILC's routers in production", milc_cells, tile_bars, of_job=True),
        _figure("fig7", "All applications in production", production_cells, run_time_boxes),
        _figure("fig8", "What HACC spends its time in", hacc_cells, operation_bars),
        _figure("fig9", "Controlled runs of all applications", controlled_cells, z_scores),
        _figure("fig10", "Tiles under eight jobs of MILC", large_cells, tile_bars),
        _figure("fig11", "Production, isolated and controlled runs", compared_cells, ratios_of_runs),
        _figure("fig12", "Tiles under sixteen jobs of HACC", fft_cells, tile_bars),
        _figure("fig13", "The machine before and after", all_alike, tile_bars),
        _figure("larger", "MILC with larger messages", with_larger_messages, tile_bars),
        _figure("fig14", "Latencies of all hosts before and after", mix_of_cori, latency_percentiles),
        _figure("open", "What is not public: AR01, AR04 and AR07 by parameter", open_cells, open_panels),
    ),
    claims=aries_claims,
    rule=(
        "Met: within the bounds that the claims table gives (of MPI times 10 percentage points, as table "
        "I and II do not agree better); orderings: the means stand as published. Uncertain: more runs "
        "might turn the verdict."
    ),
    other_readings=READINGS,
    readings=(
        "Machines are an eighth of Theta and of Cori with the same ratios of bandwidths (docs/aries.md); "
        "a host stands for eight nodes; packets have 256 bytes of payload.",
        "Messages of milc are 0.4 % of the application's, so that all-reduces take a quarter to half "
        "of the time in MPI (table I has Allreduce first); of nek5000 10 %, of hacc and rayleigh 1 %, of qbox 0.8 %. "
        "Computing times give isolated runs the MPI shares of table I (AR45 to AR50).",
        "In production the watched application alone changes its mode, for point-to-point and all-to-all "
        "operations; the mix has AD0, and AD1 for all-to-all (Cray's defaults). Jobs stand in turn on one "
        "group, by random routers, on two and on six groups.",
        "Reductions are means over pairs of runs with the same placement, phases and mix.",
        "Stalls and flits are those that the machine's counters count: the time in which the head of an input "
        "buffer found no room to move on to, in times of a flit, and flits received; processor tiles are those "
        "that take what hosts send. Local view: the routers that have hosts of the job.",
        "Claims whose id has -larger repeat one with messages of the mix, or of eight jobs of milc, five times "
        "as large (2 % of the application's) and in the mix those of milc a quarter (0.1 %); -dispersed: with every "
        "job by random routers; -groups: with jobs on two groups; -flits: the clause on flits.",
        "AR08: AD0, AD2, AD3; where AD1 stands between them the paper does not say.",
        "AR10, AR44: latency of a packet from its host to its destination, means over a host and 10 us; "
        "responses are not simulated.",
    ),
)
"""The paper."""
