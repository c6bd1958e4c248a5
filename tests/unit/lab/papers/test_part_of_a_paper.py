"""Reproducing a part of a paper: shorter windows, and only what its claims need."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dragonfly_env.lab.papers import Paper, Reproduction, find_paper
from dragonfly_env.lab.papers.claims import excluded
from dragonfly_env.lab.papers.findings import steps_of

HPDC21 = find_paper("hpdc21")
TACO25 = find_paper("taco25")

PAPERS = (HPDC21, TACO25)


def reproduction(paper: Paper, *, effort: str, share: float = 1.0, only_claims: bool) -> Reproduction:
    return Reproduction(
        paper=paper,
        figures=paper.figures,
        effort=paper.effort(effort).shortened(share),
        folder=Path("nowhere"),
        only_claims=only_claims,
    )


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_shorter_windows_are_a_share_of_all_warm_ups_and_windows(paper: Paper) -> None:
    whole = paper.effort("quick")
    fifth = reproduction(paper, effort="quick", share=0.2, only_claims=False)
    for name in ("warmup_ns", "learner_warmup_ns", "measure_ns"):
        assert getattr(fifth.effort, name) == pytest.approx(0.2 * getattr(whole, name))
    assert fifth.effort.transient_ns == whole.transient_ns
    for figure in paper.figures:
        for long, short in zip(figure.points(whole), figure.points(fifth.effort), strict=True):
            if long.warmup_ns and not steps_of(long):
                assert short.warmup_ns == pytest.approx(0.2 * long.warmup_ns)
                assert short != long  # never taken for the whole one


@pytest.mark.parametrize("effort", ["quick", "full"])
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_only_what_claims_need_is_enough_to_decide_all_of_them(paper: Paper, effort: str) -> None:
    some = reproduction(paper, effort=effort, only_claims=True)
    every = reproduction(paper, effort=effort, only_claims=False)
    chosen = {point for figure in paper.figures for point in some.wanted(figure)}
    assert chosen < {point for figure in paper.figures for point in every.wanted(figure)}
    for claim in paper.claims:
        if claim.relation is excluded or not (claim.quick or some.effort.decides):
            continue
        (figure,) = (figure for figure in paper.figures if figure.name == claim.figure)
        for policy in filter(None, (claim.policy, claim.reference, *claim.rivals)):
            needed = [
                point
                for point in figure.points(every.effort)
                if claim.hosts in (0, point.config.topology.num_hosts)
                and claim.traffic in ("", "any", point.traffic_label)
                and policy == point.policy_label
                and (claim.load is None or math.isclose(claim.load, point.load))
            ]
            assert chosen.issuperset(needed), (claim.id, policy)
