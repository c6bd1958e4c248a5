"""The routing heuristics: a class per rule, with its parameters from the core.

``Minimal``, ``Valiant``, ``Ugal`` and ``Lia`` also decide in NumPy (``act``), which shows how a policy reads a batch of
decisions; the core alone has the others.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dragonfly_env import policy_parameters as core
from dragonfly_env.baselines._candidates import (
    MINIMAL,
    columns_of,
    short_detour_comparison,
    ugal_comparison,
)
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import choice
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.decisions.layout import NONMINIMAL_KINDS, VC_QUEUES
from dragonfly_env.policies import NamedVariants, Policy, check_gateways

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch

_LEVEL = "destination_traffic_level"  # how adverse traffic to the destination group is
_REMOTE, _SATURATED, _OWN = "destination_remote_packets", "saturated_links", "own_links"
_WEIGHED = {
    "queued": "vc_queued",
    "occupancy": "vc_occupancy",
}  # the field of `DecisionBatch.candidates` that shows it
_FAMILY = {
    "lgl": "val",
    "gl": "vlb",
    "g": "vlb",
}  # the papers have two names for "lg" alone: val-g and vlb-lg
_SCOPES = {
    ("progressive", True): "progressive",
    ("progressive", False): "minimal-path",
    ("source", True): "source-all",
    ("source", False): "source",
}


def _detour(kinds: tuple[str, ...]) -> Any:
    return choice(
        "lgl",
        kinds,
        doc="The non-minimal path: 'lgl' to a random router of another group, 'lg' to a random group, 'gl' and "
        "'g' likewise without a first local hop. Source: LIA, TACO 2025, section 3.2.",
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Minimal(Policy):
    """Every packet takes a minimal path: at most local, global, local.

    Best for uniform traffic; under adversarial traffic one global link carries a whole group. No parameters.

    Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", policy=dfe.baselines.Minimal())
        >>> dfe.simulate(config, measure_ns=5_000).minimal_fraction
        1.0
    """

    variants: ClassVar[NamedVariants] = {"min": {}}

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose the minimal path for every pending packet.

        Args:
            batch: N decisions of any routers, of an environment with either kind of actions.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment draws its minimal candidates among several shortest paths.

        Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.
        """
        if not batch.layout.candidates:
            return batch.minimal_actions()
        (column,) = columns_of(batch, MINIMAL, 1)
        return np.full(len(batch), column, dtype=np.int64)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Valiant(core.ValG):
    """Every packet that leaves its group goes minimally to a random intermediate group or router, then minimally to its
    destination.

    It halves the throughput of friendly traffic and keeps half of it under any other. The path goes by a router
    (``lgl``, named ``val-n``) or a group (``lg``, ``val-g``); ``gl`` and ``g`` (``vlb-gl``, ``vlb-g``) leave
    through a global link of the source router itself, which saves a hop and loads fewer links.

    Packets to another router of their own group go minimally. With ``own_group="local"`` they visit a random other
    router of the group first, as LIA's section 3.2 has it; with ``"global"`` they take non-minimal paths by other
    groups, as packets to these do. The paths of packets to the same router are always minimal.

    Source: Valiant, Brebner, STOC 1981; Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2.

    Example:
        >>> valiant = dfe.baselines.Valiant(detour="lg")
        >>> valiant.name, dfe.baselines.Valiant().name
        ('val-g', 'val-n')
        >>> config = dfe.SimulationConfig(topology="72", policy=valiant)
        >>> dfe.simulate(config, measure_ns=5_000).minimal_fraction < 0.5
        True
    """

    variants: ClassVar[NamedVariants] = {
        "val-g": {"detour": "lg", "family": "val"},
        "val-n": {"detour": "lgl", "family": "val"},
        "vlb-lg": {"detour": "lg", "family": "vlb"},
        "vlb-gl": {"detour": "gl", "family": "vlb"},
        "vlb-g": {"detour": "g", "family": "vlb"},
    }
    aliases: ClassVar[dict[str, str]] = {"vlb-lgl": "val-n"}

    detour: str = _detour(NONMINIMAL_KINDS)
    family: str | None = choice(
        None,
        ("val", "vlb"),
        optional=True,
        doc="Which of its two names the non-minimal path 'lg' goes by: 'val' (val-g) or 'vlb' (vlb-lg). "
        "Routing is the same.",
    )

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        object.__setattr__(self, "family", _FAMILY.get(self.detour, self.family or "val"))

    @property
    def scope(self) -> str:
        """Where it decides: ``"source"``; with other ``own_group`` than minimal ``"source-around"``."""
        return "source" if self.own_group == "minimal" else "source-around"

    def env_options(self) -> dict[str, Any]:
        """See ``Policy.env_options``."""
        options = Policy.env_options(self)
        return {**options, "nonminimal_kinds": (self.detour, "l")} if self.own_group == "local" else options

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose the first non-minimal path for every pending packet; the minimal path where there is none.

        Args:
            batch: N decisions of source routers, of an environment with ``action="path"`` and this kind of non-minimal
                path.

        Returns:
            (N,) actions.

        Raises:
            ConfigError: If the environment lacks these candidates.

        Source: Kang, Wang, Lan, HPDC 2021, section 2.2; LIA, TACO 2025, section 2.2.
        """
        (minimal,) = columns_of(batch, MINIMAL, 1)
        (around,) = columns_of(batch, self.detour, 1)
        legal = batch.mask[:, around]
        if self.own_group == "local":
            (local,) = columns_of(batch, "l", 1)
            inside = batch.layout.counts(batch.obs, "group_offset")[:, 0] == 0
            around = np.where(inside, local, around)
            legal = np.where(inside, batch.mask[:, local], legal)
        actions: IntArray = np.where(legal, around, minimal)
        return actions


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ugal(core.UgalN):
    """At the source router, minimal iff ``q_min <= 2 * q_detour + bias_packets``; the choice holds to the
    end.

    ``q`` is the congestion of the path's first port in packets: waiting in its output queues, and sent with
    the credit not yet back. If both paths start on one port, the VCs that they would use are compared
    instead. Traffic inside a group is minimal.

    Source: Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, section 5.1.

    Example:
        >>> ugal = dfe.baselines.Ugal(detour="lgl", bias_packets=2)
        >>> ugal.name, ugal.bias_packets
        ('ugal-n', 2.0)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=ugal)
        >>> 0 < dfe.simulate(config, measure_ns=20_000).minimal_fraction < 1
        True
    """

    variants: ClassVar[NamedVariants] = {"ugal-g": {"detour": "lg"}, "ugal-n": {"detour": "lgl"}}

    detour: str = _detour(("lgl", "lg"))

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison.

        Args:
            batch: N decisions of source routers, of an environment with ``action="path"`` and this kind of non-minimal
                path; occupancies are in packets and are the deciding router's own.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters need.

        Source: Kim, Dally, Scott, Abts, ISCA 2008; Kang, Wang, Lan, HPDC 2021, section 5.1.
        """
        compared = ugal_comparison(
            batch,
            self.detour,
            bias_packets=self.bias_packets,
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
        )
        return np.where(compared.prefers_detour, compared.detour, compared.minimal)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UgalIdeal(core.UgalIdeal):
    """At the source router, minimal iff ``q_min <= 2 * q_detour + bias_packets``, where ``q`` is an occupancy on
    the *global* link by which a path leaves the group: that of the VC that it would use there. It is the present
    value, whichever router of the group has the link.

    No router could know that: an ideal to measure others by. It is LIA's UGAL-G; ``ugal-g`` is that of the
    Q-adaptive paper, by local occupancy.

    Source: LIA, TACO 2025, section 5.2; Kim, Dally, Scott, Abts, ISCA 2008.

    Example:
        >>> config = dfe.SimulationConfig(
        ...     topology="72", traffic="adv+1", policy=dfe.baselines.UgalIdeal()
        ... )
        >>> 0 < dfe.simulate(config, measure_ns=20_000).minimal_fraction < 1
        True
    """

    variants: ClassVar[NamedVariants] = {"ugal-ideal": {}}
    observes: ClassVar[tuple[str, ...]] = ("candidate_link_packets",)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Par(core.Par):
    """UGAL's rule with non-minimal paths to routers (``lgl``), decided again after a minimal first hop inside the
    source group.

    Source: Jiang, Kim, Dally, ISCA 2009; Kang, Wang, Lan, HPDC 2021, sections 2.2 and 5.1.

    Example:
        >>> config = dfe.SimulationConfig(
        ...     topology="72", traffic="adv+1", policy=dfe.baselines.Par(bias_packets=1)
        ... )
        >>> 0 < dfe.simulate(config, measure_ns=20_000).minimal_fraction < 1
        True
    """

    variants: ClassVar[NamedVariants] = {"par": {}}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Piggyback(core.Pb):
    """A non-minimal path to a random router (``lgl``) if the minimal path's global link is congested, or if UGAL says
    so (``q_min > 2 * q_detour + bias_packets``); else minimal. Only the source router decides.

    A global link is congested iff the occupancy of its port is above ``congestion_factor`` times the mean over its
    router's connected global ports plus ``congestion_offset_packets``. Every router tells the others of its group
    which of its links are: they hear of it after the latency of a local link, and it knows at once. Of several
    minimal paths (``minimal_candidates``, with trunking) the flag of the least occupied one's link counts.

    ``weighed`` says what is compared: whole ports (``"port"``), the VC that a path would use first (``"vc"``), or what
    ``NetworkConfig.paths_weighed_by`` names (``"auto"``). On network ``lia`` that is the VC, as in FOGSim, the
    simulator of the paper's authors. A link is congested there if the mean over its VCs is above the threshold.

    Source: LIA, TACO 2025, section 5.2 and table 1; Jiang, Kim, Dally, ISCA 2009.

    Example:
        >>> policy = dfe.baselines.Piggyback(congestion_factor=1.5)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> 0 < dfe.simulate(config, measure_ns=20_000).minimal_fraction < 1
        True
    """

    variants: ClassVar[NamedVariants] = {"pb": {}}
    observes: ClassVar[tuple[str, ...]] = ("candidate_congested",)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Acor(core.Acor):
    """Always a non-minimal path, as long as its router's level says: through one of the router's own global links
    (``g``), the same and then to a random router (``gl``), or to any router (``lgl``).

    A router counts failed attempts of packets that head an injection queue and are to take a non-minimal path. A
    crossbar that another packet takes counts once, and no room behind it twice a clock cycle. With
    ``decide_at="attempt"``, where a refused head draws another non-minimal path, each refusal counts. The level rises
    as soon as ``first_increase``, then ``second_increase`` are reached, and falls after ``hysteresis_ns`` with at most
    ``second_decrease``, then ``first_decrease``; the counter then starts anew. A router none of whose global links will
    do uses ``lg`` and ``lgl``.

    Source: Benito et al., JPDC 2019; LIA, TACO 2025, sections 2.2.2 and 5.2.

    Example:
        >>> policy = dfe.baselines.Acor(hysteresis_ns=500)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"acor": {}}
    observes: ClassVar[tuple[str, ...]] = ("nonminimal_level",)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PiggybackAcor(core.PbAcor):
    """Piggyback's choice between a minimal path and a non-minimal path, with a non-minimal path as long as ACOR's level
    says.

    The parameters are those of ``Piggyback`` and ``Acor``.

    Source: LIA, TACO 2025, section 5.2 and table 1.

    Example:
        >>> policy = dfe.baselines.PiggybackAcor()
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"pb-acor": {}}
    observes: ClassVar[tuple[str, ...]] = ("candidate_congested", "nonminimal_level")


