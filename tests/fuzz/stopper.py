"""SIGSTOP and SIGCONT at moments of one's choice: what Ctrl-Z, a debugger or a busy machine is to a process."""

from __future__ import annotations

import os
import subprocess
import sys

_HELPER = """
import os, signal, sys, time
for line in sys.stdin:
    for _ in range(int(line.split()[0])):
        time.sleep(float(line.split()[1]))
        os.kill(int(sys.argv[1]), signal.SIGSTOP)
        time.sleep(float(line.split()[2]))
        os.kill(int(sys.argv[1]), signal.SIGCONT)
"""


class Stopper:
    """A second process that stops this one and lets it go on; it ends with this one, or when it is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HELPER, str(os.getpid())], stdin=subprocess.PIPE, text=True
        )

    def soon(self, times: int, after_s: float, for_s: float) -> None:
        """Stop so many times, each time after a while, for a while; returns at once."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{times} {after_s} {for_s}\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End it; what was asked for is still done."""
        self._process.communicate()
