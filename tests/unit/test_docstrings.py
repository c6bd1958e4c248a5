"""Every public object says what it is for, with types; the names that users type have parameters and an example, too.

Public is what the modules of the package export. They are found by their ``__all__``: a new name needs no entry here.
Users type what the package itself and its environments, agents and baselines export.
"""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib
import importlib.util
import inspect
import itertools
import pkgutil
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.config.rows import describe
from dragonfly_env.envs.options import EnvOptions

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from dragonfly_docs import api  # noqa: E402

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WIDEST = 80  # columns of a line of code
_NOT_FOR_USERS = ("cli", "lab", "programs")
_SEE = "See ``"


def objects() -> list[tuple[str, str]]:
    """(module, name) of all that is in the reference and no plain value."""
    named = [entry for page in api.PAGES.values() for entry in api.names_of(page)]
    return [entry for entry in named if not api.is_value(*entry)]


def find(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def methods_of(name: str, thing: Any) -> dict[str, Any]:
    return dict(api.members_of(name, thing)) if inspect.isclass(thing) else {}


def text_of(thing: Any) -> str:
    """The docstring; of a class with those of its bases in the package."""
    bases = thing.__mro__[1:] if inspect.isclass(thing) else ()
    ours = [base for base in bases if base.__module__.startswith("dragonfly_env")]
    return "\n\n".join(inspect.cleandoc(entry.__doc__ or "") for entry in (thing, *ours))


def inherited(thing: type[Any], method: str) -> str:
    """Docstrings of a method in the class and its bases."""
    return "\n".join(getattr(vars(base).get(method), "__doc__", None) or "" for base in thing.__mro__)


def examples_of(text: str | None) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(text or "")


def parameters_of(thing: Any) -> list[str]:
    """The names of the parameters that are given by name or place when it is called."""
    if inspect.isclass(thing) and (getattr(thing, "_is_protocol", False) or inspect.isabstract(thing)):
        return []
    try:
        known = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        entry.name for entry in known if entry.name not in ("self", "cls") and entry.kind.value not in (2, 4)
    ]


def fields_with_docstrings(thing: type[Any]) -> set[str]:
    """The fields of a class that a string behind them explains."""
    found: set[str] = set()
    for base in thing.__mro__:
        if base.__module__.startswith("dragonfly_env"):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            body = getattr(tree, "body", [])
            for field, text in itertools.pairwise(body):
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    found.add(ast.unparse(field.target))
    return found


def is_typed(module: str, name: str) -> bool:
    """Whether users write the name in their programs."""
    rooms = (dfe, dfe.envs, dfe.agents, dfe.baselines)
    return any(name in getattr(room, "__all__", ()) for room in rooms)


everything = pytest.mark.parametrize(("module", "name"), objects(), ids=lambda value: value)


def test_what_modules_export_is_in_the_reference() -> None:
    known = {name for page in api.PAGES.values() for _, name in api.names_of(page)}
    modules = [dfe, dfe.agents, dfe.baselines]
    for info in pkgutil.walk_packages(dfe.__path__, "dragonfly_env."):
        if not any(part.startswith("_") or part in _NOT_FOR_USERS for part in info.name.split(".")):
            try:
                modules.append(importlib.import_module(info.name))
            except ImportError:  # an extra that is not installed
                continue
    for module in modules:
        for name in getattr(module, "__all__", ()):
            if not inspect.ismodule(getattr(module, name, None)):
                assert name in known, (
                    f"{module.__name__}.{name} has no place in docs/_ext/dragonfly_docs/api.py"
                )


@everything
def test_examples_run_and_the_names_that_users_type_have_one(
    module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thing = find(module, name)
    assert examples_of(thing.__doc__) or not is_typed(module, name), f"{module}.{name} has no example"
    texts = {name: thing.__doc__}
    texts |= {f"{name}.{method}": function.__doc__ for method, function in methods_of(name, thing).items()}
    for full, text in texts.items():
        examples = examples_of(text)
        for example in examples:
            lines = [*example.source.splitlines(), *example.want.splitlines()]
            assert [line for line in lines if len(line) + 4 > WIDEST] == [], full
        folder = tmp_path / full
        folder.mkdir()
        monkeypatch.chdir(folder)
        told: list[str] = []
        test = doctest.DocTest(examples, {"dfe": dfe, "np": np}, full, None, 0, text)
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append)
        assert not told, "".join(told)


@everything
def test_a_docstring_begins_with_a_sentence_and_names_the_parameters_that_users_type(
    module: str, name: str
) -> None:
    thing = find(module, name)
    texts = {name: (thing, text_of(thing))}
    for method, function in methods_of(name, thing).items():
        if _SEE not in function.__doc__:
            texts[f"{name}.{method}"] = function, inherited(thing, method)
    for full, (entry, text) in texts.items():
        first = " ".join(text.strip().split("\n\n")[0].split())
        assert re.search(r"[.:)]$", first), f"{full}: {first!r} is no sentence"
        if not is_typed(module, name) or (inspect.isclass(entry) and issubclass(entry, BaseException)):
            continue
        explained = fields_with_docstrings(entry) if inspect.isclass(entry) else set()
        if dataclasses.is_dataclass(entry):  # the reference and `dragonfly-env info` show its rows
            explained |= {row.name for row in describe(entry)}
        if entry is dfe.BatchedRoutingEnv:
            explained |= {row.name for row in describe(EnvOptions)}
        missing = [p for p in parameters_of(entry) if p not in explained and not re.search(rf"\b{p}\b", text)]
        assert missing == [], f"{full} says nothing of {', '.join(missing)}"


def test_every_example_is_in_the_reference_where_it_is_run() -> None:
    shown = set()
    for module, name in objects():
        if name not in api.NEED_EXTRAS:
            thing = find(module, name)
            shown |= {
                thing.__name__,
                *(member for base in getattr(thing, "__mro__", ()) for member in vars(base)),
            }
    for path in sorted((ROOT / "dragonfly_env").rglob("*.py")):
        if "lab" not in path.parts and path.name != "vec.py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ">>>" in (
                    ast.get_docstring(node) or ""
                ):
                    assert node.name in shown, f"{path}: {node.name}"
