"""Sphinx extension: runs the Python blocks of a page and shows what they print.

They run from the first to the last in one namespace. A block that fails is a warning, and so fails the build; the
rest of its page is not run. A block with the class ``no-run`` (``{.no-run}`` in the line before it) is only shown.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from dragonfly_docs.running import run_block

SKIPPED = "no-run"
_LOGGER = logging.getLogger(__name__)


@contextlib.contextmanager
def _working_folder() -> Iterator[None]:
    """What a snippet writes goes where it is not kept."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run_page(app: Sphinx, doctree: nodes.document) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = [
        block
        for block in doctree.findall(nodes.literal_block)
        if block.get("language") == "python" and SKIPPED not in block["classes"]
    ]
    with _working_folder():
        for block in blocks:
            try:
                printed = run_block(block.astext(), namespace, "snippet")
            except Exception:
                _LOGGER.warning(
                    "a snippet failed: %s", traceback.format_exc(), location=block, type="snippet"
                )
                return
            if printed:
                output = nodes.literal_block(printed, printed, language="text", classes=["printed"])
                block.parent.insert(block.parent.index(block) + 1, output)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry point."""
    app.connect("doctree-read", _run_page)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
