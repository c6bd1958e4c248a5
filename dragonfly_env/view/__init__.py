"""Runs recorded frame by frame, and one HTML page that plays them."""

from __future__ import annotations

from dragonfly_env.view.page import write_view
from dragonfly_env.view.recording import Recording, record

__all__ = ["Recording", "record", "write_view"]
