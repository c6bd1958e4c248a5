"""Runs one block of Python."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any


def run_block(text: str, namespace: dict[str, Any], where: str) -> str:
    """Run a block in a namespace that it may change; what it printed.

    Raises:
        Exception: Whatever the block raises.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other libraries are not the reader's concern
        exec(compile(text, where, "exec"), namespace)
    return printed.getvalue()
