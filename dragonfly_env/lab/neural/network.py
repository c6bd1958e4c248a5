"""What the network sees, and what it looks like."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from dragonfly_env.baselines import MlpNetwork

Floats = npt.NDArray[np.float32]
Layer = tuple[Floats, Floats]

SCALES = MappingProxyType(
    {
        # What the router's hosts offer to the destination group (LIA, TACO 2025, section 4.2), per what links carry.
        "destination_demand": 0.0,
        "destination_remote_demand": 0.0,
        # What all routers of the group do, as far as a group could tell itself.
        "destination_group_demand": 0.0,
        "group_demand": 0.0,
        # How long the packet has been on its way, its time in the source queue included.
        "age": 0.0,
        # How far the packet has come (where routers behind the source are asked, too), and the path.
        "hops": 2.0,
        "candidate_kind": 2.0,
        "candidate_time_packets": 16.0,
        # Its first port, and there the virtual channel that it would use.
        "candidate_packets": 16.0,
        "candidate_vc_packets": 16.0,
        "candidate_queue_packets": 16.0,
        # Its first global link, wherever in the group that is (as `ugal-ideal` sees it).
        "candidate_link_packets": 16.0,
        "candidate_link_queued_packets": 16.0,
        # What the packets of the group did lately, by the ways that they took: without it all go one way at a time.
        "candidate_between_demand": 0.0,
        "candidate_last_type_demand": 0.0,
        "destination_group_minimal_demand": 0.0,
        # The same of the router's own packets alone, and by the last local links of their ways.
        "candidate_nonminimal_demand": 0.0,
        "destination_minimal_demand": 0.0,
        "candidate_last_link_demand": 0.0,
        "destination_router_demand": 0.0,
        # What its own packets met on their ways, as acknowledgements say: queues that others fill far away.
        "candidate_waited_packets": 0.0,
        "candidate_waited_age": 0.0,
    }
)
"""What a network may see, and in which units; 0: squashed features have none. None of it depends on the size of a
system.
"""

FEATURES = (
    "destination_demand",
    "destination_group_demand",
    "candidate_kind",
    "candidate_time_packets",
    "candidate_packets",
    "candidate_vc_packets",
    "candidate_queue_packets",
    "candidate_link_packets",
    "candidate_link_queued_packets",
    "candidate_between_demand",
    "candidate_last_type_demand",
    "destination_group_minimal_demand",
    "candidate_waited_packets",
    "candidate_waited_age",
)
"""What ``neural-v1`` was trained with. What it sees next to them belongs to its penalty, see ``nonminimal_penalty``."""

NONMINIMAL_KINDS = MappingProxyType(
    {
        "source": ("g", "gl", "lg", "lgl"),
        "minimal-path": ("g", "gl", "lg", "lgl"),
        "progressive": ("g", "gl", "lg", "lgl", "l"),
    }
)
"""Kinds of candidate paths next to the shortest one, by the scope of decisions."""


def network_of(
    layers: Sequence[Layer], features: Sequence[str], scope: str, nonminimal_candidates: int
) -> MlpNetwork:
    """A network that scores one candidate path after the other; so many non-minimal paths of each kind are drawn, those
    behind the first ones if need be.
    """
    return MlpNetwork(
        layers=tuple(layers),
        features=tuple(features),
        scale=tuple(SCALES[name] for name in features),
        action="path",
        scope=scope,
        scoring="candidate",
        activation="relu",
        nonminimal_kinds=NONMINIMAL_KINDS[scope],
        nonminimal_candidates=nonminimal_candidates,
        second_stage=nonminimal_candidates > 1,
    )


def untrained(
    features: Sequence[str],
    hidden_units: Sequence[int],
    seed: int,
    scope: str = "source",
    nonminimal_candidates: int = 1,
) -> MlpNetwork:
    """Random weights, scaled to the inputs of each layer (He et al., ICCV 2015)."""
    generator = np.random.default_rng(seed)
    sizes = (len(features), *hidden_units, 1)
    layers = [
        (
            (generator.standard_normal(shape) * np.sqrt(2.0 / shape[0])).astype(np.float32),
            np.zeros(shape[1], dtype=np.float32),
        )
        for shape in itertools.pairwise(sizes)
    ]
    return network_of(layers, features, scope, nonminimal_candidates)


def scores_of(layers: Sequence[Layer], x: Floats) -> Floats:
    """(M,) what a network gives for M rows. For training: sums are not in the core's order."""
    for weights, bias in layers[:-1]:
        x = np.maximum(x @ weights + bias, np.float32(0))
    weights, bias = layers[-1]
    scores: Floats = (x @ weights + bias)[:, 0]
    return scores
