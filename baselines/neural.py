"""The trained network that comes with the package."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path
from typing import Any, ClassVar

from dragonfly_env.baselines._scoring_policy import ScoringPolicy
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.policies import NamedVariants, parameter

_FOLDER = Path(__file__).resolve().parent / "weights"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Neural(ScoringPolicy):
    """A small neural network that comes with its weights scores a shortest path and detours of four kinds.

    It was trained on a mixture of scenarios that has nothing unseen of the suite ``dragonfly-v1``, and scores one
    candidate path after the other with the same weights, so it runs on every size of system. What it sees has no size
    in it either: occupancies of the router's own port and of the global link by which the path leaves the group, the
    time that the path takes on idle links, how much the group offers to the destination group, which links its packets
    crossed lately and how full those make them, what acknowledgements tell, and how long the packet has waited. How it
    was trained, how good it is and where it fails: ``docs/neural.md``.

    Source: this project.
    """

    variants: ClassVar[NamedVariants] = {"neural-v1": {}}
    source: ClassVar[str] = "this project"

    avoid_destination_group: bool | None = parameter()

    @property
    def name(self) -> str:
        """``"neural-v1"``."""
        return "neural-v1"

    @property
    def network(self) -> MlpNetwork:
        """The network with its weights."""
        return _shipped(self.name)

    @property
    def training_cpu_s(self) -> float:
        """CPU-seconds of the rounds of its training, without references and validation."""
        return float(_facts(self.name)["cpu_seconds_of_rounds"])


@functools.cache
def _shipped(name: str) -> MlpNetwork:
    return MlpNetwork.load(_FOLDER / f"{name}.npz")


@functools.cache
def _facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return facts
