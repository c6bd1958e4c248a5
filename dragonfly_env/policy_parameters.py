"""The parameters of the core's policies, for type checkers: a class per policy, named after it.

``Policy`` takes its fields from the core when a class is made, so here every class is ``Policy`` itself. What a type
checker reads is ``policy_parameters.pyi`` next to this file. After a change of parameters in the core write it anew::

    python -c "from dragonfly_env.policy_parameters import write; write()"
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.files import write_text
from dragonfly_env.policies import PARAMETER_TYPES, Policy

_HEAD = '''\
"""Written by ``policy_parameters.write()`` from the tables of the core; not to be edited."""

from dataclasses import dataclass

from dragonfly_env.policies import Policy
'''


def stub() -> str:
    """Text of ``policy_parameters.pyi``; policies with the same parameters share a class."""
    text, known = [_HEAD], dict[str, str]()
    for info in _core.policies():
        name = info["name"].title().replace("-", "")
        fields = "".join(
            f"    {row['name']}: {PARAMETER_TYPES[row['type']]} = ...\n"
            for row in info["parameters"]
            if row["type"] in PARAMETER_TYPES
        )
        if (same := known.setdefault(fields, name)) != name:
            text.append(f"{name} = {same}\n")
        else:
            head = f"@dataclass(frozen=True, kw_only=True)\nclass {name}(Policy):"
            text.append(f"{head}\n{fields}" if fields else f"{head} ...\n")
    return "\n".join(text)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Policy


def write() -> None:
    """Write ``policy_parameters.pyi``."""
    write_text(stub(), Path(__file__).with_suffix(".pyi"))
