"""An exception from outside, at a moment of one's choice: what Ctrl-C is to a call, without a second process."""

from __future__ import annotations

import gc
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
        self._armed = False
        signal.signal(signal.SIGALRM, self._ring)

    def during(self, call: Callable[[], object], delay_s: float) -> bool:
        """Call; whether the exception came before it returned. What else it raises is passed on."""
        gc.disable()  # Hypothesis has a callback of the garbage collector, in which an exception would be lost
        try:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, delay_s)
            try:
                call()
            finally:
                self._armed = False  # another thread of the core may have got the signal, and pass it on late
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except self._error:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            return True
        finally:
            gc.enable()
        return False

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            raise self._error
