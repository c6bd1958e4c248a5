"""``dragonfly_env/BiasControl-v0``: choose the bias towards minimal paths, for the whole system, again and again.

Adaptive routing of the UGAL family sends a packet minimally iff ``q_min <= 2 * q_detour + bias_packets``. One agent
turns this knob for all routers at once, every ``interval_ns``, as the routing modes of Aries systems do by hand.

======================  ====================================================================================
Action space            ``Discrete(len(biases_packets))``, or with ``action="box"`` ``Box(-1, 1, (1,))``: linear
                        between the smallest and the largest bias
Observation space       ``Box`` float32 of ``len(layout)`` figures of the last interval, named in ``layout``
Reward                  minus the mean latency of the packets delivered in the interval, in units of
                        ``reward_scale_ns``, plus ``throughput_weight`` times the accepted load
Episode                 ``duration_ns`` after ``warmup_ns``; truncated at its end, terminated only when closed-loop
                        traffic is complete
======================  ====================================================================================

Version history: v0, the first one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.arrays import as_numbers
from dragonfly_env.checks.values import (
    check_choice,
    check_instance,
    check_real,
    check_time_ns,
    config_error,
    shown,
)
from dragonfly_env.config.rows import reject_unknown
from dragonfly_env.decisions.actions import as_index
from dragonfly_env.envs.defaults import BIAS_DURATION_NS, WARMUP_NS, changing_config
from dragonfly_env.envs.intervals import Figures, FloatArray, IntervalEnv
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.errors import IllegalActionError
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.joined import join_statistics
from dragonfly_env.policies import Policy, highest, make_policy, policies, policy_class
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig

__all__ = ["BiasControl", "biased_policies"]

_ACTIONS = ("discrete", "box")
_MOST_PACKETS = highest("ugal-n", "bias_packets")
DEFAULT_BIASES = (-20.0, -10.0, -5.0, 0.0, 5.0, 10.0, 20.0)

# Of observations.
_LINK_FIGURES = ("utilisation_mean", "utilisation_max", "stall_fraction_mean", "stall_fraction_max")
_MOST_HOPS = 16.0
_MOST_LOAD = (
    2.0  # a window that ends right after simultaneous deliveries counts more than the links carry on average
)
_MOST_IN_FLIGHT = 1e6  # packets per host


def biased_policies() -> tuple[str, ...]:
    """The names of the policies that have a bias.

    Example:
        >>> from dragonfly_env.envs.bias import biased_policies
        >>> "ugal-n" in biased_policies(), "min" in biased_policies()
        (True, False)
    """
    return tuple(name for name in policies() if "bias_packets" in policy_class(name).settings_names())


class BiasControl(IntervalEnv, gymnasium.Env[FloatArray, Any]):
    """One agent sets the bias towards minimal paths of every router, once per interval.

    Args:
        config: What is simulated; its policy must have a bias (``"ugal-n"``, ``"par"``, ...), which is the one of the
            warm-up. A mapping of its fields is understood too. None: 72 hosts under ``ugal-n``, traffic that changes
            every 20 us.
        action: ``"discrete"`` or ``"box"``.
        biases_packets: What can be chosen, ascending, in packets; above 0 favours minimal paths. With ``"box"`` the
            first and the last one are the ends of the range.
        interval_ns: Simulated time between two choices.
        duration_ns: Simulated time of an episode: a whole number of intervals.
        warmup_ns: Simulated time before the first choice.
        reward_scale_ns: The unit of latency in reward and observation.
        throughput_weight: What an accepted load of 1 is worth in every interval.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        **fields: Of ``SimulationConfig``; they replace those of ``config``.

    Raises:
        ConfigError: For a setting that is out of range.

    Example:
        >>> import gymnasium
        >>> env = gymnasium.make("dragonfly_env/BiasControl-v0", duration_ns=4_000)
        >>> seen, info = env.reset(seed=1)
        >>> seen, reward, terminated, truncated, info = env.step(3)
        >>> info["bias_packets"], reward < 0
        (0.0, True)
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012  # as in gymnasium

    def __init__(
        self,
        config: SimulationConfig | Mapping[str, Any] | None = None,
        *,
        action: str = "discrete",
        biases_packets: Sequence[float] = DEFAULT_BIASES,
        interval_ns: float = 2_000.0,
        duration_ns: float = BIAS_DURATION_NS,
        warmup_ns: float = WARMUP_NS,
        reward_scale_ns: float = 1_000.0,
        throughput_weight: float = 0.0,
        render_mode: str | None = None,
        **fields: Any,
    ) -> None:
        reject_unknown(
            SimulationConfig,
            fields,
            "BiasControl",
            extra=[*inspect.signature(BiasControl.__init__).parameters][1:-1],
        )
        self._set_up(
            changing_config() if config is None else config,
            fields,
            interval_ns,
            duration_ns,
            warmup_ns,
            render_mode,
        )
        self._policy = _check_policy(self._config.policy_object)
        self._discrete = check_choice("action", action, _ACTIONS) == "discrete"
        self._biases = _check_biases(biases_packets)
        self._reward_scale_ns = check_time_ns("reward_scale_ns", reward_scale_ns, open_low=True)
        self._throughput_weight = check_real("throughput_weight", throughput_weight, 0.0, 1e9)
        self._window = WindowFeatures(
            self._config,
            latency_scale_ns=self._reward_scale_ns,
            longest_ns=self._warmup_ns + self._duration_ns,
        )
        self.observation_space = self._window.space()
        self.action_space = (
            gymnasium.spaces.Discrete(len(self._biases))
            if self._discrete
            else gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        )
        self._complete = False
        self._metrics: Metrics | None = None
        self._sofar: dict[str, Any] | None = None  # statistics of all intervals of the episode
        self._bias_packets = math.nan
        self._latency_ns = 0.0

    @property
    def layout(self) -> tuple[str, ...]:
        """The name of each figure of the observation."""
        return self._window.names

    @property
    def biases_packets(self) -> tuple[float, ...]:
        """The biases that can be chosen, in packets."""
        return tuple(float(bias) for bias in self._biases)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Start an episode in a new network and run the warm-up.

        Args:
            seed: Of the simulation and of what follows; None: the seed of the configuration at first, later the next
                one from the generator.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Returns:
            (F,) float32 observation of the warm-up (of nothing, if there is none), and info.

        Raises:
            ConfigError: For a seed out of range, or an option that is unknown or impossible.

        Example:
            >>> from dragonfly_env.envs.bias import BiasControl
            >>> env = BiasControl(duration_ns=4_000)
            >>> seen, info = env.reset(seed=1)
            >>> seen.shape == (len(env.layout),)
            True
        """
        simulation = self._new_simulation(seed, options)
        self._complete = False
        self._bias_packets = float(self._policy.parameters()["bias_packets"])
        self._latency_ns = 0.0
        self._run(simulation, self._warmup_ns)
        self._sofar = None
        simulation._begin_episode()
        seen = self._observation(), self._info()
        self._latency_ns = 0.0  # that of the warm-up is not paid for
        return seen

    def step(self, action: Any) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """Set the bias and run one interval.

        Args:
            action: An index into ``biases_packets``, or (1,) floats in [-1, 1].

        Returns:
            (F,) float32 observation of the interval, reward, whether closed-loop traffic is complete, whether the
            episode's time is over, info; at the end of the episode with its ``metrics``.

        Raises:
            IllegalActionError: For an action outside the action space; nothing has happened.
            StateError: Before ``reset``, or after the end of the episode.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> from dragonfly_env.envs.bias import BiasControl
            >>> env = BiasControl(action="box", duration_ns=4_000)
            >>> seen, info = env.reset(seed=1)
            >>> seen, reward, terminated, truncated, info = env.step([0.0])
            >>> info["bias_packets"], info["time_ns"]
            (0.0, 2000.0)
        """
        simulation = self._check_running(self._intervals_done == self._num_intervals or self._complete)
        self._bias_packets = self._bias_of(action)
        simulation.set_policy(_with_bias(self._policy, self._bias_packets))
        metrics = self._run(simulation, self._interval_ns)
        self._sofar = join_statistics(self._sofar, simulation._core.statistics())
        self._intervals_done += 1
        reward = self._throughput_weight * metrics.accepted_load - self._latency_ns / self._reward_scale_ns
        self._complete = not math.isnan(metrics.makespan_ns)
        timed_out = self._intervals_done == self._num_intervals
        info = self._info()
        if timed_out or self._complete:
            info["metrics"] = simulation._as_metrics(self._sofar)
        return self._observation(), reward, self._complete, timed_out, info

    def _episode(self) -> dict[str, Any] | None:
        episode = super()._episode()
        if episode is None:
            return None
        return {
            **episode,
            "complete": self._complete,
            "metrics": self._metrics,
            "sofar": self._sofar,
            "bias_packets": self._bias_packets,
            "latency_ns": self._latency_ns,
        }

    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        super()._resume(episode, trusted, changes)
        self._complete, self._sofar = bool(episode["complete"]), episode["sofar"]
        self._metrics = check_instance("snapshot", episode["metrics"], Metrics)
        self._bias_packets, self._latency_ns = float(episode["bias_packets"]), float(episode["latency_ns"])

    def _measured(self, simulation: Simulation) -> Metrics:
        if self._metrics is None:
            raise self._not_begun("render()")
        return self._metrics

    def _run(self, simulation: Simulation, duration_ns: float) -> Metrics:
        """Advance by one window and take its figures."""
        simulation.reset_statistics()
        simulation.run(duration_ns)
        metrics = self._metrics = simulation.metrics()
        if metrics.packets_delivered:
            self._latency_ns = metrics.latency_mean_ns
        elif metrics.packets_in_flight:
            # Nothing arrived although something is under way: what waits has grown older by so much. Otherwise
            # blocking the network would be rewarded.
            self._latency_ns += duration_ns
        return metrics

    def _observation(self) -> FloatArray:
        assert self._metrics is not None
        low, high = self._biases[0], self._biases[-1]
        position = 2.0 * (self._bias_packets - low) / (high - low) - 1.0
        return self._window.observe(self._metrics, bias=position, latency_ns=self._latency_ns)

    def _info(self) -> dict[str, Any]:
        assert self._metrics is not None
        assert self._simulation is not None
        return {
            "time_ns": self._simulation.time_ns,
            "bias_packets": self._bias_packets,
            "offered_load": self._metrics.offered_load,
            "accepted_load": self._metrics.accepted_load,
            "latency_mean_ns": self._latency_ns,
            "packets_delivered": self._metrics.packets_delivered,
        }

    def _bias_of(self, action: Any) -> float:
        if self._discrete:
            index = as_index(action, len(self._biases))
            if index is None:
                raise IllegalActionError(
                    f"action {shown(action)}: must be an integer from 0 to {len(self._biases) - 1}, "
                    "an index into biases_packets"
                )
            return float(self._biases[index])
        try:
            value = np.asarray(action)
        except Exception:  # whatever a user's class raises
            value = np.empty(0)
        if value.shape != (1,) or value.dtype.kind not in "iuf" or not -1.0 <= value[0] <= 1.0:
            raise IllegalActionError(f"action {shown(action)}: must be an array of one number in [-1, 1]")
        low, high = self._biases[0], self._biases[-1]
        return float(low + (high - low) * (value[0] + 1.0) / 2.0)


def _with_bias(policy: Policy, bias_packets: float) -> Policy:
    return make_policy(policy.name, **{**policy.parameters(), "bias_packets": bias_packets})


def _check_policy(policy: Policy) -> Policy:
    if "bias_packets" not in policy.parameters():
        names = ", ".join(repr(name) for name in biased_policies())
        raise config_error("config.policy", policy.name, f"must be a policy with a bias: one of {names}")
    return policy


def _check_biases(biases: object) -> npt.NDArray[np.float64]:
    values = as_numbers("biases_packets", biases, ndim=1)
    if (
        len(values) < 2
        or not bool((np.diff(values) > 0).all())
        or not bool((np.abs(values) <= _MOST_PACKETS).all())
    ):
        raise config_error(
            "biases_packets",
            biases,
            f"must be two or more ascending numbers from {-_MOST_PACKETS:g} to {_MOST_PACKETS:g}",
        )
    return values


class WindowFeatures(Figures):
    """Names, bounds and values of the observation of ``BiasControl``.

    Latencies are in units of ``latency_scale_ns``, loads and fractions are as ``Metrics`` has them,
    ``packets_in_flight`` is per host.

    Args:
        config: What is simulated.
        latency_scale_ns: The unit of latency.
        longest_ns: The simulated time after which an episode ends; no latency is longer.
    """

    def __init__(self, config: SimulationConfig, *, latency_scale_ns: float, longest_ns: float) -> None:
        self._scale_ns = latency_scale_ns
        self._num_hosts = config.topology.num_hosts
        longest = max(1.0, longest_ns / latency_scale_ns)
        bounds = {
            "bias": (-1.0, 1.0),
            "offered_load": (0.0, _MOST_LOAD),
            "accepted_load": (0.0, _MOST_LOAD),
            "latency_mean": (0.0, longest),
            "latency_p99": (0.0, longest),
            "network_latency_mean": (0.0, longest),
            "hops_mean": (0.0, _MOST_HOPS),
            "minimal_fraction": (0.0, 1.0),
            "packets_in_flight": (0.0, _MOST_IN_FLIGHT),
        }
        self._classes = config.topology.link_classes[1:]
        links = {
            f"{kind.replace('-', '_')}_link_{name}": (0.0, 1.0)
            for kind in self._classes
            for name in _LINK_FIGURES
        }
        super().__init__(bounds | links)

    def observe(self, metrics: Metrics, *, bias: float, latency_ns: float) -> FloatArray:
        """The vector of one window.

        Args:
            metrics: Of the window.
            bias: Where between the smallest (-1) and the largest (1) the bias was.
            latency_ns: The mean latency; given, because it must have a value in windows without a delivery too.

        Returns:
            (F,) float32, a new array.
        """
        totals = metrics.link_classes
        values = [
            bias,
            metrics.offered_load,
            metrics.accepted_load,
            latency_ns / self._scale_ns,
            metrics.latency_percentile_ns(99) / self._scale_ns,
            metrics.network_latency_mean_ns / self._scale_ns,
            metrics.hops_mean,
            metrics.minimal_fraction,
            metrics.packets_in_flight / self._num_hosts,
            *(getattr(totals[kind], name) for kind in self._classes for name in _LINK_FIGURES),
        ]
        return self.vector(values)
