from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias

from dragonfly_env import _core
from dragonfly_env.batch_policy import AN_OBJECT
from dragonfly_env.checks.values import MAX_RUN_NS, check_real, config_error, ns_to_ps, one_of
from dragonfly_env.config.network import NetworkConfig, link_rows
from dragonfly_env.config.rows import (
    Record,
    boolean,
    choice,
    core_values,
    integer,
    real,
    setting,
    show_changes,
    time_ns,
)
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.decisions.layout import (
    ALL_NONMINIMAL_KINDS,
    NONMINIMAL_KINDS,
    OCCUPANCY_UNITS,
    check_nonminimal_kinds,
    select_features,
)
from dragonfly_env.policy import Policy, check_gateways, highest, parse_policy
from dragonfly_env.simulation.config import SimulationConfig

Scope: TypeAlias = Literal[
    "source", "every", "all", "source-all", "source-around", "minimal-path", "progressive", "progressive-busy"
]
Action: TypeAlias = Literal["port", "path"]
Reward: TypeAlias = Literal["hop", "differential", "delivery"]
Share: TypeAlias = Literal["router", "group", "all"]
IllegalAction: TypeAlias = Literal["remap", "raise"]

_SPARE_HOPS = 2  # beyond a minimal path: 5 in all where groups are meshes, as in HPDC 2021, section 4.2
_MOST_CANDIDATES = int(highest("ugal-n", "minimal_candidates"))
_MAX_REAL = 1e12  # largest value of any parameter


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EnvOptions(Record):
    """Options of ``BatchedRoutingEnv`` next to the configuration: one field per keyword argument.

    Raises:
        ConfigError: On construction, for a value out of range.

    Example:
        >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
        >>> env.options.scope, env.options.duration_ns
        ('every', 50000.0)
    """

    scope: Scope = choice(
        "every",
        Scope,
        doc="Routers that decide. ``source``: the source router, once per packet that leaves its group. ``every``: "
        "every router where the packet has more than one legal output. ``all``: every router on its path, forced "
        "hops included, with one legal action. Path actions only: ``source-all``: the source router, also for "
        "packets to its own group. ``source-around``: as ``source-all``, and packets to the own group may pass other "
        "groups. ``minimal-path``: every router of the source group while the packet is on its minimal path. "
        "``progressive``: as ``minimal-path``, and the router by which a packet enters its intermediate group and its "
        "destination group. ``progressive-busy``: as ``progressive``, but behind its source router a packet in its "
        "destination group, or on its minimal path, goes on without a decision if no packet waits for the next port.",
        core="scope",
    )
    action: Action = choice(
        "port",
        Action,
        doc="``Discrete(radix - p)``, 0 is the first local port, and VCs are numbered by hops; or one of the candidate "
        "paths that the core draws, minimal ones first, which the packet then follows. The source router chooses a "
        "path and, with scope ``every``, the second router of the source group decides again while the packet is on "
        "its minimal path.",
        core="action",
    )
    reward: Reward = choice(
        "hop",
        Reward,
        doc="Per transition: minus the time from a decision to the packet's next one, or to its delivery; with "
        "``delivery`` always to its delivery. Per step and router, see ``rewards_by_router()``: ``hop`` charges for "
        "time and credits deliveries with ``latency_credit_ns``; ``differential`` credits them with the mean latency "
        "so far; ``delivery`` has no reward per step.",
    )
    share: Share = choice(
        "router",
        Share,
        doc="Per step: whether a router gets its own reward, the sum over the routers of its group, or over all. With "
        "``group`` a group gains by sending packets in transit away, where every router decides.",
    )
    latency_credit_ns: float = time_ns(
        1400.0,
        doc="Per step: what the source router of a packet is credited with when the packet is delivered. The order of "
        "policies does not depend on it. Take about the mean latency of random choices, or somewhat more: below that, "
        "a discount makes late deliveries look good. With 0 the rewards of an episode add up to the score.",
        core="latency_credit_ps",
    )
    duration_ns: float = real(
        50_000.0,  # several generations of packets, so that what an action costs is given in the same episode
        0.0,
        MAX_RUN_NS,
        open_low=True,
        unit="ns",
        doc="Length of an episode after the warm-up.",
    )
    warmup_ns: float = real(
        0.0,  # an episode begins with an empty network: a user who wants another beginning says so
        0.0,
        MAX_RUN_NS,
        unit="ns",
        doc="Time before the first decision in which ``config.policy`` routes. It is not rewarded, and metrics "
        "count from its end, as after ``Simulation.reset_statistics``.",
    )
    features: Sequence[str] | None = setting(
        None,
        lambda field, value: _feature_names(value),
        "",
        "Names of the features to observe; None: all of ``dragonfly_env.decisions.layout.FEATURES``. The features of "
        "``TRACKED_FEATURES`` show what routers remember and tell each other, and only if they are named: "
        "``congested_links`` (1 for each global link of the group that is congested, as the deciding router has heard; "
        "see the policy ``pb``) and ``candidate_congested`` (path actions: 1 if the path's first global link is "
        "congested).",
    )
    occupancy_unit: str = choice(
        "buffers",
        OCCUPANCY_UNITS,
        doc="Unit of the features that show occupancies (``queue_packets``, ``credits_in_use``, "
        "``candidate_packets``): "
        "the room in the network's buffers, rounded up to a power of two, so that values are about 1 at most; 16 "
        "``packets``; or 1,000 ``ns`` of the time that the port's link needs to send them. The last two mean the same "
        "in every network, so networks with other buffers can share a batch, and an agent fits all of them.",
        core="occupancy_unit",
    )
    trackers: Mapping[str, Mapping[str, float | str | bool]] | None = setting(
        None,
        lambda field, value: _tracker_parameters(value),
        "",
        'Parameters of the trackers behind tracked features, ``{"congested-links": {"congestion_factor": 1.5}}``. '
        "None: those that ``config.policy`` needs, and defaults for the others. During a warm-up they must be those of "
        "``config.policy``, if it needs the same tracker.",
        core="trackers",
    )
    reward_scale_ns: float = time_ns(
        1000.0, open_low=True, doc="The time that costs a reward of -1.", core="reward_scale_ps"
    )
    max_hops: int | None = integer(
        None,
        3,
        15,
        unit="hops",
        optional=True,
        doc="Port actions: the longest route, and so the number of VCs; None: as many as the network's ``local_vcs`` "
        "and ``global_vcs`` say, or two more than the longest minimal route (5 where groups are all-to-all: HPDC 2021, "
        "section 4.2).",
    )
    nonminimal_kinds: Sequence[str] = setting(
        NONMINIMAL_KINDS,
        check_nonminimal_kinds,
        "",
        "Path actions: kinds of the non-minimal candidates. ``l``, a random router of the group that the packet is "
        "in, is legal only where a router decides inside a group with scope ``source-all``, ``source-around`` or "
        "``progressive``.",
        allowed="some of " + ", ".join(ALL_NONMINIMAL_KINDS),
        core="nonminimal_kinds",
    )
    minimal_candidates: int = integer(
        1,
        1,
        _MOST_CANDIDATES,
        unit="paths",
        doc="Path actions: shortest paths that are drawn; they differ only with trunking and on grids.",
        core="minimal_candidates",
    )
    nonminimal_candidates: int = integer(
        1,
        1,
        _MOST_CANDIDATES,
        unit="paths",
        doc="Path actions: non-minimal candidates that are drawn of each kind.",
        core="nonminimal_candidates",
    )
    gateways: str = choice(
        "nearest",
        ("nearest", "any"),
        doc="Path actions: by which links minimal candidates leave the source group: the nearest, or any, drawn at the "
        "source router.",
        core="gateways",
    )
    avoid_destination_group: bool | None = boolean(
        None,
        optional=True,
        doc="Whether non-minimal paths avoid the destination group; None: as the network says.",
    )
    num_random: int = integer(2, 0, 64, doc="D, random numbers a decision: the columns of ``batch.draws``.")
    transitions: bool = boolean(
        True, doc="Whether completed transitions are kept for ``transitions()``.", core="keep_transitions"
    )
    outcomes: bool = boolean(
        False,
        doc="Whether the outcomes of decisions are kept for ``outcomes()``. Views set it themselves.",
        core="keep_outcomes",
    )
    feedback: bool = boolean(
        False,
        doc="Whether the feedback that routers get on their packets' hops is kept for ``feedback()``.",
        core="keep_feedback",
    )
    max_uncollected_bytes: int = integer(
        2**28,
        0,
        2**40,
        unit="bytes",
        doc="Most bytes of transitions that pile up in a network if ``transitions()`` is not called; above, no more "
        "are kept in this episode. ``outcomes()`` and ``feedback()`` have their own limits of this size.",
        core="most_uncollected_bytes",
    )

    def __repr__(self) -> str:
        return show_changes(self, trackers={})

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.scope not in ("source", "every", "all") and self.action != "path":
            raise config_error("scope", self.scope, "must be 'source', 'every' or 'all' with action='port'")
        check_gateways(self.gateways, self.minimal_candidates)
        for field in ("duration_ns", "warmup_ns"):
            ns_to_ps(field, getattr(self, field))
        if self.warmup_ns + self.duration_ns > MAX_RUN_NS:
            raise config_error("duration_ns", self.duration_ns, f"the clock ends at {MAX_RUN_NS:g} ns")

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
        nonminimal = tuple(kind for kind in self.nonminimal_kinds for _ in range(self.nonminimal_candidates))
        return ("minimal",) * self.minimal_candidates + nonminimal

    def hops(self, network: NetworkConfig, topology: Dragonfly) -> int:
        """The longest route with port actions, in a network; by default two hops more than the longest minimal one.

        Raises:
            ConfigError: If the network has too few VCs for it.
        """
        given = [row["vcs"] for row in link_rows(network, topology) if row["vcs"] > 0]
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
        """The record that the core reads."""
        avoid = self.avoid_destination_group
        bits, tracked = select_features(self.features)
        values = core_values(self)
        return {
            **values,
            "options": {name: each for name, each in values.items() if isinstance(each, (int, float))},
            "reward": "delivery" if self.reward == "delivery" else "hop",
            "max_hops": self.hops(network, topology),
            "avoid_destination_group": network.nonminimal_avoid_destination_group if avoid is None else avoid,
            "features": bits,
            "tracked": list(tracked),
        }


