"""What the process of the command line needs before anything else is imported, which takes a second or two.

Of a process that merely uses the package nothing is changed: its signals and streams are its own. Imports little but
what Python has imported anyway when it begins: until then Ctrl-C has its usual effect.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
TERMINATED = 143
"""Exit code after SIGTERM, which batch systems send before they kill."""

_terminated = False  # the last one was SIGTERM


def interrupted_code() -> int:
    """The exit code of a command that was interrupted."""
    return TERMINATED if _terminated else INTERRUPTED


def interrupted_text() -> str:
    """The same in words, for the beginning of a sentence."""
    return "ended by SIGTERM" if _terminated else "interrupted"


def is_command_line() -> bool:
    """Whether this process is ``dragonfly-env``, or ``python -m dragonfly_env.cli``."""
    words = sys.orig_argv  # of this very process: a worker is told its parent's sys.argv
    script = next(iter(getattr(sys, "argv", ())), "")  # a program that embeds Python may set none
    as_script = script in words and os.path.basename(script) == "dragonfly-env"  # noqa: PTH119
    return as_script or ("-m", "dragonfly_env.cli") in zip(words, words[1:])  # noqa: B905, RUF007


def begin() -> None:
    """Let Ctrl-C and SIGTERM end the process in one line, and occupy standard streams that it was started without."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file to be opened would get its number, and what is written there
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


class Interruptible:
    """While a command works, Ctrl-C and SIGTERM are ``KeyboardInterrupt``, so that it can keep what it has; see
    `_raise`.
    """

    def __enter__(self) -> None:
        _replace(_end, _raise)  # begun here, by the main thread of the command line

    def __exit__(self, *error: object) -> None:
        _replace(_raise, _end)


def _replace(old: object, new: Callable[[int, FrameType | None], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is old:
            signal.signal(number, new)


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: nothing can be lost, and whatever is under way might swallow an exception, as imports do."""
    global _terminated
    _terminated = number == signal.SIGTERM
    try:
        os.write(2, interrupted_text().encode() + b"\n")
    finally:
        os._exit(interrupted_code())


_AGAIN_S = 0.05
_waiting = False  # a Ctrl-C that came during an import is to come again
_again = False  # this one is that


def _raise(number: int, frame: FrameType | None) -> None:
    """Raise ``KeyboardInterrupt``, but not into the import of a library: some swallow it, some make ``ImportError`` of
    it, some stay half imported. It comes again when the library is there; who presses once more, or whose own module is
    being imported, does not wait.
    """
    global _waiting, _again, _terminated
    _terminated = number == signal.SIGTERM
    ours, _again = _again, False
    if _imports_library(frame) and (ours or not _waiting):
        _waiting = True
        _thread.start_new_thread(_press_again, (number,))  # takes no lock that the interrupted code may hold
        return
    _waiting = False
    raise KeyboardInterrupt


def _press_again(number: int) -> None:
    global _again
    time.sleep(_AGAIN_S)
    if _waiting:
        _again = True
        os.kill(os.getpid(), number)


def _imports_library(frame: FrameType | None) -> bool:
    """Whether a library is being imported: the innermost module whose import is under way is not the user's."""
    inner = None
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return inner is None or inner.startswith(_LIBRARIES) or f"{os.sep}site-packages{os.sep}" in inner
        inner = frame.f_code.co_filename
        frame = frame.f_back
    return False


_LIBRARIES = (sys.prefix, sys.base_prefix, os.path.dirname(__file__), "<")  # noqa: PTH120
