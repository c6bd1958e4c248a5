"""Fixtures of several unit tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dragonfly_env.agents import registry

# Commands import ``tiny_learner`` by its name, as they would a module of the user's.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An agent of the kind ``tiny``; and a folder to work in."""
    monkeypatch.setitem(registry.AGENTS, "tiny", "tiny_learner:TinyLearner")
    monkeypatch.setitem(registry._SETTINGS, "tiny", "tiny_learner:TinySettings")
    monkeypatch.chdir(tmp_path)
