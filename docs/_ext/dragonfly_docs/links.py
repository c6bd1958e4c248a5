"""Links of files that are outside ``docs/`` and are pages of the site, too, and links to these files."""

from __future__ import annotations

import re
from pathlib import Path

# Files of the top folder that are pages of the site, too: how they link to each other on GitHub, and here.
PAGES = {
    "ARCHITECTURE.md": "/architecture.md",
    "CONTRIBUTING.md": "/contributing.md",
    "SECURITY.md": "/security.md",
    "CHANGELOG.md": "/changelog.md",
    "benchmarks/README.md": "/benchmarks.md",
}
_LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def relink(text: str, file: Path, root: Path) -> str:
    """Links and pictures of a file of the repository as they must be in a page of the site.

    A page of the site keeps its links to other pages. An included file has none of its own place, so it gets links from
    the top of the site.
    """
    is_page = root / "docs" in file.parents

    def target(match: re.Match[str]) -> str:
        path = (file.parent / match[1]).resolve()
        try:
            name = path.relative_to(root).as_posix()
        except ValueError:
            return match[0]
        if name in PAGES:
            return f"]({PAGES[name]}{match[2] or ''})"
        if name.startswith("docs/") and not is_page:
            return f"](/{name.removeprefix('docs/')}{match[2] or ''})"
        return match[0]

    return _LINK.sub(target, text)
