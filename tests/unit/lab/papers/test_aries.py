"""Reproducing routing bias on Aries: its claims find their simulations, which come in pairs that differ in the mode."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dragonfly_env as dfe
from dragonfly_env.cli import app
from dragonfly_env.lab.papers import find_paper
from dragonfly_env.lab.papers.aries_points import SIZES, Sizing
from dragonfly_env.lab.papers.claims import excluded, given
from dragonfly_env.lab.papers.paper import Effort
from dragonfly_env.sweeps.point import Point

ARIES = find_paper("aries")
QUICK, FULL = ARIES.efforts

CLAIMS = ARIES.claims
EFFORTS = (QUICK, FULL)
INPUTS = {f"AR{number}" for number in range(45, 53)}
EXCLUDED = {"AR24", "AR25", "AR26", "AR27", "AR37"}


def points_of(name: str, effort: Effort) -> list[Point]:
    figure = next(figure for figure in ARIES.figures if figure.name == name)
    points = figure.points(effort)
    assert all(isinstance(point, Point) for point in points)
    return [point for point in points if isinstance(point, Point)]


def test_every_claim_of_the_paper_is_there_once() -> None:
    ids = [found.id for found in CLAIMS if "-" not in found.id]
    assert ids == [f"AR{number:02d}" for number in range(1, 54)]
    assert {found.id.partition("-")[0] for found in CLAIMS} == set(ids), (
        "the others repeat one in another setting"
    )
    assert {found.id for found in CLAIMS if found.relation is given} == INPUTS
    assert {found.id for found in CLAIMS if found.relation is excluded} == EXCLUDED


@pytest.mark.parametrize("effort", EFFORTS, ids=lambda effort: effort.name)
def test_every_claim_finds_its_simulations(effort: Effort) -> None:
    for found in CLAIMS:
        if found.relation is excluded or not found.traffic:
            continue
        for policy in (found.policy, found.reference):
            fitting = [
                point.policy_label
                for point in points_of(found.figure, effort)
                if found.traffic == point.traffic_label and policy in ("", point.policy_label)
            ]
            assert fitting, (found.id, policy)
            assert len(set(fitting)) == len(fitting), (found.id, policy)


@pytest.mark.parametrize("figure", [figure.name for figure in ARIES.figures])
def test_every_simulation_can_be_done(figure: str) -> None:
    sample = points_of(figure, QUICK) or points_of(figure, FULL)[:8]
    for point in sample:
        run = point.run(1)
        assert run.closed_loop
        assert run.config.network == dfe.NetworkConfig.preset("aries-256")
        assert run.config.topology == dfe.Dragonfly.preset(
            "cori-m8" if "Cori" in point.traffic_label else "theta-m8"
        )


def test_pairs_of_runs_differ_in_the_mode_of_the_watched_job_alone() -> None:
    for seed in (1, 2, 3):
        configs = [
            point.run(seed).config
            for point in points_of("fig2", QUICK)
            if point.traffic_label == "milc in the mix"
        ]
        first, second = (config.to_dict() for config in configs)
        policies = [settings["jobs"][0].pop("policy")["name"] for settings in (first, second)]
        assert policies == ["ad0", "ad3"]
        assert first == second
        assert [job.hosts for job in configs[0].placed_jobs()] == [
            job.hosts for job in configs[1].placed_jobs()
        ]
        assert configs[0].policy_object.name == "ad0"
    groups = [
        {host // 48 for host in point.run(seed).config.placed_jobs()[0].hosts}
        for point in points_of("fig5", QUICK)[:1]
        for seed in (1, 2, 3, 4)
    ]
    assert [len(some) for some in groups][::2] == [1, 2]
    assert min(len(some) for some in groups[1::2]) > 2


@pytest.mark.parametrize("figure", [figure.name for figure in ARIES.figures if figure.name != "open"])
def test_every_mode_has_the_fixed_parameters_and_all_to_all_keeps_ad1(figure: str) -> None:
    for point in points_of(figure, FULL)[:4]:
        config = point.run(1).config
        assert config.jobs[0].policy.name == point.policy_label
        for job in config.jobs:
            assert job.all_to_all_policy.name == "ad1"
            for mode in (job.policy or config.policy_object, job.all_to_all_policy):
                assert {name: mode.parameters[name] for name in ("gateways", "level_empty", "ties")} == {
                    "gateways": "any", "level_empty": 2, "ties": "minimal"
                }  # fmt: skip


def test_tiny_runs_end_in_figures_and_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES, "quick", Sizing(scale=0.0005, watch_ns=2_000.0, phase_ns=500.0))
    folder = tmp_path / "aries"
    command = ["reproduce", "aries", "table1", "fig5", "fig6", "fig10", "--seeds", "2", "--out", str(folder)]
    result = CliRunner().invoke(app, [*command, "--workers", "1"], env={"COLUMNS": "140"})
    assert result.exit_code == 0, result.output
    for name in ("table1", "fig5", "fig6", "fig10"):
        assert (folder / f"{name}.png").stat().st_size > 10_000
    table = (folder / "claims.csv").read_text(encoding="utf-8")
    rows = {row["id"]: row for row in csv.DictReader(table.splitlines())}
    shown = ("table1", "fig5", "fig6", "fig10")
    assert list(rows) == [found.id for found in CLAIMS if found.figure in shown]
    for identity in ("AR07", "AR31", "AR32", "AR34"):
        assert rows[identity]["verdict"] in ("met", "deviates"), rows[identity]
    assert rows["AR45"]["verdict"] == "input"
    assert 0 < float(rows["AR45"]["measured"]) < 1
