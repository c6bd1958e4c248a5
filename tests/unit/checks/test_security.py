"""What SECURITY.md promises and a test can see: no network, no unpickling, pages that need nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.unit.cli_arguments import SWEEP

# Python tells an audit hook what its libraries do, too.
SCRIPT = """
import sys

seen = []

def watch(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.", "pickle.find_class")):
        seen.append((event, arguments))

sys.addaudithook(watch)
from dragonfly_env.cli import app

for arguments in (sys.argv[1:], ["plot", "out", "--kind", "loads", "--table"]):
    try:
        app(arguments)
    except SystemExit as end:
        assert not end.code, end.code
assert not seen, seen
"""

SCRIPTED = "<script>alert(1)</script>"


def test_a_sweep_and_its_figures_use_no_network_and_no_pickles_and_the_page_is_whole(tmp_path: Path) -> None:
    labelled = [f"{SCRIPTED}=min" if argument == "min" else argument for argument in SWEEP]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *labelled, "--out", "out", "--workers", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert SCRIPTED not in page
    assert not re.search(r"""<(script|link|img|iframe)\b[^>]*\b(src|href)\s*=\s*["']?(?!data:)[\w/.]""", page)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
