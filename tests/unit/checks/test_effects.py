"""Settings that a person types have an effect, or are refused with one thing to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import evaluate_over_seeds
from dragonfly_env.checks.values import ns_to_ps
from dragonfly_env.sweeps import Scenario, load_results, run_all
from tests.unit.cli_arguments import SHORT, SYSTEM, run

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), load=0.1)
RANK_1 = dfe.NetworkConfig(links={"rank-1": dfe.LinkConfig(latency_ns=5.0)})

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "links of a grid without a grid": (
        lambda: CONFIG.replace(network=RANK_1),
        "network.links = 'rank-1': this topology has local, global",
    ),
    "no seeds for a task": (
        lambda: dfe.task("Mixed-72").evaluate("min", seeds=[]),
        r"seeds = \[\]: must have at least one seed",
    ),
    "no seeds for an evaluation": (
        lambda: evaluate_over_seeds("min", CONFIG, []),
        r"seeds = \[\]: must have at least one seed",
    ),
    "a seed twice": (
        lambda: dfe.task("Mixed-72").evaluate("min", seeds=[7, 7]),
        "seeds = 7: must be listed once",
    ),
    "a seed twice in a scenario": (
        lambda: Scenario.from_dict({"policies": ["min"], "traffic": ["uniform"], "seeds": [3, 3]}),
        "seeds = 3: must be listed once",
    ),
    "nested lists as a matrix": (
        lambda: CONFIG.replace(traffic=np.eye(9).tolist()),
        r"traffic = \[\[1.0, .*: must be an array if it is a demand matrix",
    ),
    "a frame as a matrix": (
        lambda: CONFIG.replace(traffic=pd.DataFrame(np.eye(9))),
        r"traffic = 'a table of shape \(9, 9\)': must have time_ns, src, dst, bytes; of a demand matrix pass",
    ),
    "truth values as hosts": (
        lambda: dfe.traffic.Trace.from_columns(time_ns=[0, 1], src=[True, False], dst=[1, 2], bytes=[1, 1]),
        r"trace src = \[True, False\]: must be integers, not truth values",
    ),
    "no policy": (lambda: dfe.Policy(None), "policy = None: must be the name of a policy"),  # type: ignore[arg-type]
    "no job": (
        lambda: dfe.Job.from_dict(None),  # type: ignore[arg-type]
        "job = None: must be a table of fields, such as",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_have_no_effect_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(dfe.ConfigError, match=f"^{message}"):
        call()


def test_a_seed_that_is_typed_twice_is_refused() -> None:
    done = run("sweep", *SYSTEM, *SHORT, "-l", "0.2", "-s", "1,1", "--dry-run")
    assert done.exit_code == 2
    assert "--seed 1,1: must be listed once" in done.stderr


def test_a_training_is_resumed_or_restarted() -> None:
    done = run("train", "deep-q", "--resume", "--restart", "-o", "out")
    assert done.exit_code == 2
    assert "--restart: cannot be combined with resume" in done.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "a"}'])
def test_a_list_of_runs_that_is_damaged_says_what_to_do(text: str, tmp_path: Path) -> None:
    settings = {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.1]}
    scenario = Scenario.from_dict({**settings, "warmup_ns": 0, "measure_ns": 1_000})
    run_all(scenario, tmp_path, workers=1)
    (tmp_path / "scenario.json").write_text(text)
    with pytest.raises(dfe.ConfigError, match="is damaged: delete it, and start the sweep again"):
        run_all(scenario, tmp_path, workers=1)
    (tmp_path / "scenario.json").unlink()
    assert run_all(scenario, tmp_path, workers=1).reused == 1
    assert len(load_results(tmp_path).table) == 1


def test_a_difference_of_times_is_the_time_that_it_means() -> None:
    simulation = dfe.Simulation(CONFIG)
    simulation.run(608.691)
    rest = 1_000.0 - simulation.time_ns
    assert rest != round(rest, 3)
    simulation.run(rest)
    assert simulation.time_ns == 1_000.0
    assert ns_to_ps("time", 391.3090000000002) == 391_309
    assert dfe.NetworkConfig(local_latency_ns=30.0 + 2e-12) == dfe.NetworkConfig(local_latency_ns=30.0)
    with pytest.raises(dfe.ConfigError, match="whole number of picoseconds"):
        ns_to_ps("time", 0.000_002)
