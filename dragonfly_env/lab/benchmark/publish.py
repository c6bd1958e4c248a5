"""``python -m dragonfly_env.lab.benchmark.publish``: put the runs of published policies into the package.

For maintainers. The table that it writes is part of the repository, and `Benchmark` takes results from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

import dragonfly_env as dfe
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.measured import Measured, measured_of
from dragonfly_env.lab.benchmark.reference_results import (
    Key,
    ReferenceResult,
    read_references,
    table_of,
    write_references,
)
from dragonfly_env.lab.benchmark.suite import EFFORTS, Suite, find_suite
from dragonfly_env.sweeps.results import is_done, read_runs
from dragonfly_env.sweeps.scenario import parse_policy_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The table with a folder's results; runs added, confirmed, and dropped because no case has them."""

    results: dict[Key, ReferenceResult]
    added: int
    confirmed: int
    dropped: int

    def describe(self) -> str:
        """Describe the merge in one line."""
        return (
            f"{len(self.results):,} runs: {self.added:,} added, {self.confirmed:,} confirmed, "
            f"{self.dropped:,} dropped that no case has any more"
        )


def publish(folder: Path, suite: Suite, known: Mapping[Key, ReferenceResult]) -> Publication:
    """Join the results of a suite's published policies in a folder to what is published. Nothing is written.

    Quick and full cases count, with all seeds that the folder has.
    """
    names = sorted(file.stem for file in folder.glob("runs/*.parquet"))
    rows = {name: read_runs(folder, [name]).to_pylist()[0] for name in names if is_done(folder, name)}
    joined: dict[Key, ReferenceResult] = {}
    read: set[Key] = set()
    policies = [parse_policy_choice(spec) for spec in (*suite.reference_specs, *suite.shown_specs)]
    cases = (
        (track, effort, case) for track in suite.tracks for effort in EFFORTS for case in track.cases[effort]
    )
    for (track, effort, case), (label, policy) in itertools.product(cases, policies):
        point = case.point(label, policy)
        for seed in sorted(
            {*(row["seed"] for row in rows.values()), *(result.seed for result in known.values())}
        ):
            run_id = point.run(seed).id
            key = (run_id, track.quantity, track.after_ns)
            published = known.get(key)
            if published is not None:
                joined[key] = published
            if run_id not in rows:
                continue
            measured = measured_of(track, case, rows[run_id])
            if published is not None and not published.same_as(measured):
                raise config_error(
                    f"run {run_id}",
                    measured,
                    f"must be {Measured.__repr__(published)}, which is published for {published.describe()}; if the "
                    "core gives other results now, do all runs again and publish them with --replace",
                )
            read.add(key)
            if published is None or not published.link_class:
                joined[key] = ReferenceResult(
                    track=track.name,
                    effort=effort,
                    case=case.name,
                    policy=label,
                    seed=seed,
                    run_id=run_id,
                    quantity=track.quantity,
                    after_ns=track.after_ns,
                    **asdict(measured),
                    package_version=dfe.__version__,
                )
    if not read:
        allowed = f"must hold finished runs of reference policies of {suite.name}, made by {dfe.__version__}"
        raise config_error("folder", str(folder), allowed)
    return Publication(
        results=joined,
        added=len(joined.keys() - known.keys()),
        confirmed=len(read & known.keys()),
        dropped=len(known.keys() - joined.keys()),
    )


def main(
    folder: Annotated[
        Path | None, typer.Argument(help="A results folder of 'dragonfly-env benchmark --rerun-references'.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Whose runs they are.")] = "dragonfly-v3",
    afresh: Annotated[
        bool, typer.Option("--replace", help="Forget what is published: the table is this folder's alone.")
    ] = False,
    forget: Annotated[
        list[str] | None,
        typer.Option(help="A policy whose published runs are dropped first: its weights have changed."),
    ] = None,
) -> None:
    """Add the finished runs of reference policies in a folder to the published results that come with the package.

    A run that is published already must have the same values. A run does not name the weights of a network that comes
    with the package, so runs of former weights must be dropped before the new weights are measured: --forget NAME.
    """
    try:
        chosen = find_suite(suite)
        file = table_of(chosen.name)
        known = {} if afresh else read_references(file)
        kept = {key: result for key, result in known.items() if result.policy not in (forget or ())}
        if folder is not None:
            publication = publish(folder, chosen, kept)
            kept = publication.results
            typer.echo(publication.describe())
        write_references(kept.values(), file)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"{file}: {len(kept):,} runs")


if __name__ == "__main__":
    typer.run(main)