class _ByLevels(core.Tpr):
    """What TPR and LIA share: three levels of traffic to a group, and the threshold T of UGAL at each."""

    __slots__ = ()

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        low, high = self.low_packets, self.high_packets
        if low is not None and high is not None and low > high:
            raise config_error("low_packets", low, f"must be at most high_packets, {high:g}")

    def env_options(self) -> dict[str, Any]:
        """See ``Policy.env_options``; what is in output queues is shown if the policy weighs it."""
        options = Policy.env_options(self)
        if self.weighed == "queued":
            shown = options["features"]
            at = len(shown) - len(self.observes)
            options["features"] = (*shown[:at], VC_QUEUES, *shown[at:])
        return options


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tpr(_ByLevels):
    """UGAL at the source router, ``q_min <= 2 * q_detour + T``, where T follows from how many packets the router's
    hosts have sent to the destination group in the last ``window_ns``: traffic is benign, mixed or adverse.

    ``q`` is as for LIA, and so are the thresholds, which follow from the network unless they are set.

    It counts what has left the injection queues, not what was offered: past saturation the counters fall, traffic
    looks milder than it is, and more of it goes minimally (LIA, section 3.1). ``stored_weight=0.1`` makes them the
    extended counters of LIA, which count what is in the injection queues, too.

    Source: Faizian et al., IEEE TMSCS 2018; two thresholds, windows and values as in LIA, TACO 2025, section 5.2.

    Example:
        >>> policy = dfe.baselines.Tpr(window_ns=200)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"tpr": {}}
    observes: ClassVar[tuple[str, ...]] = (_LEVEL,)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lia(_ByLevels, core.Lia):
    """UGAL at the source router, ``q_min <= 2 * q_detour + T``, with T and the length of the non-minimal path by
    counters of what the router's own hosts offer. No router tells another one anything.

    A *global counter* per other group: packets for it that left the injection queues in the last ``window_ns``, plus
    ``stored_weight`` times those that are there. The destination's says whether traffic is benign, mixed or adverse,
    which sets T. The non-minimal path makes its first local hop only if the counters of at least ``saturated_groups``
    of the groups behind the router's own global links exceed ``saturated_packets`` (of all of them, where there are
    fewer): others need these links for minimal traffic. It makes its second local hop only if a *remote counter*
    exceeds ``remote_packets``: how many of the router's packets would use one type of local link in the groups between.
    Which destinations use which type is counted on the wiring, so any arrangement, trunking and number of groups will
    do.

    Counters are in packets. The paper writes phits per interval, but its own figures fit packets only: non-minimal
    paths of kind ``g`` saturate under ADV+h at a load of 1/h, where a router sends h hosts * 1/h * 200 cycles / 10
    phits = 20 packets in a window; the paper reads 17 off the knee and sets the threshold to 20, which is the same for
    every h.

    The other thresholds depend on the system, and unless they are set they follow from it: a counter shows
    ``U = 20 p / (g - 1)`` packets under uniform traffic at full load, 1.7 with 5,256 hosts and 3.3 with 342, and each
    threshold lies as many standard deviations above U as those of table 1 do with 5,256 hosts (docs/lia.md).

    ``q`` is what is in the router's output queue for the VC that a path would use first, or with
    ``weighed="occupancy"`` that and what was sent and holds a credit, which is what FOGSim's other policies weigh. The
    paper writes "next hop buffer occupancy"; with the first it does what the paper shows, with the second its values of
    T leave packets waiting for a saturated link (docs/lia.md).

    Source: LIA, TACO 2025, section 4 and table 1.

    Example:
        >>> policy = dfe.baselines.Lia(remote_packets=4)
        >>> config = dfe.SimulationConfig(topology="72", network="lia", policy=policy)
        >>> dfe.simulate(config, measure_ns=5_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"lia": {}}
    observes: ClassVar[tuple[str, ...]] = (_LEVEL, _SATURATED, _OWN, _REMOTE)

    def act(self, batch: DecisionBatch) -> IntArray:
        """Choose a path for every pending packet by UGAL's comparison and the counters.

        Args:
            batch: N decisions of source routers, of an environment with ``env_options()``.

        Returns:
            (N,) actions; ties go to the minimal path, and among candidates of a kind to the first.

        Raises:
            ConfigError: If the environment lacks the candidates that the parameters need, or the counters.

        Source: LIA, TACO 2025, section 4.
        """
        remote = batch.layout.quantities(batch.obs, _REMOTE)[:, 0]
        level, saturated, own = (
            batch.layout.counts(batch.obs, name)[:, 0] for name in (_LEVEL, _SATURATED, _OWN)
        )
        biases = (self.benign_bias_packets, self.mixed_bias_packets, self.adverse_bias_packets)
        compared = short_detour_comparison(
            batch,
            saturated >= np.minimum(self.saturated_groups, own),
            remote > self.remote_packets,
            bias_packets=np.array(biases, dtype=np.float64)[level],
            minimal_candidates=self.minimal_candidates,
            nonminimal_candidates=self.nonminimal_candidates,
            by=_WEIGHED[self.weighed],
        )
        return np.where(compared.prefers_detour, compared.detour, compared.minimal)


