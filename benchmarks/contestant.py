"""A commit in `benchmarks.compare`: a process that measures a slice on each command, in turns with another one.

It is started by ``START`` with that commit's interpreter: the package comes from there, the measuring from here.
One line of JSON on standard input names a case, one line on standard output says what its next slice took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

START = """
import sys
import dragonfly_env  # its own; from now on the folder of these benchmarks comes first, where another one may be
sys.path.insert(0, sys.argv[1])
from benchmarks.contestant import serve
serve(sys.argv[2], float(sys.argv[3]))
"""


def serve(topology: str, length: float) -> None:
    """Measure what standard input names, until it ends."""
    import dragonfly_env
    from benchmarks.cases import cases

    builders, built = cases(topology=topology, length=length), {}
    for line in sys.stdin:
        name = json.loads(line)
        if name not in built:
            built[name] = builders[name]()
        work, cpu_s = built[name].slice()
        result = {
            "work": work,
            "cpu_s": cpu_s,
            "unit": built[name].unit,
            "quads_per_round": built[name].quads_per_round,
            "history": built[name].history(),
            "package": str(Path(dragonfly_env.__file__).parent),
        }
        print(json.dumps(result), flush=True)


def interpreter(given: Path) -> Path:
    """The Python of a checkout with ``.venv``, or the one that is named itself."""
    python = given / ".venv" / "bin" / "python" if given.is_dir() else given
    if not (python.is_file() and os.access(python, os.X_OK)):
        raise RuntimeError(
            f"{given}: neither a checkout with .venv nor a Python ({python} cannot be executed)"
        )
    return python.absolute()  # a link stays one: through it Python knows its environment


class Contestant:
    """A running process with one commit's package, started with that commit's interpreter; a context manager."""

    def __init__(self, python: Path, *, topology: str, length: float) -> None:
        self._python = python
        self._folder = tempfile.TemporaryDirectory()  # no package lies here by accident
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [str(python), "-c", START, str(ROOT), topology, f"{length:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=self._folder.name,
            env=environment,
        )

    def measure(self, case: str) -> dict[str, Any]:
        """The next slice of a case, as ``serve`` prints it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(case) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise RuntimeError(f"{self._python}, {case}: {self._errors.read().strip()[-1000:]}")
        result: dict[str, Any] = json.loads(line)
        return result

    def __enter__(self) -> Contestant:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()
