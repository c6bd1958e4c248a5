"""Pages that show what their snippets print, and the notebook that is made from one of them.

``python docs/_ext/dragonfly_docs/tutorials.py PAGE...`` runs the snippets of pages, writes what they print after the
word "Output:" that follows them, copies the pictures that they draw and the page shows, and writes the notebook.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from dragonfly_docs.running import file_of, is_command, run_block, run_commands, working_folder

FOLDER = "tutorials"
COMMAND_PAGES = ("first-run",)
"""Pages outside the folder of tutorials whose calls of ``dragonfly-env`` run, too."""
LABEL = "Output:"
NOTEBOOKS = ("train",)
"""The tutorials that are notebooks, too."""

_FENCE = re.compile(
    rf"(?P<skip>^<!-- no-run -->\n)?^```(?P<language>python|sh)\n(?P<text>.*?)^```\n"
    rf"(?:\n{LABEL}\n\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.png)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!http)[^)]+\)")
_INSTALL = """\
try:
    import dragonfly_env
except ImportError:
    %pip install --quiet "../..[sb3]"  # from the clone that has this notebook
"""


class Snippet(NamedTuple):
    """A block that runs, and the output that its page has for it (None: none is recorded)."""

    language: str
    text: str
    output: str | None


def snippets_of(page: str, *, commands: bool = True) -> list[Snippet]:
    """The blocks of a page that run, in their order.

    Args:
        page: Its Markdown.
        commands: Whether blocks of the shell that call ``dragonfly-env`` run, as in tutorials.
    """
    return [
        Snippet(found["language"], found["text"], found["output"])
        for found in _FENCE.finditer(page)
        if _runs(found, commands)
    ]


def runs_commands(folder: str, page: str) -> bool:
    """Whether calls of ``dragonfly-env`` on a page run."""
    return folder == FOLDER or page in COMMAND_PAGES


def _runs(found: re.Match[str], commands: bool = True) -> bool:
    runs = found["language"] == "python" or (commands and is_command(found["text"]))
    return runs and not found["skip"]


def run_snippets(snippets: Sequence[Snippet]) -> Iterator[str]:
    """Run them in the current folder, one after the other, in one namespace; what each prints.

    Raises:
        Exception: The exception that a snippet raises.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets:
        is_python = snippet.language == "python"
        yield run_block(snippet.text, namespace) if is_python else run_commands(snippet.text)


def _cell(kind: str, source: str, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": source.strip("\n").splitlines(keepends=True)}


def _prose(text: str) -> str:
    """Text of a page in a notebook, which has no other pages next to it and draws the pictures itself."""
    return _LINK.sub(r"\1", _PICTURE.sub("", text)).strip()


def notebook_of(page: str) -> str:
    """A page as a notebook: its text, and a cell for every block that runs."""
    sources: list[tuple[str, str]] = [("code", _INSTALL)]
    end = 0
    for found in _FENCE.finditer(page):
        if not _runs(found):
            continue
        sources.append(("markdown", _prose(page[end : found.start()])))
        text = found["text"]
        if found["language"] == "sh":
            text = "".join(f"!{line}\n" for line in text.splitlines())
        elif name := file_of(text):
            text = f"%%writefile {name}\n{text}"
        sources.append(("code", text))
        end = found.end()
    sources.append(("markdown", _prose(page[end:])))
    cells = [_cell(kind, text, number) for number, (kind, text) in enumerate(sources) if text]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1) + "\n"


def snippets_of_notebook(book: str) -> list[Snippet]:
    """The cells of a notebook that run, but for the one that installs the package."""
    snippets = []
    for cell in json.loads(book)["cells"][1:]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            if text.startswith("!"):
                snippets.append(Snippet("sh", re.sub(r"^!", "", text, flags=re.MULTILINE), None))
            else:
                snippets.append(Snippet("python", re.sub(r"\A%%writefile .*\n", "", text), None))
    return snippets


def record(path: Path) -> None:
    """Run a page and write down what its snippets print; where they draw a picture of the page, take it."""
    page = path.read_text(encoding="utf-8")
    commands = runs_commands(path.parent.name, path.stem)
    with working_folder() as folder:
        outputs = iter([*run_snippets(snippets_of(page, commands=commands))])
        for name in _PICTURE.findall(page):
            for drawn in folder.rglob(name):
                shutil.copy(drawn, path.parent / name)

    def with_output(found: re.Match[str]) -> str:
        if not _runs(found, commands):
            return found[0]
        printed = "".join(line.rstrip() + "\n" for line in next(outputs).strip("\n").splitlines())
        if found["output"] is None or not printed:
            return found[0]
        before = found[0][: found.start("output") - found.start()]
        return f"{before}{printed}```\n"

    page = _FENCE.sub(with_output, page)
    path.write_text(page, encoding="utf-8")
    if path.parent.name == FOLDER and path.stem in NOTEBOOKS:
        path.with_suffix(".ipynb").write_text(notebook_of(page), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(Path(name).resolve())
