"""A damaged footer is refused; that it could abort the process was found by the fuzzer (seed 14, input 24578)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "data" / "footer-that-aborts.parquet"

CODE = """
import sys
import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
try:
    Trace.from_file(sys.argv[1])
except dfe.ConfigError as error:
    assert "footer-that-aborts" in str(error)
    print("refused")
"""


def test_a_footer_with_impossible_statistics_is_refused() -> None:
    """In a process of its own: before, the table library's exception ended it."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(FILE)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