def needed_options(policy: Any, topology: Dragonfly) -> dict[str, Any]:
    """The keyword arguments of ``BatchedRoutingEnv`` with which a policy can decide its batches.

    Args:
        policy: A policy of the core, or its name; an object with ``env_options()``, which returns them; or an object
            with ``scope`` and ``action`` only: then these are all.
        topology: Where it is to route: routes of ports are longer on some.

    Raises:
        ConfigError: For what is no policy.
    """
    needed: dict[str, Any] = {}
    if not isinstance(policy, type):
        if isinstance(policy, (str, Policy)):
            needed = parse_policy(policy).env_options(topology)
        elif hasattr(policy, "env_options"):
            needed = dict(policy.env_options())
    for option in ("scope", "action"):
        if option not in needed:
            needed[option] = getattr(policy, option, None)
        if not isinstance(needed[option], str):
            raise config_error("policy", policy, f"must be {AN_OBJECT}; here {option} is {needed[option]!r}")
    return needed


def options_for(
    configs: Sequence[SimulationConfig], policy: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The keyword arguments that a policy needs where several networks share a batch."""
    needed, *others = ({**needed_options(policy, config.topology), **options} for config in configs)
    for number, other in enumerate(others, start=1):
        if other != needed:
            raise config_error(
                f"config[{number}]",
                configs[number].topology,
                f"{policy!r} needs {other}, and {needed} in the first",
            )
    return needed


Several: TypeAlias = (
    "Sequence[SimulationConfig] | Callable[[int], SimulationConfig | Sequence[SimulationConfig]]"
)
"""Scenarios next to each other, or a function that makes them from the seed of an episode."""

Made_with = ParamSpec("Made_with")


def takes(
    options: Callable[Made_with, EnvOptions],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, SimulationConfig | Several, Made_with], None]]:
    """Make a constructor with ``**options`` take those of ``EnvOptions`` by name, for type checkers and for help."""

    def dress(
        constructor: Callable[..., None],
    ) -> Callable[Concatenate[Any, SimulationConfig | Several, Made_with], None]:
        bare = inspect.signature(constructor)
        parameters = [
            given for given in bare.parameters.values() if given.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        every = inspect.signature(EnvOptions).parameters.values()
        constructor.__signature__ = bare.replace(parameters=[*parameters, *every])  # type: ignore[attr-defined]
        return constructor

    return dress


def _tracker_parameters(trackers: Any) -> dict[str, dict[str, Any]]:
    """Parameters by tracker, in plain types; the core knows the names and ranges of the parameters."""
    if trackers is None:
        return {}
    if not isinstance(trackers, Mapping):
        raise config_error("trackers", trackers, "must map names of trackers to their parameters, or be None")
    known = [tracker["name"] for tracker in _core.trackers()]
    for name, parameters in trackers.items():
        if name not in known:
            raise config_error("trackers", name, one_of(name, known))
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


def _feature_names(features: Any) -> tuple[str, ...] | None:
    select_features(features)
    return None if features is None else tuple(features)
