"""Language models and accelerators: published shapes, and what follows from them: parameters and operations.

Parameters of a layer: attention has h^2 for queries, as much for the output, and h * h_kv each for keys and values; a
feed-forward network has two matrices of h x f, three if it is gated. Embeddings at both ends have h times the
vocabulary. Norms, biases and routers, below 0.1 %, are left out. Training takes 6 N + 12 L h s floating-point
operations per token of a sequence of s tokens, with N active parameters in L layers, one third of them forwards
(Chowdhery et al., PaLM, JMLR 2023, appendix B).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Shape of a transformer."""

    layers: int
    hidden: int
    kv_hidden: int
    """Width of keys and of values; ``hidden`` without grouped queries."""
    feed_forward: int
    """Inner width of the feed-forward network; of an expert if there are experts."""
    gated: bool
    vocabulary: int
    sequence: int
    """Tokens of a training sequence."""
    source: str
    experts: int = 0
    """Routed experts per layer; 0: the model is dense."""
    active: int = 0
    """Routed experts that a token takes."""
    shared: int = 0
    """Experts that all tokens take."""
    dense_layers: int = 0
    """Layers without experts, at the begin."""
    dense_feed_forward: int = 0
    """Inner width in these layers."""

    @property
    def attention(self) -> int:
        """Parameters of the attention of a layer."""
        return 2 * self.hidden * (self.hidden + self.kv_hidden)

    @property
    def expert(self) -> int:
        """Parameters of an expert, or of a layer's feed-forward network."""
        return self._feed_forward(self.feed_forward)

    @property
    def embedding(self) -> int:
        """Parameters of the embedding at one end."""
        return self.hidden * self.vocabulary

    @property
    def parameters(self) -> int:
        """All of them, with embeddings at both ends."""
        return self._parameters(self.experts + self.shared if self.experts else 1)

    @property
    def active_parameters(self) -> int:
        """Parameters that a token passes."""
        return self._parameters(self.active + self.shared if self.experts else 1)

    def attention_flops(self, tokens: int, passes: float) -> float:
        """Operations of a layer's attention and shared experts: forwards 2 passes, backwards 4."""
        alike = self.attention + self.shared * self.expert
        return tokens * passes * (alike + 2 * self.hidden * self.sequence)

    def expert_flops(self, tokens: float, passes: float) -> float:
        """Operations of a layer's feed-forward network, or of experts, for ``tokens`` of them."""
        return tokens * passes * self.expert

    def _feed_forward(self, width: int) -> int:
        return (3 if self.gated else 2) * self.hidden * width

    def _parameters(self, experts: int) -> int:
        sparse = (self.layers - self.dense_layers) * (self.attention + experts * self.expert)
        dense = self.dense_layers * (self.attention + self._feed_forward(self.dense_feed_forward))
        return sparse + dense + 2 * self.embedding


_LLAMA = "Touvron et al., arXiv:2302.13971, table 2"
MODELS = {
    "llama-7b": Model(
        layers=32,
        hidden=4096,
        kv_hidden=4096,
        feed_forward=11_008,
        gated=True,
        vocabulary=32_000,
        sequence=2048,
        source=_LLAMA,
    ),
    "llama-65b": Model(
        layers=80,
        hidden=8192,
        kv_hidden=8192,
        feed_forward=22_016,
        gated=True,
        vocabulary=32_000,
        sequence=2048,
        source=_LLAMA,
    ),
    "llama2-70b": Model(
        layers=80,
        hidden=8192,
        kv_hidden=1024,
        feed_forward=28_672,
        gated=True,
        vocabulary=32_000,
        sequence=4096,
        source="Touvron et al., arXiv:2307.09288, table 1",
    ),
    "gpt3-175b": Model(
        layers=96,
        hidden=12_288,
        kv_hidden=12_288,
        feed_forward=49_152,
        gated=False,
        vocabulary=50_257,
        sequence=2048,
        source="Brown et al., NeurIPS 2020, table 2.1",
    ),
    "mixtral-8x7b": Model(
        layers=32,
        hidden=4096,
        kv_hidden=1024,
        feed_forward=14_336,
        gated=True,
        vocabulary=32_000,
        sequence=32_768,
        experts=8,
        active=2,
        source="Jiang et al., arXiv:2401.04088, table 1",
    ),
    "deepseek-moe-16b": Model(
        layers=28,
        hidden=2048,
        kv_hidden=2048,
        feed_forward=1408,
        gated=True,
        vocabulary=102_400,
        sequence=4096,
        experts=64,
        active=6,
        shared=2,
        dense_layers=1,
        dense_feed_forward=10_944,
        source="Dai et al., arXiv:2401.06066, section 5.1 and its configuration",
    ),
}

TFLOPS = {"a100": 312.0, "h100": 989.0}
"""Peak of dense matrix products in bfloat16, 10^12 operations per second. Source: NVIDIA's data sheets of the A100 and
the H100 (SXM)."""
