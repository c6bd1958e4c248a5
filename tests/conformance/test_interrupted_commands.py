"""The command line: Ctrl-C at any moment ends it with 130 and without a traceback, and nobody waits for what he did
not ask for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "dragonfly_env.cli")
SHORT = ("--topology", "72", "--load", "0.1", "--warmup-ns", "0", "--measure-ns", "1000")
SWEPT = (*SHORT, "--policy", "min", "--traffic", "uniform", "--jobs", "1")

# Begins with the interpreter, before anything of ours: it interrupts itself when it is about to import a module.
PRESS = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["PRESS_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Press())
"""


def run_and_press(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(PRESS)
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PRESS_AT": module},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("dragonfly_env.errors", ("--help",)),
        ("numpy._core.multiarray", ("--help",)),
        ("dragonfly_env._core", ("info",)),
        ("rich.markdown", ("--help",)),
        ("pyarrow.lib", ("simulate", *SHORT, "--packet-log", "log.parquet")),
        ("pandas._libs.hashtable", ("sweep", *SWEPT)),
        ("matplotlib.ft2font", ("sweep", *SWEPT)),
        ("plotly.graph_objects", ("sweep", *SWEPT)),
    ],
)
def test_ctrl_c_during_an_import_ends_a_command_with_130(
    tmp_path: Path, module: str, arguments: tuple[str, ...]
) -> None:
    done = run_and_press(tmp_path, module, *arguments)
    assert (done.returncode, done.stderr.splitlines()[-1][:11]) == (130, "interrupted"), done.stderr
    assert "Traceback" not in done.stderr


def test_the_modules_of_these_tests_are_imported_at_all(tmp_path: Path) -> None:
    """Otherwise nothing was pressed: a name that nobody imports changes nothing."""
    done = run_and_press(tmp_path, "no.such.module", "info")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_a_module_of_the_users_that_never_ends(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True:\n    pass\n"
    )
    done = run_and_press(tmp_path, "", "evaluate", "mine.py:Mine", *SHORT)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


# What takes a tenth of a second and more, and a list of options has no use for.
HELP = """
import sys
from dragonfly_env.cli import app

heavy = {"joblib", "matplotlib", "networkx", "pandas", "plotly", "pyarrow", "ray", "torch"}
for command in ([], ["info"], ["simulate"], ["sweep"], ["train"], ["reproduce"]):
    app([*command, "--help"], standalone_mode=False)
    assert not heavy & sys.modules.keys(), (command, heavy & sys.modules.keys())
"""


def test_help_imports_nothing_heavy() -> None:
    subprocess.run([sys.executable, "-c", HELP], capture_output=True, timeout=120, check=True)
