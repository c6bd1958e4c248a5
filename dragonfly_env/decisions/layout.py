"""``Layout``: what the numbers of an observation mean, by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import check_items, config_error, one_of

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly

FloatArray = npt.NDArray[np.float32]

_ROWS = _core.features()
_BITS = {row["name"]: 1 << bit for bit, row in enumerate(_ROWS)}

# The features that are shown if none are named.
FEATURES: tuple[str, ...] = tuple(row["name"] for row in _ROWS if row["usual"])
CANDIDATE_FEATURES: tuple[str, ...] = tuple(
    row["name"] for row in _ROWS if row["per"] == "candidate" and row["usual"]
)

# Features of the core's trackers.
TRACKED_FEATURES: tuple[str, ...] = tuple(
    name for tracker in _core.trackers() for name in tracker["features"]
)

# All others than the first ones must be named.
ALL_FEATURES = (*FEATURES, *(row["name"] for row in _ROWS if not row["usual"]), *TRACKED_FEATURES)

OCCUPANCY_FEATURES: frozenset[str] = frozenset(row["name"] for row in _ROWS if row["occupancy"])
"""The features that show occupancies, in the unit that ``EnvOptions.occupancy_unit`` names."""

KNOWLEDGE = ("local", "delayed", "ideal")
"""Knowledge of a router, each kind with those before: its own queues, credits, hosts and packets, and acknowledgements
of its packets; signals of other routers, with their delay; the state of other routers without delay."""

FEATURE_KNOWLEDGE: Mapping[str, str] = {row["name"]: row["knowledge"] for row in _ROWS} | {
    feature["name"]: feature["knowledge"] for tracker in _core.trackers() for feature in tracker["shown"]
}
"""The knowledge that each feature shows."""


def knowledge_of(features: Sequence[str] | None) -> str:
    """The most knowledge that features show; None: the usual ones."""
    shown = FEATURES if features is None else features
    return max((FEATURE_KNOWLEDGE[name] for name in shown), key=KNOWLEDGE.index)


OCCUPANCY_UNITS = ("buffers", "packets", "ns")

VC_QUEUES = "candidate_queue_packets"
_AHEAD = {"group": "group", "peer": "router"}

KINDS = {"none": -1, "minimal": 0, "lgl": 1, "lg": 2, "gl": 3, "g": 4, "l": 5}
"""The numbers of ``DecisionBatch.candidates["kind"]``."""

PER_ACTION = {"port": "port", "path": "candidate"}
"""The unit that features of an action are counted per, by the kind of action."""

NONMINIMAL_KINDS = ("lgl", "lg", "gl", "g")
"""Non-minimal paths by another group."""
ALL_NONMINIMAL_KINDS = (*NONMINIMAL_KINDS, "l")
"""Non-minimal paths by another group, and by another router of the group."""


def select_features(features: Sequence[str] | None) -> tuple[int, tuple[str, ...]]:
    """Features as the core receives them: a bit for each of the decision's own, and the names of the others."""
    if features is None:
        return sum(_BITS[name] for name in FEATURES), ()
    if not isinstance(features, (list, tuple)):
        raise config_error("features", features, "must be a sequence of names, or None for the usual ones")
    for name in features:
        if name not in ALL_FEATURES:
            raise config_error("features", name, one_of(name, ALL_FEATURES, "'dragonfly-env info features'"))
    if not features:
        raise config_error("features", list(features), "must name at least one feature")
    bits = sum(bit for name, bit in _BITS.items() if name in features)
    return bits, tuple(name for name in TRACKED_FEATURES if name in features)


def check_nonminimal_kinds(field: str, value: object) -> tuple[str, ...]:
    """Return kinds of non-minimal paths."""
    listed = ", ".join(ALL_NONMINIMAL_KINDS)
    kinds = check_items(field, value, f"must be some of {listed}")
    for i, kind in enumerate(kinds):
        if kind not in ALL_NONMINIMAL_KINDS:
            raise config_error(field, kind, one_of(kind, ALL_NONMINIMAL_KINDS))
        if kind in kinds[:i]:
            raise config_error(field, kinds, f"names {kind!r} twice")
    return tuple(kinds)


