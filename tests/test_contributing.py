"""CONTRIBUTING.md is followed to the letter: its recipe must give a policy that works."""

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


@pytest.mark.slow
def test_the_recipe_one_file_one_line_gives_a_policy_that_works(tmp_path: Path) -> None:
    recipe = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a policy: one file, one line")[1]
    )
    file, line = re.findall(r"```cpp\n(.*?)```", recipe, flags=re.DOTALL)
    assert line.count("\n") == 1
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    routing = tmp_path / "csrc" / "routing"
    (routing / "coin.cpp").write_text(file, encoding="utf-8")
    registry = (routing / "registry.cpp").read_text(encoding="utf-8")
    head = re.search(r"#define DRAGONFLY_POLICIES\(X\) *\\\n", registry)
    assert head is not None
    changed = registry[: head.end()] + line + registry[head.end() :]
    (routing / "registry.cpp").write_text(changed, encoding="utf-8")

    module = build_core(tmp_path / "csrc", tmp_path / "build")

    done = subprocess.run(
        [sys.executable, "-c", USE_IT, str(module)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
