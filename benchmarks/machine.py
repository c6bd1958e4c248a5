"""The machine, the build and the time of a measurement: without them a speed means nothing."""

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
from dragonfly_env import _core
from dragonfly_env.sweeps.measure import machine

ROOT = Path(__file__).resolve().parent.parent


def describe_machine() -> dict[str, Any]:
    """Processor, memory, system; a high load average means that other programs were running."""
    return {
        "processor": machine(),
        "usable_processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "load_average": list(os.getloadavg()),
    }


def describe_build() -> dict[str, Any]:
    """The package, its sources' commit, and the compiled core, which names its compiler in the section .comment."""
    binary = Path(_core.__file__).read_bytes()
    compilers = re.findall(rb"(?:GCC: \([^)]*\) [0-9.]+|[A-Za-z ]*clang version [0-9.]+)", binary)
    return {
        "package_version": dfe.__version__,
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(
            _git("status", "--porcelain", "--", "csrc", "dragonfly_env", "benchmarks")
        ),
        "compiler": ", ".join(sorted({item.decode("ascii", "replace").strip() for item in compilers})),
        "core_sha256": hashlib.sha256(binary).hexdigest(),
    }


def now() -> str:
    """The present time, UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
