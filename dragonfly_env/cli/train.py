"""``dragonfly-env train``: a routing agent, from scratch or going on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds
from dragonfly_env.agents.training import EVALUATION_NS, EVALUATION_SEEDS, EVALUATION_WARMUP_NS
from dragonfly_env.checks.files import check_folder
from dragonfly_env.cli import options
from dragonfly_env.cli.comparison import this_command
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.guard import INTERRUPTED
from dragonfly_env.cli.options import option, scenario_settings
from dragonfly_env.errors import ConfigError, DeadlockError
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.progress import Estimate, LiveBar, spell_seconds

if TYPE_CHECKING:
    from dragonfly_env.agents.training import Progress as EpisodeProgress
    from dragonfly_env.training.agents import LearnerSource
    from dragonfly_env.training.run import Sofar, TrainingPlan, TrainingReport


DEFAULT_DURATION_NS = 2_000_000.0
DEFAULT_EPISODE_NS = 50_000.0
AGENT, DURATION = "The agent", "How long"


@options.taking(given=options.training("72", "adv+1", 0.35))
def train(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="What learns: deep-q or ppo ('dragonfly-env info deep-q' says more), or a learner of "
            "yours: [bold]module:Class[/bold] or [bold]file.py:Class[/bold].",
        ),
    ] = "deep-q",
    agent_settings: Annotated[
        list[str] | None,
        option(
            "--agent-setting -a",
            "A setting of the agent, e.g. learning_rate=0.0005 or hidden_units=128,128; may be repeated. "
            "'dragonfly-env info deep-q' lists them.",
            AGENT,
            metavar="NAME=VALUE",
        ),
    ] = None,
    seed: Annotated[
        list[int] | None,
        option(
            "--seed -s",
            "Seed of the agent and of the traffic; repeat to train several agents, one after the other, each in a "
            "folder seed-N of its own. [dim]\\[default: 1][/dim]",
            AGENT,
        ),
    ] = None,
    suite: Annotated[
        str | None,
        option(
            "--suite",
            "Train on a mixture instead of --traffic and --load: what a benchmark suite (dragonfly-v1) trains on "
            "with this topology and network, all of it next to each other in every episode.",
            options.LOAD,
            metavar="NAME",
        ),
    ] = None,
    duration_ns: Annotated[
        float,
        option(
            "--duration-ns",
            "Simulated time to train for, in ns; rounded up to whole episodes. A longer one goes on with a "
            "finished training.",
            DURATION,
        ),
    ] = DEFAULT_DURATION_NS,
    minutes: Annotated[
        float | None,
        option(
            "--minutes",
            "Stop after so many minutes of real time even if the duration is not reached. "
            "[dim]\\[default: no limit][/dim]",
            DURATION,
        ),
    ] = None,
    episode_ns: Annotated[
        float,
        option(
            "--episode-ns",
            "Simulated time of an episode, in ns: each starts with an empty network and a new seed.",
            DURATION,
        ),
    ] = DEFAULT_EPISODE_NS,
    warmup_ns: Annotated[
        float,
        option(
            "--warmup-ns",
            "Time at the beginning of every episode that --warmup-policy routes, in ns.",
            DURATION,
        ),
    ] = 0.0,
    warmup_policy: Annotated[
        str, option("--warmup-policy", "The routing policy of that time.", DURATION)
    ] = "min",
    evaluate_every: Annotated[
        int,
        option(
            "--evaluate-every",
            "How often the agent is measured without exploring, on other seeds; 0: never.",
            options.MACHINE,
            metavar="EPISODES",
        ),
    ] = 10,
    checkpoint_every: Annotated[
        int,
        option("--checkpoint-every", "How often the agent is saved.", options.MACHINE, metavar="EPISODES"),
    ] = 10,
    out: Annotated[
        Path | None,
        option(
            "--out -o", "The folder of this training. [dim]\\[default: results/AGENT][/dim]", options.MACHINE
        ),
    ] = None,
    fresh: Annotated[
        bool, option("--fresh", "Forget the training that the folder holds, and begin anew.", options.MACHINE)
    ] = False,
    tensorboard: Annotated[
        bool,
        option(
            "--tensorboard/--no-tensorboard",
            "Write event files into the folder 'tensorboard'.",
            options.MACHINE,
        ),
    ] = True,
    *,
    given: options.Given,
) -> None:
    """Train a routing agent. It chooses where packets go at every router, and is rewarded for short delivery times.

    [bold]Ctrl-C[/bold] stops and keeps the agent as it is; the same command again goes on.
    Both need the extra "sb3": PyTorch and Stable-Baselines3.

    [bold]Examples[/bold]

    dragonfly-env train deep-q --traffic adv+1 --load 0.35 --out results/dqn

    dragonfly-env train ppo --minutes 10 --seed 1 --seed 2

    dragonfly-env train ppo --suite dragonfly-v1 --threads 2 --out results/mixture

    dragonfly-env evaluate results/dqn/agent.zip min ugal-n

    dragonfly-env train my_learner.py:Mine --out results/mine

    dragonfly-env evaluate my_learner.py:Mine@results/mine/agent.zip min ugal-n

    [bold]The folder[/bold]

    agent.zip: the trained agent, with everything that made it

    learning.png, episodes.parquet: its course, one row per episode

    checkpoints/, tensorboard/: for tensorboard --logdir FOLDER
    """
    from dragonfly_env.sweeps.scenario import Scenario
    from dragonfly_env.training.agents import LearnerSource
    from dragonfly_env.training.run import TrainingPlan

    settings = scenario_settings({}, given, policies=[warmup_policy])
    (run,) = Scenario.from_dict(settings, name="train").runs()
    scenarios = () if suite is None else _scenarios_of(suite, run.config)
    learner = LearnerSource.find(agent)
    folder = check_folder("--out", out or Path("results") / learner.name)
    seeds = list(dict.fromkeys(seed or [1]))
    plans = [
        TrainingPlan(
            kind=agent,
            config=scenarios[0] if scenarios else run.config,
            scenarios=scenarios,
            settings=_parse_settings(learner, agent_settings or ()),
            seed=one,
            episodes=_episodes(duration_ns, episode_ns),
            episode_ns=episode_ns,
            warmup_ns=warmup_ns,
            evaluate_every=evaluate_every,
            checkpoint_every=checkpoint_every,
            stop_after_s=None if minutes is None else 60.0 * minutes,
            tensorboard=tensorboard,
        )
        for one in seeds
    ]
    places = [folder / f"seed-{plan.seed}" for plan in plans] if len(plans) > 1 else [folder]
    for plan, place in zip(plans, places, strict=True):
        _train(plan, place, fresh)
    if len(plans) > 1:
        agents = " ".join(learner.saved(place / "agent.zip") for place in places)
    else:
        agents = learner.saved(folder / "agent.zip")
    note(Text(f"to compare:  dragonfly-env evaluate {agents} min ugal-n", style="bold"))


def _scenarios_of(suite: str, config: SimulationConfig) -> tuple[SimulationConfig, ...]:
    from dragonfly_env.lab.benchmark.suite import find_suite
    from dragonfly_env.lab.benchmark.training import training_scenarios

    scenarios = training_scenarios(find_suite(suite), config)
    listed = ", ".join(f"{one.traffic_object.spec} {one.load:g}" for one in scenarios)
    note(Text(f"{len(scenarios)} scenarios next to each other: {listed}", style="dim"))
    return scenarios


def _episodes(duration_ns: float, episode_ns: float) -> int:
    """Whole episodes that cover the duration."""
    from dragonfly_env.checks.values import check_time_ns, ns_to_ps
    from dragonfly_env.sweeps.scenario import LONGEST_NS

    times_ns = {"episode_ns": episode_ns, "duration_ns": duration_ns}
    episode_ps, duration_ps = (
        ns_to_ps(name, check_time_ns(name, value, high=LONGEST_NS, open_low=True))
        for name, value in times_ns.items()
    )
    return -(-duration_ps // episode_ps)


def _parse_settings(learner: LearnerSource, texts: Sequence[str]) -> dict[str, Any]:
    """``name=value`` pairs; a list is written ``64,64``."""
    from dragonfly_env.checks.values import parse_assignment, parse_value

    lists = learner.list_settings()
    settings: dict[str, Any] = {}
    for text in texts:
        name, value = parse_assignment(text, "--agent-setting")
        if name in lists:
            settings[name] = [parse_value(item) for item in str(value).split(",") if item.strip()]
        else:
            settings[name] = value
    return settings


def _train(plan: TrainingPlan, folder: Path, fresh: bool) -> None:
    """One agent: a bar while it learns, then what came of it."""
    from dragonfly_env.training.run import TrainingInterrupted, run_training

    try:
        with TrainingBar(console(error=True), plan) as bar:

            def begin(sofar: Sofar) -> None:
                if sofar.episode:
                    note(Text(f"going on after episode {sofar.episode} in {folder}", style="dim"))
                bar.start(sofar)

            report = run_training(plan, folder, fresh=fresh, on_start=begin, on_episode=bar.advance)
    except TrainingInterrupted as interrupt:
        kept = f"{interrupt.episode} of {interrupt.episodes} episodes are kept in {folder}"
        note(Text(f"interrupted: {kept}; to go on: {this_command('--fresh')}", style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    if not report.rows or report.rows[-1]["episode"] == report.resumed_after:
        note(Text(f"complete already: {folder}; a longer --duration-ns (or --minutes) goes on"))
    if report.rows:
        show(_summary(plan, report))
        _draw(plan, report, folder)
    note(Text(f"agent: {report.agent}"))


def _draw(plan: TrainingPlan, report: TrainingReport, folder: Path) -> None:
    from dragonfly_env.plots.learning import learning_figure
    from dragonfly_env.plots.style import save

    traffic = f"{plan.config.traffic_object.spec} at load {plan.config.load:g}"
    if plan.scenarios:
        traffic = f"{len(plan.scenarios)} scenarios"
    title = f"{plan.kind}, seed {plan.seed}: {traffic} on {plan.config.topology.num_hosts:,} hosts"
    with console(error=True).status("measuring heuristics for the figure"):
        heuristics = heuristics_on(plan.scenarios or plan.config)
    picture, _ = save(learning_figure(report.rows, title, heuristics), folder, "learning")
    note(Text(f"figure: {picture}"))


def _summary(plan: TrainingPlan, report: TrainingReport) -> RenderableType:
    """The first and the last episode, and the last evaluation, each with how it was measured."""
    first, last = report.rows[0], report.rows[-1]
    evaluated = next((row for row in reversed(report.rows) if "evaluation/latency_mean_ns" in row), None)
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", "measured", "latency (ns)", "accepted load", "minimal paths (%)"):
        text = heading in ("", "measured")
        table.add_column(heading, justify="left" if text else "right", no_wrap=heading != "measured")

    def add(heading: str, measured: str, row: Mapping[str, Any], prefix: str = "") -> None:
        latency, accepted, minimal = (
            row.get(f"{prefix}{name}") for name in ("latency_mean_ns", "accepted_load", "minimal_fraction")
        )
        table.add_row(
            heading,
            measured,
            _number(latency, ",.0f"),
            _number(accepted, ".4f"),
            _number(minimal, ".1f", 100.0),
        )

    before = "from an empty network" if plan.warmup_ns == 0 else f"after {_us(plan.warmup_ns)} of warm-up"
    exploring = f"exploring, {_us(plan.episode_ns)} {before}"
    add(f"episode {first['episode']}", exploring, first)
    if last is not first:
        add(f"episode {last['episode']}", exploring, last)
    if evaluated is not None:
        steady = f"{_us(EVALUATION_NS)} after {_us(EVALUATION_WARMUP_NS)} of warm-up"
        after = f"evaluation after {evaluated['episode']}"
        add(after, f"not exploring, other seeds, {steady}", evaluated, "evaluation/")
    course = (
        f"{last['episode']} of {plan.episodes} episodes, {last['decisions']:,} decisions, "
        f"{last['simulated_ns'] / 1e6:g} ms simulated, {last['wall_s']:,.0f} s of training"
    )
    return Group(table, Text(course, style="dim"))


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:g} us"


def _number(value: Any, form: str, factor: float = 1.0) -> str:
    return "-" if value is None or math.isnan(value) else format(value * factor, form)


class TrainingBar(LiveBar):
    """The bar of a training.

    Args:
        console: As for `LiveBar`.
        plan: What is trained; the bar is full when its episodes are done, or its time is up.
    """

    def __init__(self, console: Console, plan: TrainingPlan) -> None:
        super().__init__(console)
        self._plan = plan
        self._done = self._told_s = 0.0

    def start(self, sofar: Sofar) -> None:
        """The training begins, or goes on after ``sofar``."""
        self._done = self._fraction(sofar.episode, sofar.wall_s)
        self._estimate = Estimate({"": 1.0 - self._done})
        self._told_s = 0.0
        self._open(1.0, self._episodes(sofar.episode), self._done)

    def advance(self, progress: EpisodeProgress) -> None:
        """An episode is over."""
        fraction = self._fraction(progress.episode, progress.wall_s)
        passed_s = self._estimate.elapsed_s
        self._estimate.add("", fraction - self._done, passed_s - self._told_s)
        self._done, self._told_s = fraction, passed_s
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                completed=fraction,
                description=_latency(progress),
                counted=self._episodes(progress.episode),
            )
        elif self._line_is_due():
            left = spell_seconds(self._estimate.left_s)
            self._console.print(
                f"{self._episodes(progress.episode)}, {_describe(progress)}, about {left} left",
                soft_wrap=True,
            )

    def _fraction(self, episode: int, wall_s: float) -> float:
        done = episode / self._plan.episodes
        limit = self._plan.stop_after_s
        return min(1.0, done if limit is None else max(done, wall_s / max(limit, 1e-9)))

    def _episodes(self, episode: int) -> str:
        return f"episode {episode}/{self._plan.episodes}"


def _latency(progress: EpisodeProgress) -> str:
    latency = progress.latency_mean_ns
    return "nothing delivered" if math.isnan(latency) else f"latency {latency:,.0f} ns"


def _describe(progress: EpisodeProgress) -> str:
    """What an episode was like: latency, load, and figures of the learner."""
    text = f"mean {_latency(progress)}, accepted load {progress.accepted_load:.3f}"
    for name in ("epsilon", "loss"):
        if name in progress.statistics:
            text += f", {name} {progress.statistics[name]:.3g}"
    return text


HEURISTICS = ("min", "val-g", "ugal-n", "par", "neural-v1")
"""The strongest under uniform and under adversarial traffic, and the best that is learned."""


def heuristics_on(config: SimulationConfig | Sequence[SimulationConfig]) -> dict[str, Evaluation]:
    """Each heuristic, measured as a training's evaluations are; those that cannot run on the network are left out."""
    measured = {}
    for name in HEURISTICS:
        try:
            measured[name] = evaluate_over_seeds(
                name, config, EVALUATION_SEEDS, warmup_ns=EVALUATION_WARMUP_NS, measure_ns=EVALUATION_NS
            )
        except (ConfigError, DeadlockError):  # too few VCs for it, for example
            continue
    return measured
