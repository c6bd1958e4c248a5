"""Ctrl-C, where it must wait."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """While a file is written: Ctrl-C and SIGTERM that come meanwhile have their effect afterwards.

    An archive that is left in the middle of a member cannot be closed: its own error would take the place of
    ``KeyboardInterrupt``. Signals that are ignored stay ignored; other threads than the main one hear none anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if handler is not None and handler != signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])
