"""The comparison of Q-adaptive's variants: its runs are kept, its tables say what they hold."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe

variants: Any = importlib.import_module("benchmarks.q_adaptive_variants")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """72 hosts, a few microseconds."""

    def system(variant: Any, seed: int, **traffic: Any) -> dfe.SimulationConfig:
        return dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("72"),
            policy=variants.QAdaptive(**variant.settings),
            seed=seed,
            **traffic,
        )

    monkeypatch.setattr(variants, "system", system)
    monkeypatch.setattr(variants, "CELLS", (("uniform", 0.5), ("adv+1", 0.3)))
    for name, ns in (("EARLY_NS", 5e3), ("STEADY_FROM_NS", 8e3), ("END_NS", 1e4), ("TOUR_NS", 5e3)):
        monkeypatch.setattr(variants, name, ns)


def test_the_same_command_reads_what_is_there(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["--out", str(tmp_path), "--seeds", "2", "--variant", "warm tables", "--jobs", "1"]
    first = CliRunner().invoke(variants.app, command)
    assert first.exit_code == 0, first.output
    rows = json.loads((tmp_path / "variants.json").read_text())["rows"]
    assert [row["variant"] for row in rows] == ["paper"] * 4 + ["warm tables"] * 4
    assert len({row["trace_hash"] for row in rows}) == 8
    assert "| paper | " in first.output
    assert "±" in first.output

    def refuse(*_: Any) -> None:
        pytest.fail("a run that was kept is done again")

    monkeypatch.setattr(variants, "one_run", refuse)
    again = CliRunner().invoke(variants.app, command)
    assert again.output.split("**Steady mean")[1] == first.output.split("**Steady mean")[1]


def test_the_shipped_variant_is_the_one_that_was_compared() -> None:
    settings = variants.VARIANTS["q-adaptive-queue"].settings
    shipped = dfe.make_policy("q-adaptive-queue").parameters()
    assert dfe.make_policy("q-adaptive", **settings).parameters() == shipped
