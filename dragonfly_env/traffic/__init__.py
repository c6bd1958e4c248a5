"""Traffic: who sends how much to whom, and when.

What ``SimulationConfig`` and its users call (signatures)::

    parse_traffic(traffic: object) -> Traffic       # str | Traffic | ndarray | DataFrame | table | steps
    traffic_from_dict(values: object) -> str | Traffic      # inverse of Traffic.to_dict(); a str stays one
    traffic_patterns() -> tuple[str, ...]           # a spec string of every pattern that a string can describe
    Traffic: .spec -> str, .is_trace -> bool, .to_dict() -> dict, .check(topology: Dragonfly) -> None
    Pattern(Traffic): .build(topology: _core.Topology, seed: int) -> _core.Pattern
    ClosedLoop(Traffic): .build(topology: _core.Topology, seed: int, *, packet_bytes: int) -> _core.Source

Patterns: ``Uniform Adversarial AdversarialConsecutive Permutation Hotspot Tornado LiaC1 LiaC2 DemandMatrix
HostMixture WeightedMixture``. In addition: ``Trace`` and ``Schedule``. Closed loop: ``AllToAll``. Nothing:
``NoTraffic``, or ``none``, where jobs are all there is.

Spec strings: ``uniform``, ``adv+4``, ``adv-1``, ``advc``, ``hotspot:hosts=4,fraction=0.2`` (a list of hosts:
``hosts=1;5;9``), ``weighted:uniform=0.7,adv+1=0.3``, ``all-to-all:message_bytes=4096,placement=random``,
``trace:FILE`` (Parquet or CSV), ``demand:FILE`` (NumPy .npy or CSV), ``demand:FILE,demand_unit=GB/s``.

Under one seed the k-th message of a host has the same destination for every policy, load and
injection process. Source of each pattern: its docstring, and ``dragonfly-env info``.
"""

from __future__ import annotations

from dragonfly_env.traffic.base import ClosedLoop, NoTraffic, Pattern, Traffic
from dragonfly_env.traffic.demand import DemandMatrix
from dragonfly_env.traffic.mixtures import HostMixture, WeightedMixture
from dragonfly_env.traffic.parse import Schedule, parse_traffic, traffic_from_dict, traffic_patterns
from dragonfly_env.traffic.patterns import (
    Adversarial,
    AdversarialConsecutive,
    Hotspot,
    LiaC1,
    LiaC2,
    Permutation,
    Tornado,
    Uniform,
)
from dragonfly_env.traffic.trace import Trace
from dragonfly_env.traffic.workloads import AllToAll

__all__ = [
    "Adversarial",
    "AdversarialConsecutive",
    "AllToAll",
    "ClosedLoop",
    "DemandMatrix",
    "HostMixture",
    "Hotspot",
    "LiaC1",
    "LiaC2",
    "NoTraffic",
    "Pattern",
    "Permutation",
    "Schedule",
    "Tornado",
    "Trace",
    "Traffic",
    "Uniform",
    "WeightedMixture",
    "parse_traffic",
    "traffic_from_dict",
    "traffic_patterns",
]
