"""Scenario files for ``sweep``, legal but for a mutation or two: they run, or one line says what is wrong."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.checks import toml
from dragonfly_env.policies import Policy
from dragonfly_env.traffic import Pattern, parse_traffic
from tests.fuzz import settings
from tests.fuzz.alarm import Alarm
from tests.fuzz.commands import give
from tests.fuzz.draws import mutated
from tests.fuzz.outcome import Outcome, require


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """One file, and seldom a second sweep that goes on."""
    alarm = Alarm(KeyboardInterrupt)
    while True:
        yield functools.partial(_attempt, random, alarm, folder)


def _attempt(random: Random, alarm: Alarm, folder: Path) -> Outcome:
    text = _text(random)
    path = folder / random.choice(("scenario.toml", "a b.toml", "x.txt", "é:.toml"))
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    arguments = [
        "sweep",
        str(path),
        "--out",
        random.choice(("out", "a:b", "o/u/t")),
        "--no-plots",
        "--jobs",
        "1",
    ]
    end = give(arguments, alarm, [text])
    if end is Outcome.RUN and random.random() < 0.2:
        require(give(arguments, alarm, [text]) is Outcome.RUN, "what ran once goes on")
    return end


def _text(random: Random) -> str:
    scenario = _scenario(random)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        scenario = mutated(random, scenario)
    if random.random() < 0.02:
        scenario["traffic"] = [
            {"pattern": "demand", "size": random.choice((20_000, 19_999, 2**40)), "rows": [0]}
        ]
    text = toml.dumps(_plain(scenario))
    if random.random() < 0.1:
        place = random.randrange(len(text))
        text = (
            text[:place]
            + random.choice(("\0", "\udcff", "[", '"', "\n\n[x]\n", "= =", "#"))
            + text[place + 1 :]
        )
    if random.random() < 0.01:
        text += f"\nx = {'[' * 3_000}{']' * 3_000}\n"
    return text


def _scenario(random: Random) -> dict[str, Any]:
    topology = settings.topology_arguments(random)
    hosts = dfe.Dragonfly(**topology).num_hosts
    network = {
        name: value
        for name, value in settings.small_network(random).to_dict().items()
        if random.random() < 0.1
    }
    scenario: dict[str, Any] = {
        "topology": topology if random.random() < 0.7 else "72",
        "network": network if random.random() < 0.5 else random.choice(dfe.NetworkConfig.presets()),
        "policies": [_policy(random) for _ in range(random.choice((1, 1, 2)))],
        "traffic": [_traffic(random, hosts) for _ in range(random.choice((1, 1, 2)))],
        "loads": random.choice(([0.5], [0.1, 0.9], ["0.1:0.3:0.1"], [1])),
        "warmup_ns": random.choice((0, 100, 77.7, 300.125)),
        "measure_ns": random.choice((1, 200, 99.9, 500.3)),
    }
    optional: dict[str, Any] = {
        "name": random.choice(("x", "a long name, with [signs] & <more>", "$$", "é")),
        "seeds": random.choice(([1], [1, 2], [2**63 - 1])),
        "threads": random.choice((1, 2)),
        "arrays": random.random() < 0.5,
        "injection": random.choice(("periodic", "bernoulli", "poisson")),
        "source_queue_packets": random.choice((1, 20)),
        "source_queue_full": random.choice(("stall", "lose")),
        "message_packets": random.choice((1, 3)),
        "series_bin_ns": random.choice((10.0, 33.3)),
        "group_latency": random.random() < 0.5,
    }
    return {**scenario, **{key: value for key, value in optional.items() if random.random() < 0.2}}


def _policy(random: Random) -> Any:
    policy = settings.policy(random)
    table = policy.to_dict() if isinstance(policy, Policy) else policy
    if isinstance(table, dict) and random.random() < 0.3:
        return {**table, "label": random.choice(("mine", "$$", "a/b", "é" * 100))}
    return table


def _traffic(random: Random, hosts: int) -> Any:
    traffic = settings.pattern(random, hosts)
    if isinstance(traffic, str) and random.random() < 0.5:
        return traffic
    table = traffic if isinstance(traffic, dict) else parse_traffic(traffic).to_dict()
    if random.random() < 0.3:
        table["loads"] = random.choice(([0.2], ["0.1:0.2:0.1"], [1.0]))
    if random.random() < 0.2:
        table["label"] = random.choice(("mine", "$x$", "[bold]"))
    return table


def _plain(value: Any) -> Any:
    """What TOML can say; the rest as text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Pattern):
        return value.spec
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.5
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return str(value)
