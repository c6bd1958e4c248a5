"""``dragonfly-env evaluate``: agents and built-in policies, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragonfly_env.checks.files import check_folder
from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import compare
from dragonfly_env.cli.options import scenario_settings, trained_with
from dragonfly_env.sweeps.scenario import Scenario


def evaluate(
    ctx: typer.Context,
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="A built-in policy ([bold]ugal-n:bias_packets=2[/bold]), a saved agent "
            "([bold]results/dqn/agent.zip[/bold]), your class with a method act(batch) ([bold]file.py:Class[/bold]), "
            "or a file that your learner saved ([bold]file.py:Class@agent.zip[/bold]). "
            "[bold]mine=agent.zip[/bold] gives it a name.",
            show_default=False,
            parser=options.split_policies,
            callback=options.joined,
        ),
    ] = None,
    more_policies: options.Policies = None,
    topology: options.Topology = None,
    arrangement: options.Arrangement = None,
    network: options.Network = None,
    network_settings: options.NetworkSettings = None,
    traffic: options.Traffics = None,
    loads: options.Loads = None,
    injection: options.Injection = None,
    source_queue_packets: options.SourceQueue = None,
    message_packets: options.MessagePackets = None,
    seeds: options.Seeds = None,
    warmup_ns: options.Warmup = None,
    measure_ns: options.Measure = None,
    series_bin_ns: options.SeriesBin = None,
    arrays: options.Arrays = None,
    threads: options.Threads = None,
    out: options.ResultsFolder = None,
    workers: options.Workers = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    plots: options.Plots = True,
    share: options.Share = None,
    backend: options.Backend = "loky",
    address: options.Address = None,
) -> None:
    """Compare agents with built-in policies; write the same folder, tables and figures as 'sweep'.

    Without options, topology, network, traffic and load are those of the first saved agent's training. Under one seed
    every policy routes the same packets.

    Every run is saved the moment it ends. [bold]Ctrl-C[/bold] stops and keeps what is finished; the same command again
    does the rest. A changed agent or class is evaluated anew.

    [bold]Examples[/bold]
    dragonfly-env evaluate results/dqn/agent.zip min ugal-n --seed 101,102
    dragonfly-env evaluate my_policy.py:MyPolicy par -t 72 --traffic adv+1 -l 0.3
    dragonfly-env evaluate a=dqn/agent.zip b=ppo/agent.zip ugal-n -l 0.2:0.4:0.1
    """
    from dragonfly_env.sweeps.results import default_folder

    specs = [*(policies or ()), *(more_policies or ())]
    settings = {**scenario_settings(trained_with(specs), ctx.params), "policies": specs}
    plan = Scenario.from_dict(settings, name=(out or Path("evaluate")).resolve().name)
    compare(plan, check_folder("--out", out or default_folder("evaluate", plan)), ctx.params)
