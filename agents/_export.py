"""A trained network as a policy of the core: the file that ``make_policy("mlp", weights=...)`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines._mlp_file import Layer
from dragonfly_env.checks.values import config_error
from dragonfly_env.envs.options import DETOURS

if TYPE_CHECKING:
    from dragonfly_env.agents._layouts import LayoutFacts


def export_network(path: str | Path, facts: LayoutFacts, layers: list[Layer], **fields: Any) -> Path:
    """Write the file of a network with one output per action that was trained in an environment.

    Args:
        path: Where to; ``.npz`` is added if it is missing.
        facts: The layout of that environment.
        layers: Weights (inputs, outputs) and bias of every layer.
        **fields: Of ``MlpNetwork``: ``action``, ``scope``, ``activation``, ``max_hops``, ...

    Returns:
        The path of the file.

    Raises:
        ConfigError: If the file cannot be written, or the core has no such network.
    """
    features = tuple(dict.fromkeys(_feature(name) for name in facts.names))
    scale = tuple(
        next(unit for name, unit in zip(facts.names, facts.scale, strict=True) if _feature(name) == feature)
        for feature in features
    )
    if fields["scope"] == "all":  # forced hops have one answer, so nothing is lost
        if "traffic" in features:
            raise config_error(
                "scope", "all", "counts other decisions in the feature 'traffic' than 'every' does"
            )
        fields["scope"] = "every"
    if fields["action"] == "path":
        fields.update(_candidates(facts))
    return MlpNetwork(features=features, scale=scale, layers=tuple(layers), scoring="all", **fields).save(
        path
    )


def _feature(column: str) -> str:
    return column.partition("[")[0]


def _candidates(facts: LayoutFacts) -> dict[str, Any]:
    """Which candidate paths there were, as the names of their columns tell: ``candidate_hops[1 lgl]``."""
    columns = [name for name in facts.names if name.startswith("candidate_")]
    if not columns:
        raise config_error(
            "features", facts.names, "must show something of each candidate path to be exported"
        )
    first = _feature(columns[0])
    kinds = [name.rstrip("]").rpartition(" ")[2] for name in columns if _feature(name) == first]
    detours = tuple(kind for kind in dict.fromkeys(kinds) if kind in DETOURS)
    return {
        "detours": detours,
        "minimal_candidates": kinds.count("minimal"),
        "detour_candidates": kinds.count(detours[0]) if detours else 1,
    }
