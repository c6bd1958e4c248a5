"""Where these benchmarks lie, and how the core next to them was built."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build_settings() -> dict[str, str]:
    """CMake's settings of a build in the usual place, by name; none where the package came from elsewhere."""
    tag = sys.implementation.cache_tag
    cache = ROOT / "build" / f"editable-{tag}" / "CMakeCache.txt"
    try:
        lines = cache.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name.partition(":")[0]: value for name, value in pairs}
