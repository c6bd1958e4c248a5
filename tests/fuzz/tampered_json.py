"""Configurations in JSON and lists of runs that somebody changed: refused, or they work."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.sweeps import load_results, run_all
from dragonfly_env.sweeps.scenario import Scenario
from tests.fuzz.outcome import Outcome, require
from tests.fuzz.small_configs import SMALL_CONFIGS, SMALL_SCENARIO, simulate_if_small
from tests.fuzz.tampering import as_json, in_bytes, in_text, in_value, refused_or_run

_ONE_RUN = {**SMALL_SCENARIO, "policies": ["min"], "traffic": ["adv+1"], "loads": [0.2], "seeds": [1]}


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A JSON document that this package writes, with something changed."""
    made = folder.with_name("made")  # the other folder is emptied after every input
    run_all(Scenario.from_dict(_ONE_RUN), made / "results", workers=1)
    listed = (made / "results" / "scenario.json").read_text(encoding="utf-8")
    documents = [config.to_json() for config in SMALL_CONFIGS]
    while True:
        text = random.choice([*documents, *[listed] * 2])
        if random.random() < 0.5:
            content = as_json(in_value(random, json.loads(text)))
        else:
            content = in_text(random, text).encode("utf-8", "surrogatepass")
        if random.random() < 0.2:
            content = in_bytes(random, content, [other.encode() for other in documents])
        if text is listed:
            call: Callable[[], Any] = functools.partial(load_results, made / "results")
            (made / "results" / "scenario.json").write_bytes(content)
        else:
            call = functools.partial(_run_config, content.decode("utf-8", "replace"))
        yield functools.partial(refused_or_run, call)


def _run_config(text: str) -> None:
    config = SimulationConfig.from_json(text)
    require(SimulationConfig.from_json(config.to_json()) == config, "a configuration is its JSON")
    simulate_if_small(config)
