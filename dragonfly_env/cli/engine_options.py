"""Options of commands whose runs other machines may do, and the engine that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragonfly_env.checks.values import config_error
from dragonfly_env.cli.options import MACHINE, Option

if TYPE_CHECKING:
    from dragonfly_env.sweeps.engines import Engine

ENGINE = (
    Option(
        "engine",
        Annotated[
            str,
            typer.Option(
                "--engine",
                help="Who does the runs: local (processes of this machine), or ray, dask or slurm: a cluster whose "
                "machines all see the results folder under the same name. Each needs its extra.",
                rich_help_panel=MACHINE,
            ),
        ],
        "local",
    ),
    Option(
        "address",
        Annotated[
            str | None,
            typer.Option(
                "--address",
                help="The cluster: of Ray auto or HOST:PORT, of Dask tcp://HOST:8786; Slurm needs none, and local "
                "tries it without one.",
                rich_help_panel=MACHINE,
            ),
        ],
    ),
    Option(
        "slurm",
        Annotated[
            list[str] | None,
            typer.Option(
                "--slurm",
                metavar="SETTING=VALUE",
                help="What each job requests of Slurm, e.g. --slurm partition=cpu --slurm timeout_min=240; repeat.",
                rich_help_panel=MACHINE,
            ),
        ],
    ),
)


def engine_of(given: Mapping[str, Any]) -> Engine | None:
    """The engine that options name; None for processes of this machine.

    Raises:
        ConfigError: For whatever `find_engine` refuses, or an option of the wrong form.
    """
    from dragonfly_env.sweeps.engines import find_engine

    settings: dict[str, str] = {}
    for text in given["slurm"] or ():
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value.strip()):
            raise config_error("--slurm", text, "must read SETTING=VALUE")
        settings[name.strip()] = value.strip()
    return find_engine(given["engine"], given["address"], settings)
