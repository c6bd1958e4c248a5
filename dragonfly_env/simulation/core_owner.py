"""What everything that drives a core shares: one thread at a time, and no going on after a deadlock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from dragonfly_env import _core
from dragonfly_env.errors import DeadlockError, StateError

AT_WORK = "this environment is at work in another thread; use one per thread"


class CoreOwner:
    """Base of classes that own a core; the core drops the GIL while it is at work, so another thread could enter.

    Whatever touches the core is in ``with self._alone``: another thread, and a process that was forked meanwhile,
    gets a ``StateError``. Ctrl-C at any moment leaves it free.

    Attributes:
        _AT_WORK: What a second thread is told.
        _STOPPED: What is said after a deadlock; its first line stands for ``{}``.
    """

    _AT_WORK: ClassVar[str]
    _STOPPED: ClassVar[str]

    def __init__(self) -> None:
        self._alone = _core.Turnstile(self._AT_WORK)
        self._broken: str | None = None

    @contextmanager
    def _marks_broken(self) -> Iterator[None]:
        """Refuse to go on after a deadlock: what stops does not recover."""
        if self._broken is not None:
            raise StateError(self._STOPPED.format(self._broken))
        try:
            yield
        except DeadlockError as error:
            self._broken = str(error).split("\n", 1)[0]
            raise
