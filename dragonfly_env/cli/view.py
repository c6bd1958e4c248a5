"""``dragonfly-env view``: a page on which one sees packets being routed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from dragonfly_env.checks.files import check_file
from dragonfly_env.checks.values import config_error
from dragonfly_env.cli.commands import Typed, option, rows
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.config.rows import MACHINE, TIME, time_flag
from dragonfly_env.sweeps.scenario import Scenario, trained_with

if TYPE_CHECKING:
    from dragonfly_env.sweeps.point import Run
    from dragonfly_env.view import Recording

_MOST_RUNS = 2
_LOAD = 0.3
"""Load of adv+1 that ugal-n carries and min does not."""


def view(
    settings: Annotated[
        Typed,
        rows(
            Scenario,
            without="programs placements series_bin_ns arrays",
            warmup_ns=time_flag("--warmup", "Simulated time that the page leaves out.", "0"),
            measure_ns=time_flag("--measure", "Simulated time that the page shows.", "30us"),
        ),
    ],
    frames: Annotated[
        int, option("--frames -f", "Pictures that the measured time is cut into.", TIME, metavar="N")
    ] = 60,
    out: Annotated[Path, option("--out -o", "The page.", MACHINE, metavar="FILE")] = Path(
        "results/view.html"
    ),
) -> None:
    """Write a page that plays runs: one file that needs neither a network nor a server.

    Groups on a circle, links colored by utilization over time, two policies side by side under the same packets (min
    and ugal-n under adv+1 at 0.3, unless others are named). Click a router for its queues, a link for the traffic
    between its two groups.

    Topology, network, traffic and load are those that the first saved agent was trained with, unless options say
    otherwise. The default warm-up is 0: the page shows how the network fills.

    [bold]Examples[/bold]
    dragonfly-env view
    dragonfly-env view -p min,q-adaptive --traffic adv+1 -l 0.3 --measure 200us --frames 100
    dragonfly-env view -p min,results/dqn/agent.zip
    dragonfly-env view -t theta-m8 -l 0.6 -o theta.html
    dragonfly-env view -t 342 --job milc:hosts=64,scale=0.01 --traffic adv+1 -l 0.2
    """
    from dragonfly_env.view import record, write_view

    usual: dict[str, Any] = {"policies": ["min", "ugal-n"], "traffic": ["adv+1"], "loads": [_LOAD]}
    policies = settings.whole.get("policies", [])
    usual |= trained_with(policies)
    if "jobs" in settings.whole:
        usual["traffic"] = ["none"]
    runs = Scenario.from_dict(settings.over(usual), name="view").runs()
    if len(runs) > _MOST_RUNS:
        allowed = f"a page shows at most {_MOST_RUNS} runs, and these are {len(runs)}"
        raise config_error("policies", policies, allowed)
    if out.suffix.lower() not in ("", ".html", ".htm"):
        raise config_error(
            "--out", str(out), "must end in .html: view writes an HTML page that plays the run"
        )
    check_file("--out", out)
    with console(error=True).status("simulating") as status:
        recordings: list[Recording] = []
        for run in runs:

            def progress(done: float, run: Run = run) -> None:
                status.update(Text(f"simulating {run.policy_label}: {done:.0%}"))

            recordings.append(record(run, frames=frames, progress=progress))
        status.update("writing the page")
        write_view(recordings, out)
    if out.is_file():
        note(Text(f"{out.stat().st_size / 1e6:.1f} MB; open it in a browser"))
    show(str(out))
