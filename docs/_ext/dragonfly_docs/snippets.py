"""Sphinx extension: runs the snippets of a page, and shows or checks what they print.

Blocks of Python run from the first to the last in one namespace. On some pages (``tutorials.runs_commands``), blocks of
the shell whose lines all begin with ``dragonfly-env`` run as well. A block that fails is a warning, and so fails the
build; the rest of its page is not run. A block is only shown if the line before it is the comment
``<!-- no-run -->``, or if it has the class ``no-run``.

A page may have recorded what a snippet prints (``tutorials`` does that): the paragraph "Output:" and a block of text
follow the snippet. Then the build compares both, and a difference is a warning. Otherwise it inserts the output.
"""

from __future__ import annotations

import traceback
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from dragonfly_docs.running import agrees, is_command, run_block, run_commands, working_folder
from dragonfly_docs.tutorials import LABEL, runs_commands

SKIPPED = "no-run"
_LOGGER = logging.getLogger(__name__)


def _runs(block: nodes.literal_block, page: str) -> bool:
    if SKIPPED in block["classes"] or _follows_comment(block):
        return False
    if block.get("language") == "sh":
        folder, _, name = page.rpartition("/")
        return runs_commands(folder, name) and is_command(block.astext())
    return bool(block.get("language") == "python")


def _follows_comment(block: nodes.literal_block) -> bool:
    index = block.parent.index(block)
    before = block.parent.children[index - 1] if index else None
    return isinstance(before, nodes.raw) and str(before.astext()).strip() == f"<!-- {SKIPPED} -->"


def _recorded(block: nodes.literal_block) -> str | None:
    """The output that follows a snippet in its page."""
    following = block.parent.children[block.parent.index(block) + 1 :][:2]
    if len(following) < 2 or not isinstance(following[1], nodes.literal_block):
        return None
    return following[1].astext() if following[0].astext() == LABEL else None


def _run_page(app: Sphinx, doctree: nodes.document) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = [block for block in doctree.findall(nodes.literal_block) if _runs(block, app.env.docname)]
    with working_folder():
        for block in blocks:
            try:
                is_python = block["language"] == "python"
                printed = run_block(block.astext(), namespace) if is_python else run_commands(block.astext())
            except Exception:
                _LOGGER.warning(
                    "a snippet failed: %s", traceback.format_exc(), location=block, type="snippet"
                )
                return
            recorded = _recorded(block)
            if recorded is not None and not agrees(recorded, printed):
                _LOGGER.warning(
                    "a snippet prints something else than its page says: %s", printed, location=block
                )
            elif recorded is None and printed and is_python:
                output = nodes.literal_block(printed, printed, language="text", classes=["printed"])
                block.parent.insert(block.parent.index(block) + 1, output)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry point."""
    app.connect("doctree-read", _run_page)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
