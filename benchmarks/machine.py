"""What was measured on, with what, and when: without this a speed means nothing."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from benchmarks.checkout import ROOT, build_settings
from dragonfly_env import _core
from dragonfly_env.sweeps.measure import machine


def describe_machine() -> dict[str, Any]:
    """Processor, memory, system; the load says whether somebody else was measuring too."""
    return {
        "processor": machine(),
        "usable_processors": len(os.sched_getaffinity(0)),
        "caches": _caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "nice": os.nice(0),
        "load_average": list(os.getloadavg()),
    }


def describe_build() -> dict[str, Any]:
    """The package, its sources' commit, and the compiled core itself: what compiled it is in the file."""
    core = Path(_core.__file__)
    binary = core.read_bytes()
    return {
        "package_version": dfe.__version__,
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(
            _git("status", "--porcelain", "--", "csrc", "dragonfly_env", "benchmarks")
        ),
        "compiler": _compiler(binary),
        "flags": _flags(),
        "core_sha256": hashlib.sha256(binary).hexdigest(),
    }


def now() -> str:
    """The present time, UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _caches() -> dict[str, str]:
    folders = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    try:
        return {
            f"L{_line(folder / 'level')} {_line(folder / 'type').lower()}": _line(folder / "size")
            for folder in folders
        }
    except OSError:
        return {}


def _line(path: Path) -> str:
    return path.read_text(encoding="ascii").strip()


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _compiler(binary: bytes) -> str | None:
    """What the compilers wrote into the section .comment."""
    found = re.findall(rb"(?:GCC: \([^)]*\) [0-9.]+|[A-Za-z ]*clang version [0-9.]+)", binary)
    return ", ".join(sorted({item.decode("ascii", "replace").strip() for item in found})) or None


def _flags() -> str | None:
    settings = build_settings()
    if not settings:
        return None
    names = ("CMAKE_CXX_FLAGS", "DRAGONFLY_SANITIZE")
    return ", ".join(
        [settings.get("CMAKE_BUILD_TYPE", ""), *(f"{name}={settings.get(name, '')}" for name in names)]
    )
