"""What a policy was trained on, as its author declares it.

A saved agent of ``dragonfly-env train`` says it itself. A class of your own, a file of weights and a heuristic whose
parameters were tuned have a TOML file next to them: ``mine.training.toml`` for ``mine.py:Mine`` and ``mine.npz``.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dragonfly_env.baselines import Mlp
from dragonfly_env.checks.documents import read_toml
from dragonfly_env.checks.outside import check_items, check_mapping, parsing
from dragonfly_env.checks.values import MAX_SEED, check_integer, check_real, config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.lab.benchmark.suite import Suite
from dragonfly_env.lab.benchmark.training import scenarios_of, trained_on_test_split
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.scenario import PolicyChoice, Table, TrafficChoice

ENDING = ".training.toml"
_MOST_CPU_S = 1e12
_FIELDS = ("scenarios", "seeds", "cpu_s")


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """A training.

    Attributes:
        scenarios: That it learned from, or was tuned on; none: it was not trained.
        seeds: Of the training.
        cpu_s: CPU time of the training, in seconds; NaN if that is not known.
    """

    scenarios: tuple[SimulationConfig, ...]
    seeds: tuple[int, ...]
    cpu_s: float

    @classmethod
    def from_dict(cls, settings: object) -> Declaration:
        """From plain values.

        An entry of ``scenarios`` is a whole configuration, or has ``hosts`` (or ``topology``), ``network`` and
        ``traffic``, as the cases of a suite have it.

        Raises:
            ConfigError: If something is missing, unknown or out of range.
        """
        known = check_mapping("training", settings)
        if set(known) != set(_FIELDS):
            raise config_error("training", sorted(known), f"must have {', '.join(_FIELDS)}, and nothing else")
        blocks = check_items("training.scenarios", known["scenarios"], "must be a list of tables")
        seeds = check_items("training.seeds", known["seeds"], "must be a list of whole numbers")
        cpu_s = known["cpu_s"]
        return cls(
            tuple(config for block in blocks for config in _scenarios(block)),
            tuple(check_integer("training.seeds", seed, 0, MAX_SEED) for seed in seeds),
            math.nan if cpu_s is None else check_real("training.cpu_s", cpu_s, 0.0, _MOST_CPU_S, unit="s"),
        )

    @classmethod
    def of_metadata(cls, metadata: Mapping[str, Any]) -> Declaration | None:
        """What a saved agent of ``dragonfly-env train`` says; None if it says nothing."""
        told = list(scenarios_of(metadata))
        configs = tuple(config for config in told if config is not None)
        if len(configs) < len(told):
            return None
        return cls(configs, tuple(sorted({config.seed for config in configs})), math.nan)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        cpu_s = None if math.isnan(self.cpu_s) else self.cpu_s
        scenarios = [config.to_dict() for config in self.scenarios]
        return json.loads(json.dumps({"scenarios": scenarios, "seeds": self.seeds, "cpu_s": cpu_s}))  # type: ignore[no-any-return]

    def why_in_test_split(self, suite: Suite) -> str:
        """Why it must not be measured on a suite's test split; empty if nothing speaks against it."""
        return trained_on_test_split(suite, self.scenarios)

    def covers(self, other: Declaration) -> bool:
        """Whether it names all traffic, loads and networks that another declaration names."""
        mine = {_what_counts(config) for config in self.scenarios}
        return all(_what_counts(config) in mine for config in other.scenarios)

    def describe(self) -> str:
        """For a table."""
        if not self.scenarios:
            return "not trained"
        count = f"{len(self.scenarios)} scenario{'s' if len(self.scenarios) > 1 else ''}"
        return count if math.isnan(self.cpu_s) else f"{count}, {self.cpu_s:,.0f} CPU-s"


def read_declaration(file: Path) -> Declaration:
    """From a TOML file.

    Raises:
        ConfigError: If it cannot be read, or holds something else.
    """
    return Declaration.from_dict(read_toml(file, "training"))


def declared(choice: PolicyChoice) -> Declaration | None:
    """What is declared of a policy's training, next to its file or in it; None if nothing is. Runs no code.

    Raises:
        ConfigError: If a declaration is there and holds something else.
    """
    file = _file_of(choice)
    if file is not None and (beside := file.with_name(file.stem + ENDING)).exists():
        return read_declaration(beside)
    if choice.agent is not None and choice.agent.is_file and ":" not in choice.agent.spec:
        return Declaration.of_metadata(choice.agent.metadata())
    return None


def _file_of(choice: PolicyChoice) -> Path | None:
    if choice.agent is None:
        return Path(str(choice.policy.weights)) if isinstance(choice.policy, Mlp) else None
    if choice.agent.is_file:
        return choice.agent.path
    module = choice.agent.spec.rpartition(":")[0]
    return Path(choice.agent.folder) / module if module.endswith(".py") else None


def _scenarios(block: object) -> Iterator[SimulationConfig]:
    values = check_mapping("training.scenarios", block)
    if "load" in values:
        with parsing("training.scenarios", "a configuration", "must be one"):
            yield SimulationConfig.from_dict(values)
        return
    table = Table(values, "training.scenarios")
    hosts, described, network = table.take("hosts"), table.take("topology"), table.take("network", "default")
    traffic = [TrafficChoice.parse(item) for item in table.items("traffic")]
    table.finish()
    if (hosts is None) == (described is None) or not traffic:
        raise config_error(
            "training.scenarios", sorted(values), "must have traffic, and either hosts or a topology"
        )
    topology = (
        Dragonfly.preset(str(check_integer("hosts", hosts, 1, 2**31 - 1)))
        if described is None
        else Dragonfly.from_dict(described)
    )
    known = NetworkConfig.preset(network) if isinstance(network, str) else NetworkConfig.from_dict(network)
    for choice in traffic:
        for load in choice.loads or (1.0,):
            given: dict[str, Any] = {} if choice.traffic.is_closed_loop else {"load": load}
            yield SimulationConfig(topology=topology, network=known, traffic=choice.traffic, **given)


def _what_counts(config: SimulationConfig) -> str:
    parts = [
        config.topology.to_dict(),
        config.network.to_dict(),
        config.traffic_object.to_dict(),
        config.load,
    ]
    return json.dumps(parts, sort_keys=True)
