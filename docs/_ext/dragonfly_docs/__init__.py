"""Additions of the documentation's build to Sphinx: pages written from the registries, and snippets that are run.

``generated_pages()`` needs no Sphinx, so that tests can look at it.
"""

from __future__ import annotations

from dragonfly_docs.api import api_pages
from dragonfly_docs.columns import column_page
from dragonfly_docs.commands import command_pages
from dragonfly_docs.demands import demand_drawings
from dragonfly_docs.drawings import drawings
from dragonfly_docs.papers import paper_pages
from dragonfly_docs.policies import policy_pages
from dragonfly_docs.systems import system_pages
from dragonfly_docs.tasks import task_pages
from dragonfly_docs.traffic import traffic_pages


def committed_pages() -> dict[str, str]:
    """Generated files that are committed, so that a clone reads without a build: path below ``docs/`` and text."""
    return {
        **policy_pages(),
        **traffic_pages(),
        **command_pages(),
        **system_pages(),
        **task_pages(),
        "columns.md": column_page(),
        **drawings(),
        **demand_drawings(),
        **paper_pages(),
    }


def generated_pages() -> dict[str, str]:
    """Every generated file; those of ``api/`` are for the site alone."""
    return {**committed_pages(), **api_pages()}
