"""Figures never depend on MPLBACKEND: Jupyter gives its own backend to every command that a notebook starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DRAW = """
from dragonfly_env.cli import app
command = "sweep -t 72 -p min --traffic uniform -l 0.2 --warmup 500 --measure 1000 -j 1 -o out"
app(command.split(), standalone_mode=False)
from dragonfly_env.lab.papers import PAPERS
from dragonfly_env.lab.benchmark import report
import dragonfly_env as dfe
from dragonfly_env.envs.render import Renderer
simulation = dfe.Simulation(dfe.SimulationConfig(topology="72"))
simulation.run(500)
Renderer(simulation.config, "rgb_array").render(simulation.metrics())
"""


def test_figures_need_no_backend(tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    done = subprocess.run(
        [sys.executable, "-c", DRAW],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/loads.png").exists()


def test_a_backend_that_is_there_stays_that_of_pyplot() -> None:
    script = "import dragonfly_env.plots, matplotlib.pyplot as plt; print(plt.get_backend())"
    environment = {**os.environ, "MPLBACKEND": "svg"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout == "svg\n", done.stderr
