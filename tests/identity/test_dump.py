"""Identifiers of runs and verdicts on claims are those of the committed text; `make oracle` shows all differences."""

from __future__ import annotations

import warnings

from tests.identity.dump import FILE, lines


def test_identifiers_of_runs_and_verdicts_are_the_committed_ones() -> None:
    """Names and settings may be added to; a run with another identifier would lose its stored results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # made-up numbers leave some means empty
        today = [line for line in lines() if line.startswith(("runs ", "verdict "))]
    committed = [
        line
        for line in FILE.read_text(encoding="utf-8").splitlines()
        if line.startswith(("runs ", "verdict "))
    ]
    assert today == committed
