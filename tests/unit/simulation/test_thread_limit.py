"""A system that gives no more threads: an error that says so."""

from __future__ import annotations

import subprocess
import sys

# A new thread reserves as much memory for its stack as the limit at the start of the program says.
SCRIPT = """
import os, resource, sys

STACK = 2**30
if len(sys.argv) == 1:
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    os.execv(sys.executable, [sys.executable, "-c", open("/proc/self/cmdline").read().split("\\0")[2], "limited"])

import dragonfly_env as dfe

config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("2550"), threads=3)
assert dfe.Simulation(config).num_partitions >= 3
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + STACK * 3 // 2, used + STACK * 3 // 2))
try:
    dfe.Simulation(config)
except dfe.ConfigError as error:
    print(error)
few = dfe.Simulation(config.replace(threads=2))
few.run(500)
few.check_invariants()
"""


def test_too_many_threads_are_a_config_error_that_says_how_many_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("threads = 3: the system gives this process no more than 2 ("), done.stdout
