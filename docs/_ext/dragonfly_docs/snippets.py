"""Runs the Python blocks of a page, from the first to the last in one namespace, and shows what they print.

A block that fails fails the build. A block with the class ``no-run`` (``{.no-run}`` in the line before it) is only
shown.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

SKIPPED = "no-run"


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


def run_block(text: str, namespace: dict[str, Any], where: str) -> str:
    """Run one block; what it printed.

    Raises:
        ExtensionError: If it fails, with its traceback.
    """
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of other libraries are not the reader's concern
            exec(compile(text, where, "exec"), namespace)
    except Exception as error:
        raise ExtensionError(f"{where}: a snippet failed\n{text}\n{traceback.format_exc()}") from error
    return printed.getvalue()


def _run_page(app: Sphinx, doctree: nodes.document) -> None:
    page = app.env.docname
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = [
        block
        for block in doctree.findall(nodes.literal_block)
        if block.get("language") == "python" and SKIPPED not in block["classes"]
    ]
    with _working_folder():
        for number, block in enumerate(blocks, 1):
            printed = run_block(block.astext(), namespace, f"{page}, Python block {number}")
            if printed:
                output = nodes.literal_block(printed, printed, language="text", classes=["printed"])
                block.parent.insert(block.parent.index(block) + 1, output)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry point."""
    app.connect("doctree-read", _run_page)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
