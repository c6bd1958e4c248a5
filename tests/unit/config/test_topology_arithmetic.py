"""The topology alone computes the router of a host and the group of a router: its arrays also hold for shapes
of groups in which some routers have no hosts.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dragonfly_env

PACKAGE = Path(dragonfly_env.__file__).parent
SIZES = {"p", "a", "h"}
"""Hosts and global ports of a router, and routers of a group."""
NAMED = {
    "config/topology.py": 1,  # the global ports of a group, for all others
    "config/throughput.py": 3,  # balanced systems, and the local links of all-to-all groups
    "lab/papers/quantities.py": 4,  # equation 3 of TACO 2025, whose groups are all-to-all
}
"""Places that compute with these sizes themselves, by file: formulas of a certain shape."""


def _sizes(tree: ast.AST) -> set[str]:
    """Names that a size is assigned to."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = (
                zip(target.elts, node.value.elts, strict=True)
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                else [(target, node.value)]
            )
            found |= {
                name.id for name, value in pairs if isinstance(name, ast.Name) and _is_size(value, set())
            }
    return found


def _is_size(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr in SIZES


def computed(source: str) -> Iterator[int]:
    """The lines that multiply or divide by a size of a topology, or reshape by it."""
    for scope in (
        node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.Lambda))
    ):
        names = _sizes(scope)
        for node in ast.walk(scope):
            parts: list[ast.expr] = []
            if isinstance(node, ast.BinOp) and isinstance(
                node.op, (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
            ):
                parts = [node.left, node.right]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("divmod", "reshape")):
                parts = node.args
            if any(_is_size(part, names) for part in parts):
                yield node.lineno


def places() -> Counter[str]:
    """Count the lines of each file of the package that compute with sizes."""
    found: Counter[str] = Counter()
    for room in (PACKAGE, PACKAGE / "agents", PACKAGE / "baselines"):  # two are links
        for file in sorted(room.resolve().rglob("*.py")):
            lines = len(set(computed(file.read_text(encoding="utf-8"))))
            if lines:
                found[str(file.relative_to(room.resolve()))] += lines
    return found


def test_no_module_computes_the_router_of_a_host_or_the_group_of_a_router_itself() -> None:
    assert places() == NAMED


def test_the_count_sees_each_way_to_compute_with_a_size() -> None:
    source = """
def f(topology, host, config):
    router = host // topology.p
    a = topology.a
    group, place = divmod(router, a)
    by_group = values.reshape(-1, config.topology.a)
    return by_group, router % a, group * topology.h, topology.p + 1
"""
    assert sorted(set(computed(source))) == [3, 5, 6, 7]
