"""What keeps a decision environment from being used out of order, or by two threads at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dragonfly_env import _core
from dragonfly_env.errors import DeadlockError, StateError


class EnvGuard:
    """The state of an episode of ``BatchedRoutingEnv``, and what it allows."""

    _core: _core.RoutingEnvironment
    _busy: threading.Lock
    _broken: str | None
    _drained: bool
    _started: bool

    def _require_running(self, call: str) -> None:
        if not self._started:
            raise StateError(f"{call}(): call reset() first")
        if self._core.done:
            raise StateError(f"{call}(): the episode is over; call reset()")

    def _require_done(self, call: str) -> None:
        if not self._started:
            raise StateError(f"{call}(): call reset() first")
        if not self._core.done:
            raise StateError(f"{call}(): only after the end of an episode (done)")
        if self._drained:
            raise StateError(f"{call}(): the episode was drained; call reset()")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise StateError("this environment is at work in another thread; use one per thread")
        try:
            yield
        finally:
            self._busy.release()

    @contextmanager
    def _marks_broken(self) -> Iterator[None]:
        if self._broken is not None:
            raise StateError(f"this episode stopped for good: {self._broken}; call reset()")
        try:
            yield
        except DeadlockError as error:
            self._broken = str(error).split("\n", 1)[0]
            raise