class _Aries(core.Ad0):
    """What the modes share: where they decide."""

    __slots__ = ()

    observes: ClassVar[tuple[str, ...]] = ("load_level",)

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        check_gateways(self.gateways, self.minimal_candidates)

    @property
    def scope(self) -> str:
        """Where it decides: ``"progressive"``, and less with other values of ``decide`` and ``in_group``."""
        return _SCOPES[self.decide, self.in_group]

    def env_options(self) -> dict[str, Any]:
        """See ``Policy.env_options``."""
        by_own_links = self.decide == "progressive" and self.later_nonminimal == "own-links"
        detours = ("lg", *(("l",) if self.in_group else ()), *(("g",) if by_own_links else ()))
        return {**Policy.env_options(self), "nonminimal_kinds": detours}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AriesMode(_Aries):
    """One of the four modes of Cray's Aries that a job may choose from.

    The source router weighs the less loaded of two shortest paths against the less loaded of two non-minimal paths by a
    random other group. Later routers of the source group weigh again while the packet is on a minimal path, against
    their own global links alone (``later_nonminimal``). The router by which a packet enters its intermediate group, and
    the source router of a packet that stays in its group, weigh paths by a random router of the group (``in_group``).
    In its destination group a packet goes minimally (``in_destination_group``). The load of a path is that of its first
    port, 0 to 15 (see ``levels_near``). The non-minimal path is taken if its load, biased, is lower:

    * ``ad0``: as it is;
    * ``ad1``: as it is at the source router, doubled behind one hop, four times behind more (the numbers are not
      public);
    * ``ad2``: four levels more;
    * ``ad3``: four times as much.

    Source: Chunduri et al., IPDPS 2021, section II-D; Alverson et al., "Cray XC Series Network", 2012; the modes as the
    public header of uGNI numbers them.

    Example:
        >>> mode = dfe.baselines.AriesMode(mode="ad3")
        >>> config = dfe.SimulationConfig(
        ...     topology="theta-m8", network="aries", load=0.1, policy=mode
        ... )
        >>> dfe.simulate(config, measure_ns=2_000).minimal_fraction > 0.9
        True
    """

    variants: ClassVar[NamedVariants] = {name: {"mode": name} for name in ("ad0", "ad1", "ad2", "ad3")}

    mode: str = choice("ad0", ("ad0", "ad1", "ad2", "ad3"), doc="Which of the four modes.")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Aries(_Aries, core.Ad):
    """Aries' rule with a bias of your own: see ``AriesMode`` for what is weighed where.

    A load becomes ``(load << shift) + add``, with a pair for each side and number of hops taken: none (``first``), one
    (``second``), more (``later``). All are 0 by default, which is ``ad0``.

    Source: Chunduri et al., IPDPS 2021, section II-D; widths as in the register descriptions of the router.

    Example:
        >>> policy = dfe.baselines.Aries(nonminimal_add_first=2)
        >>> config = dfe.SimulationConfig(
        ...     topology="theta-m8", network="aries", load=0.1, policy=policy
        ... )
        >>> dfe.simulate(config, measure_ns=2_000).packets_delivered > 0
        True
    """

    variants: ClassVar[NamedVariants] = {"ad": {}}
