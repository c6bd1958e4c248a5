"""Every policy does, packet by packet, what it did when its golden trace was written."""

from __future__ import annotations

import pytest

from tests.golden.rendering import COMMAND, DATA, every_trace, path_of, render


@pytest.mark.parametrize(("network", "policy"), every_trace())
def test_every_registered_policy_repeats_its_golden_trace(network: str, policy: str) -> None:
    path = path_of(network, policy)
    assert path.exists(), f"{policy} has none on {network}; write it with: {COMMAND}"
    # If this is what a change of the model was for: look at the difference after COMMAND, and commit it.
    assert render(network, policy).splitlines() == path.read_text().splitlines()


def test_no_golden_trace_is_left_of_a_policy_that_is_gone() -> None:
    assert set(DATA.glob("*/*")) <= {path_of(*trace) for trace in every_trace()}
