"""Additions of the documentation's build to Sphinx: pages written from the registries, and snippets that are run.

``generated_pages()`` needs no Sphinx, so that tests can look at it.
"""

from __future__ import annotations

from dragonfly_docs.api import api_pages
from dragonfly_docs.commands import command_pages
from dragonfly_docs.demands import demand_drawings
from dragonfly_docs.drawings import drawings
from dragonfly_docs.policies import policy_pages
from dragonfly_docs.systems import system_pages
from dragonfly_docs.traffic import traffic_pages


def generated_pages() -> dict[str, str]:
    """Every generated file: its path below ``docs/`` and its text."""
    return {
        **policy_pages(),
        **traffic_pages(),
        **command_pages(),
        **system_pages(),
        **api_pages(),
        **drawings(),
        **demand_drawings(),
    }
