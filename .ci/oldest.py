"""Prints the oldest versions that pyproject.toml allows, as pip takes them.

Without arguments: constraints for all that has a lower bound, in the build, the package and its extras. What has none
is a development tool, which .ci/constraints.txt pins. With names of extras: what these require.
Bounds to the other side (``<2``) and markers are left out: an exact version says it all.

Usage: python .ci/oldest.py [extra...]
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def oldest(requirements: list[str], *, with_extras: bool) -> list[str]:
    """``name==version`` for each requirement that has a lower bound; constraints must not name extras."""
    lines = set()
    for requirement in map(Requirement, requirements):
        extras = f"[{','.join(sorted(requirement.extras))}]" if with_extras and requirement.extras else ""
        bounds = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        lines.update(f"{requirement.name}{extras}=={version}" for version in bounds)
    return sorted(lines)


def main(names: list[str]) -> None:
    """Print them, one a line."""
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    extras = project["optional-dependencies"]
    groups = [extras[name] for name in names] or [
        pyproject["build-system"]["requires"],
        project["dependencies"],
        *extras.values(),
    ]
    print(*oldest(list(itertools.chain(*groups)), with_extras=bool(names)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
