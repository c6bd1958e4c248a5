"""Policies are written with their parameters, too."""

from __future__ import annotations

import dragonfly_env as dfe


def test_policies_of_rules_are_those_of_their_names() -> None:
    assert dfe.baselines.Minimal() == dfe.make_policy("min")
    assert dfe.baselines.Valiant() == dfe.make_policy("val-n")
    assert dfe.baselines.Valiant(detour="lg") == dfe.make_policy("val-g")
    assert dfe.baselines.Ugal(detour="lgl", bias_packets=3) == dfe.make_policy("ugal-n", bias_packets=3)
    assert dfe.baselines.Ugal(detour="lg") == dfe.make_policy("ugal-g")
    assert dfe.baselines.Par() == dfe.make_policy("par")
    assert dfe.baselines.Lia() == dfe.make_policy("lia")
    assert dfe.agents.QAdaptive(alpha=0.3) == dfe.make_policy("q-adaptive", alpha=0.3)
    assert dfe.agents.QRouting() == dfe.make_policy("q-routing")
