"""Optional requirements: the extras of pyproject.toml, and what to say where one is missing."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress

# The modules of [analysis], by the names under which they are imported.
_ANALYSIS = (
    "joblib",
    "matplotlib",
    "networkx",
    "pandas",
    "PIL",
    "plotly",
    "psutil",
    "pyarrow",
    "rich",
    "typer",
)


def how_to_install(extra: str) -> str:
    """Return how to add an extra, for messages. The package is on no index, so its extras come from a clone."""
    command = f"in the clone of dragonfly-env run: pip install '.[{extra}]'"
    return f"{command} (PyTorch without CUDA: docs/start.md)" if extra == "sb3" else command


def _is_installed(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    return importlib.util.find_spec(module) is not None


def require_analysis(what: str) -> None:
    """Say what to install, unless everything in the extra [analysis] is there."""
    missing = [name for name in _ANALYSIS if not _is_installed(name)]
    if missing:
        raise ImportError(f"{what} needs {', '.join(missing)}: {how_to_install('analysis')}", name=missing[0])


def import_matplotlib() -> None:
    """Import Matplotlib with any value of MPLBACKEND: Jupyter sets its own backend for commands of a notebook, where
    that backend may be missing. Figures of this package need no backend.
    """
    if "matplotlib" in sys.modules:
        return
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib as mpl
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with suppress(ValueError):
            mpl.rcParams["backend"] = backend
