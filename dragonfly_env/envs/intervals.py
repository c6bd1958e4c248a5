"""What the environments of controllers share, which act once per interval of simulated time, not once per packet."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding

from dragonfly_env.checks.values import MAX_SEED, check_integer, check_time_ns, config_error, ns_to_ps
from dragonfly_env.envs._scenarios import check_changes
from dragonfly_env.envs.copies import Copied
from dragonfly_env.envs.defaults import view_config
from dragonfly_env.envs.render import Renderer
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig

FloatArray = npt.NDArray[np.float32]


class Figures:
    """What is observed: named figures and their bounds.

    Args:
        bounds: The lowest and the highest value of each.
    """

    def __init__(self, bounds: Mapping[str, tuple[float, float]]) -> None:
        self.names = tuple(bounds)
        self.low, self.high = np.array(list(bounds.values()), np.float32).T.copy()

    def vector(self, values: Sequence[float]) -> FloatArray:
        """(F,) the values as an observation: set to the bounds where they are beyond; 0 for none. A new array."""
        known = np.nan_to_num(np.array(values, np.float64), nan=0.0, posinf=math.inf, neginf=-math.inf)
        return np.clip(known, self.low, self.high).astype(np.float32)

    def space(self) -> spaces.Space[Any]:
        """A new space of them."""
        return spaces.Box(self.low, self.high, dtype=np.float32)


class IntervalEnv(Copied):
    """Base of environments that run a ``Simulation`` interval by interval."""

    _np_random: np.random.Generator | None = None
    _np_random_seed: int | None = None
    _simulation: Simulation | None = None

    def _set_up(
        self,
        config: SimulationConfig | Mapping[str, Any],
        fields: Mapping[str, Any],
        interval_ns: float,
        duration_ns: float,
        warmup_ns: float,
        render_mode: str | None,
    ) -> None:
        """Check and keep what all of them are given.

        Raises:
            ConfigError: For a setting that is out of range, or a duration that is no multiple of the interval.
        """
        self._config = view_config(config).replace(**fields)
        self._interval_ns = check_time_ns("interval_ns", interval_ns, open_low=True)
        self._duration_ns = check_time_ns("duration_ns", duration_ns, self._interval_ns)
        interval_ps = ns_to_ps("interval_ns", self._interval_ns)
        self._num_intervals, rest_ps = divmod(ns_to_ps("duration_ns", self._duration_ns), interval_ps)
        if rest_ps:
            raise config_error(
                "duration_ns", self._duration_ns, f"must be a multiple of interval_ns = {interval_ns:g}"
            )
        self._warmup_ns = check_time_ns("warmup_ns", warmup_ns)
        self._renderer = Renderer(self._config, render_mode)
        self.render_mode = render_mode
        self._intervals_done = 0

    @property
    def config(self) -> SimulationConfig:
        """What is simulated; the seed is that of the first episode."""
        return self._config

    def render(self) -> Any:
        """A frame as ``render_mode`` says: a string, an image, or None after printing it.

        Raises:
            StateError: Before the first reset, after close, or without a ``render_mode``.

        Example:
            >>> from dragonfly_env.envs.bias import BiasControl
            >>> env = BiasControl(render_mode="rgb_array")
            >>> seen, info = env.reset(seed=1)
            >>> env.render().dtype
            dtype('uint8')
        """
        return self._renderer.render(self._measured(self._running("render()")))

    def trace_hash(self) -> int:
        """A 64-bit hash over every delivery of this episode; equal hashes mean equal histories.

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env.envs.bias import BiasControl
            >>> env = BiasControl(warmup_ns=1_000)
            >>> seen, info = env.reset(seed=1)
            >>> env.trace_hash() != 0
            True
        """
        return self._running("trace_hash()").trace_hash()

    def close(self) -> None:
        """Free the network; ``reset`` makes a new one. May be called again.

        Example:
            >>> from dragonfly_env.envs.bias import BiasControl
            >>> BiasControl().close()
        """
        self._simulation = None

    def _measured(self, simulation: Simulation) -> Metrics:
        """What a frame shows."""
        return simulation.metrics()

    def _new_simulation(self, seed: int | None, options: object) -> Simulation:
        """Begin an episode in a new network.

        Raises:
            ConfigError: For an option or an impossible seed.
        """
        (changes,) = check_changes(options)
        if seed is not None and "seed" in changes:
            raise config_error("options", "seed", "is given already as seed")
        seed = changes.pop("seed", seed)
        config = self._config.replace(**changes)
        if seed is not None:
            seed = check_integer("seed", seed, 0, MAX_SEED)
        elif self._np_random is None:
            seed = self._config.seed
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)
        else:
            assert self._np_random is not None
            seed = int(self._np_random.integers(MAX_SEED, dtype=np.uint64))
        self._simulation = Simulation(config.replace(seed=seed))
        self._renderer.reset()
        self._intervals_done = 0
        return self._simulation

    def _running(self, call: str) -> Simulation:
        if self._simulation is None:
            raise self._not_begun(call)
        return self._simulation

    def _check_running(self, over: bool) -> Simulation:
        simulation = self._running("step()")
        if over:
            raise StateError("step(): the episode is over; call reset()")
        return simulation

    def _saved_ns(self) -> float:
        return 0.0 if self._simulation is None else self._simulation.time_ns

    def _episode(self) -> dict[str, Any] | None:
        if self._simulation is None:
            return None
        return {
            "simulation": self._simulation._save(),
            "generator_seed": self._np_random_seed,
            "intervals": self._intervals_done,
            "renderer": self._renderer.saved(),
        }

    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        self._simulation = Simulation._loaded(episode["simulation"], trusted, changes)
        self._np_random_seed = episode["generator_seed"]
        self._intervals_done = check_integer("snapshot", episode["intervals"], 0, self._num_intervals)
        self._renderer.take_over(episode["renderer"])

    def _seed_state(self) -> dict[str, Any]:
        return {"generator": copy.deepcopy(self._np_random)}

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._np_random = copy.deepcopy(seeds["generator"])  # a snapshot may be restored again
