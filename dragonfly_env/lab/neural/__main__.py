"""``python -m dragonfly_env.lab.neural``: train a policy like ``neural-v1`` from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark import find_suite
from dragonfly_env.lab.neural.mixture import own_mixture
from dragonfly_env.lab.neural.network import FEATURES, SCALES
from dragonfly_env.lab.neural.settings import TrainingSettings
from dragonfly_env.lab.neural.training import train_network

_DEFAULT = TrainingSettings()
_FURTHER = tuple(name for name in SCALES if name not in FEATURES)


def train(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where all steps and the result go.")] = Path(
        "results/neural"
    ),
    suite: Annotated[str, typer.Option(help="A scenario of its test split is refused.")] = "dragonfly-v1",
    rounds: Annotated[int, typer.Option(help="Of prediction delivery times.")] = _DEFAULT.rounds,
    generations: Annotated[int, typer.Option(help="Of the evolution strategy.")] = _DEFAULT.generations,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = _DEFAULT.seed,
    scope: Annotated[str, typer.Option(help="Which routers decide.")] = _DEFAULT.scope,
    nonminimal_candidates: Annotated[
        int, typer.Option(help="Non-minimal paths of each kind that are drawn while training.")
    ] = _DEFAULT.nonminimal_candidates,
    nonminimal_penalty: Annotated[
        float,
        typer.Option(
            help="Tried with the best network in the end: a non-minimal path counts e^penalty times as long where the "
            "group's packets take all that its global links carry; 0: not tried."
        ),
    ] = _DEFAULT.nonminimal_penalty,
    second_stage_candidates: Annotated[
        list[int] | None,
        typer.Option(
            help="Non-minimal paths of each kind that are tried with the best network in the end, the further ones "
            f"in the second stage; repeat. Without it: {', '.join(map(str, _DEFAULT.second_stage_candidates))}."
        ),
    ] = None,
    hosts: Annotated[
        list[int] | None, typer.Option(help="Train on scenarios of this size only; repeat.")
    ] = None,
    patterns: Annotated[
        list[str] | None, typer.Option("--pattern", help="Train on scenarios of this pattern only; repeat.")
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="A feature that it does not see; repeat.")] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--with", help=f"A further feature: {', '.join(_FURTHER)}; repeat."),
    ] = None,
) -> None:
    """Train a network on the mixture of the package. The same command goes on where it was stopped."""
    try:
        settings = TrainingSettings(
            features=(*(name for name in FEATURES if name not in (without or ())), *(also or ())),
            scope=scope,
            nonminimal_candidates=nonminimal_candidates,
            nonminimal_penalty=nonminimal_penalty,
            second_stage_candidates=tuple(second_stage_candidates or _DEFAULT.second_stage_candidates),
            hosts=tuple(hosts or _DEFAULT.hosts),
            patterns=tuple(patterns or ()),
            rounds=rounds,
            generations=generations,
            seed=seed,
        )
        typer.echo(f"written: {train_network(own_mixture(find_suite(suite)), out, settings, typer.echo)}")
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


if __name__ == "__main__":
    typer.run(train)
