"""Arguments of commands that several tests give, in this process and in processes of their own. Not a test itself."""

from __future__ import annotations

SHORT = ["--warmup-ns", "1000", "--measure-ns", "2000"]
SYSTEM = ["--topology", "72", "-p", "min", "--traffic", "uniform"]
SWEEP = ["sweep", *SYSTEM, "-p", "ugal-n", "-l", "0.2:0.4:0.2", *SHORT]