@dataclasses.dataclass(frozen=True, slots=True)
class FeatureBlock:
    """A named feature: some columns of the observation.

    ``value = quantity / unit``; where ``half`` is above 0, ``value = quantity / (quantity + half)`` instead.

    Example:
        >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
        >>> block = env.layout["queue_packets"]
        >>> block.per, block.columns, block.unit
        ('port', slice(0, 5, None), 64.0)
    """

    name: str
    """The name of the feature."""
    per: str
    """Objects of its columns: ``"port"``, ``"candidate"``, ``"link"`` (the global links of the router's group,
    those of one router after the other), ``"group"`` (the other groups, from the next one on), ``"peer"`` (the other
    routers of the group, from the next one on) or ``"decision"`` (one column)."""
    columns: slice
    """Its columns in an observation."""
    unit: float
    """The quantity that a value of 1 stands for."""
    half: float
    """Quantity at which a squashed value is 0.5; 0: the value is not squashed."""
    low: float
    """The smallest possible value."""
    high: float
    """The largest possible value."""
    doc: str
    """Quantity that the feature shows."""


class Layout:
    """Names, units and bounds of the F columns of an observation.

    Attributes:
        blocks: The features in the order of their columns.
        candidates: Path actions: the kind of every candidate (``"minimal"``, ``"lgl"``, ...); else empty.
        num_actions: A, the width of the mask.
        first_port: The port of a router that the first column of a feature per port stands for.
        occupancy_unit: Unit of the features in ``OCCUPANCY_FEATURES``: ``"buffers"``, ``"packets"`` or ``"ns"``.
            Their quantities are packets, or with ``"ns"`` times in ns.
        congestion_metric: The network's convention, see ``NetworkConfig.congestion_metric``.

    Args:
        rows: Rows of the core's registry of features.
        topology: Topology of the ports and links.

    Example:
        >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
        >>> layout = env.layout
        >>> layout.num_features == len(layout.names) == len(layout.low)
        True
        >>> layout.features["queue_packets"], layout.names[0]
        (slice(0, 5, None), 'queue_packets[port 2]')
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        topology: Dragonfly,
        candidates: Sequence[str],
        num_actions: int,
        occupancy_unit: str = "buffers",
        congestion_metric: str = "port",
    ) -> None:
        self.occupancy_unit = occupancy_unit
        self.congestion_metric = congestion_metric
        self.blocks: tuple[FeatureBlock, ...] = tuple(
            FeatureBlock(
                name=row["name"],
                per=row["per"],
                columns=slice(row["offset"], row["offset"] + row["width"]),
                unit=row["unit"],
                half=row["half"],
                low=row["low"],
                high=row["high"],
                doc=row["doc"],
            )
            for row in rows
        )
        self.candidates: tuple[str, ...] = tuple(candidates)
        self.num_actions = num_actions
        self.first_port = topology.p
        self._first_global = topology.p + topology.num_local_ports
        self._links_per_router = topology.h
        self._by_name = {block.name: block for block in self.blocks}

    def __repr__(self) -> str:
        listed = ", ".join(
            f"{block.name} [{block.columns.start}:{block.columns.stop}]" for block in self.blocks
        )
        return f"<Layout of {self.num_features} features: {listed}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.names, self.candidates, self.num_actions))

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> FeatureBlock:
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(self._by_name)
            raise config_error("feature", name, f"this environment observes only {known}") from None

    @property
    def num_features(self) -> int:
        """F, the number of columns."""
        return self.blocks[-1].columns.stop if self.blocks else 0

    @property
    def features(self) -> dict[str, slice]:
        """The columns of every feature by name."""
        return {block.name: block.columns for block in self.blocks}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, e.g. ``"queue_packets[port 4]"``, or ``"congested_links[router 1 port 6]"`` for the
        second router of the group.
        """
        names: list[str] = []
        for block in self.blocks:
            width = block.columns.stop - block.columns.start
            if block.per == "port":
                names += [f"{block.name}[port {self.first_port + i}]" for i in range(width)]
            elif block.per == "link":
                ends = (divmod(i, self._links_per_router) for i in range(width))
                names += [
                    f"{block.name}[router {router} port {self._first_global + link}]" for router, link in ends
                ]
            elif block.per in ("group", "peer"):
                names += [f"{block.name}[{_AHEAD[block.per]} +{i + 1}]" for i in range(width)]
            elif block.per == "candidate":
                names += [f"{block.name}[{i} {self.candidates[i]}]" for i in range(width)]
            else:
                names.append(block.name)
        return tuple(names)

    @cached_property
    def low(self) -> FloatArray:
        """(F,) smallest possible values."""
        return self._spread("low")

    @cached_property
    def high(self) -> FloatArray:
        """(F,) largest possible values."""
        return self._spread("high")

    @cached_property
    def scale(self) -> FloatArray:
        """(F,) factors by which a column is multiplied to get its quantity back; 0 where it is squashed."""
        return self._spread("unit")

    def _spread(self, field: str) -> FloatArray:
        values = np.empty(self.num_features, dtype=np.float32)
        for block in self.blocks:
            values[block.columns] = getattr(block, field)
        values.flags.writeable = False
        return values

    def _observations(self, obs: object) -> npt.NDArray[Any]:
        rows = np.asarray(obs, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.num_features:
            raise config_error("obs", rows.shape, f"must have the shape (N, {self.num_features})")
        return rows

    def quantities(self, obs: npt.NDArray[Any], name: str) -> FloatArray:
        """The numbers behind a feature that is not squashed, as the core has them.

        Nothing is lost where units are powers of two, as those of counters are.

        Args:
            obs: (N, F) observations.
            name: Name of the feature.

        Returns:
            (N, width) numbers.

        Raises:
            ConfigError: If the feature is not observed, or squashed, or these are no such observations.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1)
            >>> env.layout.quantities(batch.obs, "queue_packets").shape[1]
            5
        """
        block = self[name]
        if block.half > 0:
            raise config_error("feature", name, "is squashed; its quantity cannot be read back")
        quantities: FloatArray = self._observations(obs)[:, block.columns] * np.float32(block.unit)
        return quantities

    def counts(self, obs: npt.NDArray[Any], name: str) -> npt.NDArray[np.int32]:
        """The whole numbers behind a feature that is not squashed: exact.

        Args:
            obs: (N, F) observations.
            name: Name of the feature.

        Returns:
            (N, width) numbers.

        Raises:
            ConfigError: If the feature is not observed, or squashed, or a time, or these are no such observations.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1)
            >>> env.layout.counts(batch.obs, "hops").dtype
            dtype('int32')
        """
        if name in OCCUPANCY_FEATURES and self.occupancy_unit == "ns":
            raise config_error(
                "occupancy_unit",
                "ns",
                f"must be 'packets' or 'buffers' where the packets of {name} are counted",
            )
        return np.rint(self.quantities(obs, name)).astype(np.int32)

    def decode_candidates(self, obs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The candidate paths that an observation describes.

        Args:
            obs: (N, F) observations of an environment with path actions.

        Returns:
            (N, K) structured as ``DecisionBatch.candidates``; ``intermediate_group`` and ``intermediate_router`` are
            not observed and -1, and so is ``vc_queued`` without the feature ``candidate_queue_packets``.

        Raises:
            ConfigError: If one of the candidate features is not observed or shown in ns, or these are no such
                observations.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> env = dfe.BatchedRoutingEnv(config, action="path", scope="source")
            >>> batch = env.reset(seed=1)
            >>> found = env.layout.decode_candidates(batch.obs)
            >>> np.array_equal(found["port"], batch.candidates["port"])
            True
        """
        fields = {
            "kind": "candidate_kind",
            "port": "candidate_port",
            "occupancy": "candidate_packets",
            "vc_occupancy": "candidate_vc_packets",
            "hops": "candidate_hops",
        }
        rows = self._observations(obs)
        candidates = np.zeros((len(rows), len(self.candidates)), dtype=_core.candidate_dtype)
        if VC_QUEUES in self:
            fields["vc_queued"] = VC_QUEUES
        for field, feature in fields.items():
            candidates[field] = self.counts(rows, feature)
        candidates["intermediate_group"] = -1
        candidates["intermediate_router"] = -1
        if VC_QUEUES not in self:
            candidates["vc_queued"] = -1
        return candidates

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what an agent must agree with to be used.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> env.layout.to_dict()["num_actions"]
            5
        """
        return {
            "features": {
                block.name: [
                    block.columns.start,
                    block.columns.stop,
                    round(float(block.unit), 6),
                    round(float(block.half), 6),
                ]
                for block in self.blocks
            },
            "candidates": list(self.candidates),
            "num_actions": self.num_actions,
            **({} if self.occupancy_unit != "ns" else {"occupancy_unit": "ns"}),
        }
