"""The wording of what a person reads: ``python docs/_ext/dragonfly_docs/wording.py``, which is part of ``make lint``.

It reads README.md, the pages of docs/, docstrings of the package, its help texts and messages. It names each home-made
word, each sentence that is too long, and each bold "missed". Code is not prose: what is in backticks or indented is
skipped, and so are generated parts, whose texts are those of registries.

In C++ and Python it reads comments and identifiers, too: no retired word, and no comment or docstring that begins with
a word that hides its noun ("Of", "What", "Which"). A comment behind code, too, begins with a noun or a verb of its own.

It also reads the texts of the registries, which help, messages and generated pages show one at a time: policies,
traffic patterns, trackers and features of the core, the rows of settings, and the programs of jobs. Each of these texts
begins with the noun that it defines, and none refers to the row before it ("the same", "so many").
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import io
import itertools
import pkgutil
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dragonfly_env
from dragonfly_env import _core
from dragonfly_env.agents.learner import AGENTS, agent_settings
from dragonfly_env.cli.info import feature_rows
from dragonfly_env.config.rows import Record, describe
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import Motif

ROOT = Path(__file__).parents[3]
MOST_WORDS = 40
"""In a sentence: far more than one should have (25), so that only what nobody reads in one go is refused."""

PAGES, LIBRARY, COMMENTS, NAMES = 1, 2, 4, 8
"""Places where a word is refused: pages and all texts; docstrings, help texts and messages of the library outside
``lab``; comments and docstrings of all code; identifiers.
"""
CODE = COMMENTS | NAMES
EVERYWHERE = PAGES | CODE

RETIRED = (
    (r"detours?", "non-minimal path", EVERYWHERE),
    (r"twins?", "reference implementation", EVERYWHERE),
    (r"whoever|whatever|nobody", "name the actor or the thing", EVERYWHERE),
    (r"somebody", "name the actor", CODE),
    (r"surroundings|desks?", "context, pending decisions", EVERYWHERE),
    (r"(?<!cheat )(?<!cheat-)sheet", "table", PAGES),
    (r"instants?", "time", EVERYWHERE),
    (r"paid|pays", "rewarded", EVERYWHERE),
    (r"hears?|heard", "receives", CODE),
    (r"mail|baggage", "messages between partitions, serialization", CODE),
    (r"asks?|asked|answer(s|ed)?", "decides, chooses", CODE),
    (r"asker|questions?", "decision", NAMES),
    (r"asked|asks|answer(s|ed|ing)?", "decides, chooses; sets, needs", LIBRARY),
    (r"(are|is|was|were|been|be|being) asked", "decides", PAGES),
    (r"unseen", "test split", PAGES),
    (r"(of )?one's own", "your own", PAGES),
    (r"foret(ell|ells|old|elling)", "predict", PAGES),
    (r"second (look|sight)|first sight", "second stage", PAGES),
    (r"beside", "next to", PAGES),
    (r"stands?(?! for\b)", "is, appears", PAGES),
    (r"num_draws|detour_candidates|second_look", "num_random, nonminimal_candidates, second_stage", PAGES),
    (r"source-any|attempt-same-(detour|path)", "source-all, retry-same-paths", PAGES),
    (r"whomever", "name it", LIBRARY),
    (r"(local|shortest|other) ways?", "path", LIBRARY),
    (r"our (own )?reading", "assumption", LIBRARY),
)
"""Words, what is better, and where they are refused."""
FIRST_WORDS = re.compile(
    r"(Of|What|Who|Whose|Those|As|The same|One|Here|How|Which|Why|When|Where|That|Likewise|So many|And|But|"
    r"of|what|who|whose|as|the same|how|which|why|when|where|that|likewise|same|so|and|but|else|not|then)\b"
)
"""A comment or docstring begins with a verb or with the noun that it defines; so does a comment behind code, which
must not need the code as its first words.
"""
ENTRY = re.compile(r"^[ ]+\*{0,2}\w+: (Of|What|Who|Whose|Those|The same|Here|How|Which)\b", re.MULTILINE)
"""An entry under ``Args:`` or ``Attributes:`` begins with its noun, too."""
FIRST_WORDS_OF_ROWS = re.compile(
    r"(of|what|who|whose|those|as|the same|one|here|that|and|so|how|which|where|when|in|by which|else|"
    r"after|over|collected|given|longer|per (?!step|transition))\b",
    re.IGNORECASE,
)
"""A text of a registry begins with the noun that it defines, or with ``whether``."""
NEEDS_THE_ROW_BEFORE = re.compile(
    r"\b(likewise|so many|the same(?! \w)|the same (?:of|for|at)|else)\b", re.IGNORECASE
)
"""A text of a registry is read alone."""
EMPTY_NAMES = ("one", "own", "of_row")
"""Identifiers that stand for anything."""
_SHAPE = re.compile(r"(\((\w+,|[A-Z][^()]*)\)|\[[^\[\]]*\]):? ")
"""The shape or the index of an array, before the words of its comment."""
_CPP = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|#include[^\n]*|[A-Za-z_]\w*')
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _retired(places: int) -> list[tuple[re.Pattern[str], str]]:
    return [
        (re.compile(rf"\b({old})\b", re.IGNORECASE), new) for old, new, where in RETIRED if where & places
    ]


_IN_PAGES, _IN_LIBRARY = _retired(PAGES), _retired(PAGES | LIBRARY)
_IN_COMMENTS, _IN_NAMES = _retired(COMMENTS), _retired(NAMES)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_MESSAGES = frozenset({"ConfigError", "IllegalActionError", "StateError", "config_error", "warn"})
_ORDINAL = re.compile(r"\|\s*\d{1,2}\.:?\s")
_MISSED = re.compile(r"\*\*[^*\n]*\bmissed\b[^*\n]*\*\*", re.IGNORECASE)
_CODE = re.compile(
    r"^```.*?^```$|^<!-- generated: .*?^<!-- /generated -->$|^ *(?:>>>|\.\.\.) [^\n]*|"
    r"^==[= ]+$.*?^==[= ]+$|(?<=\n\n)(?: {4}[^\n]*\n?)+|``[^`]+``|`[^`\n]+`|<[^>\n]+>|\]\([^)\n]*\)",
    re.MULTILINE | re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+|\n\s*\n|\n\s*(?=[-*|#\d]\s?)")


def faults(text: str, retired: Iterable[tuple[re.Pattern[str], str]] = _IN_PAGES) -> Iterator[str]:
    """Faults of a text of Markdown, one line each; long sentences in tables are not counted."""
    words_of = list(retired)
    prose = _CODE.sub(lambda found: re.sub(r"[^\n]+", " x ", found.group()), text)
    for number, line in enumerate(prose.splitlines(), 1):
        for pattern, better in words_of:
            for found in pattern.finditer(line):
                yield f"{number}: {found.group()!r}: {better}"
        if _ORDINAL.search(line):
            yield f"{number}: an ordinal in a table: 1st, 2nd"
        if _MISSED.search(line):
            yield f"{number}: a bold 'missed'"
    for sentence in _SENTENCE.split(prose):
        words = sentence.split()
        if len(words) > MOST_WORDS and not re.search(r"\||===", sentence):
            yield f"a sentence of {len(words)} words: {' '.join(words[:8])} ..."


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of the docstrings, help texts and error messages of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED):
            if (text := ast.get_docstring(node)) is not None:
                yield getattr(node, "lineno", 1), text
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in _MESSAGES
        ):
            for part in itertools.chain.from_iterable(map(ast.walk, node.args)):
                if isinstance(part, ast.Constant) and " " in str(part.value):
                    yield part.lineno, str(part.value)
        elif isinstance(node, ast.keyword) and node.arg in ("doc", "help"):
            parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
            found = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
            yield node.value.lineno, " ".join(found)


def code_of_cpp(source: str) -> Iterator[tuple[int, str, bool]]:
    """(line, text, whether it is a comment) of the comments and identifiers of a C++ file. Comments on lines that
    follow each other are one, and so are a comment behind code and the lines below it in the same column.
    """
    block: list[str] = []
    begin = column = 0
    for number, line in enumerate(source.splitlines(), 1):
        alone = line.lstrip().startswith("//")
        if block and not (alone and line.index("//") == column):
            yield begin, "\n".join(block), True
            block = []
        for found in _CPP.finditer(line):
            if found.group().startswith("//"):
                begin, column = (begin, column) if block else (number, found.start())
                block.append(found.group().lstrip("/. "))
            elif not found.group().startswith(('"', "#")):
                yield number, found.group(), False
    if block:
        yield begin, "\n".join(block), True


def code_of_python(source: str) -> Iterator[tuple[int, str, bool]]:
    """(line, text, whether it is a comment or a docstring) of the comments, docstrings and identifiers of a module.
    Of comments on lines that follow each other the first line is read, and each comment behind code.
    """
    last = (-1, -1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string, False
        elif token.type == tokenize.COMMENT:
            line, column = token.start
            text = token.string.lstrip("# ")
            goes_on = token.line.lstrip().startswith("#") and last == (line - 1, column)
            if not goes_on and "noqa" not in text and "type:" not in text:
                yield line, text, True
            last = token.start
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED):
            if documentation := ast.get_docstring(node):
                yield getattr(node, "lineno", 1), documentation, True
            yield from _attribute_docstrings(node.body)


def _attribute_docstrings(body: list[ast.stmt]) -> Iterator[tuple[int, str, bool]]:
    """(line, text, True) of the texts that follow an assignment."""
    for before, after in itertools.pairwise(body):
        match before, after:
            case ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text))):
                yield after.lineno, text, True


def check_code(path: Path) -> list[str]:
    """Faults of the comments and identifiers of a file."""
    source = path.read_text(encoding="utf-8")
    found = []
    for line, text, is_comment in (code_of_python if path.suffix == ".py" else code_of_cpp)(source):
        if is_comment:
            if first := FIRST_WORDS.match(_SHAPE.sub("", text, count=1) if _SHAPE.match(text) else text):
                found.append(f"{line}: begins with {first.group()!r}: begin with a verb or the noun")
            found += [
                f"{line}: the entry {entry.group().strip()!r}: begin with the noun"
                for entry in ENTRY.finditer(text)
            ]
            prose = re.sub(r"``[^`]*``|`[^`]*`", "", text)
            words = [(word, new) for old, new in _IN_COMMENTS for word in old.finditer(prose)]
            found += [f"{line}: a comment with {word.group()!r}: {new}" for word, new in words]
        else:
            if text in EMPTY_NAMES and path.suffix == ".py":
                found.append(f"{line}: the name {text!r}: name the thing")
            parts = _PARTS.findall(text)
            better = [new for old, new in _IN_NAMES if any(map(old.fullmatch, parts))]
            found += [f"{line}: the name {text!r}: {new}" for new in better]
    return found


def check(path: Path) -> list[str]:
    """Faults of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return list(faults(text))
    retired = _IN_PAGES if "lab" in path.parts else _IN_LIBRARY
    return [f"{line}, {fault}" for line, each in texts_of(text) for fault in faults(each, retired)]


