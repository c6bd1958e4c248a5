"""Chunduri et al.: routing bias on Aries systems, IPDPS 2021, as data. Sections III to V give the experiments.

Figure 1 is an input (sizes of jobs). Figures 2 to 8 and table II are production runs, 9 to 12 controlled ones, 13 and
14 compare the whole machine before and after its default was changed.
"""

from __future__ import annotations

from dragonfly_env.lab.papers.aries_open import FEW_SEEDS, open_panels, open_points
from dragonfly_env.lab.papers.aries_points import (
    ANYWHERE,
    APPLICATIONS,
    BOTH,
    MODES,
    RANDOM_TIES,
    all_alike,
    alone,
    ensemble,
    in_the_mix,
    mix_of_cori,
    with_larger_messages,
)
from dragonfly_env.lab.papers.figures.jobs import (
    latency_percentiles,
    operation_bars,
    ratios_of_runs,
    reductions,
    run_time_boxes,
    shares,
    tile_bars,
    z_scores,
)
from dragonfly_env.lab.papers.paper import Effort, Paper, Setup, figure
from dragonfly_env.sweeps.run import Point

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


def production_points(effort: Effort) -> tuple[Point, ...]:
    """Table II and figure 7: every application in the mix."""
    return tuple(point for name in APPLICATIONS for point in in_the_mix(effort, name))


def milc_points(effort: Effort) -> tuple[Point, ...]:
    """Figures 5 and 6."""
    return in_the_mix(effort, "milc")


def reorder_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 2."""
    return milc_points(effort) + in_the_mix(effort, "milc-reorder")


def size_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 3: 128, 256 and, in a full run, 512 nodes."""
    points = milc_points(effort) + in_the_mix(effort, "milc", hosts=16, label="milc of 16 in the mix")
    return points + (
        in_the_mix(effort, "milc", hosts=64, label="milc of 64 in the mix") if effort.decides else ()
    )


def cori_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 4: for orientation, in a full run only."""
    if not effort.decides:
        return ()
    return in_the_mix(effort, "milc", label="milc on Cori in the mix", system="cori-m8")


def hacc_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 8, and the same where the job's traffic is between two groups alone."""
    return in_the_mix(effort, "hacc") + in_the_mix(
        effort, "hacc", label="hacc on two groups in the mix", placements=("groups=2",)
    )


def controlled_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 9: all applications, all modes, compact and dispersed."""
    return tuple(
        point
        for name in APPLICATIONS
        for placement in CONTROLLED
        for point in ensemble(effort, name, placement)
    )


def large_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 10: eight jobs of 512 nodes, compact and dispersed (the paper does not say)."""
    return tuple(
        point
        for placement in CONTROLLED
        for point in ensemble(
            effort, "milc", placement, copies=8, hosts=64, modes=BOTH, label=f"8 milc of 64, {placement}"
        )
    )


def compared_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 11: production, isolated and controlled runs of milc."""
    controlled = (point for placement in CONTROLLED for point in ensemble(effort, "milc", placement))
    return (
        *(point for point in controlled if point.policy_label in ("ad0", "ad3")),
        *alone(effort, "milc", BOTH),
        *milc_points(effort),
    )


def fft_points(effort: Effort) -> tuple[Point, ...]:
    """Figure 12: consecutive placement (the paper does not say), and every job on two groups."""
    return tuple(
        point
        for placement in ("consecutive", "groups=2")
        for point in ensemble(effort, "hacc", placement, modes=MODES)
    )


def isolated_points(effort: Effort) -> tuple[Point, ...]:
    """Table I: what computing times are calibrated to."""
    return tuple(point for name in APPLICATIONS for point in alone(effort, name))


ARIES = Paper(
    name="aries",
    reference="Chunduri et al.: routing bias on Aries systems, IPDPS 2021",
    setup=SETUP,
    efforts=(QUICK, FULL),
    figures=(
        figure("table1", "MPI shares of isolated runs", isolated_points, shares),
        figure("table2", "What AD3 gains in production", production_points, reductions),
        figure("fig2", "MILC and MILCREORDER in production", reorder_points, run_time_boxes),
        figure("fig3", "MILC of other sizes in production", size_points, run_time_boxes),
        figure("fig4", "MILC on Cori in production", cori_points, run_time_boxes),
        figure("fig5", "What MILC spends its time in", milc_points, operation_bars),
        figure("fig6", "Tiles of MILC's routers in production", milc_points, tile_bars, of_job=True),
        figure("fig7", "All applications in production", production_points, run_time_boxes),
        figure("fig8", "What HACC spends its time in", hacc_points, operation_bars),
        figure("fig9", "Controlled runs of all applications", controlled_points, z_scores),
        figure("fig10", "Tiles under eight jobs of MILC", large_points, tile_bars),
        figure("fig11", "Production, isolated and controlled runs", compared_points, ratios_of_runs),
        figure("fig12", "Tiles under sixteen jobs of HACC", fft_points, tile_bars),
        figure("fig13", "The machine before and after", all_alike, tile_bars),
        figure("larger", "MILC with larger messages", with_larger_messages, tile_bars),
        figure("fig14", "Latencies of all hosts before and after", mix_of_cori, latency_percentiles),
        figure("open", "What is not public: AR01, AR04 and AR07 by parameter", open_points, open_panels),
    ),
    few_seeds={
        **{f"{name} alone": len(ANYWHERE) for name in APPLICATIONS},
        "milc on Cori in the mix": 6,
        **FEW_SEEDS,
    },
    rule=(
        "Met: within the bounds that the claims table gives (of MPI times 10 percentage points, as table "
        "I and II do not agree better); orderings: the means stand as published. Uncertain: more runs "
        "might turn the verdict."
    ),
    other_variants=(RANDOM_TIES,),
    interpretations=(
        "Machines are an eighth of Theta and of Cori with the same ratios of bandwidths (docs/aries.md); "
        "a host stands for eight nodes; packets have 256 bytes of payload.",
        "Messages of milc are 0.4 % of the application's, so that all-reduces take a quarter to half "
        "of the time in MPI (table I has Allreduce first); of nek5000 10 %, of hacc and rayleigh 1 %, of qbox 0.8 %. "
        "Computing times give isolated runs the MPI shares of table I (AR45 to AR50).",
        "In production the watched application alone changes its mode, for point-to-point and all-to-all "
        "operations; the mix has AD0, and AD1 for all-to-all (Cray's defaults). Jobs are in turn on one "
        "group, by random routers, on two and on six groups.",
        "Reductions are means over pairs of runs with the same placement, phases and mix.",
        "Stalls and flits are those that the machine's counters count: the time in which the head of an input "
        "buffer found no room to move on to, in times of a flit, and flits received; processor tiles are those "
        "that take what hosts send. Local view: the routers that have hosts of the job.",
        "Claims whose id has -larger repeat one with messages of the mix, or of eight jobs of milc, five times "
        "as large (2 % of the application's) and in the mix those of milc a quarter (0.1 %); -dispersed: with every "
        "job by random routers; -groups: with jobs on two groups; -flits: the clause on flits.",
        "AR08: AD0, AD2, AD3; where AD1 is between them the paper does not say.",
        "AR10, AR44: latency of a packet from its host to its destination, means over a host and 10 us; "
        "responses are not simulated.",
    ),
)
"""The paper."""
