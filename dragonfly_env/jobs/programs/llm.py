"""Training of a dense language model: pipelines, tensor and data parallelism."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import ClassVar

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.rows import boolean, choice, integer, real
from dragonfly_env.jobs.collectives import allreduce, ring_allreduce, tree_allreduce
from dragonfly_env.jobs.models import MODELS, TFLOPS, Model
from dragonfly_env.jobs.operations import Operation, compute, receive, send, wait
from dragonfly_env.jobs.program import Motif

BYTES = 2
"""Bytes of an activation, and of a gradient: bfloat16."""
_FORWARDS, _BACKWARDS = 2.0, 4.0  # operations per parameter and token

ALLREDUCES: dict[str, Callable[..., Iterator[Operation]]] = {
    "ring": ring_allreduce,
    "tree": tree_allreduce,
    "recursive-doubling": allreduce,
}
"""Algorithms of all-reduces by name."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Llm(Motif):
    """Step of training on ``dp * tp * pp`` accelerators, a host each: a pipeline of ``pp`` stages in the order
    1F1B, with layers split over ``tp`` accelerators, and an all-reduce of the gradients over ``dp`` copies.

    A stage receives activations, computes its layers, and sends activations of ``micro_batch * sequence * hidden * 2 /
    tp`` bytes to the next stage; backwards as many in gradients. After that, the gradients of each layer and of the
    embeddings, 2 bytes per parameter of the accelerator, are reduced one layer after the other, and do not overlap with
    computation. A layer has two all-reduces over ``tp`` in each direction, of ``micro_batch * sequence * hidden * 2``
    bytes, if ``tp_network`` is true; otherwise these stay inside a node and take no time.

    Computing takes the operations of `dragonfly_env.jobs.models` over ``efficiency`` times the peak of the accelerator.
    ``scale`` shrinks messages and computing times alike, so their ratio stays. Rank: ``(stage * dp + copy) * tp +
    slice``.

    Source: 1F1B and its bytes from Narayanan et al., Megatron-LM, SC 2021, sections 2.2 and 4.1 (44 to 52 % of the peak
    in table 1); tensor parallelism from Shoeybi et al., arXiv:1909.08053, section 3.

    Example:
        >>> llm = dfe.jobs.Llm(dp=2, pp=4, scale=0.001)
        >>> job = dfe.Job(llm)
        >>> job.num_hosts, round(llm.gap(8))
        (8, 387256)
    """

    name: ClassVar[str] = "llm"
    summary: ClassVar[str] = "training of a language model: pipeline, tensor and data parallelism"
    source: ClassVar[str] = "Megatron-LM, SC 2021; papers of the models"
    least_hosts: ClassVar[int] = 2
    known: ClassVar[tuple[str, ...]] = tuple(name for name, model in MODELS.items() if not model.experts)

    model: str = choice("llama-7b", tuple(MODELS), doc="Shape of the model.")
    dp: int | None = integer(
        None, 1, 65_536, optional=True, doc="Copies of the model; None: as many as the hosts allow."
    )
    tp: int = integer(1, 1, 64, doc="Accelerators that share a layer.")
    pp: int = integer(1, 1, 64, doc="Stages of the pipeline.")
    micro_batches: int = integer(8, 1, 4096, doc="Micro-batches of a step, for each copy.")
    micro_batch: int = integer(1, 1, 1024, doc="Sequences of a micro-batch.")
    layers: int | None = integer(
        None,
        1,
        1024,
        optional=True,
        doc="Layers, to run a part of the model, with as large a part of the embeddings; None: all of them.",
    )
    accelerator: str = choice("h100", tuple(TFLOPS), doc="Accelerator that computes.")
    efficiency: float = real(0.45, 0.01, 1.0, doc="Share of the accelerator's peak that is reached.")
    collective: str = choice("ring", tuple(ALLREDUCES), doc="Algorithm of the all-reduces.")
    tp_network: bool = boolean(False, doc="Whether all-reduces over tp use the network.")

    def __post_init__(self) -> None:
        Motif.__post_init__(self)
        if self.model not in self.known:
            raise config_error(
                "model", self.model, f"must be one of {', '.join(self.known)} for {self.name!r}"
            )

    @property
    def shape(self) -> Model:
        """Shape of the model."""
        return MODELS[self.model]

    @property
    def tokens(self) -> int:
        """Tokens of a micro-batch."""
        return self.micro_batch * self.shape.sequence

    def num_hosts(self) -> int | None:
        return None if self.dp is None else self.dp * self.tp * self.pp

    def copies(self, ranks: int) -> int:
        """Number of copies of the model.

        Args:
            ranks: Number of ranks of the job.
        """
        return ranks // (self.tp * self.pp)

    def check(self, hosts: int) -> None:
        Motif.check(self, hosts)
        if self.dp is not None and hosts != self.num_hosts():
            raise config_error("hosts", hosts, f"must be dp * tp * pp = {self.num_hosts()}, or left out")
        if hosts % (self.tp * self.pp):
            raise config_error("hosts", hosts, f"must be a multiple of tp * pp = {self.tp * self.pp}")
        if self.num_layers < self.pp:
            raise config_error("pp", self.pp, f"must be at most the number of layers, {self.num_layers}")

    @property
    def num_layers(self) -> int:
        """Layers that are run."""
        return self.layers or self.shape.layers

    def layers_of(self, stage: int) -> range:
        """Layers of a stage, as even as can be.

        Args:
            stage: Number of the stage.
        """
        return range(self.num_layers * stage // self.pp, self.num_layers * (stage + 1) // self.pp)

    def gap(self, ranks: int) -> float:
        """Computing time of an accelerator of the first stage in a step, in ns: without ``gap_ns``, from its
        operations.

        Args:
            ranks: Number of ranks of the job.
        """
        return self._step_ns() if self.gap_ns is None else self.gap_ns

    def gradient_bytes(self, layer: int) -> int:
        """Bytes of the gradients of a layer that an accelerator has in copies of the model.

        Args:
            layer: Number of the layer.
        """
        return self._share(self.shape.attention + self.shape.expert)

    def _share(self, parameters: float) -> int:
        return self.scaled(parameters * BYTES / self.tp)

    def _ns(self, flops: float) -> float:
        """Time of operations that ``tp`` accelerators share."""
        return self.scale * flops / (self.tp * self.efficiency * TFLOPS[self.accelerator]) * 1e-3

    def _layer_ns(self, passes: float) -> tuple[float, float]:
        """Times of a layer's two parts."""
        shape = self.shape
        flops = shape.attention_flops(self.tokens, passes), shape.expert_flops(self.tokens, passes)
        return self._ns(flops[0]), self._ns(flops[1])

    def _step_ns(self) -> float:
        each = sum(self._layer_ns(_FORWARDS)) + sum(self._layer_ns(_BACKWARDS))
        return each * len(self.layers_of(0)) * self.micro_batches

    def operations(self, rank: int, ranks: int) -> Iterator[Operation]:
        copies = self.copies(ranks)
        stage, place = divmod(rank, copies * self.tp)
        copy = place // self.tp
        size = self._share(self.tokens * self.shape.hidden)
        before, behind = rank - copies * self.tp, rank + copies * self.tp
        stretch = 1.0 if self.gap_ns is None or not self._step_ns() else self.gap_ns / self._step_ns()

        def pass_on(passes: float, source: int | None, target: int | None) -> Iterator[Operation]:
            if source is not None:
                label = f"from {source}"
                yield receive(source, label=label)
                yield from wait(label, name="pipeline")
            for layer in self.layers_of(stage):
                yield from self._layer(rank, ranks, layer, passes, stretch)
            if target is not None:
                yield send(target, size, f"from {rank}")

        ahead = min(self.pp - stage - 1, self.micro_batches)
        order = "F" * ahead + "FB" * (self.micro_batches - ahead) + "B" * ahead
        up = before if stage > 0 else None
        down = behind if stage < self.pp - 1 else None
        for kind in order:
            yield from pass_on(_FORWARDS, up, down) if kind == "F" else pass_on(_BACKWARDS, down, up)
        first = rank - copy * self.tp
        if copies == 1:
            return
        everyone = range(first, first + copies * self.tp, self.tp)
        for layer in self.layers_of(stage):
            yield from self._reduce(rank, ranks, layer, everyone)
        ends = (stage == 0) + (stage == self.pp - 1)
        embedding = self.shape.embedding * self.num_layers / self.shape.layers
        for _ in range(ends):
            yield from self._allreduce(rank, everyone, self._share(embedding), "gradients")

    def _layer(self, rank: int, ranks: int, layer: int, passes: float, stretch: float) -> Iterator[Operation]:
        """A layer of a micro-batch, forwards or backwards."""
        first = rank - rank % self.tp
        for time_ns in self._layer_ns(passes):
            yield compute(time_ns * stretch)
            if self.tp_network and self.tp > 1:
                size = self.scaled(self.tokens * self.shape.hidden * BYTES)
                yield from self._allreduce(rank, range(first, first + self.tp), size, "activations")

    def _reduce(self, rank: int, ranks: int, layer: int, copies: range) -> Iterator[Operation]:
        """The all-reduce of a layer's gradients."""
        yield from self._allreduce(rank, copies, self.gradient_bytes(layer), "gradients")

    def _allreduce(self, rank: int, members: range, num_bytes: int, name: str) -> Iterator[Operation]:
        return ALLREDUCES[self.collective](rank, members, num_bytes, name=name)
