"""Training of a mixture of experts: all-to-all exchanges with uneven shares."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Iterator
from typing import ClassVar

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import choice, integer, real
from dragonfly_env.jobs.collectives import alltoallv
from dragonfly_env.jobs.models import MODELS
from dragonfly_env.jobs.operations import Operation, compute
from dragonfly_env.jobs.programs.llm import BYTES, Llm


@functools.lru_cache(maxsize=4096)
def expert_shares(experts: int, members: int, skew: float, layer: int) -> tuple[float, ...]:
    """Shares of the tokens that each of ``members`` accelerators gets: the k-th most popular expert gets a share in
    proportion to k^-skew (Zipf). Which expert is popular is random, anew in each layer; accelerators have equal numbers
    of experts.

    Args:
        experts: Experts of the layer.
        members: Accelerators that have them.
        skew: Exponent; 0: equal shares.
        layer: Number of the layer.
    """
    loads = [(k + 1) ** -skew for k in range(experts)]
    random.Random(f"experts of layer {layer}").shuffle(loads)
    each = experts // members
    total = sum(loads)
    return tuple(sum(loads[i * each : (i + 1) * each]) / total for i in range(members))


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Moe(Llm):
    """Step of training of a model whose layers have experts, spread over ``ep`` accelerators: as `Llm`, with two
    all-to-all exchanges in each layer and direction.

    Every accelerator sends each token to ``active`` experts, ``hidden * 2`` bytes each: to one with a share of the load
    ``share * active * tokens * hidden * 2 / tp`` bytes, and gets as many back. An expert computes for as many tokens as
    it gets. Tokens go to experts of the ranks of ``ep`` copies that follow each other; the gradients of experts are
    reduced over ``dp / ep`` accelerators, those of attention and shared experts over all ``dp``. All layers have
    experts, also those that are dense in the model.

    Source: expert parallelism from Lepikhin et al., GShard, ICLR 2021, section 3; Rajbhandari et al., DeepSpeed-MoE,
    ICML 2022, section 5; Zipf loads are an assumption.

    Example:
        >>> moe = dfe.jobs.Moe(dp=8, ep=8, layers=2, skew=0.5)
        >>> dfe.Job(moe).num_hosts, round(sum(moe.shares(0, 8)), 12)
        (8, 1.0)
    """

    name: ClassVar[str] = "moe"
    summary: ClassVar[str] = "training of a mixture of experts: uneven all-to-all, all-reduces"
    source: ClassVar[str] = "GShard, ICLR 2021; DeepSpeed-MoE, ICML 2022; papers of the models"
    known: ClassVar[tuple[str, ...]] = tuple(name for name, model in MODELS.items() if model.experts)

    model: str = choice("deepseek-moe-16b", tuple(MODELS), doc="Shape of the model.")
    ep: int | None = integer(
        None,
        1,
        4096,
        optional=True,
        doc="Accelerators that share the experts of a layer; None: the most that divide dp and the experts.",
    )
    skew: float = real(0.0, 0.0, 4.0, doc="Exponent of the Zipf distribution of tokens over experts.")

    def check(self, hosts: int) -> None:
        Llm.check(self, hosts)
        copies, ep = self.copies(hosts), self.spread(hosts)
        if copies % ep or self.shape.experts % ep:
            raise config_error(
                "ep", ep, f"must divide dp = {copies} and the number of experts, {self.shape.experts}"
            )

    def spread(self, ranks: int) -> int:
        """Accelerators that share the experts of a layer.

        Args:
            ranks: Number of ranks of the job.
        """
        copies = self.copies(ranks)
        return self.ep or max(
            ep for ep in range(1, copies + 1) if copies % ep == 0 == self.shape.experts % ep
        )

    def shares(self, layer: int, ranks: int) -> tuple[float, ...]:
        """Shares of the tokens that each of ``ep`` accelerators gets in a layer.

        Args:
            layer: Number of the layer.
            ranks: Number of ranks of the job.
        """
        return expert_shares(self.shape.experts, self.spread(ranks), self.skew, layer)

    def gradient_bytes(self, layer: int) -> int:
        return self._share(self.shape.attention + self.shape.shared * self.shape.expert)

    def expert_gradient_bytes(self, ranks: int) -> int:
        """Bytes of the gradients of an accelerator's experts in a layer.

        Args:
            ranks: Number of ranks of the job.
        """
        return self._share(self.shape.experts // self.spread(ranks) * self.shape.expert)

    def _layer_ns(self, passes: float) -> tuple[float, float]:
        shape = self.shape
        routed = shape.expert_flops(self.tokens * shape.active, passes)
        return self._ns(shape.attention_flops(self.tokens, passes)), self._ns(routed)

    def _layer(self, rank: int, ranks: int, layer: int, passes: float, stretch: float) -> Iterator[Operation]:
        alike_ns, routed_ns = self._layer_ns(passes)
        shares = self.shares(layer, ranks)
        first, place = self._experts_of(rank, ranks)
        members = range(first, first + len(shares) * self.tp, self.tp)
        token_bytes = self.tokens * self.shape.active * self.shape.hidden * BYTES / self.tp
        size = [self.scaled(share * token_bytes) for share in shares]
        yield compute(alike_ns * stretch)
        yield from alltoallv(rank, members, lambda to: size[(to - first) // self.tp], name="dispatch")
        yield compute(routed_ns * stretch * shares[place] * len(shares))
        yield from alltoallv(rank, members, size[place], name="combine")

    def _reduce(self, rank: int, ranks: int, layer: int, copies: range) -> Iterator[Operation]:
        yield from Llm._reduce(self, rank, ranks, layer, copies)
        ep = self.spread(ranks)
        alike = copies[copies.index(rank) % ep :: ep]
        if len(alike) > 1:
            yield from self._allreduce(rank, alike, self.expert_gradient_bytes(ranks), "experts")

    def _experts_of(self, rank: int, ranks: int) -> tuple[int, int]:
        """The first rank of the group that shares experts, and the place of a rank among them."""
        copy = rank // self.tp % self.copies(ranks)
        place = copy % self.spread(ranks)
        return rank - place * self.tp, place
