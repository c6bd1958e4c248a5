"""The policy that knows the traffic beforehand and looks at no queue."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from dragonfly_env import _core
from dragonfly_env import policy_parameters as core
from dragonfly_env.bounds.split import PathSplit, split_of
from dragonfly_env.checks.outside import check_path
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import setting
from dragonfly_env.policies import NamedVariants, Policy

if TYPE_CHECKING:
    from dragonfly_env.simulation.config import SimulationConfig


def _file(field: str, value: object) -> str:
    return str(check_path(field, value))


class _WithSplit(core.StaticOptimum):
    """A place for the probabilities, which are no field."""

    __slots__ = ("_split",)

    _split: PathSplit


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StaticOptimum(_WithSplit):
    """Every source router draws the path of a packet with fixed probabilities that are optimal for the traffic.

    It is omniscient: the probabilities come from the demands of the run (``dragonfly_env.bounds.optimal_split``),
    before the run begins. What it reaches is about the best that any choice can reach which looks at no queue. A policy
    with a lower latency uses what it sees of the present.

    The traffic must have a demand matrix, groups must be all-to-all, and one link must join any two of them. Packets
    inside a group take the shortest path.

    Source: this project; Bertsekas and Gallager, Data Networks, 1992, section 5.4.

    Example:
        >>> policy = dfe.baselines.StaticOptimum()
        >>> config = dfe.SimulationConfig(
        ...     topology="72", traffic="adv+1", load=0.2, policy=policy
        ... )
        >>> dfe.simulate(config, measure_ns=10_000).saturated
        False
    """

    variants: ClassVar[NamedVariants] = {"static-optimum": {}}

    split: str | None = setting(
        None,
        _file,
        "",
        "The probabilities: a file of bounds.PathSplit.save; None: computed for the traffic of the run.",
        True,
    )

    def for_run(self, config: SimulationConfig) -> Policy:
        """This policy with the probabilities for a run.

        Raises:
            ConfigError: If the run has no demand matrix, or several shortest paths between routers; or if the file is
                for another topology.
        """
        ready = dataclasses.replace(self)
        object.__setattr__(ready, "_split", split_of(config) if self.split is None else self._read(config))
        return ready

    def _read(self, config: SimulationConfig) -> PathSplit:
        split = PathSplit.load(str(self.split))
        routers = config.topology.num_routers
        if len(split.sources) and split.num_routers != routers:
            allowed = f"must be made for this topology, which has {routers} routers, not {split.num_routers}"
            raise config_error("split", self.split, allowed)
        return split

    def core_parameters(self) -> dict[str, Any]:
        """The probabilities themselves, once they are known; without them packets take the shortest path."""
        try:
            return {"split": self._split.to_core()}
        except AttributeError:
            return {}

    def to_core(self) -> _core.PolicyRecord:
        """Name and probabilities as the core takes them.

        Raises:
            ConfigError: If they are not known: only the policy of a whole run can compute them.
        """
        if not hasattr(self, "_split"):
            if self.split is None:
                allowed = (
                    "must be the policy of a whole run, whose traffic says the probabilities, or name a file"
                )
                raise config_error("policy", self.name, allowed)
            object.__setattr__(self, "_split", PathSplit.load(self.split))
        return Policy.to_core(self)
