"""Reproducing LIA: the paper's claims find their simulations, and each ordering can hold and be reversed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
import dragonfly_env.lab.papers as reproduce
from dragonfly_env.cli import app
from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.claims import Claim, Measured
from dragonfly_env.lab.papers.paper import Effort
from dragonfly_env.lab.papers.quantities import offset_of
from dragonfly_env.lab.papers.report import variants_in
from dragonfly_env.lab.papers.verdicts import DEVIATES, judge
from dragonfly_env.sweeps.point import Point
from tests.unit.lab.papers import made_up
from tests.unit.lab.papers.made_up import Row

TACO25 = find_paper("taco25")
QUICK, FULL = TACO25.efforts
HOSTS = {"quick": 1056, "full": 5256}

CLAIMS = TACO25.claims
EFFORTS = (QUICK, FULL)


def claim(identity: str) -> Claim:
    return next(found for found in CLAIMS if found.id == identity)


def measured(found: Claim, row: Row) -> Measured:
    return made_up.measured(TACO25, found, FULL if found.hosts == HOSTS["full"] else QUICK, row)


@pytest.mark.parametrize("effort", EFFORTS, ids=lambda effort: effort.name)
def test_every_simulation_can_be_done_with_the_settings_of_the_paper(effort: Effort) -> None:
    for figure in TACO25.figures:
        for point in figure.points(effort):
            config = point.run(1).config
            assert config.network.decide_at == "by-policy"
            assert not config.network.arbitration.startswith("transit-first")  # section 5.1: round-robin
            assert config.topology == dfe.Dragonfly.preset(str(HOSTS[effort.name]), arrangement="palmtree")
            if not point.closed_loop:
                assert (config.injection, config.source_queue_full) == ("bernoulli", "lose")


def test_the_knee_is_the_counter_of_the_most_loaded_type_of_link() -> None:
    """ADV+3 with h = 4: three of four packets leave the groups between by one type of link, and the rest by none."""

    def row(point: Point) -> dict[str, Any]:
        return {"accepted_load": 17.0 / (4 * 20 * {3: 0.75, 4: 1.0}[offset_of(point)])}

    found = measured(claim("LI13-1056"), row)
    assert found.mean == pytest.approx(17.0)
    assert judge(claim("LI13-1056"), dataclasses.replace(found, mean=20.0)).verdict == DEVIATES


def test_the_command_draws_every_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows that decide nothing and few points of each figure, on 72 hosts."""
    out_of_reach = {f"adv+{offset}" for offset in range(9, 37)}  # offsets that 9 groups do not have

    def fewer(points: tuple[Point, ...]) -> tuple[Point, ...]:
        kept = {
            (point.traffic_label, point.policy_label): point
            for point in points
            if point.policy_label in ("lia", "min", "tpr", "vlb-g")
            and point.traffic_label not in out_of_reach
        }
        return tuple(
            dataclasses.replace(point, config=point.config.replace(topology=TACO25.setup.topology(72)))
            for point in kept.values()
        )

    figures = tuple(
        dataclasses.replace(figure, points=lambda effort, of=figure.points: fewer(of(effort)))
        for figure in TACO25.figures
        if figure.name
        not in (
            "fig5",
            "fig9",
            "fig11",
            "fig13",
            "fig14",
            "fig18",
            "windows5",
            "windows9",
        )  # drawn as others are
    )
    efforts = tuple(dataclasses.replace(effort, warmup_ns=900.0, measure_ns=600.0) for effort in EFFORTS)
    monkeypatch.setattr(reproduce, "PAPERS", (dataclasses.replace(TACO25, figures=figures, efforts=efforts),))
    result = CliRunner().invoke(app, ["reproduce", "taco25", "--out", str(tmp_path)], env={"COLUMNS": "140"})
    assert result.exit_code == 0, result.output
    for figure in figures:
        assert (tmp_path / f"{figure.name}.png").stat().st_size > 5_000
    assert variants_in(tmp_path) == ["round-robin"]


def test_every_variant_by_one_command(tmp_path: Path) -> None:
    command = ["reproduce", "taco25", "fig15", "--dry-run", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(app, [*command, "--variant", "all"], env={"COLUMNS": "140"})
    assert found.exit_code == 0, found.output
    for name in ("round-robin", "transit-first"):
        assert f"taco25 fig15 (quick, {name}): 5 runs" in found.output
