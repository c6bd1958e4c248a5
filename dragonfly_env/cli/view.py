"""``dragonfly-env view``: a page on which one sees packets being routed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from dragonfly_env.checks.files import check_file
from dragonfly_env.checks.values import config_error
from dragonfly_env.cli import options
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import option, scenario_settings, trained_with

if TYPE_CHECKING:
    from dragonfly_env.sweeps.point import Run
    from dragonfly_env.view import Recording

_WARMUP_NS, _MEASURE_NS = 0.0, 30_000.0
_MOST_POLICIES = 2


@options.taking(given=options.VIEW)
def view(
    policy: Annotated[
        list[str] | None,
        option(
            "--policy -p",
            "A routing policy, e.g. min or ugal-n:bias_packets=2, or an agent as of 'evaluate'; twice for two "
            "side by side. [dim]\\[default: min and ugal-n][/dim]",
            options.SYSTEM,
            metavar="NAME[:SETTING=..]",
        ),
    ] = None,
    seed: Annotated[int, option("--seed -s", "Seed of the random streams.", options.TIME)] = 1,
    frames: Annotated[
        int, option("--frames -f", "Pictures that the measured time is cut into.", options.TIME)
    ] = 60,
    out: Annotated[
        Path | None,
        option(
            "--out -o",
            "The page. [dim]\\[default: results/view.html][/dim]",
            metavar="FILE",
        ),
    ] = None,
    *,
    given: options.Given,
) -> None:
    """Write a page that plays runs: one file that needs neither a network nor a server.

    Groups on a circle, links coloured by utilisation over time, two policies side
    by side under the same packets. Click a router for its queues, a link for the
    traffic between its two groups.

    There is no warm-up unless --warmup-ns sets one, so that the network is
    seen filling; --measure-ns is 30000 if not given. Topology, network, traffic
    and load are those that the first saved agent was trained with, unless options
    say otherwise.

    [bold]Examples[/bold]

    dragonfly-env view

    dragonfly-env view -p min -p q-adaptive --traffic adv+1 --load 0.3 --measure-ns 200000 --frames 100

    dragonfly-env view -p min -p results/dqn/agent.zip

    dragonfly-env view -t theta-m8 -p min -p ugal-n --load 0.6 --out theta.html

    dragonfly-env view -t 342 --job milc:hosts=64,scale=0.01 --traffic adv+1 --load 0.2
    """
    from dragonfly_env.sweeps.scenario import Scenario
    from dragonfly_env.view import record, write_view

    policies = policy or ["min", "ugal-n"]
    if len(policies) > _MOST_POLICIES:
        raise config_error("--policy", ", ".join(policies), f"must be given at most {_MOST_POLICIES} times")
    usual: dict[str, Any] = {"traffic": ["uniform"], "loads": [0.5], **trained_with(policies)}
    usual |= {"warmup_ns": _WARMUP_NS, "measure_ns": _MEASURE_NS}
    if given["job"]:
        usual["traffic"] = ["none"]
    settings = scenario_settings(usual, given, policies=policies, seeds=[seed])
    runs = Scenario.from_dict(settings, name="view").runs()
    target = out or Path("results", "view.html")
    check_file("--out", target)
    with console(error=True).status("simulating") as status:
        recordings: list[Recording] = []
        for run in runs:

            def progress(done: float, run: Run = run) -> None:
                status.update(Text(f"simulating {run.policy_label}: {done:.0%}"))

            recordings.append(record(run, frames=frames, progress=progress))
        status.update("writing the page")
        write_view(recordings, target)
    if target.is_file():
        note(Text(f"{target.stat().st_size / 1e6:.1f} MB; open it in a browser"))
    show(Text(str(target)))
