"""A simulation with several threads goes on in a forked process, which has none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The child of a fork must not come back into the tests: it lives in a process of its own.
SCRIPT = """
import os, sys, warnings
import dragonfly_env as dfe

warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks next to threads; the test is about these
config = dfe.SimulationConfig(
    topology=dfe.Dragonfly.preset("2550"), traffic="adv+1", load=0.5, policy="ugal-n", threads=2
)
case, = sys.argv[1:]

def in_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

if case == "simulation":
    whole = dfe.Simulation(config)
    whole.run(2_000)
    simulation = dfe.Simulation(config)
    simulation.run(1_000)

    def go_on():
        simulation.run(1_000)
        assert simulation.trace_hash() == whole.trace_hash()
        simulation.check_invariants()
        assert in_child(lambda: simulation.run(100)) == 0  # and so does a grandchild
        simulation.run(100)

    assert in_child(go_on) == 0
    go_on()
elif case == "environment":
    env = dfe.BatchedRoutingEnv(config.replace(network="default"), duration_ns=500)
    env.reset()

    def play():
        batch = env.reset(seed=3)
        while not env.done:
            batch = env.step(batch.minimal_actions())
        env.drain()

    assert in_child(play) == 0
    play()
print("passed")
"""


@pytest.mark.parametrize("case", ["simulation", "environment"])
def test_a_forked_process_has_threads_of_its_own(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, case], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stdout + done.stderr
