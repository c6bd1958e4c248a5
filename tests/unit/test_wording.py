"""The checker of wording finds what it is for, and nothing in code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from dragonfly_docs import wording  # noqa: E402


@pytest.mark.parametrize("name", ["module.py", "lab/module.py"])
def test_messages_of_the_library_say_that_a_router_decides(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('raise StateError("a router was asked and answered")\n')
    found = wording.check(path)
    assert len(found) == (1 if "lab" in name else 3)  # "was asked" is refused everywhere
