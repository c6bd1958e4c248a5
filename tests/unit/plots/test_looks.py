"""Policies are told apart in figures by every reader, also by those with a colour vision deficiency."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

import dragonfly_env as dfe
from dragonfly_env.colors import HEAT, looks

# Perceived linear RGB; severity 1 of Machado, Oliveira, Fernandes, IEEE TVCG 15(6), 2009, table 1.
SEEN_WITH = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = XYZ.sum(axis=1)
FAR = 20.0
"""CIE 1976 color difference, about nine times the smallest one that people notice."""

Vector = npt.NDArray[np.float64]


def lab(color: str, vision: str) -> Vector:
    """A colour ``#rrggbb`` in CIELAB, as a person sees it."""
    srgb = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255.0
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    x, y, z = XYZ @ np.clip(SEEN_WITH[vision] @ linear, 0.0, 1.0) / WHITE
    f = [t ** (1 / 3) if t > (6 / 29) ** 3 else t * (29 / 6) ** 2 / 3 + 4 / 29 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(color: str, other: str, vision: str) -> float:
    return float(np.linalg.norm(lab(color, vision) - lab(other, vision)))


@pytest.mark.parametrize("vision", SEEN_WITH)
def test_the_colors_of_a_map_get_darker_and_never_black(vision: str) -> None:
    lightness = [lab(color, vision)[0] for color in HEAT]
    assert lightness == sorted(lightness, reverse=True)
    assert min(lightness) > 20.0


@pytest.mark.parametrize("vision", SEEN_WITH)
def test_every_two_policies_differ_in_color_or_else_in_marker_and_dashes(vision: str) -> None:
    alike = [
        (policy, other)
        for (policy, look), (other, its) in itertools.combinations(looks(dfe.policies()).items(), 2)
        if difference(look.color, its.color, vision) < FAR
        and (look.marker == its.marker or look.dash == its.dash)
    ]
    assert alike == []


def test_policies_that_papers_compare_differ_in_color_for_everyone() -> None:
    compared = [
        *(("par", "ad2"), ("acor", "pb-acor"), ("ugal-g", "ugal-n"), ("min", "par"), ("lia", "tpr")),
        ("ad0", "ad3"),
        ("lia", "neural-v1"),
        ("min", "neural-v1"),
    ]
    for policy, other in compared:
        first, second = (looks([policy, other])[name].color for name in (policy, other))
        assert min(difference(first, second, vision) for vision in SEEN_WITH) >= FAR
