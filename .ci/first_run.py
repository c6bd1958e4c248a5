"""Does the first run of a scenario with the package that is installed, and prints its version and the history's hash.

Usage: python .ci/first_run.py scenario.toml
"""

from __future__ import annotations

import sys
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env.sweeps import Scenario
from dragonfly_env.sweeps.measure import measure

if __name__ == "__main__":
    first = Scenario.from_toml(Path(sys.argv[1])).runs()[0]
    row = measure(first)
    print(
        f"dragonfly-env {dfe.__version__}, {first.describe()}: {row['packets_delivered']} packets delivered, "
        f"{row['trace_hash']}"
    )
