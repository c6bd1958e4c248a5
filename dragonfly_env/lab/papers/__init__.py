"""Reproducing papers: one module a paper, one command for all of them.

from dragonfly_env.lab.papers import find_paper, Reproduction

paper = find_paper("hpdc21")
work = Reproduction(paper=paper, figures=paper.choose(("fig6",)), effort=paper.effort("quick"), ...)
work.execute()
verdicts = judge_all(paper.claims, work.findings(), decides_all=work.effort.decides)
"""

from __future__ import annotations

from dragonfly_env.checks.values import unknown_name
from dragonfly_env.lab.papers.aries import aries
from dragonfly_env.lab.papers.hpdc21 import hpdc21
from dragonfly_env.lab.papers.paper import Effort, Paper, PaperFigure, Reproduction
from dragonfly_env.lab.papers.taco25 import taco25
from dragonfly_env.lab.papers.verdicts import Verdict, judge_all

__all__ = ["PAPERS", "Effort", "Paper", "PaperFigure", "Reproduction", "Verdict", "find_paper", "judge_all"]

PAPERS: tuple[Paper, ...] = (hpdc21, taco25, aries)
"""Every paper that can be reproduced."""


def find_paper(name: str) -> Paper:
    """The paper with this name."""
    for paper in PAPERS:
        if paper.name == name:
            return paper
    raise unknown_name("paper", name, [paper.name for paper in PAPERS])
