"""A neural network from a file routes packets, in the core."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from dragonfly_env.baselines._mlp_file import FIELD, digest
from dragonfly_env.baselines._scoring_policy import ScoringPolicy
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.checks.outside import check_path
from dragonfly_env.checks.values import check_text, config_error
from dragonfly_env.config.rows import setting
from dragonfly_env.policies import NamedVariants, Policy, parameter

_HOW = (
    "must be the path of a file of weights: a trained deep-q agent writes one by export_mlp(path), "
    "baselines.MlpNetwork(...).save(path) writes any network"
)


def _file(field: str, value: object) -> str:
    if value is None:
        raise config_error(field, value, _HOW)
    return str(check_path(field, value))


class _WithNetwork(ScoringPolicy):
    """A place for what was read from a file, which is no field."""

    __slots__ = ("_network",)

    _network: MlpNetwork


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mlp(_WithNetwork):
    """A multi-layer perceptron scores the legal ports or paths, and the best one is taken (or drawn by a softmax).

    What it sees, where it is asked, and what it chooses among stands in its file, see ``MlpNetwork``. All decisions of
    an instant pass the network together. Sums are added up in one order, in single precision and without fused
    operations, so that a run is the same bits on every machine, for every number of threads, and from Python.

    Source: this project.
    """

    variants: ClassVar[NamedVariants] = {"mlp": {}}
    needs: ClassVar[tuple[str, ...]] = (FIELD,)
    source: ClassVar[str] = "this project"

    weights: str | None = setting(None, _file, "", "The file of the network: its path.", False)
    sha256: str | None = setting(
        None,
        check_text,
        "",
        "Of the file, so that another one is not taken for it; None: whatever is in the file.",
        True,
    )
    avoid_destination_group: bool | None = parameter()

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        self._read()

    def _read(self) -> MlpNetwork:
        network = MlpNetwork.load(str(self.weights))
        found = digest(self.weights)
        if self.sha256 not in (None, found):
            raise config_error(
                "sha256", self.sha256, f"must be that of {self.weights!r}, which is {found}: another file?"
            )
        object.__setattr__(self, "sha256", found)
        object.__setattr__(self, "_network", network)
        return network

    @property
    def network(self) -> MlpNetwork:
        """What was in the file."""
        try:
            return self._network
        except AttributeError:  # unpickled
            return self._read()

    @property
    def name(self) -> str:
        """``"mlp"``."""
        return "mlp"
