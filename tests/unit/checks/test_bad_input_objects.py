"""What is no such object is refused wherever something public takes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import sweeps
from dragonfly_env.envs.packet import PacketRouting

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly(1, 2, 1), load=0.3)


class Failing:
    """Whatever is asked of it fails."""

    def _fail(self, *_: object) -> Any:
        raise OSError("my own")

    __repr__ = __str__ = __array__ = __float__ = __index__ = __len__ = _fail


@pytest.mark.parametrize("learner", ["q-routing", "q-adaptive", "q-adaptive-queue", "q-adaptive-fast"])
@pytest.mark.parametrize("env", [None, Failing(), CONFIG])
def test_a_reference_is_for_an_environment(learner: str, env: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^env = .*: must be a BatchedRoutingEnv$"):
        dfe.make_policy(learner).reference(env)


@pytest.mark.parametrize("watchdog_ns", [None, "x", -1, float("nan"), [1], Failing(), 0.0001])
def test_a_watchdog_waits_for_a_time(watchdog_ns: Any) -> None:
    with pytest.raises(dfe.ConfigError, match=r"^watchdog_ns = "):
        dfe.NetworkConfig().to_core(watchdog_ns=watchdog_ns)


@pytest.mark.parametrize("action", [None, "x", [[1, 2], [3]], 1.5, -1, 99, Failing()])
def test_the_action_of_a_packet_is_a_number(action: Any) -> None:
    env = PacketRouting(CONFIG, duration_ns=1_000)
    env.reset(seed=1)
    with pytest.raises(dfe.IllegalActionError, match=r"^action .*: must be an integer from 0 to "):
        env.step(action)
    env.step(0)


@pytest.mark.parametrize(
    ("sweep", "field"),
    [
        (lambda scenario, folder: sweeps.run_all(None, folder), "wanted"),
        (lambda scenario, folder: sweeps.run_all(scenario, 5), "folder"),
        (lambda scenario, folder: sweeps.run_all(scenario, folder, redo="no"), "redo"),
        (lambda scenario, folder: sweeps.run_all(scenario, folder, workers=0), "workers"),
    ],
)
def test_a_sweep_needs_a_scenario_and_a_folder(
    sweep: Callable[[Any, Path], object], field: str, tmp_path: Path
) -> None:
    scenario = sweeps.Scenario.from_dict(
        {"topology": "72", "policies": ["min"], "traffic": ["uniform"], "loads": [0.1]}
    )
    with pytest.raises(dfe.ConfigError, match=f"^{field} = "):
        sweep(scenario, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "obs", [None, "x", [1.0], np.zeros((2, 3)), Failing(), np.zeros((1, 1), dtype="M8[ns]")]
)
def test_what_is_no_observation_describes_nothing(obs: Any) -> None:
    layout = dfe.BatchedRoutingEnv(CONFIG, action="path").layout
    with pytest.raises(dfe.ConfigError, match=r"^obs = "):
        layout.counts(obs, "hops")
    with pytest.raises(dfe.ConfigError, match=r"^obs = "):
        layout.decode_candidates(obs)


def test_numbers_that_no_router_counts_are_refused() -> None:
    layout = dfe.BatchedRoutingEnv(CONFIG, action="path").layout
    column = layout["hops"].columns.start
    for value in (np.nan, np.inf, 1e30):
        obs = np.zeros((2, layout.num_features), dtype=np.float32)
        obs[1, column] = value
        with pytest.raises(dfe.ConfigError, match=rf"^obs\[1, {column}\] = .*: is no such feature$"):
            layout.counts(obs, "hops")
    with pytest.raises(dfe.ConfigError, match=r"^feature = None"):
        layout.counts(obs, None)  # type: ignore[arg-type]
