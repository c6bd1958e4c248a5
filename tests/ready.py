"""A policy that runs, for every name of the registry: a policy that needs a file gets an untrained network."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.policy import needs_weights

_folder = tempfile.TemporaryDirectory(prefix="dragonfly-env-tests-")


@functools.cache
def weights_file(**fields: Any) -> str:
    """A file of a small random network; the arguments are those of ``MlpNetwork.random``."""
    folder = Path(tempfile.mkdtemp(dir=_folder.name))
    return str(dfe.baselines.MlpNetwork.random(**fields).save(folder / "mlp"))


@functools.cache
def ready(name: str) -> dfe.Policy:
    """The policy of that name, with its defaults where it has them."""
    if not needs_weights(name):
        return dfe.make_policy(name)
    # Both kinds of actions occur: neither all minimal, nor all on a non-minimal path.
    return dfe.make_policy(name, weights=weights_file(seed=3, scope="every", nonminimal_kinds=("lgl", "lg")))


NETWORKS: tuple[str, ...] = tuple(name for name in dfe.networks() if name != "aries-256")
"""Network presets for tests that take every policy through them; ``aries-256`` is ``aries`` with longer packets."""
