"""What several heuristics have beside the parameters of the core."""

from __future__ import annotations

from typing import Any

from dragonfly_env.config.rows import choice

DETOURS = ("lgl", "lg", "gl", "g")


def detour(default: str, kinds: tuple[str, ...]) -> Any:
    """The kind of detour, in LIA's notation."""
    return choice(
        default,
        kinds,
        doc="Path to the detour: 'lgl' to a random router of another group, 'lg' to a random group, 'gl' and "
        "'g' likewise without a first local hop. Source: LIA, TACO 2025, section 3.2.",
    )
