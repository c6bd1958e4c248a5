"""``EnvOptions``: the settings of a decision environment beside the simulation's, checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dragonfly_env import _core
from dragonfly_env._settings import boolean, choice, integer, normalise, real, time_ns
from dragonfly_env._validate import MAX_RUN_NS, PS_PER_NS, check_real, config_error, did_you_mean, ns_to_ps
from dragonfly_env.envs.layout import select_features
from dragonfly_env.link_config import link_rows
from dragonfly_env.network_config import NetworkConfig
from dragonfly_env.topology import Dragonfly

DETOURS = ("lgl", "lg", "gl", "g")
_SPARE_HOPS = 2  # beyond a minimal path: 5 in all where groups are meshes, as in HPDC 2021, section 4.2
_MOST_CANDIDATES = 16
_MAX_REAL = 1e12  # of any parameter


def next_seed(seed: int) -> int:
    """The seed of the episode after the one with ``seed``: SplitMix64, so that neighbours do not meet."""
    z = (seed + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EnvOptions:
    """What ``BatchedRoutingEnv`` takes beside the configuration; it documents the fields.

    Raises:
        ConfigError: On construction, for whatever is out of range.
    """

    scope: str = choice("every", ("source", "every", "all"), doc="Which routers ask.")
    action: str = choice("port", ("port", "path"), doc="What an action is.")
    reward: str = choice("hop", ("hop", "delivery", "team"), doc="What rewards are paid for.")
    duration_ns: float = real(100_000.0, 0.0, MAX_RUN_NS, open_low=True, unit="ns", doc="Episode.")
    warmup_ns: float = real(0.0, 0.0, MAX_RUN_NS, unit="ns", doc="Before the first decision.")
    features: Any = None
    trackers: Any = None
    reward_scale_ns: float = time_ns(1000.0, open_low=True, doc="Costs a reward of -1.")
    max_hops: int | None = integer(None, 3, 15, unit="hops", optional=True, doc="Longest route, ports.")
    detours: Any = DETOURS
    minimal_candidates: int = integer(1, 1, _MOST_CANDIDATES, unit="paths", doc="Shortest paths drawn.")
    detour_candidates: int = integer(1, 1, _MOST_CANDIDATES, unit="paths", doc="Detours drawn per kind.")
    avoid_destination_group: bool | None = boolean(None, optional=True, doc="None: as the network says.")
    num_draws: int = integer(2, 0, 64, doc="Random numbers per decision.")
    transitions: bool = boolean(True, doc="Whether transitions are kept.")
    feedback: bool = boolean(False, doc="Whether reports on hops are kept.")
    max_uncollected_bytes: int = integer(
        2**28, 0, 2**40, unit="bytes", doc="Most memory of transitions, and of feedback."
    )

    def __post_init__(self) -> None:
        normalise(self)
        object.__setattr__(self, "features", None if self.features is None else _names(self.features))
        select_features(self.features)
        object.__setattr__(self, "trackers", _tracker_parameters(self.trackers))
        if isinstance(self.detours, str) or not isinstance(self.detours, (list, tuple)):
            raise config_error("detours", self.detours, f"must be some of {', '.join(DETOURS)}")
        object.__setattr__(self, "detours", tuple(self.detours))
        for i, kind in enumerate(self.detours):
            if kind not in DETOURS:
                raise config_error(
                    "detours", kind, f"must be one of {', '.join(DETOURS)}{did_you_mean(kind, DETOURS)}"
                )
            if kind in self.detours[:i]:
                raise config_error("detours", list(self.detours), f"names {kind!r} twice")
        for field in ("duration_ns", "warmup_ns"):
            ns_to_ps(field, getattr(self, field))
        if self.warmup_ns + self.duration_ns > MAX_RUN_NS:
            raise config_error("duration_ns", self.duration_ns, f"the clock ends at {MAX_RUN_NS:g} ns")

    @staticmethod
    def duration_in_ps(field: str, value: object) -> int:
        """A duration above 0 in picoseconds."""
        return ns_to_ps(field, check_real(field, value, 0.0, MAX_RUN_NS, unit="ns", open_low=True))

    @property
    def warmup_ps(self) -> int:
        """The warm-up in picoseconds."""
        return ns_to_ps("warmup_ns", self.warmup_ns)

    @property
    def duration_ps(self) -> int:
        """The episode in picoseconds."""
        return ns_to_ps("duration_ns", self.duration_ns)

    @property
    def candidate_names(self) -> tuple[str, ...]:
        """Path actions: the kind of every candidate."""
        if self.action == "port":
            return ()
        detours = tuple(kind for kind in self.detours for _ in range(self.detour_candidates))
        return ("minimal",) * self.minimal_candidates + detours

    def hops(self, network: NetworkConfig, topology: Dragonfly) -> int:
        """The longest route with port actions, in a network; by default two hops more than the longest minimal one.

        Raises:
            ConfigError: If the network has too few VCs for it.
        """
        given = [row[3] for row in link_rows(network, topology) if row[3] > 0]
        diameter = topology.diameter
        hops = self.max_hops if self.max_hops is not None else min(given, default=diameter + _SPARE_HOPS)
        if self.action == "port" and given and hops > min(given):
            raise config_error(
                "max_hops", hops, f"the network has only {min(given)} VCs; ports need one per hop"
            )
        if self.action == "port" and hops < diameter:
            field = "network.local_vcs" if self.max_hops is None else "max_hops"
            raise config_error(
                field, hops, f"port actions need at least {diameter} VCs on this topology, one per hop"
            )
        return hops

    def spec(self, network: NetworkConfig, topology: Dragonfly) -> dict[str, Any]:
        """What the core is told."""
        avoid = self.avoid_destination_group
        bits, tracked = select_features(self.features)
        return {
            "scope": self.scope,
            "action": self.action,
            "reward": self.reward,
            "max_hops": self.hops(network, topology),
            "detours": list(self.detours),
            "minimal_candidates": self.minimal_candidates,
            "detour_candidates": self.detour_candidates,
            "avoid_destination_group": network.detours_avoid_destination_group if avoid is None else avoid,
            "features": bits,
            "tracked": list(tracked),
            "trackers": self.trackers,
            "reward_scale_ps": self.reward_scale_ns * PS_PER_NS,
            "keep_transitions": self.transitions,
            "keep_feedback": self.feedback,
            "most_uncollected_bytes": self.max_uncollected_bytes,
        }


def _tracker_parameters(trackers: Any) -> dict[str, dict[str, Any]]:
    """Parameters by tracker, in plain types; the core knows the names and ranges of the parameters."""
    if trackers is None:
        return {}
    if not isinstance(trackers, Mapping):
        raise config_error("trackers", trackers, "must map names of trackers to their parameters, or be None")
    known = [tracker["name"] for tracker in _core.trackers()]
    for name, parameters in trackers.items():
        if name not in known:
            raise config_error(
                "trackers", name, f"must be one of {', '.join(known)}{did_you_mean(name, known)}"
            )
        if not isinstance(parameters, Mapping) or not all(isinstance(key, str) for key in parameters):
            raise config_error(f"trackers.{name}", parameters, "must map names of parameters to values")
    return {
        name: {key: _plain(f"trackers.{name}.{key}", value) for key, value in parameters.items()}
        for name, parameters in trackers.items()
    }


def _plain(field: str, value: Any) -> bool | str | float:
    if isinstance(value, (bool, str)):
        return value
    return check_real(field, value, -_MAX_REAL, _MAX_REAL)


def _names(features: Any) -> tuple[Any, ...]:
    if isinstance(features, str) or not isinstance(features, (list, tuple)):
        raise config_error("features", features, "must be a sequence of names, or None for the usual ones")
    return tuple(features)
