"""Runs the first snippet of the README with the package that is installed, which needs no extra.

Usage: python -I .ci/light_run.py
"""

from __future__ import annotations

import re
from pathlib import Path

if __name__ == "__main__":
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    snippet = re.search(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    if snippet is None:
        raise SystemExit("README.md has no Python snippet")
    exec(compile(snippet[1], "README.md", "exec"), {"__name__": "__main__"})
