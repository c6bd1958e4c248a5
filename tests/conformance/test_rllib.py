"""RLlib's PPO trains on the parallel PettingZoo view, with action masks.

Where RLlib is installed only: ``make test-rllib`` gives it an environment of its own, as it pins Gymnasium.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs the extra [rllib]; run by make test-rllib")


def test_the_example_trains_with_masks_and_never_breaks_one() -> None:
    """An action that the mask forbids would end the example."""
    example = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"iteration 1: \d{3,} rounds, loss -?\d.*\niteration 2: \d{3,} rounds, loss -?\d.*\n", done.stdout
    )
