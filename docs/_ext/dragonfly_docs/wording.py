"""The wording of what a person reads: ``python docs/_ext/dragonfly_docs/wording.py``, which is part of ``make lint``.

It reads README.md, the pages of docs/, docstrings of the package, its help texts and messages. It names each home-made
word, each sentence that is too long, and each bold "missed". Code is not prose: what is in backticks or indented is
skipped, and so are generated parts, whose texts are those of registries.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
MOST_WORDS = 40
"""In a sentence: far more than one should have (25), so that only what nobody reads in one go is refused."""

RETIRED = {
    r"detours?": "non-minimal path",
    r"twins?": "reference implementation",
    r"unseen": "test split",
    r"whoever|nobody": "name the actor",
    r"(of )?one's own": "your own",
    r"foret(ell|ells|old|elling)": "predict",
    r"second (look|sight)|first sight": "second stage",
    r"surroundings|sheet|desks?": "context, table, pending decisions",
    r"instants?": "time",
    r"paid|pays": "rewarded",
    r"beside": "next to",
    r"stands?(?! for\b)": "is, appears",
    r"(are|is|was|were|been|be|being) asked": "decides",
    r"num_draws|detour_candidates|second_look": "num_random, nonminimal_candidates, second_stage",
    r"source-any|attempt-same-detour": "source-all, attempt-same-path",
}
IN_PYTHON = {
    r"asked|asks|answer(s|ed|ing)?": "decides, chooses; sets, needs",
    r"whomever": "name it",
    r"(local|shortest|other) ways?": "path",
    r"our (own )?reading": "assumption",
}
"""Of docstrings, help texts and messages of the library; pages may say more."""

_RETIRED = [(re.compile(rf"\b({old})\b", re.IGNORECASE), new) for old, new in RETIRED.items()]
_RETIRED_IN_PYTHON = [(re.compile(rf"\b({old})\b", re.IGNORECASE), new) for old, new in IN_PYTHON.items()]
_MESSAGES = frozenset({"ConfigError", "IllegalActionError", "StateError", "config_error", "warn"})
_ORDINAL = re.compile(r"\|\s*\d{1,2}\.:?\s")
_MISSED = re.compile(r"\*\*[^*\n]*\bmissed\b[^*\n]*\*\*", re.IGNORECASE)
_CODE = re.compile(
    r"^```.*?^```$|^<!-- generated: .*?^<!-- /generated -->$|^ *(?:>>>|\.\.\.) [^\n]*|"
    r"^==[= ]+$.*?^==[= ]+$|(?<=\n\n)(?: {4}[^\n]*\n?)+|``[^`]+``|`[^`\n]+`|<[^>\n]+>|\]\([^)\n]*\)",
    re.MULTILINE | re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+|\n\s*\n|\n\s*(?=[-*|#\d]\s?)")


def faults(text: str, retired: Iterable[tuple[re.Pattern[str], str]] = _RETIRED) -> Iterator[str]:
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
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
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


def check(path: Path) -> list[str]:
    """Faults of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return list(faults(text))
    retired = _RETIRED if "lab" in path.parts else [*_RETIRED, *_RETIRED_IN_PYTHON]
    return [f"{line}, {fault}" for line, each in texts_of(text) for fault in faults(each, retired)]


def files(root: Path) -> Iterator[Path]:
    """README.md, the pages of the site without reports, notes and the changelog, and the package's modules."""
    yield root / "README.md"
    yield from sorted((root / "docs").glob("*.md"))
    for folder in ("environments", "extending", "guides", "network", "routing", "traffic", "tutorials"):
        yield from sorted((root / "docs" / folder).glob("*.md"))
    for folder in ("dragonfly_env", "agents", "baselines"):
        yield from sorted((root / folder).rglob("*.py"))


def main() -> int:
    """Print what is wrong; the exit code says whether something is."""
    wrong = 0
    for path in files(ROOT):
        name = path.relative_to(ROOT).as_posix()
        found = check(path)
        for fault in found:
            print(f"{name}:{fault}")
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
