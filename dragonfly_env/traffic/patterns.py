"""The simple traffic patterns: a name and a few numbers. The core's registry says where each is from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dragonfly_env.checks.values import check_integer, check_items, config_error
from dragonfly_env.config.rows import boolean, integer, real
from dragonfly_env.traffic.base import Pattern, spell

_MAX_INT = 2**31 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Uniform(Pattern):
    """Every message to a host drawn uniformly, the sender's own router and group included.

    Whether the sender itself is drawn is a convention on which the published simulators differ: unless it is
    said here, the network configuration says it (``uniform_excludes_sender``).

    Source: Kang et al. (Q-adaptive), HPDC 2021, section 2.2; the authors' simulator may draw the sender.

    Example:
        >>> traffic = dfe.traffic.Uniform(exclude_self=True)
        >>> dfe.SimulationConfig(topology="72", traffic=traffic).traffic.spec
        'uniform:exclude_self=true'
    """

    name: ClassVar[str] = "uniform"
    exclude_self: bool | None = boolean(
        None, optional=True, doc="Whether the sender itself is never drawn; None: as the network says."
    )

    @property
    def spec(self) -> str:
        if self.exclude_self is None:
            return "uniform"
        return f"uniform:exclude_self={str(self.exclude_self).lower()}"


@dataclasses.dataclass(frozen=True, slots=True)
class Adversarial(Pattern):
    """ADV+i: every host of group G sends to uniformly drawn hosts of group G+i.

    Source: Kang et al. (Q-adaptive), HPDC 2021, section 2.2; Benito et al. (LIA), TACO 2025, section 2.3.

    Example:
        >>> traffic = dfe.traffic.Adversarial(offset=4)
        >>> dfe.SimulationConfig(topology="72", traffic=traffic).traffic.spec
        'adv+4'
    """

    name: ClassVar[str] = "adv"
    offset: int = integer(
        1, -_MAX_INT, _MAX_INT, unit="groups", doc="i; any integer but a multiple of the number of groups."
    )

    @property
    def spec(self) -> str:
        return f"adv{self.offset:+d}"


@dataclasses.dataclass(frozen=True, slots=True)
class AdversarialConsecutive(Pattern):
    """ADVc: every host of group G sends to uniformly drawn hosts of the groups G+1 .. G+h.

    Source: Benito et al. (LIA), TACO 2025, section 2.3.
    """

    name: ClassVar[str] = "advc"


@dataclasses.dataclass(frozen=True, slots=True)
class Permutation(Pattern):
    """Each host always sends to the same other host; a random permutation fixed by the run's seed.

    Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.
    """

    name: ClassVar[str] = "permutation"


@dataclasses.dataclass(frozen=True, slots=True)
class Hotspot(Pattern):
    """A fraction of all messages to a few hot hosts, the rest uniform over all hosts (hot ones included).

    Source: Pfister and Norton, "Hot spot" contention and combining in multistage interconnection networks,
    IEEE Transactions on Computers 1985.

    Args:
        hosts: Number of hot hosts, drawn by the run's seed; or a sequence of their numbers.
        fraction: Share of the messages to hot hosts, 0 to 1.

    Example:
        >>> dfe.traffic.Hotspot(hosts=[1, 5, 9], fraction=0.1).spec
        'hotspot:hosts=1;5;9;,fraction=0.1'
    """

    name: ClassVar[str] = "hotspot"
    hosts: int | tuple[int, ...] = 4
    fraction: float = real(0.2, 0.0, 1.0, doc="Share of the messages to hot hosts.")

    def __post_init__(self) -> None:
        Pattern.__post_init__(self)
        hosts: object = self.hosts
        if isinstance(hosts, (Sequence, np.ndarray)) and not isinstance(hosts, str):
            allowed = "must be a number of hosts, or a list of them"
            named = check_items("hotspot.hosts", hosts, allowed)
            if not named:
                raise config_error("hotspot.hosts", hosts, "must name at least one host")
            listed = tuple(check_integer("hotspot.hosts", host, 0, _MAX_INT) for host in named)
            object.__setattr__(self, "hosts", listed)
        else:
            object.__setattr__(self, "hosts", check_integer("hotspot.hosts", hosts, 1, _MAX_INT))

    def arguments(self) -> dict[str, Any]:
        hosts = list(self.hosts) if isinstance(self.hosts, tuple) else self.hosts
        return {"hosts": hosts, "fraction": self.fraction}

    @property
    def spec(self) -> str:
        return spell(self.name, self.arguments())


@dataclasses.dataclass(frozen=True, slots=True)
class Tornado(Pattern):
    """Each host of group G sends to the host of its own index in group G + floor(g/2).

    Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2, with
    groups as the nodes of the ring.
    """

    name: ClassVar[str] = "tornado"


@dataclasses.dataclass(frozen=True, slots=True)
class LiaC1(Pattern):
    """Four areas of consecutive hosts, 25 % each, that keep to themselves: uniform, adv+1, adv+h, advc.

    Source: Benito et al. (LIA), TACO 2025, section 6.4 (C1). The paper does not say which hosts form an area;
    that they are consecutive, and that group offsets count an area's own groups, is our assumption.
    """

    name: ClassVar[str] = "lia-c1"


@dataclasses.dataclass(frozen=True, slots=True)
class LiaC2(Pattern):
    """Two interleaved areas that keep to themselves: odd hosts adv+1, even hosts adv+h.

    Source: Benito et al. (LIA), TACO 2025, section 6.4 (C2).
    """

    name: ClassVar[str] = "lia-c2"
