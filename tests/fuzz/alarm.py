"""An exception from outside, at a moment of one's choice: what Ctrl-C is to a call, without a second process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType


class Alarm:
    """Raises an exception in the main thread after some time, as the handler of SIGINT does at Ctrl-C.

    Args:
        error: Makes what is raised.
    """

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error
        signal.signal(signal.SIGALRM, self._ring)

    def during(self, call: Callable[[], object], delay_s: float) -> bool:
        """Call; whether the exception came before it returned. What else it raises is passed on."""
        try:
            signal.setitimer(signal.ITIMER_REAL, delay_s)
            try:
                call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            _nothing()  # one that came in the last moment is raised here
        except self._error:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            return True
        return False

    def _ring(self, number: int, frame: FrameType | None) -> None:
        raise self._error


def _nothing() -> None:
    pass
