"""Requirements of runs are computed before the first run, without building a network."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core
from dragonfly_env.sweeps import run_all, runner
from dragonfly_env.sweeps.point import Run
from dragonfly_env.sweeps.runner import check_runs, fitting_workers, memory_of
from dragonfly_env.sweeps.scenario import Scenario


def runs_of(**changes: Any) -> list[Run]:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.2, 0.4], **changes}
    return Scenario.from_dict(settings).runs()


FEW = {"local_vcs": 3, "global_vcs": 3}


@pytest.mark.parametrize("topology", ["72", "theta-m8"])
@pytest.mark.parametrize("scheme", ["stage", "ladder", "hop"])
def test_a_policy_runs_with_the_channels_that_it_says_and_with_no_fewer(topology: str, scheme: str) -> None:
    system = dfe.Dragonfly.preset(topology)
    for policy in ("min", "val-n", "par", "ugal-g", "ad1"):
        if policy == "ad1" and topology == "72":
            continue
        local, glob = _core.required_vcs(system.to_core(), policy, {}, scheme)
        links = {"vc_scheme": scheme, "local_vcs": local, "global_vcs": glob}
        made = dfe.SimulationConfig(topology=system, policy=policy, network=dfe.NetworkConfig(**links))
        assert dfe.Simulation(made).time_ns == 0.0
        for name in ("local_vcs", "global_vcs"):
            if links[name] == 1:
                continue
            fewer = made.replace(network=dfe.NetworkConfig(**{**links, name: links[name] - 1}))
            with pytest.raises(dfe.ConfigError, match="for this policy and VC scheme"):
                _core.requirements(fewer.to_core())


def test_a_sweep_is_refused_before_its_first_run_and_says_what_is_missing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "measure", lambda run: pytest.fail("nothing may run"))
    settings = {"topology": "72", "policies": ["min", "par", "ugal-n"], "traffic": ["uniform", "adv+1"]}
    plan = Scenario.from_dict({**settings, "loads": [0.1, 0.2], "network": FEW})
    with pytest.raises(dfe.ConfigError) as refused:
        run_all(plan, tmp_path / "out", workers=1)
    text = str(refused.value)
    assert text.startswith("8 of 12 runs cannot be done: par under uniform at load 0.1, seed 1: ")
    assert "network.local_vcs = 3: at least 5" in text
    assert "par needs local_vcs=5 and global_vcs=5 here" in text
    assert not (tmp_path / "out").exists()


def test_runs_that_do_not_fit_together_are_fewer_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = check_runs(runs_of(seeds=[1, 2, 3]))
    assert memory_of(needed, 2) == 2 * needed[0]
    monkeypatch.setattr(runner, "machine_bytes", lambda: int(2.5 * needed[0]))
    monkeypatch.setattr(runner.joblib, "cpu_count", lambda: 4)
    assert fitting_workers(needed, None, threads=1) == 2
    assert fitting_workers(needed, None, threads=4) == 1
    assert fitting_workers(needed, 2, threads=1) == 2
    with pytest.raises(dfe.ConfigError, match=r"^workers = 4: must be at most 2: .* GB of memory"):
        fitting_workers(needed, 4, threads=1)
    assert fitting_workers(needed[:1], 4, threads=1) == 1
