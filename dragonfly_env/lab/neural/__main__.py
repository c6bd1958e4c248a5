"""``python -m dragonfly_env.lab.neural``: train a policy like ``neural-v2`` from scratch."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from dragonfly_env.checks.values import unknown_name
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark import find_suite
from dragonfly_env.lab.neural.mixture import own_mixture
from dragonfly_env.lab.neural.network import SCALES
from dragonfly_env.lab.neural.settings import RECIPES, TrainingSettings
from dragonfly_env.lab.neural.training import train_network


def train(
    recipe: Annotated[
        str, typer.Option(help=f"Whose settings hold where none are given: {', '.join(RECIPES)}.")
    ] = "neural-v2",
    out: Annotated[Path, typer.Option("--out", "-o", help="Where all steps and the result go.")] = Path(
        "results/neural"
    ),
    workers: Annotated[
        int, typer.Option(help="Scenarios that run at a time; the result is the same.", min=1)
    ] = 1,
    suite: Annotated[str, typer.Option(help="A scenario of its test split is refused.")] = "dragonfly-v1",
    rounds: Annotated[int | None, typer.Option(help="Of predicting delivery times.")] = None,
    generations: Annotated[int | None, typer.Option(help="Of the evolution strategy.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.")] = None,
    scope: Annotated[str | None, typer.Option(help="Which routers decide.")] = None,
    nonminimal_candidates: Annotated[
        int | None, typer.Option(help="Non-minimal paths of each kind that are drawn while training.")
    ] = None,
    nonminimal_penalty: Annotated[
        float | None,
        typer.Option(
            help="Tried with the best network in the end: a non-minimal path counts e^penalty times as long where the "
            "group's packets take all that its global links carry; 0: not tried."
        ),
    ] = None,
    second_stage_candidates: Annotated[
        list[int] | None,
        typer.Option(
            help="Non-minimal paths of each kind that are tried with the best network in the end, the further ones "
            "in the second stage; repeat."
        ),
    ] = None,
    hosts: Annotated[
        list[int] | None, typer.Option(help="Train on scenarios of this size only; repeat.")
    ] = None,
    patterns: Annotated[
        list[str] | None,
        typer.Option("--pattern", help="Train on scenarios of this pattern or workload only; repeat."),
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="A feature that it does not see; repeat.")] = None,
    also: Annotated[
        list[str] | None, typer.Option("--with", help=f"A further feature of {', '.join(SCALES)}; repeat.")
    ] = None,
) -> None:
    """Train a network on the mixture of the package. The same command goes on where it was stopped."""
    given: dict[str, Any] = {
        "rounds": rounds,
        "generations": generations,
        "seed": seed,
        "scope": scope,
        "nonminimal_candidates": nonminimal_candidates,
        "nonminimal_penalty": nonminimal_penalty,
        "second_stage_candidates": second_stage_candidates,
        "hosts": hosts,
        "patterns": patterns,
    }
    try:
        if recipe not in RECIPES:
            raise unknown_name("recipe", recipe, tuple(RECIPES))
        settings = _changed(RECIPES[recipe], given, without or [], also or [])
        mixture = own_mixture(find_suite(suite), applications=settings.applications)
        typer.echo(f"written: {train_network(mixture, out, settings, typer.echo, workers)}")
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def _changed(
    recipe: TrainingSettings, given: dict[str, Any], without: list[str], also: list[str]
) -> TrainingSettings:
    features = (*(name for name in recipe.features if name not in without), *also)
    changes = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(recipe, features=features, **changes)


if __name__ == "__main__":
    typer.run(train)
