"""``dragonfly-env evaluate``: agents and built-in policies, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragonfly_env.checks.files import check_folder
from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import compare
from dragonfly_env.cli.options import WHERE, option, scenario_settings, trained_with


@options.taking(given=options.COMPARE, how=(*options.FOLDER, *WHERE))
def evaluate(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="What to compare, in any mixture: a built-in policy ([bold]ugal-n[/bold], "
            "[bold]ugal-n:bias_packets=2[/bold]), a saved agent ([bold]results/dqn/agent.zip[/bold]), a class of yours "
            "([bold]module:Class[/bold] or [bold]file.py:Class[/bold]) with a method act(batch), or what a learner of "
            "yours saved ([bold]file.py:Class@results/mine/agent.zip[/bold]). A name for tables and figures may go "
            "before it: [bold]mine=results/dqn/agent.zip[/bold].",
            show_default=False,
        ),
    ] = None,
    more_policies: Annotated[
        list[str] | None, option("--policy -p", "Another one, as above.", options.SYSTEM, metavar="POLICY")
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out -o",
            "The results folder. [dim]\\[default: in results/, after the scenario][/dim]",
            options.MACHINE,
        ),
    ] = None,
    *,
    given: options.Given,
    how: options.Given,
) -> None:
    """Compare agents with built-in policies: runs, folder, tables and figures as of 'sweep'.

    Topology, network, traffic and load are those that the first saved agent
    was trained with, unless options say otherwise. Every policy meets the
    same packets under one seed. Built-in policies run in the core; the others
    decide batches of decisions, from the first packet on.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops and keeps what is
    finished; the same command again does the rest. A changed agent or class
    is evaluated anew.

    [bold]Examples[/bold]

    dragonfly-env evaluate results/dqn/agent.zip min ugal-n -s 101 -s 102

    dragonfly-env evaluate my_policy.py:MyPolicy par -t 72 --traffic adv+1 -l 0.3

    dragonfly-env evaluate a=dqn/agent.zip b=ppo/agent.zip ugal-n -l 0.2:0.4:0.1
    """
    from dragonfly_env.sweeps.results import default_folder
    from dragonfly_env.sweeps.scenario import Scenario

    specs = [*(policies or ()), *(more_policies or ())]
    settings = scenario_settings(trained_with(specs), given, policies=specs)
    plan = Scenario.from_dict(settings, name=(out or Path("evaluate")).resolve().name)
    compare(plan, check_folder("--out", out or default_folder("evaluate", plan)), **how)
