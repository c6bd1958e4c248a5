"""Without the extra [analysis] simulations and environments work; what needs it says how to install it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

from dragonfly_env.checks import extras

COMMAND = "in the clone of dragonfly-env run: pip install '.[analysis]'"

# An environment without the extra: none of its modules is found.
WITHOUT = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras._ANALYSIS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in {extras._ANALYSIS!r} else found(name, *more)
import dragonfly_env as dfe
config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="uniform", load=0.3)
"""

WORKS = {
    "a simulation": "print(dfe.simulate(config, warmup_ns=1_000, measure_ns=1_000).packets_delivered > 0)",
    "batches": "env = dfe.BatchedRoutingEnv(config, duration_ns=500); print(len(env.reset(seed=1)) > 0)",
    "PettingZoo": "from dragonfly_env import dragonfly_v0; print(len(dragonfly_v0.parallel_env().reset(seed=1)) == 2)",
    "Gymnasium": "import gymnasium; print(len(gymnasium.make('dragonfly_env/PacketRouting-v0').reset(seed=1)) == 2)",
    "a scenario": "from dragonfly_env.sweeps import Point, Scenario; print(True)",
    "a recording": "from dragonfly_env.view import record, write_view; print(True)",
    "an evaluation": "from dragonfly_env.agents import evaluate_policy\n"
    "print(evaluate_policy('min', config, warmup_ns=500, measure_ns=500).packets_delivered > 0)",
}
NEEDS = {
    "results": "from dragonfly_env.sweeps import load_results",
    "sweeps": "from dragonfly_env.sweeps import run_all",
    "figures": "import dragonfly_env.plots",
    "papers": "import dragonfly_env.lab.papers",
    "the benchmark": "import dragonfly_env.lab.benchmark",
    "frames": "dfe.Simulation(config).metrics().ports.to_frame()",
    "graphs": "config.topology.to_networkx()",
    "traces": "from dragonfly_env.traffic import Trace; Trace.from_file('trace.csv')",
}


# Expected output, or the final error; nothing of the extra can be left by an earlier command.
EACH = """
import json, sys
for use in json.loads(sys.argv[1]):
    try:
        exec(use, {"dfe": dfe, "config": config})
    except Exception as error:
        print(repr(f"{type(error).__name__}: {error}"))
"""


def run(code: str, *uses: str) -> subprocess.CompletedProcess[str]:
    """A process without the extra."""
    command = [sys.executable, "-c", WITHOUT + code, json.dumps(uses)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_the_extra_it_works() -> None:
    done = run(EACH, *WORKS.values())
    assert dict(zip(WORKS, done.stdout.splitlines(), strict=True)) == dict.fromkeys(WORKS, "True"), (
        done.stderr
    )


def test_without_the_extra_the_error_has_the_command_that_installs_it() -> None:
    done = run(EACH, *NEEDS.values())
    for name, line in zip(NEEDS, done.stdout.splitlines(), strict=True):
        error = ast.literal_eval(line)
        assert error.startswith("ImportError: "), (name, error)
        assert error.endswith(COMMAND), (name, error)
