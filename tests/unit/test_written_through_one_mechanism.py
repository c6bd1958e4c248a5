"""Files are written through ``dragonfly_env.checks.files`` and nowhere else: see there why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MECHANISM = "dragonfly_env/checks/files.py"
WRITERS = {
    *("write_text", "write_bytes", "touch", "savefig", "to_parquet", "to_csv", "savez"),
    *("savez_compressed", "tofile"),
    *("mkstemp", "mkdtemp", "NamedTemporaryFile", "symlink_to", "copyfile"),
}
OPENERS = {"open", "fdopen", "ZipFile"}


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _opens_to_write(call: ast.Call) -> bool:
    """Whether it opens a file to write to it; what is opened to be written to is Python's null device at most."""
    words = [
        one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    names = {one.attr for one in ast.walk(call) if isinstance(one, ast.Attribute)}
    if "devnull" in names:
        return False
    modes = [word for word in words if set(word) <= set("rwxabt+") and set(word) & set("wxa+")]
    return bool(modes) or bool(names & {"O_CREAT", "O_WRONLY", "O_RDWR"})


def _unguarded(node: ast.AST, guarded: bool = False) -> Iterator[ast.Call]:
    """Calls that write, but for those in a block ``with replacing(..)``."""
    if isinstance(node, ast.With):
        items = [item.context_expr for item in node.items]
        guarded = guarded or any(isinstance(one, ast.Call) and _name(one) == "replacing" for one in items)
    if isinstance(node, ast.Call) and not guarded:
        name = _name(node)
        of_the_mechanism = name == "write_text" and isinstance(node.func, ast.Name)
        if (name in WRITERS and not of_the_mechanism) or (name in OPENERS and _opens_to_write(node)):
            yield node
    for child in ast.iter_child_nodes(node):
        yield from _unguarded(child, guarded)


def modules() -> list[Path]:
    places = (ROOT / place for place in ("dragonfly_env", "agents", "baselines"))
    found = [path for place in places for path in sorted(place.rglob("*.py")) if not path.is_symlink()]
    return [
        path for path in found if "dragonfly_env/agents" not in str(path) and "env/baselines" not in str(path)
    ]


@pytest.mark.parametrize(
    "code",
    [
        *("path.write_text('x')", "path.open('wb')", "open(path, mode='a')", "os.open(path, os.O_CREAT)"),
        *("figure.savefig(path)", "np.savez(path, x=x)"),
    ],
)
def test_what_writes_is_seen(code: str) -> None:
    assert len([*_unguarded(ast.parse(code))]) == 1
    assert not [*_unguarded(ast.parse(f"with replacing(target) as path:\n    {code}"))]


def test_nothing_writes_a_file_by_itself() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{call.lineno} {_name(call)}"
        for path in modules()
        if str(path.relative_to(ROOT)) != MECHANISM
        for call in _unguarded(ast.parse(path.read_text()))
    }
    assert found == set()
