"""Prints what an extra of pyproject.toml requires, as pip takes it.

Usage: python .ci/extra.py name
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if __name__ == "__main__":
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    print(*pyproject["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