def registry_texts() -> Iterator[tuple[str, str]]:
    """(name, text) of everything that a registry says: ``ugal-n.bias_packets`` and its meaning."""
    owners: tuple[Mapping[str, Any], ...] = (*_core.policies(), *_core.patterns(), *_core.trackers())
    for owner in owners:
        yield owner["name"], owner["summary"]
        if source := owner.get("source"):
            yield f"source of {owner['name']}", str(source)
        for parameter in owner["parameters"]:
            yield f"{owner['name']}.{parameter['name']}", parameter["doc"]
    for feature, *_, meaning in feature_rows(Dragonfly.preset("72")):
        yield feature, meaning
    for motif in Motif.classes.values():
        yield motif.name, motif.summary
    for module in pkgutil.walk_packages(dragonfly_env.__path__, "dragonfly_env."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for record in _records(Record):
        yield from ((f"{record.__name__}.{row.name}", row.doc) for row in describe(record))
    for agent in AGENTS:
        yield from ((f"{agent}.{row.name}", row.doc) for row in agent_settings(agent))


def _records(base: type[Record]) -> Iterator[type[Record]]:
    for record in base.__subclasses__():
        if dataclasses.is_dataclass(record):
            yield record
        yield from _records(record)


def check_row(text: str) -> Iterator[str]:
    """Faults of a text of a registry."""
    if first := FIRST_WORDS_OF_ROWS.match(text):
        yield f"begins with {first.group()!r}: begin with the noun"
    for found in NEEDS_THE_ROW_BEFORE.finditer(text):
        yield f"{found.group()!r}: repeat what the row before it says"
    for fault in faults(text, _IN_LIBRARY):
        yield fault.removeprefix("1: ")


def files(root: Path) -> Iterator[Path]:
    """README.md, the rules of policies, pages without reports, notes and the changelog, and the package's modules."""
    yield root / "README.md"
    yield root / "docs" / "_ext" / "dragonfly_docs" / "rules.md"
    yield from sorted((root / "docs").glob("*.md"))
    for folder in ("environments", "extending", "guides", "network", "routing", "traffic", "tutorials"):
        yield from sorted((root / "docs" / folder).glob("*.md"))
    for folder in ("dragonfly_env", "agents", "baselines"):
        yield from sorted((root / folder).rglob("*.py"))


def code_files(root: Path) -> Iterator[Path]:
    """C++ and Python whose comments and identifiers are checked."""
    folders = ("csrc", "dragonfly_env", "agents", "baselines", "examples", "benchmarks", "tests", "docs/_ext")
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            # The words are in the checker itself, and in its tests.
            if path.suffix in (".cpp", ".hpp", ".py") and "wording" not in path.name:
                yield path


def main() -> int:
    """Print what is wrong; the exit code says whether something is."""
    found = [(path, fault) for path in files(ROOT) for fault in check(path)]
    found += [(path, fault) for path in code_files(ROOT) for fault in check_code(path)]
    lines = [f"{path.relative_to(ROOT).as_posix()}:{fault}" for path, fault in found]
    # Policies share parameters: a text is named once, by its first owner.
    rows = {text: name for name, text in reversed([*registry_texts()])}
    lines += [f"registry, {name}: {fault}" for text, name in rows.items() for fault in check_row(text)]
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
