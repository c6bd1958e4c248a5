"""Sphinx extension: writes the generated pages, and adds to pages what only the site needs.

Pages are plain Markdown, so that they read in the repository as well. Their toctrees are comments, ``<!-- toctree``, or
``<!-- toctree: CAPTION``, and a page per line. Links to files of the top folder (``ARCHITECTURE.md``) lead to the pages
that include these files.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import GoogleDocstring

from dragonfly_docs import generated_pages
from dragonfly_docs.committed import write_pages
from dragonfly_docs.links import relink
from dragonfly_docs.rows import with_rows

_TOCTREE = re.compile(r"^<!-- toctree(?:: ([^\n]+))?\n(.*?)^-->$", re.DOTALL | re.MULTILINE)


def _on_source(app: Sphinx, page: str, content: list[str]) -> None:
    """Turn comments that list pages into toctrees, and lead links to files of the top folder to their pages.

    Reports are an archive, and in no toctree.
    """

    def toctree(found: re.Match[str]) -> str:
        caption = f":caption: {found[1]}\n" if found[1] else ""
        return f"```{{toctree}}\n:hidden:\n:glob:\n{caption}\n{found[2]}```"

    text = _TOCTREE.sub(toctree, content[0])
    text = relink(text, Path(app.env.doc2path(page)).resolve(), Path(app.srcdir).resolve().parent)
    content[0] = f"---\norphan: true\n---\n{text}" if page.startswith("reports/") else text


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
        described = GoogleDocstring(lines, app.config, app, "method", name, thing, options).lines()
        lines[:] = ["..", "", *described]


def _on_fields(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Render the range or choice in brackets behind a parameter: emphasis, no names of classes to look up."""
    lines[:] = [re.sub(r"^(\s*:type [^:]+:) ([^*`]+)$", r"\1 *\2*", line) for line in lines]


# Arrays in the spelling of type checkers.
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
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir), generated_pages()))
    app.connect("include-read", _on_include)
    app.connect("source-read", _on_source)
    app.connect("autodoc-process-signature", _on_signature)
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    app.connect("autodoc-process-docstring", _on_fields, priority=600)  # runs after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
