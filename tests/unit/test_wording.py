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


@pytest.mark.parametrize(
    ("name", "source", "faults"),
    [
        ("a.hpp", "// Of a packet that has left.\nint asked = 0;  // what is asked\n", 3),
        (
            "a.hpp",
            "// The status of a packet.\n// Of what follows nothing is said.\nint mask_of_task = 0;\n",
            0,
        ),
        ("a.hpp", 'const char* text = "asked";\n', 0),
        ("a.py", '"""What a packet does."""\n\nDetourKind = 1  # Here it is\n', 3),
        ("a.py", '"""The path of a packet."""\n\nname = "asked"  # a name\n', 0),
    ],
)
def test_comments_and_identifiers_of_both_languages_are_checked(
    tmp_path: Path, name: str, source: str, faults: int
) -> None:
    (tmp_path / name).write_text(source)
    assert len(wording.check_code(tmp_path / name)) == faults
