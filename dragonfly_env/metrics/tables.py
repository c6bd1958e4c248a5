"""Tables of measurements: columns of equal length, as arrays, data frames and Parquet files."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import require_analysis
from dragonfly_env.checks.files import open_output

if TYPE_CHECKING:
    import pandas as pd

_Self = TypeVar("_Self", bound="Table")


class Table:
    """Base of frozen dataclasses whose fields are columns."""

    __slots__ = ()

    def sealed(self: _Self) -> _Self:
        """Itself, its columns read-only."""
        for column in Table.to_dict(self).values():
            column.setflags(write=False)
        return self

    def __len__(self) -> int:
        return len(next(iter(Table.to_dict(self).values())))

    def __getitem__(self: _Self, rows: npt.NDArray[Any]) -> _Self:
        """Some rows, by a mask or by their numbers."""
        columns = {name: column[rows] for name, column in Table.to_dict(self).items()}
        return type(self)(**columns).sealed()

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name, as ``pandas.DataFrame`` and ``pyarrow.table`` take them."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        return {field.name: getattr(self, field.name) for field in fields}

    def to_frame(self) -> pd.DataFrame:
        """The table as a data frame."""
        require_analysis("to_frame()")
        import pandas as pd  # half a second, and most users of metrics do not need it

        return pd.DataFrame(self.to_dict())

    def to_parquet(self, path: str | Path) -> None:
        """Write the table.

        Args:
            path: The file to write.
        """
        write_table(self.to_dict(), path)


def known(value: float) -> float | None:
    """A number as JSON has it: None where there is no value."""
    return None if math.isnan(value) else value


def read_only(values: Any, kind: type[np.generic] = np.int64) -> npt.NDArray[Any]:
    """A read-only copy."""
    array = np.array(values, kind)
    array.setflags(write=False)
    return array


def write_table(
    columns: Mapping[str, npt.NDArray[Any]], path: str | Path, about: Mapping[str, str] | None = None
) -> None:
    """Write columns as a Parquet file."""
    require_analysis("a Parquet file")
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(np.asarray(column)) for name, column in columns.items()})
    if about:
        table = table.replace_schema_metadata(dict(about))
    with open_output(Path(path)) as file:
        pq.write_table(table, file, compression="zstd", write_page_checksum=True)
