"""Closed-loop traffic: programs on hosts that send because of what they received."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal, TypeAlias, get_args

from dragonfly_env.config.rows import changed, choice, integer, real
from dragonfly_env.traffic.base import ClosedLoop, spell

Pacing: TypeAlias = Literal["bernoulli", "spaced", "none"]
Placement: TypeAlias = Literal["consecutive", "random", "random-routers", "random-groups"]
PLACEMENTS: tuple[str, ...] = get_args(Placement)
"""Rules by name; jobs may besides say ``groups=k`` or list their hosts."""

_MAX_MESSAGE_BYTES = 2**31 - 1
_MAX_IN_FLIGHT = 65_535


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class AllToAll(ClosedLoop):
    """Every task sends one message to every other: task i to i+1, then to i+2, ... (mod N), N-1 messages in all.

    There is a task on every host. A task gives its first ``in_flight`` messages to the host's source queue at time 0,
    and the next one whenever the last packet of its oldest has left the source queue: at most ``in_flight`` messages
    of a host are in its source queue, and they leave one after the other. No task waits for what it receives; a task
    has finished when all its messages have left and those of all others have arrived. The host is paced: by default
    each flit time it makes a trial that succeeds with probability ``injection_load`` / flits of a packet, and sends at
    most one packet a trial, as FOGSim's all-to-all does. A packet's latency counts from that trial, a message's from
    when the task gave it to the source queue.

    Source: the shifted order of a personalised all-to-all exchange, as in Thakur et al., Optimization of collective
    communication operations in MPICH, IJHPCA 2005. Pacing: FOGSim (public source, commit dcdd75f).

    Raises:
        ConfigError: For values out of range; on use: for a system of one host, and for messages so large that a host
            would send more than 2^32 packets.

    Example:
        >>> traffic = dfe.AllToAll(message_bytes=250, placement="random")
        >>> traffic.spec
        'all-to-all:placement=random'
        >>> config = dfe.SimulationConfig(topology="72", traffic=traffic)
        >>> dfe.Simulation(config).run_to_completion().makespan_ns > 0
        True
    """

    name: ClassVar[str] = "all-to-all"
    message_bytes: int = integer(
        250, 1, _MAX_MESSAGE_BYTES, unit="bytes", doc="Size of a message, rounded up to whole packets."
    )
    in_flight: int = integer(
        1, 1, _MAX_IN_FLIGHT, unit="messages", doc="Messages of a host that may be in its source queue."
    )
    placement: Placement = choice(
        "consecutive",
        Placement,
        doc="Host of each task: by number, a random permutation of the hosts, or routers or groups in random order "
        "with their hosts by number. Random placements follow from the run's seed.",
    )
    pacing: Pacing = choice(
        "bernoulli",
        Pacing,
        doc="Injection of a host's packets: a trial every flit time; trials from a packet time after the last packet "
        "on; or as fast as the injection link takes packets.",
    )
    injection_load: float | None = real(
        None,
        0.001,
        1.0,
        optional=True,
        doc="Mean rate of a paced host that is never idle, as a fraction of its link; None: 1. Not with 'none'.",
    )

    @property
    def spec(self) -> str:
        return spell(self.name, changed(self))
