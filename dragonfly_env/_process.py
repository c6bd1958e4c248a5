"""What the process of the command line needs before anything else is imported, which takes a second or two.

Of a process that merely uses the package nothing is changed: its signals and streams are its own. Imports little but
what Python has imported anyway when it begins: until then Ctrl-C has its usual effect.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def is_command_line() -> bool:
    """Whether this process is ``dragonfly-env``, or ``python -m dragonfly_env.cli``."""
    words = sys.orig_argv  # of this very process: a worker is told its parent's sys.argv
    script = next(iter(getattr(sys, "argv", ())), "")  # a program that embeds Python may set none
    as_script = script in words and os.path.basename(script) == "dragonfly-env"  # noqa: PTH119
    return as_script or ("-m", "dragonfly_env.cli") in zip(words, words[1:])  # noqa: B905, RUF007


def begin() -> None:
    """Let Ctrl-C end the process in one line, and occupy the standard streams that it was started without."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file to be opened would get its number, and what is written there
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def imported() -> None:
    """Everything is imported: from now on Ctrl-C is ``KeyboardInterrupt``, and commands keep what they have."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: an exception might be swallowed by whatever is being imported, and nothing can be lost yet."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
