"""The headline figures: ``docs/results.toml`` has each of them once.

``python docs/_ext/dragonfly_docs/results.py`` writes their values wherever README, pages and docstrings state them, and
the generated parts and pages that are committed. Tests say where that has not been done.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs" / "results.toml"
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class Result:
    """A figure that was measured.

    Attributes:
        name: Its key in the file.
        what: Quantity that was measured.
        value: Value as texts write it.
        unit: Unit of the value.
        command: Command that measures the value.
        measured: Date of the measurement, or of its last confirmation.
        table: The generated table that it is in; empty: in none.
        note: Against what, over which range; the last column of the table.
        stated: Sentences that state the value: ``{}`` is the value.
    """

    name: str
    what: str
    value: str
    unit: str
    command: str
    measured: str
    table: str = ""
    note: str = ""
    stated: tuple[str, ...] = ()

    def patterns(self, text: str) -> Iterator[re.Pattern[str]]:
        """Pattern of statements of this figure in a text, with any value; a line break is a space."""
        for stated in self.stated:
            parts = stated.split("{}")
            if max(" ".join(parts).split(), key=len) not in text:  # quick: most texts state nothing
                continue
            before, after = (r"\s+".join(map(re.escape, part.split(" "))) for part in parts)
            end = r"\b" if stated[-1].isalnum() else ""
            yield re.compile(rf"(?<![\w.,])({before})({_NUMBER})({after}){end}")


def results(path: Path = FILE) -> list[Result]:
    """All figures.

    Raises:
        ValueError: If one lacks a field, or has one that does not exist.
    """
    found = []
    for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
        given: dict[str, Any] = {**fields, "measured": str(fields.get("measured", ""))}
        given["stated"] = tuple(given.get("stated", ()))
        try:
            result = Result(name=name, **given)
        except TypeError as error:
            raise ValueError(f"{name}: {error}") from error
        if not all((result.what, result.value, result.unit, result.command, result.measured)):
            raise ValueError(f"{name}: what, value, unit, command and measured must be given")
        if any(text.count("{}") != 1 for text in result.stated):
            raise ValueError(f"{name}: {{}} must occur once in each text of stated")
        found.append(result)
    return found


def texts(root: Path = ROOT) -> Iterator[Path]:
    """Texts that state figures: README, pages, and the package's docstrings and help texts; not reports."""
    yield root / "README.md"
    for path in sorted((root / "docs").rglob("*.md")):
        if "reports" not in path.relative_to(root).parts:
            yield path
    for folder in ("dragonfly_env", "agents", "baselines"):
        yield from sorted((root / folder).rglob("*.py"))


def wrong_statements(text: str, known: list[Result]) -> list[str]:
    """Statements of figures that have another value than the file."""
    return [
        f"{result.name} is {result.value}, not {match[2]}: {match[0]!r}"
        for result in known
        for pattern in result.patterns(text)
        for match in pattern.finditer(text)
        if match[2] != result.value
    ]


def corrected(text: str, known: list[Result]) -> str:
    """A text with the values of the file."""
    for result in known:
        for pattern in result.patterns(text):
            text = pattern.sub(rf"\g<1>{result.value}\g<3>", text)
    return text


def main() -> int:
    """Write generated pages, and values and generated parts into pages; prints the names of changed files."""
    from dragonfly_docs import committed_pages
    from dragonfly_docs.committed import with_parts, write_pages

    for path in write_pages(ROOT / "docs", committed_pages()):
        print(path.relative_to(ROOT).as_posix())
    known = results()
    for path in texts():
        before = path.read_text(encoding="utf-8")
        after = corrected(before, known)
        if path.suffix == ".md":
            after = with_parts(after)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.relative_to(ROOT).as_posix())
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    sys.exit(main())
