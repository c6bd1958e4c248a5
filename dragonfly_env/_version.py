"""Version of the package."""

from __future__ import annotations


def installed_version() -> str:
    """Looked up at its first use, so that a simulation alone does not wait for it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dragonfly-env")
    except PackageNotFoundError:  # used from a source tree that is not installed
        return "0+unknown"
