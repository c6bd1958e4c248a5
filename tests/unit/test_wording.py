"""The checker of wording finds what it is for, and nothing in code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from dragonfly_docs import wording  # noqa: E402


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It takes a detour.", "1: 'detour': non-minimal path"),
        ("First.\n\nThe twins agree.", "3: 'twins': reference implementation"),
        ("A policy of one's own.", "your own"),
        ("It stands in the table.", "'stands'"),
        ("The router is asked again.", "'is asked'"),
        ("| policy | 3.: 1.099 |", "ordinal"),
        ("All claims (**4 missed**).", "bold 'missed'"),
        (" ".join(["word"] * (wording.MOST_WORDS + 1)), f"a sentence of {wording.MOST_WORDS + 1} words"),
    ],
)
def test_a_fault_is_named(text: str, fault: str) -> None:
    (found,) = wording.faults(text)
    assert fault in found


@pytest.mark.parametrize(
    "text",
    [
        '`Ugal(detour="lgl")` takes a non-minimal path.',
        "Run:\n\n    policy.detour\n    beside = 1\n",
        "```\ndetour\n```",
        "<!-- generated: policies -->\n\n| a detour |\n\n<!-- /generated -->",
        "A port that stands for two links; four claims missed.",
        "detour: The kind of non-minimal path.",
        f"{' '.join(['word'] * wording.MOST_WORDS)}. {' '.join(['word'] * wording.MOST_WORDS)}.",
        "| " + "cell " * (wording.MOST_WORDS + 5) + "|",
    ],
)
def test_code_tables_and_plain_words_are_no_faults(text: str) -> None:
    assert list(wording.faults(text)) == []


def test_docstrings_and_help_texts_of_a_module_are_read_and_other_strings_are_not() -> None:
    source = '''"""Module."""
class Kind:
    """Class."""
    def act(self) -> None:
        """Method."""
field = integer(1, doc="Many " "words.")
config_error("field", 1, "must be so")
option = Option(help=f"At {place} most.")
key = "detour"
'''
    assert sorted(text for _, text in wording.texts_of(source)) == [
        "At   most.",
        "Class.",
        "Many words.",
        "Method.",
        "Module.",
        "must be so",
    ]


@pytest.mark.parametrize("name", ["module.py", "lab/module.py"])
def test_messages_of_the_library_say_that_a_router_decides(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('raise StateError("a router was asked and answered")\n')
    found = wording.check(path)
    assert len(found) == (1 if "lab" in name else 3)  # "was asked" is refused everywhere


def test_the_readme_and_pages_of_every_folder_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("One detour.\n")
    (tmp_path / "docs" / "guides").mkdir(parents=True)
    page = tmp_path / "docs" / "guides" / "page.md"
    page.write_text("Another detour.\n")
    monkeypatch.setattr(wording, "ROOT", tmp_path)
    assert wording.main() == 1
    told = capsys.readouterr().out
    assert "README.md:1: 'detour'" in told
    assert "docs/guides/page.md:1: 'detour'" in told
    (tmp_path / "README.md").write_text("Plain.\n")
    page.write_text("Plain.\n")
    assert wording.main() == 0
