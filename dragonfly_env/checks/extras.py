"""How to install what an extra needs; no package index has this package, so a checkout is installed."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """A command, for messages."""
    return f"pip install '.[{extra}]' in a checkout (for PyTorch without CUDA first see docs/start.md)"
