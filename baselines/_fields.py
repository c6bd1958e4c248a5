"""Parameters that several heuristics share."""

from __future__ import annotations

from typing import Any

from dragonfly_env._settings import boolean, choice, integer, real

MAX_BIAS_PACKETS = 1e9
MAX_CANDIDATES = 16
DETOURS = ("lgl", "lg", "gl", "g")


def detour(default: str, kinds: tuple[str, ...]) -> Any:
    """The kind of detour, in LIA's notation."""
    return choice(
        default,
        kinds,
        doc="Path to the detour: 'lgl' to a random router of another group, 'lg' to a random group, 'gl' and "
        "'g' likewise without a first local hop. Source: LIA, TACO 2025, section 3.2.",
    )


def avoid_destination_group() -> Any:
    """Whether random detours avoid the destination group."""
    return boolean(
        None,
        optional=True,
        doc="Whether detours avoid the destination group too, not only the source group; None: as the "
        "network says (detours_avoid_destination_group).",
    )


def bias_packets() -> Any:
    """The constant of the UGAL comparison."""
    return real(
        0.0,
        -MAX_BIAS_PACKETS,
        MAX_BIAS_PACKETS,
        unit="packets",
        doc="Added to the detour's side of the comparison: above 0 favours minimal paths. Source: T of LIA, "
        "TACO 2025, equation 1; 0 in Kang et al., HPDC 2021, section 5.1.",
    )


def minimal_candidates() -> Any:
    """How many shortest paths are weighed."""
    return integer(
        1,
        1,
        MAX_CANDIDATES,
        unit="paths",
        doc="Shortest paths that are drawn and compared; there are several only with trunking and on grids. "
        "Source: 1 in Kang et al., HPDC 2021; 2 on Aries.",
    )


def nonminimal_candidates() -> Any:
    """How many detours are weighed."""
    return integer(
        1,
        1,
        MAX_CANDIDATES,
        unit="paths",
        doc="Detours that are drawn and compared. Source: 1 in Kang et al., HPDC 2021; 2 on Aries.",
    )


def congestion_factor() -> Any:
    """Piggyback's F."""
    return real(
        1.2,
        0.0,
        1e6,
        doc="How far above the mean occupancy of its router's global links a link must be to be congested. "
        "Source: F of LIA, TACO 2025, table 1.",
    )


def congestion_offset_packets() -> Any:
    """Piggyback's Z."""
    return real(
        5.0,
        0.0,
        1e6,
        unit="packets",
        doc="And so many packets more. Source: Z of LIA, TACO 2025, table 1.",
    )
