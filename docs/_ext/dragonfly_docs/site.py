"""Sphinx extension: writes the generated pages, and includes files of the top folder with their links set right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import GoogleDocstring

from dragonfly_docs import generated_pages

# Files of the top folder that are pages of the site, too: how they link to each other on GitHub, and here.
PAGES = {
    "ARCHITECTURE.md": "/architecture.md",
    "CONTRIBUTING.md": "/extend.md",
    "SECURITY.md": "/security.md",
    "CHANGELOG.md": "/changelog.md",
    "benchmarks/README.md": "/benchmarks.md",
}
_LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def write_pages(folder: Path) -> None:
    """Write what has changed, and remove what was generated before and no longer is."""
    pages = generated_pages()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for name in {Path(name).parent for name in pages if Path(name).suffix == ".md"}:
        for path in (folder / name).glob("*.md"):
            if str(path.relative_to(folder)) not in pages:
                path.unlink()


def relink(text: str, file: Path, root: Path) -> str:
    """Links and pictures of a file of the repository as they must be in any page of the site."""

    def target(match: re.Match[str]) -> str:
        path = (file.parent / match[1]).resolve()
        try:
            name = path.relative_to(root).as_posix()
        except ValueError:
            return match[0]
        if name in PAGES:
            return f"]({PAGES[name]}{match[2] or ''})"
        if name.startswith("docs/"):
            return f"](/{name.removeprefix('docs/')}{match[2] or ''})"
        return match[0]

    return _LINK.sub(target, text)


def _on_include(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    source = (Path(app.srcdir) / path).resolve()
    root = Path(app.srcdir).resolve().parent
    if Path(app.srcdir).resolve() not in source.parents:
        content[0] = relink(content[0], source, root)


def _on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking the first words of an attribute, up to a colon, for its type."""
    if what in ("attribute", "data", "property") and any(lines):
        lines[:] = ["", *GoogleDocstring(lines, app.config, app, "method", name, thing, options).lines()]


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry point."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    app.connect("include-read", _on_include)
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
