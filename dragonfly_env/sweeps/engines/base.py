"""What an engine does, and what it may not know: runs go to workers by a function, results come by the folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dragonfly_env.checks.values import config_error

Item = TypeVar("Item")


class EngineError(Exception):
    """Workers were lost, or the cluster cannot be reached; what was not done may be tried again."""


class Engine(Protocol):
    """Calls a function for many items on other machines."""

    name: str

    def start(self, folder: Path, threads: int, jobs: int | None) -> None:
        """Join the cluster.

        Args:
            folder: The results folder, which all machines see under this name.
            threads: Processors that a call needs.
            jobs: Calls at a time; None: as many as the cluster has processors for.

        Raises:
            ConfigError: If there is no such cluster.
        """

    def call(self, task: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Call a function for every item, and wait until all have ended. Runs in a thread of its own.

        Raises:
            EngineError: If a call was lost with its worker.
            Exception: Whatever the function raises.
        """

    def stop(self) -> None:
        """Give up what is under way, and leave the cluster. May be called twice, and while `call` is at work."""


def load(module: str, extra: str) -> Any:
    """A module that an extra brings.

    Raises:
        ConfigError: If the extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = (error.name or module).partition(".")[0]
        allowed = f"needs the extra [{extra}], which is not installed (no module {name!r})"
        raise config_error("engine", extra, allowed) from None
