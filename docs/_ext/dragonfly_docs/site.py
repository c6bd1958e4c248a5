"""Sphinx extension: writes the generated pages, and includes files of the top folder with their links set right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import GoogleDocstring

from dragonfly_docs import generated_pages
from dragonfly_docs.links import relink
from dragonfly_docs.markdown import GENERATED
from dragonfly_docs.rows import with_rows


def write_pages(folder: Path) -> None:
    """Write what has changed, and remove what was generated before and no longer is."""
    pages = generated_pages()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for generated in {Path(name).parent for name in pages if Path(name).suffix == ".md"}:
        for path in (folder / generated).glob("*.md"):
            generated_before = path.read_text(encoding="utf-8").startswith(GENERATED)
            if generated_before and str(path.relative_to(folder)) not in pages:
                path.unlink()


_TOCTREE = re.compile(r"^<!-- toctree\n(.*?)^-->$", re.DOTALL | re.MULTILINE)


def _on_source(app: Sphinx, page: str, content: list[str]) -> None:
    """Turn comments that list pages into toctrees: a comment is invisible where pages are read without this site."""
    content[0] = _TOCTREE.sub(r"```{toctree}\n:hidden:\n:glob:\n\n\1```", content[0])


def _on_include(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    source = (Path(app.srcdir) / path).resolve()
    root = Path(app.srcdir).resolve().parent
    if Path(app.srcdir).resolve() not in source.parents:
        content[0] = relink(content[0], source, root)


def _on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    r"""List the rows of settings classes; keep napoleon from taking the first words of what is returned for a type.

    Our docstrings give types in words where they matter. ``\ `` is nothing at all, but a line without a colon.
    """
    if what == "class":
        lines[:] = with_rows(thing, lines)
    for index in [index for index, line in enumerate(lines) if line.strip() == "Returns:"][::-1]:
        if index + 1 < len(lines):
            indent = lines[index + 1][: len(lines[index + 1]) - len(lines[index + 1].lstrip())]
            lines.insert(index + 1, f"{indent}\\ ")
    if what in ("attribute", "data", "property") and any(lines):
        lines[:] = [
            "..",
            "",
            *GoogleDocstring(lines, app.config, app, "method", name, thing, options).lines(),
        ]


def _on_fields(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Render the range or choice in brackets behind a parameter: emphasis, no names of classes to look up."""
    lines[:] = [re.sub(r"^(\s*:type [^:]+:) ([^*`]+)$", r"\1 *\2*", line) for line in lines]


# How type checkers spell arrays, and how the reference does.
_ARRAY = re.compile(r"~?numpy\.ndarray\[(?:~?[\w.]+\[[^\]]*\]|~?[\w.]+), ~?numpy\.dtype\[([^\]]*)\]\]")


def _on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Arrays are ``NDArray[...]`` in signatures."""
    short, shorter = (
        None if text is None else _ARRAY.sub(r"~numpy.typing.NDArray[\1]", text)
        for text in (signature, returns)
    )
    return short, shorter


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry point."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    app.connect("source-read", _on_source)
    app.connect("include-read", _on_include)
    app.connect("autodoc-process-signature", _on_signature)
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    app.connect("autodoc-process-docstring", _on_fields, priority=600)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
