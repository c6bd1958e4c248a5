"""``Policy``: a name of the core's registry and parameters, which the core's rows describe."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.policy import describe_policy, needs_weights, parse_policy
from tests.ready import ready

each = pytest.mark.parametrize("name", dfe.policies())


@each
def test_the_message_for_an_unknown_setting_lists_only_what_may_be_set(name: str) -> None:
    with pytest.raises(dfe.ConfigError) as refused:
        dfe.make_policy(name, nonsense_of_any_kind=1)
    names = [row.name for row in describe_policy(name)]
    _, _, listed = str(refused.value).partition("has no such setting")
    assert listed in (
        "" if not names else f", only {', '.join(names)}",
        f"; 'dragonfly-env info {name}' lists all {len(names)}",
    )
    assert listed or str(refused.value).endswith(f"policy '{name}' has no settings")


@each
def test_every_policy_says_what_it_does_and_where_it_is_described(name: str) -> None:
    policy = ready(name)
    assert policy.name == name
    assert policy.source
    assert policy.summary
    assert policy.scope in ("source", "every", "all", "progressive", "progressive-busy")
    assert policy.action in ("path", "port")
    for setting in describe_policy(name):
        assert setting.doc
        assert setting.unit or not setting.name.endswith(("_packets", "_candidates"))


@pytest.mark.parametrize("info", _core.policies(), ids=lambda info: info["name"])
def test_a_parameter_is_what_its_row_in_the_core_allows(info: _core.PolicyInfo) -> None:
    policy = ready(info["name"])
    for row in info["parameters"]:
        if row["type"] in ("object", "network") and row["name"] in ("weights", "sha256"):
            continue
        assert policy.parameters.get(row["name"]) == row["default"]

        def changed(value: Any, name: str = row["name"]) -> Any:
            return dfe.Policy(policy.name, {**policy.parameters, name: value}).parameters[name]

        low, high = row["low"], row["high"]
        for name in row["names"]:
            assert changed(name) == name
        if low is None or high is None:
            assert row["names"] or row["type"] in ("flag", "network"), row["name"]
            continue
        step, kind = (1, int) if row["type"] == "whole" else (1e-3 * (high - low), float)
        for inside, outside in ((low, low - step), (high, high + step)):
            with pytest.raises(dfe.ConfigError, match=f"^{row['name']} = "):
                changed(kind(outside))
            if row["name"] not in ("low_packets", "high_packets"):  # each limits the other
                assert changed(kind(inside)) == inside


@each
def test_a_policy_survives_dictionaries_and_pickling(name: str) -> None:
    policy = ready(name)
    for copy in (
        dfe.Policy.from_dict(policy.to_dict()),
        pickle.loads(pickle.dumps(policy)),
        parse_policy(policy),
        parse_policy(policy.to_dict()),
        eval(repr(policy), {"Policy": dfe.Policy}),
    ):
        assert copy == policy
        assert hash(copy) == hash(policy)
    if not needs_weights(name):
        assert parse_policy(name) == parse_policy({"name": name}) == dfe.make_policy(name)


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(dfe.make_policy("ugal-n")) == "Policy('ugal-n')"
    assert repr(dfe.make_policy("ugal-n", bias_packets=2)) == "Policy('ugal-n', {'bias_packets': 2.0})"


def test_parameters_may_be_appended_to_a_name_wherever_a_policy_is_named() -> None:
    policy = dfe.make_policy("par", bias_packets=10)
    assert dfe.Policy("par:bias_packets=10") == dfe.make_policy("par:bias_packets=10") == policy
    config = dfe.SimulationConfig(topology="72", policy="par:bias_packets=10")
    assert config.policy == policy
    assert dfe.Job("milc", hosts=4, policy="par:bias_packets=10").policy == policy
    simulation = dfe.Simulation(config.replace(policy="par"))
    simulation.set_policy("par:bias_packets=10")
    assert simulation.config == config
    for env in (
        dfe.BatchedRoutingEnv.for_policy(config, "ugal-n:nonminimal_candidates=3"),
        dfe.BatchedRoutingEnv.for_policy(config, dfe.make_policy("ugal-n", nonminimal_candidates=3)),
    ):
        assert env.layout.candidates.count("lgl") == 3
    short = {"warmup_ns": 0.0, "measure_ns": 500.0}
    assert dfe.agents.evaluate_policy("par:bias_packets=10", config, **short).packets_delivered > 0


def test_the_core_receives_what_is_set() -> None:
    assert dfe.make_policy("min").to_core() == {"name": "min", "parameters": {}}
    assert dfe.make_policy("vlb-gl").parameters == {"own_group": "minimal"}
    set_here = dfe.make_policy("vlb-gl", avoid_destination_group=False).parameters
    assert set_here == {"avoid_destination_group": False, "own_group": "minimal"}
    assert dfe.make_policy("vlb-lgl") == dfe.make_policy("val-n")


@pytest.mark.parametrize(
    ("typo", "meant"), [("ugaln", "ugal-n"), ("MIN", "min"), ("val_g", "val-g"), ("paar", "par")]
)
def test_an_unknown_policy_gets_the_nearest_one(typo: str, meant: str) -> None:
    with pytest.raises(
        dfe.ConfigError,
        match=rf"^policy = '{typo}': is unknown; did you mean '{meant}'\? 'dragonfly-env info'",
    ):
        dfe.make_policy(typo)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^bias = 1: policy 'ugal-n' .*did you mean 'bias_packets'"):
        dfe.make_policy("ugal-n", bias=1)
    with pytest.raises(dfe.ConfigError, match=r"^bias_packets = 1: policy 'min' has no settings"):
        dfe.make_policy("min", bias_packets=1)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("val-n", "own_group", "ugal"),
        ("val-n", "avoid_destination_group", 1),
        ("ugal-n", "bias_packets", math.nan),
        ("ugal-n", "bias_packets", math.inf),
        ("ugal-n", "bias_packets", "0"),
        ("ugal-n", "nonminimal_candidates", 1.0),
        ("ugal-n", "nonminimal_candidates", True),
        ("par", "bias_packets", None),
        ("par", "avoid_destination_group", "yes"),
    ],
)
def test_a_bad_parameter_is_refused_by_name_value_and_range(name: str, field: str, value: Any) -> None:
    with pytest.raises(dfe.ConfigError) as caught:
        dfe.make_policy(name, **{field: value})
    assert str(caught.value).startswith(f"{field} = {value!r}: must ")
