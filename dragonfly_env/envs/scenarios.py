"""Scenarios of an environment: the configurations that share an episode, and their seeds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from dragonfly_env.checks.values import config_error, unknown_name
from dragonfly_env.simulation.config import SimulationConfig

Draw: TypeAlias = "Callable[[int], SimulationConfig | Sequence[SimulationConfig]]"
Configs: TypeAlias = tuple[SimulationConfig, ...]
Changes: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None"

CHANGES = ("traffic", "load", "seed")
"""Settings that the options of a reset may change in the episode that begins."""
MOST_SCENARIOS = 4096
_FIRST_SEED = 1  # the first seed of drawn scenarios
_STRIDE = 0xD1B54A32D192ED03  # odd: no two numbers meet in 2^64


def next_seed(seed: int) -> int:
    """The seed of the episode after the one with ``seed``: SplitMix64, so that neighbours do not meet."""
    z = (seed + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def scenario_seed(seed: int, number: int) -> int:
    """The seed of scenario ``number`` in an episode with ``seed``: the first one's is ``seed`` itself."""
    return seed if number == 0 else next_seed((seed + number * _STRIDE) % 2**64)


class Scenarios:
    """The configurations of an environment from episode to episode.

    Attributes:
        present: Settings of the present episode; before it has begun, of the first episode.
    """

    def __init__(self, given: object) -> None:
        self._draw: Draw | None = None
        self._made: Configs = ()
        if callable(given) and not isinstance(given, (type, SimulationConfig)):
            self._draw = given
        else:
            self._made = as_configs("config", given)
        # The seed of the present episode, if scenarios are drawn.
        self._seed: int = getattr(given, "first_seed", _FIRST_SEED)
        self._begun = False  # the next episode has the seeds that follow on the present ones
        self.present = self._drawn(self._seed) if self._draw is not None else self._made

    @property
    def are_drawn(self) -> bool:
        """Whether each episode has others."""
        return self._draw is not None

    def of_episode(self, seed: Any, options: Changes) -> tuple[Configs, int]:
        """The configurations and the seed of an episode that begins now. Nothing changes before ``begin``."""
        episode_seed = self._seed if seed is None else 0
        if self._draw is None:
            configs = self._made
            present = (config.seed for config in self.present)
            seeds = tuple(map(next_seed, present) if self._begun else present)
            if seed is not None:
                seeds = _seeds_of(seed, len(configs))
        else:
            following = next_seed(self._seed) if self._begun else self._seed
            episode_seed = following if seed is None else operator.index(seed)
            configs = self._drawn(episode_seed)
            seeds = tuple(config.seed for config in configs)
        changes = check_changes(options, len(configs))
        if seed is not None and any("seed" in change for change in changes):
            raise config_error("options", "seed", "is given already as seed")
        rows = zip(configs, seeds, changes, strict=True)
        return tuple(
            config.replace(**{"seed": of_its_own, **change}) for config, of_its_own, change in rows
        ), episode_seed

    def check(self, options: Changes) -> None:
        """Check options of a reset on the present configurations; nothing changes."""
        for config, change in zip(self.present, check_changes(options, len(self.present)), strict=True):
            config.replace(**change)

    def begin(self, configs: Configs, seed: int) -> None:
        """An episode of ``of_episode`` has begun."""
        self.present, self._seed, self._begun = configs, seed, True

    def state(self) -> dict[str, Any]:
        """Settings of all episodes and the seeds of later ones, for snapshots; ``restored`` is the inverse."""
        given = list(self._made) if self._draw is None else self._draw
        return {"given": given, "seed": self._seed, "begun": self._begun}

    @classmethod
    def restored(cls, state: Mapping[str, Any], present: Configs) -> Scenarios:
        """The scenarios of a snapshot, in the episode of these configurations."""
        given = state["given"]
        if isinstance(given, list):  # plain values, read from a file
            given = [
                SimulationConfig.from_dict(config) if isinstance(config, dict) else config for config in given
            ]
        self = cls(given)
        self._seed, self._begun, self.present = state["seed"], state["begun"], present
        return self

    def _drawn(self, seed: int) -> Configs:
        assert self._draw is not None
        configs = as_configs("config(seed)", self._draw(seed))
        return tuple(
            config.replace(seed=scenario_seed(seed, number)) for number, config in enumerate(configs)
        )


def as_configs(field: str, given: object) -> Configs:
    """Check one configuration or several."""
    if isinstance(given, SimulationConfig):
        return (given,)
    configs = tuple(given) if isinstance(given, (list, tuple)) else ()
    if not 1 <= len(configs) <= MOST_SCENARIOS or not all(
        isinstance(config, SimulationConfig) for config in configs
    ):
        allowed = f"must be a SimulationConfig, or a list of 1 to {MOST_SCENARIOS} of them"
        raise config_error(field, given, allowed)
    return configs


class DrawnForViews:
    """A function that makes configurations, with some of their fields changed. Views have one place per router, so each
    episode must have networks of as many routers.

    Attributes:
        first_seed: The seed of the first episode: the field ``seed``.
    """

    def __init__(self, draw: Draw, fields: dict[str, Any]) -> None:
        self._draw = draw
        self.first_seed: int = fields["seed"]
        self._fields = fields
        self._routers: list[int] = []

    def __call__(self, seed: int) -> Configs:
        made = tuple(
            config.replace(**self._fields) for config in as_configs("config(seed)", self._draw(seed))
        )
        routers = [config.topology.num_routers for config in made]
        if self._routers not in ([], routers):
            allowed = f"must be {self._routers} in each episode: this environment has a place for each"
            raise config_error("config(seed)", f"networks of {routers} routers", allowed)
        self._routers = routers
        return made


def check_changes(options: Changes, count: int = 1) -> tuple[dict[str, Any], ...]:
    """Check what ``reset`` was given as options, the same in every environment.

    The name ``"options"`` is let through and does nothing: PettingZoo's checkers call
    ``reset(options={"options": 1})``.
    """
    if options is None or isinstance(options, Mapping):
        return (_checked(options),) * count
    if len(options) != count:
        raise config_error("options", f"{len(options)} of them", f"must be {count}: one for each scenario")
    return tuple(map(_checked, options))


def _checked(options: Mapping[str, Any] | None) -> dict[str, Any]:
    if options is None:
        return {}
    given = dict(options)
    given.pop("options", None)
    for name in given:
        if name not in CHANGES:
            raise unknown_name("options", name, CHANGES)
    return given


def _seeds_of(seed: Any, count: int) -> tuple[int, ...]:
    if not isinstance(seed, (list, tuple)):
        return tuple(scenario_seed(operator.index(seed), number) for number in range(count))
    if len(seed) != count:
        raise config_error("seed", f"{len(seed)} seeds", f"must be one, or {count}: one for each scenario")
    return tuple(seed)
