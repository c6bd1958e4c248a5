"""Configurations and scenarios in TOML that somebody changed: refused, or they are simulated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from dragonfly_env import SimulationConfig
from dragonfly_env.checks import toml
from dragonfly_env.sweeps import Scenario
from tests.fuzz.outcome import Outcome, require
from tests.fuzz.small_configs import SMALL_CONFIGS, SMALL_SCENARIO, simulate_if_small
from tests.fuzz.tampering import in_bytes, in_text, refused_or_run

_MOST_RUNS = 50


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """The document of a configuration or a scenario, as a text or a file, with something changed."""
    configs = [config.to_toml() for config in SMALL_CONFIGS]
    scenario = toml.dumps(SMALL_SCENARIO)
    file = folder / "changed.toml"
    while True:
        text = random.choice([*configs, scenario, scenario])
        read = _run_scenario if text is scenario else _run_config
        changed = in_text(random, text)
        content = changed.encode("utf-8", "surrogatepass")
        if random.random() < 0.2:
            content = in_bytes(random, content, [other.encode() for other in configs])
        file.write_bytes(content)
        if text is not scenario and random.random() < 0.3:
            yield functools.partial(refused_or_run, functools.partial(_run_config, changed))
        else:
            yield functools.partial(refused_or_run, functools.partial(read, file))


def _run_config(source: str | Path) -> None:
    config = SimulationConfig.from_toml(source)
    if not config.traffic_object.is_trace:
        require(SimulationConfig.from_toml(config.to_toml()) == config, "a configuration is its TOML")
    simulate_if_small(config)


def _run_scenario(file: Path) -> None:
    scenario = Scenario.from_toml(file)
    loads = max(len(scenario.loads), *(len(choice.loads) for choice in scenario.traffic))
    if len(scenario.policies) * len(scenario.traffic) * loads * len(scenario.seeds) > _MOST_RUNS:
        return
    runs = scenario.runs()
    require(len({run.id for run in runs}) == len(runs), "no run is there twice")
    if runs:
        simulate_if_small(runs[0].config)
