"""Runs recorded frame by frame: one HTML page that plays them, or an animation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.view.page import write_view
from dragonfly_env.view.recording import Recording, record

if TYPE_CHECKING:
    from dragonfly_env.view.animation import write_animation

__all__ = ["Recording", "record", "write_animation", "write_view"]


def __getattr__(name: str) -> Any:
    if name == "write_animation":  # Matplotlib takes half a second, which a page does not need
        require_analysis("write_animation()")
        from dragonfly_env.view.animation import write_animation

        return write_animation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
