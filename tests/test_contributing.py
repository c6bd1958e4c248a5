"""CONTRIBUTING.md is followed to the letter: its recipes must give policies and workloads that work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pybind11
import pytest

ROOT = Path(__file__).resolve().parents[1]

# Runs in a process of its own, on the core that was built with the new policy.
USE_IT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("dragonfly_env._core", sys.argv[1])
sys.modules["dragonfly_env._core"] = core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)

import dragonfly_env as dfe

assert "coin" in dfe.policies()
for policy, share in (("coin", 0.5), (dfe.make_policy("coin", share=0.25), 0.25)):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2, policy=policy)
    simulation = dfe.Simulation(config)
    simulation.run(50_000)
    minimal = simulation.metrics().minimal_fraction
    assert abs(minimal - (1 - share)) < 0.05, minimal
    assert simulation.drain()
    simulation.check_invariants()
try:
    dfe.make_policy("coin", shar=0.25)
except dfe.ConfigError as error:
    assert "share" in str(error)
else:
    raise AssertionError("an unknown parameter was taken")

def run(policy, load):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=load, policy=policy)
    simulation = dfe.Simulation(config)
    simulation.run(50_000)
    minimal = simulation.metrics().minimal_fraction
    assert simulation.drain()
    simulation.check_invariants()
    return minimal

assert run("herd", 0.02) == 1.0
assert run("herd", 0.4) < 0.9
assert run(dfe.make_policy("herd", crowd_packets=1e6), 0.4) == 1.0
assert run("shy", 0.4) < 0.95
assert run(dfe.make_policy("shy", patience_packets=1e6), 0.4) == 1.0

config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4)
env = dfe.BatchedRoutingEnv(
    config, features=["hops", "crowded_routers"], trackers={"crowded": {"crowd_packets": 10}}, duration_ns=20_000
)
batch, most = env.reset(), 0.0
assert env.layout.names == ("hops", "crowded_routers")
while not env.done:
    most = max(most, batch.obs[:, 1].max(initial=0))
    batch = env.step(batch.minimal_actions())
assert 0 < most < 1, most

ring = dfe.Dragonfly(p=1, h=1, g=4, group="ring:routers=6")
assert (ring.a, ring.diameter, ring.link_classes) == (6, 7, ("host", "ring", "global"))
assert ring.minimal_ports(0, 3) == (1, 2) and ring.minimal_hops(0, 3) == 3
assert dfe.Dragonfly.from_dict(ring.to_dict()) == ring
for policy in ("min", "val-n", "coin", "par", "q-adaptive"):
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=ring, load=1.0, policy=policy))
    simulation.run(3_000)
    simulation.check_invariants()
    assert simulation.drain(), policy
try:
    dfe.Dragonfly(p=1, h=1, g=3, group="ring:routers=2")
except dfe.ConfigError as error:
    assert "routers" in str(error)
else:
    raise AssertionError("a ring of two was taken")

assert "token" in dfe.traffic_patterns()
ends = []
for arguments in ("", ":compute_ns=600", ":compute_ns=600,placement=random"):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="token" + arguments)
    simulation = dfe.Simulation(config)
    ends.append(simulation.run_to_completion().makespan_ns)
    assert simulation.progress() == 1.0
assert ends[1] == __import__("pytest").approx(ends[0] + 71 * 500, abs=71 * 3.2), ends
assert ends[2] > ends[1], ends
try:
    dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="token:compute=600")
except dfe.ConfigError as error:
    assert "compute_ns" in str(error)
else:
    raise AssertionError("an unknown argument was taken")
"""


def build_core(source: Path, build: Path) -> Path:
    """Build the extension module quickly, without optimisation.

    Returns:
        Path of the module.
    """
    # Where .ci/python-headers puts Python.h if the system does not have it.
    fetched = Path(sys.prefix) / "include" / "headers"
    headers = [f"-DPython_INCLUDE_DIR={fetched}"] if (fetched / "Python.h").exists() else []
    tools = Path(sysconfig.get_path("scripts"))
    cmake = str(tools / "cmake")
    configure = [
        *(
            cmake,
            "-S",
            str(source),
            "-B",
            str(build),
            "-G",
            "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}",
        ),
        *("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0", "-DDRAGONFLY_WERROR=ON"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}", *headers),
    ]
    for command in (configure, [cmake, "--build", str(build)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (module,) = build.glob("_core*.so")
    return module


def blocks_of(recipe: str) -> list[str]:
    """The code of a section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split(f"## {recipe}\n")[1].split("\n## ")[0]
    return re.findall(r"```cpp\n(.*?)```", text, flags=re.DOTALL)


def add_line(registry: Path, entries: str, line: str) -> None:
    """Put one line into a list of a registry."""
    assert line.count("\n") == 1
    text = registry.read_text(encoding="utf-8")
    head = re.search(rf"#define {entries}\(X\) *\\\n", text)
    assert head is not None
    registry.write_text(text[: head.end()] + line + text[head.end() :], encoding="utf-8")


@pytest.mark.slow
def test_the_recipes_a_file_and_a_line_each_give_what_works(tmp_path: Path) -> None:
    """One build for all: three policies, a group shape and a workload."""
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    routing = tmp_path / "csrc" / "routing"
    file, line = blocks_of("Add a policy: one file, one line")
    (routing / "coin.cpp").write_text(file, encoding="utf-8")
    add_line(routing / "registry.cpp", "DRAGONFLY_POLICIES", line)
    tracker, tracker_line, policy, policy_line = blocks_of(
        "Add a policy with memory and signals: two files, two lines"
    )
    (routing / "trackers" / "crowded.cpp").write_text(tracker, encoding="utf-8")
    add_line(routing / "tracker_registry.cpp", "DRAGONFLY_TRACKERS", tracker_line)
    (routing / "herd.cpp").write_text(policy, encoding="utf-8")
    add_line(routing / "registry.cpp", "DRAGONFLY_POLICIES", policy_line)
    decider, decider_line = blocks_of("Add a decider that chooses among legal actions: one file, one line")
    (routing / "shy.cpp").write_text(decider, encoding="utf-8")
    add_line(routing / "registry.cpp", "DRAGONFLY_POLICIES", decider_line)
    topology = tmp_path / "csrc" / "topology"
    file, line = blocks_of("Add a group shape: one file, one line")
    (topology / "ring.cpp").write_text(file, encoding="utf-8")
    add_line(topology / "group_shape.cpp", "DRAGONFLY_GROUP_SHAPES", line)

    traffic = tmp_path / "csrc" / "traffic"
    workload, workload_line = blocks_of("Add a workload: one file, one line")
    (traffic / "token.cpp").write_text(workload, encoding="utf-8")
    add_line(traffic / "registry.cpp", "DRAGONFLY_PATTERNS", workload_line)

    module = build_core(tmp_path / "csrc", tmp_path / "build")

    done = subprocess.run(
        [sys.executable, "-c", USE_IT, str(module)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
