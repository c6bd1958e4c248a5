"""Pages of other projects on names in the reference: small inventories, so that a build needs no network.

Sphinx reads inventories as files of its own format; ``write_inventories`` makes them from the tables here.
"""

from __future__ import annotations

import zlib
from pathlib import Path

_SCALARS = ("bool_", "float32", "float64", "generic", "int32", "int64", "uint8", "uint32", "uint64")
PROJECTS = {
    "numpy": (
        "https://numpy.org/doc/stable",
        {
            **{
                f"numpy.{name}": ("class", f"reference/generated/numpy.{name}.html")
                for name in ("dtype", "ndarray", "random.Generator")
            },
            **{f"numpy.{name}": ("class", "reference/arrays.scalars.html") for name in _SCALARS},
            "numpy.typing.ArrayLike": ("data", "reference/typing.html"),
            "numpy.typing.NDArray": ("data", "reference/typing.html"),
        },
    ),
    "gymnasium": (
        "https://gymnasium.farama.org",
        {
            "gymnasium.Env": ("class", "api/env/"),
            "gymnasium.make": ("function", "api/registry/"),
            **{
                f"gymnasium.spaces.{name}": ("class", "api/spaces/fundamental/")
                for name in ("Box", "Discrete", "MultiBinary")
            },
            "gymnasium.spaces.Dict": ("class", "api/spaces/composite/"),
            "gymnasium.spaces.Space": ("class", "api/spaces/"),
        },
    ),
    "pettingzoo": (
        "https://pettingzoo.farama.org",
        {
            "pettingzoo.utils.env.AECEnv": ("class", "api/aec/"),
            "pettingzoo.utils.env.ParallelEnv": ("class", "api/parallel/"),
        },
    ),
}
"""Address of each project, and for each of its names the kind and the page."""


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write an inventory for each project, and return the value of ``intersphinx_mapping``.

    Args:
        folder: Where the files go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, names) in PROJECTS.items():
        head = (
            f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n# zlib-compressed with zlib\n"
        )
        lines = [f"{name} py:{kind} 1 {page}#$ -\n" for name, (kind, page) in names.items()]
        path = folder / f"{project}.inv"
        path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
        mapping[project] = (address, str(path))
    return mapping
