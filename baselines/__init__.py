"""Routing policies in NumPy, to be read: a short file each, equal to the core bit for bit
(installed as ``dragonfly_env.baselines``).

``dfe.make_policy(name).act(batch)`` calls the function here with the policy's parameters. ``MlpNetwork`` is the network
of the policy ``mlp``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from dragonfly_env.baselines import lia, minimal, mlp, par, ugal, valiant
from dragonfly_env.baselines.mlp_network import MlpNetwork
from dragonfly_env.decisions.batch import IntArray

__all__ = ["RULES", "MlpNetwork"]

RULES: Mapping[str, Callable[..., IntArray]] = {
    "min": minimal.act,
    **{name: partial(valiant.act, kind=kind) for name, kind in valiant.KINDS.items()},
    "ugal-g": partial(ugal.act, kind="lg"),
    "ugal-n": partial(ugal.act, kind="lgl"),
    "par": par.act,
    "lia": lia.act,
    "mlp": mlp.act,
    **{name: partial(mlp.act, weights=file) for name, file in mlp.SHIPPED.items()},
}
"""The functions by the name of the policy: ``RULES[name](batch, **parameters)`` returns (N,) actions."""
