"""What heuristics reach where an agent is trained: the lines that its learning curve is to be compared with."""

from __future__ import annotations

from collections.abc import Sequence

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds
from dragonfly_env.agents.training import EVALUATION_NS, EVALUATION_SEEDS, EVALUATION_WARMUP_NS
from dragonfly_env.errors import ConfigError, DeadlockError
from dragonfly_env.simulation.config import SimulationConfig

HEURISTICS = ("min", "val-g", "ugal-n", "par", "neural-v1")
"""The strongest under uniform and under adversarial traffic, and the best that is learned."""


def heuristics_on(
    config: SimulationConfig | Sequence[SimulationConfig], names: Sequence[str] = HEURISTICS
) -> dict[str, Evaluation]:
    """Each heuristic, measured as a training's evaluations are; those that cannot run on the network are left out.

    Args:
        config: What the agent is trained on; means over several.
        names: Of the policies.
    """
    measured = {}
    for name in names:
        try:
            measured[name] = evaluate_over_seeds(
                name, config, EVALUATION_SEEDS, warmup_ns=EVALUATION_WARMUP_NS, measure_ns=EVALUATION_NS
            )
        except (ConfigError, DeadlockError):  # too few VCs for it, for example
            continue
    return measured
