"""Configurations in JSON, lists of runs and states of trainings that somebody changed: refused, or they work."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.sweeps import load_results, run_all
from dragonfly_env.sweeps.scenario import Scenario
from dragonfly_env.training.run import TrainingPlan, run_training
from tests.fuzz.outcome import Outcome, require
from tests.fuzz.small_configs import SMALL_CONFIGS, SMALL_SCENARIO, simulate_if_small
from tests.fuzz.tampering import as_json, in_bytes, in_text, in_value, refused_or_run

_ONE_RUN = {**SMALL_SCENARIO, "policies": ["min"], "traffic": ["adv+1"], "loads": [0.2], "seeds": [1]}

_PLAN = TrainingPlan(
    kind="deep-q",
    config=SimulationConfig(topology=Dragonfly(1, 2, 1), load=0.3),
    settings={"hidden_units": (4,)},
    episodes=1,
    episode_ns=1_000.0,
    evaluate_every=0,
    tensorboard=False,
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A JSON document that this package writes, with something changed."""
    made = folder.with_name("made")  # the other folder is emptied after every input
    run_all(Scenario.from_dict(_ONE_RUN), made / "results", workers=1)
    run_training(_PLAN, made / "training")
    listed = (made / "results" / "scenario.json").read_text(encoding="utf-8")
    trained = (made / "training" / "training.json").read_text(encoding="utf-8")
    documents = [config.to_json() for config in SMALL_CONFIGS]
    while True:
        text = random.choice([*documents, *[listed] * 2, trained])
        if random.random() < 0.5:
            content = as_json(in_value(random, json.loads(text)))
        else:
            content = in_text(random, text).encode("utf-8", "surrogatepass")
        if random.random() < 0.2:
            content = in_bytes(random, content, [other.encode() for other in documents])
        if text is listed:
            call: Callable[[], Any] = functools.partial(load_results, made / "results")
            (made / "results" / "scenario.json").write_bytes(content)
        elif text is trained:
            shutil.copytree(made / "training", folder / "training")
            (folder / "training" / "training.json").write_bytes(content)
            call = functools.partial(run_training, _PLAN, folder / "training")
        else:
            call = functools.partial(_run_config, content.decode("utf-8", "replace"))
        yield functools.partial(refused_or_run, call)


def _run_config(text: str) -> None:
    config = SimulationConfig.from_json(text)
    require(SimulationConfig.from_json(config.to_json()) == config, "a configuration is its JSON")
    simulate_if_small(config)
