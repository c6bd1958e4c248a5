"""Reproducing a paper: its claims, verdicts, and the command from end to end with tiny windows."""

from __future__ import annotations

import csv
import dataclasses
import functools
import math
import re
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

import dragonfly_env.lab.papers as reproduce
from dragonfly_env.cli.reproduce import reproduce as cli_reproduce
from dragonfly_env.lab.papers import Paper, find_paper, judge_all
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.quantities import settling_time_us
from dragonfly_env.lab.papers.verdicts import DEVIATES, INPUT, MET, NOT_RUN
from tests.unit.cli_arguments import run as command

HPDC21 = find_paper("hpdc21")
TACO25 = find_paper("taco25")
QUICK, FULL = HPDC21.efforts

CLAIMS = HPDC21.claims
TINY_NS = 2_000.0


def tiny(paper: Paper = HPDC21) -> Paper:
    """A copy of the paper with windows that decide nothing but take no time."""
    efforts = tuple(
        dataclasses.replace(
            effort,
            seeds=2 if effort.decides else 1,
            warmup_ns=1_000.0,
            learner_warmup_ns=1_000.0,
            measure_ns=TINY_NS,
            transient_ns=20_000.0,
        )
        for effort in paper.efforts
    )
    return dataclasses.replace(paper, efforts=efforts)


run_command = functools.partial(command, "reproduce")


@pytest.fixture
def tiny_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "PAPERS", (tiny(),))


# ------------------------------------------------------------------------------------------------ claims


def test_every_claim_of_the_paper_is_there_once() -> None:
    assert [found.id for found in CLAIMS if not found.aside] == [f"QA{number:02d}" for number in range(1, 82)]


@pytest.mark.parametrize("paper", [HPDC21, TACO25], ids=lambda paper: paper.name)
def test_every_claim_finds_its_simulations(paper: Paper) -> None:
    points = {
        (figure.name, effort.name): figure.points(effort)
        for figure in paper.figures
        for effort in paper.efforts
    }
    for found in paper.claims:
        # LIA's claims are stated for the system of one effort each.
        for effort in (
            effort for effort in paper.efforts if paper is HPDC21 or effort.decides != found.quick
        ):
            if paper is HPDC21 and found.statement is not None:
                continue
            simulated = {
                point.policy_label
                for point in points[found.figure, effort.name]
                if point.config.topology.num_hosts == found.hosts
                and found.traffic in ("any", point.traffic_label)
                and found.load in (None, point.load)
            }
            assert simulated, found.id
            assert {found.policy, found.reference, *found.rivals} - {""} <= simulated, found.id


# ------------------------------------------------------------------------------------------------ verdicts


def test_nothing_simulated_means_not_run() -> None:
    every = {figure.name: figure.points(QUICK) for figure in HPDC21.figures}
    findings = Findings(points=every, rows={}, name="nothing")
    verdicts = judge_all(CLAIMS, findings, decides_all=True)
    by_id = {verdict.claim.id: verdict for verdict in verdicts}
    assert by_id.pop("QA71").verdict == INPUT  # needs no simulation
    assert {verdict.verdict for verdict in by_id.values()} == {NOT_RUN}
    assert {verdict.reason for verdict in by_id.values()} == {
        f"{name} was not run"
        for name in ("fig5", "fig6", "fig7", "fig8", "fig9", "maxq", "overload", "windows")
    }


# ------------------------------------------------------------------------------------------------ quantities


def test_settling_time_is_when_the_curve_enters_its_band_for_good() -> None:
    ends = np.arange(1, 101) * 10.0
    step = np.where(ends <= 300.0, 5.0, 1.0)
    assert 300.0 <= settling_time_us(ends, step, 0.0, 0.05) <= 320.0  # two bins of smoothing
    assert settling_time_us(ends, np.ones(100), 0.0, 0.05) == 0.0
    assert 100.0 <= settling_time_us(ends, step, 200.0, 0.05) <= 120.0
    assert settling_time_us(ends, step, 0.0, 0.05, level=2.0) == 1000.0  # never gets there
    assert math.isnan(settling_time_us(ends, np.full(100, np.nan), 0.0, 0.05))


# ------------------------------------------------------------------------------------------------ the command


@pytest.mark.usefixtures("tiny_papers")
def test_a_figure_from_command_to_table(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run_command("hpdc21", "fig6", "memory", "--workers", "1", "--out", str(out))
    assert done.exit_code == 0, done.output
    for name in ("fig6.png", "fig6.svg", "claims.csv", "claims.md"):
        assert (out / name).stat().st_size > 500
    with (out / "claims.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert list(rows) == [found.id for found in CLAIMS if found.figure in ("fig6", "memory")]
    assert float(rows["QA12"]["measured"]) > 0  # min at 0.8: simulated, and a quick run decides it
    assert rows["QA12"]["verdict"] in (MET, DEVIATES)
    assert "QA12" in done.stdout
    assert "QA42" not in done.stdout  # QA42 was not selected
    page = (out / "claims.md").read_text(encoding="utf-8")
    section = page[page.index("## Figure 6: Latency distributions") :]
    counted = [
        row["verdict"]
        for row in rows.values()
        if row["figure"] == "fig6" and row["counts_as"] in (MET, DEVIATES)
    ]
    assert "(fig6.png)" in section
    assert f"{counted.count(MET)} of {len(counted)} claims about this figure are met." in section


@pytest.mark.usefixtures("tiny_papers")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["hpdc21", "fig55"], "did you mean 'fig5'"),
        (["hpdc21", "fig6", "--learner", "alhpa=1"], "did you mean 'alpha'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], named: str, tmp_path: Path) -> None:
    done = run_command(*arguments, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2, done.output
    assert named in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["hpdc21", "taco25"])
def test_the_help_lists_every_figure(name: str) -> None:
    argument = get_type_hints(cli_reproduce, include_extras=True)["figures"].__metadata__[0]
    listed = re.split(r"[,;: ]+", argument.help.partition(f"{name}:")[2])
    assert [figure.name for figure in find_paper(name).figures if figure.name not in listed] == []
