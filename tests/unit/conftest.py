"""Fixtures of several unit tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from dragonfly_env.agents import learner

# Commands import ``tiny_learner`` by its name, as they would a module of the user's.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An agent of the kind ``tiny``; and a folder to work in."""
    pytest.importorskip("torch", reason="needs the extra [sb3]")
    monkeypatch.setitem(learner.AGENTS, "tiny", "tiny_learner:TinyLearner")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made and their files appear, empty: drawing takes most of the time of a command. For all tests of a
    module but those marked with ``drawn``.
    """
    from matplotlib.figure import Figure

    def write_nothing(figure: Figure, file: BinaryIO, **options: Any) -> None:
        pass

    if request.node.get_closest_marker("drawn") is None:
        monkeypatch.setattr(Figure, "savefig", write_nothing)
