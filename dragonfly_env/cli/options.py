"""Options of commands that belong to no record of the library, and how the runs of a command are done."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import typer

from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import check_integer, check_text, config_error, parse_time, split_items
from dragonfly_env.cli.commands import option
from dragonfly_env.config.rows import (
    MACHINE,
    TIME,
    Flag,
    Record,
    as_typed,
    boolean,
    integer,
    setting,
    values_of,
)
from dragonfly_env.errors import ConfigError

Item = TypeVar("Item")


def joined(items: list[list[Item]] | None) -> list[Item] | None:
    """The items of an option that was repeated, in one list."""
    return [item for some in items for item in some] if items else None


def items(flags: str, text: str, panel: str | None = None, *, split: Any = split_items, **more: Any) -> Any:
    """An option that may be repeated, and takes several items separated by commas."""
    return option(flags, text, panel, parser=split, callback=joined, **more)


def read_time(text: str) -> float:
    """A time in ns, for typer."""
    try:
        return parse_time("time", text)
    except ConfigError as error:
        raise typer.BadParameter(vars(error)["allowed"]) from None


def time(flags: str, text: str, panel: str = TIME, **more: Any) -> Any:
    """An option that is a time."""
    return option(flags, text, panel, parser=read_time, metavar="TIME", **more)


def split_numbers(text: str) -> list[int]:
    """Split ``"1,2,5:7"`` into whole numbers: 1, 2, 5, 6 and 7."""
    numbers: list[int] = []
    try:
        for part in text.split(","):
            if part.strip():
                first, _, last = part.partition(":")
                numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        raise typer.BadParameter("must be whole numbers such as 1,2,3 or 1:10") from None
    return numbers


AsJson = Annotated[bool, option("--json", "Print one JSON object instead of tables.", MACHINE)]
ResultsFolder = Annotated[
    Path | None, option("--out -o", "The results folder.", MACHINE, default="results/SCENARIO")
]
DryRun = Annotated[bool, option("--dry-run", "Check and count the runs; simulate none.", MACHINE)]
Plots = Annotated[bool, option("--plots/--no-plots", "Draw figures, write the page.", MACHINE)]
Full = Annotated[bool, option("--full/--quick", "As published (hours), or small and short.", TIME)]
SeedCount = Annotated[
    int | None, option("--seeds", "Seeds per run; from 2 on there are intervals.", TIME, metavar="N")
]


def _check_share(row: str, value: object) -> str:
    number, _, count = str(value).partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise config_error(row, value, "must be I/N with I from 1 to N, such as 3/20")
    return str(value)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Work(Record):
    """Options that say how the runs of a command are done: arguments of `run_all`."""

    called: ClassVar[str] = "work"
    workers: int | None = integer(
        None,
        1,
        4096,
        optional=True,
        doc="Runs at a time.",
        flags=(Flag("--workers -j", "Runs at a time.", MACHINE, "N", "one per processor"),),
    )
    force: bool = boolean(
        False,
        doc="Whether finished runs are repeated.",
        flags=(Flag("--force", "Repeat finished runs; take over another's folder.", MACHINE, ""),),
    )
    share: str = setting(
        "1/1",
        _check_share,
        "",
        "Share of the runs that this process does.",
        flags=(
            Flag(
                "--share",
                "Only every N-th run, from the I-th on: job arrays.",
                MACHINE,
                "I/N",
                read=as_typed,
            ),
        ),
    )
    backend: str = setting(
        "loky",
        check_text,
        "",
        "Processes that do the runs: of this machine, or of a cluster.",
        flags=(Flag("--backend", "loky (this machine), ray or dask.", MACHINE, usual="loky", read=as_typed),),
    )
    address: str | None = setting(
        None,
        check_text,
        "",
        "The cluster.",
        optional=True,
        flags=(
            Flag("--address", "HOST:PORT (Ray) or tcp://HOST:8786 (Dask).", MACHINE, "URL", read=as_typed),
        ),
    )

    def __post_init__(self) -> None:
        from dragonfly_env.sweeps.runner import check_backend  # joblib takes a while

        Record.__post_init__(self)
        check_backend(self.backend, self.address)

    def arguments(self) -> dict[str, Any]:
        """The arguments of `run_all`."""
        number, _, count = self.share.partition("/")
        return {**values_of(self), "share": (int(number), int(count))}


def suite_folder(out: Path | None, name: str, seeds: int | None) -> Path:
    """The results folder of a paper or a suite, whose runs are laid down; checks the number of seeds."""
    if seeds is not None:
        check_integer("seeds", seeds, 1, 1000)
    return check_folder("--out", out or Path("results") / name)
