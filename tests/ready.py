"""A policy that runs, for every name of the registry: what needs a file gets one with an untrained network, and what
knows the traffic beforehand one that knows nothing.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.bounds import PathSplit
from dragonfly_env.policies import policy_class

_folder = tempfile.TemporaryDirectory(prefix="dragonfly-env-tests-")


@functools.cache
def weights_file(**fields: Any) -> str:
    """A file of a small random network; the arguments are those of ``MlpNetwork.random``."""
    folder = Path(tempfile.mkdtemp(dir=_folder.name))
    return str(dfe.baselines.MlpNetwork.random(**fields).save(folder / "mlp"))


@functools.cache
def empty_split_file() -> str:
    """A file of a split without a path; ``tests/unit/bounds/test_split.py`` has those with paths."""
    routers, none = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
    split = PathSplit(0, routers, routers, none, np.zeros(0), 0.0)
    return str(split.save(Path(tempfile.mkdtemp(dir=_folder.name)) / "split"))


@functools.cache
def ready(name: str) -> dfe.Policy:
    """The policy of that name, with its defaults where it has them."""
    if name == "static-optimum":  # runs on any topology and under any traffic, by shortest paths
        return dfe.make_policy(name, split=empty_split_file())
    if "weights" not in policy_class(name).needs:
        return dfe.make_policy(name)
    # Of both kinds of answer there are some: neither all minimal, nor all on a non-minimal path.
    return dfe.make_policy(name, weights=weights_file(seed=3, scope="every", nonminimal_kinds=("lgl", "lg")))


NETWORKS: tuple[str, ...] = tuple(name for name in dfe.NetworkConfig.presets() if name != "aries-256")
"""Network presets for tests that take every policy through them; ``aries-256`` is ``aries`` with longer packets."""
