"""Policies by name: every one of the core has a Python class with the same parameters."""

from __future__ import annotations

import dataclasses
import inspect
import math
import pickle
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.baselines import Minimal, Par, Ugal, Valiant
from dragonfly_env.policies import (
    CorePolicy,
    Policy,
    describe_policy,
    parse_policy,
    policy_class,
    policy_from_dict,
)
from tests.ready import ready


@pytest.mark.parametrize("name", dfe.policies())
def test_the_message_for_an_unknown_setting_lists_only_what_may_be_set(name: str) -> None:
    with pytest.raises(dfe.ConfigError) as refused:
        dfe.make_policy(name, nonsense_of_any_kind=1)
    _, _, listed = str(refused.value).partition("has no such setting, only ")
    settable = [row.name for row in describe_policy(name)]
    assert listed == ", ".join(settable)
    assert listed or str(refused.value).endswith(f"policy '{name}' has no settings")


@pytest.mark.parametrize("name", dfe.policies())
def test_every_policy_of_the_core_has_a_python_class_that_keeps_its_name(name: str) -> None:
    policy = ready(name)
    assert policy.name == name
    assert type(policy) is policy_class(name) is not CorePolicy
    assert policy.source
    assert policy.summary
    assert policy.scope in ("source", "every", "all", "progressive")
    assert policy.action in ("path", "port")
    lines = (inspect.getdoc(type(policy)) or "").splitlines()  # those of parameters are indented
    assert sum(line.startswith("Source:") for line in lines) == 1


@pytest.mark.parametrize("info", _core.policies(), ids=lambda info: info["name"])
def test_python_and_core_have_the_same_parameters_and_defaults(info: _core.PolicyInfo) -> None:
    cls = policy_class(info["name"])
    fixed = cls.variants[info["name"]]
    ours = {f.name: f.default for f in dataclasses.fields(cls) if f.name not in fixed}  # type: ignore[arg-type]
    theirs = {
        parameter["name"]: parameter["default"]
        for parameter in info["parameters"]
        if parameter["type"] != "object" or parameter["name"] in ours  # a network may come with the package
    }
    assert set(ours) == set(theirs)
    for name, default in ours.items():
        assert theirs[name] == default, name


@pytest.mark.parametrize("info", _core.policies(), ids=lambda info: info["name"])
def test_python_allows_what_the_row_of_the_core_allows(info: _core.PolicyInfo) -> None:
    for row in info["parameters"]:
        low, high = row["low"], row["high"]
        if low is None or high is None:
            assert row["names"] or row["type"] in ("flag", "network", "object"), row["name"]
            for name in row["names"]:
                assert (
                    dataclasses.replace(ready(info["name"]), **{row["name"]: name}).parameters()[row["name"]]
                    == name
                )
            continue
        step, kind = (1, int) if row["type"] == "whole" else (1e-3 * (high - low), float)
        for inside, outside in ((low, low - step), (high, high + step)):
            changed = dataclasses.replace(ready(info["name"]), **{row["name"]: kind(inside)})
            assert changed.parameters()[row["name"]] == inside
            with pytest.raises(dfe.ConfigError, match=f"^{row['name']} = "):
                dataclasses.replace(changed, **{row["name"]: kind(outside)})


@pytest.mark.parametrize("name", dfe.policies())
def test_every_parameter_is_documented(name: str) -> None:
    for setting in policy_class(name).describe():
        assert setting.doc
        assert setting.unit or not setting.name.endswith(("_packets", "_candidates"))


@pytest.mark.parametrize("name", dfe.policies())
def test_a_policy_survives_dictionaries_and_pickling(name: str) -> None:
    policy = ready(name)
    assert policy_from_dict(policy.to_dict()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert hash(policy) == hash(ready(name))
    assert parse_policy(policy) == parse_policy(policy.to_dict()) == policy
    if not policy.needs:
        assert parse_policy(name) == parse_policy({"name": name}) == dfe.make_policy(name)


def test_names_follow_the_nonminimal_path() -> None:
    assert Minimal().name == "min"
    assert [Valiant(detour=d).name for d in ("lgl", "lg", "gl", "g")] == ["val-n", "val-g", "vlb-gl", "vlb-g"]
    assert Valiant(detour="lg", family="vlb").name == "vlb-lg"
    assert Ugal().name == "ugal-n"
    assert Ugal(detour="lg").name == "ugal-g"
    assert Par().name == "par"


def test_the_core_is_told_only_what_the_name_does_not_say() -> None:
    assert Minimal().parameters() == {}
    assert Valiant(detour="gl").parameters() == {"own_group": "minimal"}
    told = Valiant(avoid_destination_group=False).parameters()
    assert told == {"avoid_destination_group": False, "own_group": "minimal"}
    parameters = Ugal(detour="lg", bias_packets=2).parameters()
    assert parameters["bias_packets"] == 2.0
    assert "detour" not in parameters


@pytest.mark.parametrize(
    ("typo", "meant"), [("ugaln", "ugal-n"), ("MIN", "min"), ("val_g", "val-g"), ("paar", "par")]
)
def test_an_unknown_policy_gets_the_nearest_one(typo: str, meant: str) -> None:
    with pytest.raises(
        dfe.ConfigError, match=rf"^policy = '{typo}': did you mean '{meant}'\? It must be one of '"
    ):
        dfe.make_policy(typo)


def test_unknown_and_contradicting_parameters_are_refused() -> None:
    with pytest.raises(dfe.ConfigError, match=r"^bias = 1: policy 'ugal-n' .*did you mean 'bias_packets'"):
        dfe.make_policy("ugal-n", bias=1)
    with pytest.raises(dfe.ConfigError, match=r"^detour = 'lg': is 'lgl' in policy 'ugal-n'"):
        dfe.make_policy("ugal-n", detour="lg")
    with pytest.raises(dfe.ConfigError, match=r"^bias_packets = 1: policy 'min' has no settings"):
        dfe.make_policy("min", bias_packets=1)


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        (Valiant, "detour", "ll"),
        (Valiant, "family", "ugal"),
        (Valiant, "avoid_destination_group", 1),
        (Ugal, "detour", "gl"),
        (Ugal, "bias_packets", math.nan),
        (Ugal, "bias_packets", math.inf),
        (Ugal, "bias_packets", "0"),
        (Ugal, "nonminimal_candidates", 0),
        (Ugal, "nonminimal_candidates", 1.0),
        (Ugal, "nonminimal_candidates", 17),
        (Par, "bias_packets", None),
        (Par, "nonminimal_candidates", -1),
        (Par, "nonminimal_candidates", True),
        (Par, "avoid_destination_group", "yes"),
    ],
)
def test_a_bad_parameter_is_refused_by_name_value_and_range(
    cls: type[Policy], field: str, value: Any
) -> None:
    with pytest.raises(dfe.ConfigError) as caught:
        cls(**{field: value})
    assert str(caught.value).startswith(f"{field} = {value!r}: must ")
