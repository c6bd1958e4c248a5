"""Which version of the package this is."""

from __future__ import annotations


def installed_version() -> str:
    """Looked up when asked: nobody who only wants to simulate waits for it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dragonfly-env")
    except PackageNotFoundError:  # used from a source tree that is not installed
        return "0+unknown"
