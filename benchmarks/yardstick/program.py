"""Compiling the yardstick when it is first needed, and running it."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checkout import ROOT, build_settings
from benchmarks.process import current_processor, on_processor, run_process

VERSION = 1
SOURCE = Path(__file__).with_name("yardstick.cpp")
CHECKSUM = "32a142eb004d09fd"
LAP_PACKET_HOPS = 792_097
FLAGS = ("-O3", "-std=c++20")  # those of every release build; never -march=native


@dataclass(frozen=True, slots=True)
class Program:
    """The compiled yardstick.

    Attributes:
        executable: Its file.
        compiler: What compiled it, in its own words.
    """

    executable: Path
    compiler: str

    def hops_per_s(self, laps: int) -> float:
        """Its speed now, on the processor on which this thread runs: packet-hops per CPU-second.

        Args:
            laps: Ten take about a second.

        Raises:
            RuntimeError: If it does not do what version 1 always did.
        """
        with on_processor(current_processor()):
            run = json.loads(run_process([str(self.executable), str(laps)]).output)
        if run["checksum"] != CHECKSUM or run["packet_hops"] != laps * LAP_PACKET_HOPS:
            raise RuntimeError(f"yardstick {VERSION}, compiled by {self.compiler}, did other work: {run}")
        return float(run["packet_hops"] / run["cpu_s"])


def source_sha256() -> str:
    """Names the program itself."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


@functools.cache
def program(folder: Path = ROOT / "build" / "yardstick") -> Program:
    """The yardstick, compiled unless this compiler has done so before.

    Args:
        folder: Where compiled ones are kept, by their source, compiler and flags.

    Raises:
        RuntimeError: If there is no compiler, or it fails.
    """
    compiler = find_compiler((build_settings().get("CMAKE_CXX_COMPILER"), "c++", "g++", "clang++"))
    version = run_process([compiler, "--version"]).output.splitlines()[0]
    key = hashlib.sha256("\n".join((source_sha256(), version, *FLAGS)).encode()).hexdigest()[:16]
    executable = folder / f"yardstick-{VERSION}-{key}"
    if not executable.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:  # others may be at it as well
            fresh = Path(name) / executable.name
            run_process([compiler, *FLAGS, str(SOURCE), "-o", str(fresh)])
            fresh.replace(executable)
    return Program(executable, version)


def describe() -> dict[str, str | int]:
    """Which program it is, and what compiled it: for the result file."""
    return {"version": VERSION, "source_sha256": source_sha256(), "compiler": program().compiler}


def find_compiler(names: Sequence[str | None]) -> str:
    """The first of these that can be executed.

    Raises:
        RuntimeError: If none can.
    """
    for name in names:
        path = shutil.which(name) if name else None
        if path:
            return path
    tried = ", ".join(name for name in names if name)
    raise RuntimeError(f"the yardstick has to be compiled, and there is no C++ compiler (tried {tried})")
