"""Generated parts of committed pages, so that a clone reads without a build.

A part begins with ``<!-- generated: NAME -->`` and ends with ``<!-- /generated -->``. ``results.py`` writes them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from dragonfly_docs.commands import command_table
from dragonfly_docs.markdown import code, table
from dragonfly_docs.policies import policy_table
from dragonfly_docs.results import results
from dragonfly_docs.systems import network_table, topology_table
from dragonfly_docs.traffic import traffic_table

_PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(^<!-- /generated -->)", re.DOTALL | re.MULTILINE)


def result_table(name: str) -> str:
    """The figures of a table of ``results.toml``."""
    rows = (
        (
            one.what,
            f"{one.value} {one.unit}",
            one.note,
            code(one.command),
            one.measured.replace("-", "\u2011"),
        )
        for one in results()
        if one.table == name
    )
    return table(("what", "measured", "details", "command", "date"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "commands": command_table,
    **{
        f"{group}-policies": functools.partial(policy_table, group)
        for group in ("oblivious", "source", "progressive", "learned")
    },
    "patterns": traffic_table,
    "topologies": topology_table,
    "networks": network_table,
    "agreement": lambda: result_table("agreement"),
    "claims": lambda: result_table("claims"),
    "learned": lambda: result_table("learned"),
    "speed": lambda: result_table("speed"),
}


def with_parts(text: str) -> str:
    """A page with its generated parts as they must be.

    Raises:
        KeyError: If there is no such part.
    """
    return _PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}", text)
