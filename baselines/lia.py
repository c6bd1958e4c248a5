"""``lia``: UGAL at the source router, ``q_minimal <= 2 * q_nonminimal + T``, with T and the length of the non-minimal
path by counters of what the router's own hosts offer. No router sends another router anything.

A *global counter* per other group: packets for it that left the injection queues in the last ``window_ns``, plus
``stored_weight`` times those that are there. The counter of the destination group says whether traffic is benign, mixed
or adverse, which sets T. The non-minimal path makes its first local hop only if the counters of at least
``saturated_groups`` of the groups behind the router's own global links exceed ``saturated_packets`` (of all of them,
where there are fewer): others need these links for minimal traffic. It makes its second local hop only if a *remote
counter* exceeds ``remote_packets``: how many of the router's packets would use one type of local link in the groups
between. The wiring says which destinations use which type, so the policy works for every arrangement, trunking and
number of groups.

Deviation: counters are in packets. The paper writes phits per interval, but its own figures fit packets only:
non-minimal paths of kind ``g`` saturate under ADV+h at a load of 1/h, where a router sends h hosts * 1/h * 200 cycles /
10 phits = 20 packets in a window; the paper reads 17 off the knee and sets the threshold to 20, the same for every h.

The other thresholds depend on the system, and unless they are set they follow from it: a counter shows
``U = 20 p / (g - 1)`` packets under uniform traffic at full load, 1.7 with 5,256 hosts and 3.3 with 342, and each
threshold lies as many standard deviations above U as those of table 1 do with 5,256 hosts.

``q`` counts the packets in the router's output queue for the VC that a path would use first; with
``congestion_metric="occupancy"`` also those that were sent and hold a credit, as FOGSim's other policies do. The paper
writes "next hop buffer occupancy"; with the first it does what the paper shows, with the second its values of T leave
packets waiting for a saturated link.

Source: LIA, TACO 2025, section 4 and table 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dragonfly_env.baselines.ugal import BoolArray, columns_of, least_occupied, prefers_nonminimal

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, IntArray

CONGESTION_METRICS = {"queued": "vc_queued", "occupancy": "vc_occupancy"}
"""The field of ``batch.candidates`` that the parameter ``congestion_metric`` means."""


def act(
    batch: DecisionBatch,
    *,
    congestion_metric: str,
    saturated_groups: int,
    remote_packets: float,
    benign_bias_packets: float,
    mixed_bias_packets: float,
    adverse_bias_packets: float,
    minimal_candidates: int,
    nonminimal_candidates: int,
    **_: object,
) -> IntArray:
    """(N,) a path for every packet; ties go to the minimal path, and among candidates of a kind to the first."""
    level, saturated, own_links = (
        batch.layout.counts(batch.obs, name)[:, 0]
        for name in ("destination_traffic_level", "saturated_links", "own_links")
    )
    remote = batch.layout.quantities(batch.obs, "destination_remote_packets")[:, 0]
    bias_packets = np.array([benign_bias_packets, mixed_bias_packets, adverse_bias_packets])[level]
    by = CONGESTION_METRICS[congestion_metric]
    minimal, _exists = least_occupied(batch, columns_of(batch, "minimal", minimal_candidates), by)
    nonminimal, exists = nonminimal_of_length(
        batch,
        first_hop=saturated >= np.minimum(saturated_groups, own_links),
        second_hop=remote > remote_packets,
        count=nonminimal_candidates,
        by=by,
    )
    leaves = exists & prefers_nonminimal(batch, minimal, nonminimal, bias_packets, by)
    return np.where(leaves, nonminimal, minimal)


def nonminimal_of_length(
    batch: DecisionBatch, *, first_hop: BoolArray, second_hop: BoolArray, count: int, by: str
) -> tuple[IntArray, BoolArray]:
    """(N,) the least occupied non-minimal path of the kind that each row needs, and (N,) whether there is one.

    ``first_hop`` says whether it may begin with a local hop, as it also does where no path begins without;
    ``second_hop`` whether it visits a random router of the intermediate group.

    Source: LIA, TACO 2025, sections 2.2.2 and 4.3.
    """
    g, gl, lg, lgl = (
        least_occupied(batch, columns_of(batch, kind, count), by) for kind in ("g", "gl", "lg", "lgl")
    )
    short, short_exists = np.where(second_hop, gl, g)
    long, long_exists = np.where(second_hop, lgl, lg)
    is_short = ~first_hop & (short_exists > 0)
    return np.where(is_short, short, long), is_short | (long_exists > 0)
