"""A fault that was found: where, what, and how to see it again."""

from __future__ import annotations

import dataclasses
import re
import traceback

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')
_FRAMES = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One input that went wrong.

    Args:
        target: Name of the target.
        seed: Of the search.
        number: Of the input.
        summary: One line.
        detail: A traceback, or the stacks at the crash.
        key: The same for inputs that met the same fault.
    """

    target: str
    seed: int
    number: int
    summary: str
    detail: str
    key: str

    @property
    def again(self) -> str:
        """The command that repeats this input alone."""
        return (
            f"python -m tests.fuzz --only {self.target} --seed {self.seed} --first {self.number} --inputs 1"
        )


def fingerprint(error: BaseException) -> str:
    """Class and last frames of an exception: what two findings of one fault have in common."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return " < ".join([type(error).__name__, *(f"{f.filename}:{f.lineno}" for f in reversed(frames))])


def crash_fingerprint(how: str, stacks: str) -> str:
    """The same for a process that died ``how``: from the stack of the thread that did it."""
    current = stacks.split("Current thread", 1)[-1].split("\n\n", 1)[0]
    frames = [f"{found['file']}:{found['line']}" for found in _FRAME.finditer(current)][:_FRAMES]
    return " < ".join([how, *frames])
