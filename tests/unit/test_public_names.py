"""The public names, and the functions that list registries."""

from __future__ import annotations

import pytest

import dragonfly_env as dfe

LISTED = {
    dfe.policies: "ugal-n",
    dfe.traffic_patterns: "adv+1",
    dfe.topologies: "1056",
    dfe.networks: "q-adaptive",
    dfe.programs: "milc",
    dfe.tasks: "Mixed-72",
    dfe.agents.learners: "ppo",
}


@pytest.mark.parametrize("names", LISTED, ids=lambda function: function.__name__)
def test_a_function_without_arguments_lists_a_registry(names: object) -> None:
    listed = names()  # type: ignore[operator]
    assert isinstance(listed, tuple)
    assert LISTED[names] in listed  # type: ignore[index]
    assert len(set(listed)) == len(listed)


def test_dir_lists_the_public_names_and_no_others() -> None:
    assert dir(dfe) == sorted(dfe.__all__)
    assert "RouterVecEnv" in dir(dfe)
    assert not {"Any", "importlib", "registration"} & set(dir(dfe))
