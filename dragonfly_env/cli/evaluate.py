"""``dragonfly-env evaluate``: agents and built-in policies, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import config_error
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, completing, option, rows
from dragonfly_env.cli.comparison import compare
from dragonfly_env.cli.console import note, show
from dragonfly_env.config.rows import TRAFFIC
from dragonfly_env.named_tasks import tasks
from dragonfly_env.policy import policies as policies_by_name
from dragonfly_env.sweeps.scenario import Scenario, split_policies, trained_with


def evaluate(
    settings: Annotated[
        Typed,
        rows(
            Scenario,
            without="jobs programs placements",
        ),
    ],
    how: Annotated[Typed, rows(options.Work)],
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY...",
            help="A built-in policy ([bold]ugal-n:bias_packets=2[/bold]), a saved agent "
            "([bold]results/dqn/agent.zip[/bold]), your class with a method act(batch) ([bold]file.py:Class[/bold]), "
            "or a file that your learner saved ([bold]file.py:Class@agent.zip[/bold]). "
            "[bold]mine=agent.zip[/bold] gives it a name.",
            show_default=False,
            parser=split_policies,
            autocompletion=completing(policies_by_name),
            callback=options.joined,
        ),
    ] = None,
    task: Annotated[
        str | None,
        option(
            "--task",
            "Evaluate in a named task ('dragonfly-env tasks'); write a result file per policy.",
            TRAFFIC,
            metavar="NAME",
            autocompletion=completing(tasks),
        ),
    ] = None,
    out: options.ResultsFolder = None,
    dry_run: options.DryRun = False,
    plots: options.Plots = True,
    as_json: options.AsJson = False,
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
    dragonfly-env evaluate --task Mixed-72 my_policy.py:MyPolicy lia --out results/mixed
    """
    from dragonfly_env.sweeps.results import default_folder

    specs = [*(policies or ()), *settings.whole.get("policies", [])]
    if task is not None:
        _evaluate_in_task(task, specs, settings.whole.get("seeds"), out)
        return
    given = {**settings.over(trained_with(specs)), "policies": specs}
    plan = Scenario.from_dict(given, name=(out or Path("evaluate")).resolve().name)
    folder = check_folder("--out", out or default_folder("evaluate", plan))
    compare(plan, folder, how.make(), dry_run=dry_run, plots=plots, as_json=as_json)


def _evaluate_in_task(name: str, specs: list[str], seeds: list[int] | None, out: Path | None) -> None:
    """Evaluate policies in a named task: a line and a result file each."""
    from dragonfly_env.named_tasks import task
    from dragonfly_env.training.agents import AgentSource
    from dragonfly_env.training.tasks import in_core

    if not specs:
        raise config_error("policies", [], "give at least one, e.g. min")
    chosen = task(name)
    folder = check_folder("--out", out or Path("results") / name)
    folder.mkdir(parents=True, exist_ok=True)
    for spec in specs:
        label: str = spec
        policy: Any = spec
        if spec.partition(":")[0] not in (*policies_by_name(), "random"):
            source = AgentSource.find(spec)
            label, policy = source.label, in_core(source.load(), folder)
        result = chosen.evaluate(policy, seeds=seeds)
        file = folder / f"{label.replace('/', '-').replace(':', '-')}.json"
        result.save(file, label)
        show(
            f"{label}: score {result.score:.1f} ({result.low:.1f} to {result.high:.1f}), track {result.track}"
        )
        note(Text(f"result: {file}"))
