"""What an environment simulates: which configurations are next to each other in an episode, and with which seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from dragonfly_env.checks.outside import check_mapping, parsing
from dragonfly_env.checks.values import MAX_SEED, check_integer, config_error, unknown_name
from dragonfly_env.simulation.config import SimulationConfig

Draw: TypeAlias = "Callable[[int], SimulationConfig | Sequence[SimulationConfig]]"
Configs: TypeAlias = tuple[SimulationConfig, ...]
Changes: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None"

CHANGES = ("traffic", "load", "seed")
"""What the options of a reset may change in the episode that begins."""
MOST_SCENARIOS = 4096
_FIRST_SEED = 1  # of drawn scenarios
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

    Args:
        given: A configuration, a list of them, or a function that makes one or several from the seed of an episode.

    Raises:
        ConfigError: For anything else.

    Attributes:
        present: Those of the present episode, or of the first one before it has begun.
    """

    def __init__(self, given: object) -> None:
        self._draw: Draw | None = None
        self._made: Configs = ()
        if callable(given) and not isinstance(given, (type, SimulationConfig)):
            self._draw = given
        else:
            self._made = as_configs("config", given)
        self._seed = _FIRST_SEED  # of the present episode, where scenarios are drawn
        self._begun = False  # the next episode has the seeds that follow on the present ones
        self.present = self._drawn(self._seed) if self._draw is not None else self._made

    @property
    def are_drawn(self) -> bool:
        """Whether each episode has others."""
        return self._draw is not None

    def of_episode(self, seed: object, options: object) -> tuple[Configs, int]:
        """What an episode simulates, if it begins now. Nothing changes before ``begin``.

        Args:
            seed: None: the seeds that follow; one for all; or one for each scenario.
            options: None, what to change in all scenarios, or a list with that of each, see ``CHANGES``.

        Returns:
            The configurations, and the seed that they were drawn with.

        Raises:
            ConfigError: For an impossible seed, option or configuration.
        """
        own = self._seed if seed is None else 0
        if self._draw is None:
            configs = self._made
            seeds = self._following() if seed is None else _seeds_of(seed, len(configs))
        else:
            if seed is None:
                own = next_seed(self._seed) if self._begun else self._seed
            else:
                own = check_integer("seed", seed, 0, MAX_SEED)
            configs = self._drawn(own)
            seeds = tuple(config.seed for config in configs)
        changes = check_changes(options, len(configs))
        if seed is not None and any("seed" in change for change in changes):
            raise config_error("options", "seed", "is given already as seed")
        rows = zip(configs, seeds, changes, strict=True)
        return tuple(
            config.replace(**{"seed": of_its_own, **change}) for config, of_its_own, change in rows
        ), own

    def check(self, options: object) -> None:
        """Check options of a reset on the present configurations; nothing changes.

        Raises:
            ConfigError: For an option that is unknown or impossible.
        """
        for config, change in zip(self.present, check_changes(options, len(self.present)), strict=True):
            config.replace(**change)

    def begin(self, configs: Configs, seed: int) -> None:
        """An episode of ``of_episode`` has begun."""
        self.present, self._seed, self._begun = configs, seed, True

    def state(self) -> dict[str, Any]:
        """What decides on the seeds of later episodes."""
        seeds = [config.seed for config in self.present]
        return {"seeds": seeds, "seed": self._seed, "begun": self._begun}

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Take over what ``state`` gave, of the same scenarios."""
        self._seed, self._begun = state["seed"], state["begun"]
        if self._draw is None:
            self.present = tuple(
                config.replace(seed=seed) for config, seed in zip(self._made, state["seeds"], strict=True)
            )

    def resume(self, present: Configs) -> None:
        """Go on in an episode that had begun elsewhere, after ``go_on``."""
        self.present = present

    def _following(self) -> tuple[int, ...]:
        seeds = (config.seed for config in self.present)
        return tuple(next_seed(seed) if self._begun else seed for seed in seeds)

    def _drawn(self, seed: int) -> Configs:
        assert self._draw is not None
        with parsing("config", "a function", "must make a SimulationConfig, or a list of them, from a seed"):
            made = self._draw(seed)
        configs = as_configs("config(seed)", made)
        return tuple(
            config.replace(seed=scenario_seed(seed, number)) for number, config in enumerate(configs)
        )


def as_configs(field: str, given: object) -> Configs:
    """One configuration or several.

    Raises:
        ConfigError: For anything else.
    """
    if isinstance(given, SimulationConfig):
        return (given,)
    if not isinstance(given, (list, tuple)):
        raise config_error(field, given, "must be a SimulationConfig, or a list of them")
    if not 1 <= len(given) <= MOST_SCENARIOS:
        raise config_error(field, f"{len(given)} configurations", f"must be from 1 to {MOST_SCENARIOS}")
    for number, one in enumerate(given):
        if not isinstance(one, SimulationConfig):
            raise config_error(f"{field}[{number}]", one, "must be a SimulationConfig")
    return tuple(given)


def with_fields(given: Any, fields: Mapping[str, Any]) -> Any:
    """The same configurations with some fields changed, for views, which have one place per router: a function that
    makes configurations must make networks of as many routers each time.

    Raises:
        ConfigError: For what is no configuration, or cannot be changed so.
    """
    if callable(given) and not isinstance(given, (type, SimulationConfig)):
        return _DrawnForViews(given, dict(fields))
    configs = tuple(config.replace(**fields) for config in as_configs("config", given))
    return configs[0] if isinstance(given, SimulationConfig) else configs


class _DrawnForViews:
    def __init__(self, draw: Draw, fields: dict[str, Any]) -> None:
        self._draw = draw
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


def check_changes(options: object, count: int = 1) -> tuple[dict[str, Any], ...]:
    """Check what ``reset`` was given as options, the same in every environment.

    The name ``"options"`` is let through and does nothing: PettingZoo's checkers call
    ``reset(options={"options": 1})``.

    Args:
        options: None, what to change in all scenarios (some of ``CHANGES``), or a list with that of each.
        count: The number of scenarios.

    Returns:
        What changes in each scenario.

    Raises:
        ConfigError: For anything else.
    """
    if not isinstance(options, (list, tuple)):
        return (_checked(options),) * count
    if len(options) != count:
        raise config_error("options", f"{len(options)} of them", f"must be {count}: one for each scenario")
    return tuple(map(_checked, options))


def _checked(options: object) -> dict[str, Any]:
    if options is None:
        return {}
    given = check_mapping("options", options)
    given.pop("options", None)
    for name in given:
        if name not in CHANGES:
            raise unknown_name("options", name, CHANGES)
    return given


def _seeds_of(seed: object, count: int) -> tuple[int, ...]:
    if not isinstance(seed, (list, tuple)):
        first = check_integer("seed", seed, 0, MAX_SEED)
        return tuple(scenario_seed(first, number) for number in range(count))
    if len(seed) != count:
        raise config_error("seed", f"{len(seed)} seeds", f"must be one, or {count}: one for each scenario")
    return tuple(check_integer(f"seed[{number}]", one, 0, MAX_SEED) for number, one in enumerate(seed))
