"""What everything that drives a core shares: one thread at a time, and no going on after a deadlock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from dragonfly_env.errors import DeadlockError, StateError


class CoreOwner:
    """Base of classes that own a core; the core drops the GIL while it is at work, so another thread could enter.

    Attributes:
        _AT_WORK: What a second thread is told.
        _STOPPED: What is said after a deadlock; its first line stands for ``{}``.
    """

    _AT_WORK: ClassVar[str]
    _STOPPED: ClassVar[str]

    def __init__(self) -> None:
        self._busy = threading.Lock()
        self._broken: str | None = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads out while the core is at work."""
        if not self._busy.acquire(blocking=False):
            raise StateError(self._AT_WORK)
        try:
            yield
        finally:
            self._busy.release()

    @contextmanager
    def _marks_broken(self) -> Iterator[None]:
        """Refuse to go on after a deadlock: what stands still does not recover."""
        if self._broken is not None:
            raise StateError(self._STOPPED.format(self._broken))
        try:
            yield
        except DeadlockError as error:
            self._broken = str(error).split("\n", 1)[0]
            raise
