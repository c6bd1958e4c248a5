"""The page of the columns of results and the keys of ``--json``."""

from __future__ import annotations

from itertools import groupby

from dragonfly_docs.markdown import GENERATED, code, table
from dragonfly_env.sweeps.columns import COLUMNS

_PAGE = """\
# Columns of results

A sweep writes one row per run, into `runs/<run id>.parquet` and all rows into `results.parquet`. Each file has all
columns of this page in this order, and an unknown value is null, so files of different sweeps fit together:

<!-- no-run -->
```python
import pandas as pd

table = pd.read_parquet(
    ["results/first/results.parquet", "results/second/results.parquet"]
)
```

`load_results` of `dragonfly_env.sweeps` returns the same table without the columns that are null in every row.

`dragonfly-env simulate --json` prints an object. Its key `results` has the measured window and the links of this
page, without the classes of links that the topology lacks; `jobs` is a list of jobs. The other keys of the object are
the run's identifier, its seed and configuration, and the columns of where the run was made.
"""


def column_page() -> str:
    """The page, with a table for each part of the columns."""
    parts = [GENERATED + _PAGE]
    for part, columns in groupby(COLUMNS, key=lambda column: column.part):
        rows = ((code(column.name), column.type, column.unit, column.doc) for column in columns)
        parts += [f"## {part}\n", table(("column", "type", "unit", "meaning"), rows)]
    return "\n".join(parts)
