"""``dragonfly-env evaluate``: agents and built-in policies, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import compare
from dragonfly_env.cli.engine_options import ENGINE
from dragonfly_env.cli.guard import guarded
from dragonfly_env.cli.settings import scenario_settings

_KEPT = ("injection", "source_queue_packets", "source_queue_full", "message_packets")


@guarded
@options.taking(given=options.COMPARE, how=(*options.FOLDER, *ENGINE))
def evaluate(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="What to compare, in any mixture: a built-in policy ([bold]ugal-n[/bold], "
            "[bold]ugal-n:bias_packets=2[/bold]), a saved agent ([bold]results/dqn/agent.zip[/bold]), a class of yours "
            "([bold]module:Class[/bold] or [bold]file.py:Class[/bold]) with a method act(batch), or what a learner of "
            "yours saved ([bold]file.py:Class@results/mine/agent.zip[/bold]). A name for tables and figures may stand "
            "before it: [bold]mine=results/dqn/agent.zip[/bold].",
            show_default=False,
        ),
    ] = None,
    more_policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", metavar="POLICY", help="Another one, as above.", rich_help_panel=options.SYSTEM
        ),
    ] = None,
    out: Annotated[
        Path | None, options.folder("The results folder. [dim]\\[default: results/evaluate][/dim]")
    ] = None,
    *,
    given: options.Given,
    how: options.Given,
) -> None:
    """Compare agents with built-in policies: runs, folder, tables and figures as of 'sweep'.

    Topology, network, traffic and load are those that the first saved agent
    was trained with, unless options say otherwise. Every policy meets the
    same packets under one seed. Built-in policies run in the core; the others
    answer batches of decisions, from the first packet on.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops and keeps what is
    finished; the same command again does the rest. A changed agent or class
    is evaluated anew.

    [bold]Examples[/bold]

    dragonfly-env evaluate results/dqn/agent.zip min ugal-n -s 101 -s 102

    dragonfly-env evaluate my_policy.py:MyPolicy par -t 72 --traffic adv+1 -l 0.3

    dragonfly-env evaluate a=dqn/agent.zip b=ppo/agent.zip ugal-n -l 0.2:0.4:0.1
    """
    from dragonfly_env.experiments.scenario import Scenario

    specs = [*(policies or ()), *(more_policies or ())]
    folder = out or Path("results") / "evaluate"
    settings = scenario_settings(_trained_with(specs), given, policies=specs)
    plan = Scenario.from_dict(settings, name=folder.resolve().name or "evaluate")
    compare(plan, folder, **how)


def _trained_with(specs: Sequence[str]) -> dict[str, Any]:
    """The settings of the network and traffic that the first saved agent among ``specs`` knows; they may be none."""
    from dragonfly_env.experiments.choices import PolicyChoice

    for spec in specs:
        source = PolicyChoice.parse(spec).agent
        if source is None or not source.is_file:
            continue
        known = source.metadata().get("configuration")
        if isinstance(known, dict) and {"topology", "network", "traffic", "load"} <= known.keys():
            kept = {name: known[name] for name in _KEPT if name in known}
            return {
                **kept,
                "topology": known["topology"],
                "network": known["network"],
                "traffic": [known["traffic"]],
                "loads": [known["load"]],
            }
    return {}
