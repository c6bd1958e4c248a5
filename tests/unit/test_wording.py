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
        ("a.hpp", "// Of a packet that has left.\nint asked = 0;  // what is asked\n", 4),
        ("a.hpp", "int load = 0;  // of the hosts\nint port = 0;  // that it left by\n", 2),
        ("a.hpp", "int load = 0;  // load of the hosts, which is\n               // of no use\n", 0),
        ("a.hpp", "// How a packet leaves.\nint a = 0;  // ... and so on\n", 2),
        (
            "a.hpp",
            "// The status of a packet.\n// Of what follows nothing is said.\nint mask_of_task = 0;\n",
            0,
        ),
        ("a.hpp", 'const char* text = "asked";\n', 0),
        ("a.py", '"""What a packet does."""\n\nDetourKind = 1  # Here it is\n', 3),
        ("a.py", '"""The path of a packet."""\n\nname = "asked"  # a name\n', 0),
        ("a.py", "PARTS = 50  # that a run is cut into\nCARRIED = 0.98  # of the load\n", 2),
        ("a.py", "# the path\n# of a packet\nname = 1  # a name,\n          # which is short\n", 0),
        ("a.py", 'class A:\n    b: int\n    """When it began."""\n', 1),
        ("a.py", '"""The path.\n\nArgs:\n    seed: Of the traffic.\n    name: Its name.\n"""\n', 1),
    ],
)
def test_comments_and_identifiers_of_both_languages_are_checked(
    tmp_path: Path, name: str, source: str, faults: int
) -> None:
    (tmp_path / name).write_text(source)
    assert len(wording.check_code(tmp_path / name)) == faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("that a full buffer of packets behind the link makes", 1),
        ("Of the placement and the jitter; unset: the run's.", 1),
        ("Per gradient step.", 1),
        ("and adverse above so many; in between traffic is mixed", 2),
        ("the same of what all routers of the group offer", 2),
        ("level that all routers of a group have, the same", 1),
        ("levels that a full buffer behind the link adds", 0),
        ("whether the grid is a torus", 0),
        ("Per step: the packets that are credited", 0),
    ],
)
def test_a_text_of_a_registry_is_understood_without_the_row_before_it(text: str, faults: int) -> None:
    assert len(list(wording.check_row(text))) == faults


def test_every_registry_is_read_and_has_no_fault() -> None:
    rows = dict(wording.registry_texts())
    core = {
        "ad.levels_far",
        "tpr",
        "source of stencil3d",
        "graph500.levels",
        "acknowledged-waits",
        "remote_packets",
    }
    python = {
        "milc",
        "Milc.stands_for",
        "Job.hosts",
        "NetworkConfig.link_start",
        "deep-q.loss",
        "EnvOptions.scope",
    }
    assert core | python <= set(rows)
    assert [f"{name}: {fault}" for name, text in rows.items() for fault in wording.check_row(text)] == []
