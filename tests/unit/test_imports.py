"""Modules of the package know one another one way only: a module further down in this list knows those above.

The order is that of ARCHITECTURE.md. Imports inside functions count, and so do those for type checkers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dragonfly_env

PACKAGE = Path(dragonfly_env.__file__).parent
TESTS = Path(__file__).parents[1]
FLOORS: tuple[tuple[str, ...], ...] = (
    ("_core", "_version", "registration"),
    *(("errors",), ("checks", "colors"), ("config",), ("traffic",), ("metrics",), ("decisions",)),
    *(("batch_policy",), ("baselines",), ("policy",), ("jobs",), ("simulation",), ("bounds",)),
    *(("envs",), ("dragonfly_v0",), ("agents",), ("named_tasks",)),
    ("_library",),
    ("",),  # the package itself, which only hands out names
    *(("sweeps", "training"), ("plots",), ("view",), ("lab.work",), ("lab.papers",), ("lab.benchmark",)),
    *(("lab.neural",), ("lab.knowledge",), ("lab",), ("cli",)),
)


def modules() -> dict[str, Path]:
    """Every module of the package by its name inside it."""
    found = {}
    for room in (PACKAGE, PACKAGE / "agents", PACKAGE / "baselines"):  # two are links
        for file in sorted(room.resolve().rglob("*.py")):
            parts = file.relative_to(room.resolve()).with_suffix("").parts
            inside = (room.name, *parts) if room != PACKAGE else parts
            found[".".join(part for part in inside if part != "__init__")] = file
    return found


MODULES = modules()


def imports(module: str, *, types: bool) -> Iterator[tuple[int, str]]:
    """(line, module of the package) of every import; with ``types`` also those that only type checkers follow."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types:
            node.body = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            assert node.level == 0, f"{module}:{node.lineno}: imports have whole names here"
            inner = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name.partition(".")[2] in (*MODULES, "_core") else base for name in inner]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "dragonfly_env":
                yield node.lineno, name.partition(".")[2]


def floor(module: str) -> int:
    """The floor of the longest name that a module's name starts with."""
    known = {name: i for i, names in enumerate(FLOORS) for name in names}
    parts = module.split(".")
    for count in range(len(parts), 0, -1):
        if (name := ".".join(parts[:count])) in known and (name or not module):
            return known[name]
    raise AssertionError(f"{module}: is on no floor; add it to FLOORS, and its place to ARCHITECTURE.md")


@pytest.mark.parametrize("module", MODULES, ids=lambda name: name or "package")
def test_a_module_knows_only_those_below_it(module: str) -> None:
    for line, other in imports(module, types=True):
        assert floor(other) <= floor(module), (
            f"{module}:{line} imports {other or 'the package'}, which is above it"
        )


def test_only_commands_start_the_lab_and_when_they_are_called() -> None:
    """The names of the library need nothing of ``lab``."""
    commands = {"cli.reproduce", "cli.benchmark", "cli.train"}
    for module in MODULES:
        if module.split(".")[0] == "lab":
            continue
        used = {other for _, other in imports(module, types=True) if other.split(".")[0] == "lab"}
        assert not used or module in commands, (module, used)
        of_file = ast.parse(MODULES[module].read_text(encoding="utf-8")).body
        whole = [ast.unparse(node) for node in of_file if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert not any("dragonfly_env.lab" in line for line in whole), module


def test_no_modules_import_each_other() -> None:
    """Within a floor too, wherever in a file an import stands, and for type checkers as well."""
    graph = {module: {other for _, other in imports(module, types=True)} - {module} for module in MODULES}
    free: set[str] = {"_core"}
    while more := {module for module, others in graph.items() if module not in free and others <= free}:
        free |= more
    assert set(graph) <= free, f"in circles: {sorted(set(graph) - free)}"


def test_no_module_imports_a_private_name_of_another() -> None:
    allowed = {"_core", "_library", "_version"}
    for file in (*MODULES.values(), *sorted(TESTS.rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dragonfly_env"):
                names = (*(node.module or "").split("."), *(alias.name for alias in node.names))
                private = {name for name in names if name.startswith("_") and not name.startswith("__")}
                assert private <= allowed, f"{file}:{node.lineno}"
