"""Citations in code, comments and pages are public: a paper, a simulator, a page of this repository."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agents", "baselines", "benchmarks", "csrc", "docs", "dragonfly_env", "examples", "tests")
KINDS = {".cpp", ".hpp", ".md", ".py", ".pyi", ".toml"}
WORDS = {"JSON", "MILC"}
"""Words in capitals that are no pages."""
_PAGE = re.compile(r"(?<![\w{}*/.-])(?:[\w.-]+/)*([A-Z][A-Z_-]+\.md)\b")
_CITED = re.compile(r"\b([A-Z]{4,}),? section\b|\bsee ([A-Z]{4,})\b|\(([A-Z]{4,})(?:: | of )")


def texts() -> dict[Path, str]:
    found = [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "Makefile"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    files = (path for path in found if not path.is_symlink() and path != Path(__file__))
    return {path: path.read_text(encoding="utf-8") for path in files}


def missing(text: str, pages: set[str]) -> list[str]:
    """Pages that a text cites and the repository lacks."""
    named = [match[1] for match in _PAGE.finditer(text) if match[1] not in pages]
    cited = [next(filter(None, match.groups())) for match in _CITED.finditer(text)]
    return named + [word for word in cited if word not in WORDS and f"{word}.md" not in pages]


def test_nothing_cites_pages_that_the_repository_does_not_have() -> None:
    every = texts()
    pages = {path.name for path in every if path.suffix == ".md"}
    found = {
        str(path.relative_to(ROOT)): gone for path, text in every.items() if (gone := missing(text, pages))
    }
    assert found == {}
