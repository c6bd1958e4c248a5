"""The figures of one window of a simulation as a vector: what a controller of the whole system sees."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.metrics import Metrics

_LINK_FIGURES = ("utilisation_mean", "utilisation_max", "stall_fraction_mean", "stall_fraction_max")
_MOST_HOPS = 16.0
_MOST_LOAD = (
    2.0  # a window that ends right after simultaneous deliveries counts more than the links carry on average
)
_MOST_IN_FLIGHT = 1e6  # packets per host


class WindowFeatures:
    """Names, bounds and values of the observation of ``BiasControl``.

    Latencies are in units of ``latency_scale_ns``, loads and fractions are as ``Metrics`` has them,
    ``packets_in_flight`` is per host. Values beyond a bound are set to it; figures without a value are 0.

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
        bounds |= {
            f"{kind.replace('-', '_')}_link_{name}": (0.0, 1.0)
            for kind in self._classes
            for name in _LINK_FIGURES
        }
        self.names = tuple(bounds)
        """(F,) what each figure is."""
        self.low: npt.NDArray[np.float32] = np.array([low for low, _ in bounds.values()], np.float32)
        self.high: npt.NDArray[np.float32] = np.array([high for _, high in bounds.values()], np.float32)

    def observe(self, metrics: Metrics, *, bias: float, latency_ns: float) -> npt.NDArray[np.float32]:
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
        known = np.array([0.0 if math.isnan(value) else value for value in values], np.float32)
        return np.clip(known, self.low, self.high)
