"""``dragonfly-env train``: a routing agent, from scratch or going on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds
from dragonfly_env.agents.learner import AGENTS
from dragonfly_env.agents.training import EVALUATION_NS, EVALUATION_SEEDS, EVALUATION_WARMUP_NS
from dragonfly_env.checks.files import check_folder
from dragonfly_env.checks.values import (
    check_real,
    check_seeds,
    config_error,
    parse_assignment,
    parse_value,
    reading,
    split_settings,
)
from dragonfly_env.cli import options
from dragonfly_env.cli.commands import Typed, completing, option, rows
from dragonfly_env.cli.comparison import this_command
from dragonfly_env.cli.console import console, note, show
from dragonfly_env.cli.options import items, time
from dragonfly_env.config.rows import MACHINE, TRAFFIC
from dragonfly_env.errors import ConfigError, DeadlockError
from dragonfly_env.named_tasks import tasks
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.scenario import Scenario

if TYPE_CHECKING:
    from dragonfly_env.training.agents import LearnerSource
    from dragonfly_env.training.run import TrainingPlan

AGENT, DURATION = "The agent", "How long"
_HEURISTICS = ("min", "val-g", "ugal-n", "par", "neural-v1")
"""The strongest under uniform and under adversarial traffic, and the best that is learned."""


def train(
    agent: Annotated[
        str | None,
        typer.Argument(
            metavar="AGENT",
            help="path-times, deep-q (default), ppo, or your learner: [bold]file.py:Class[/bold].",
            show_default=False,
            autocompletion=completing(lambda: AGENTS),
        ),
    ] = None,
    agent_settings: Annotated[
        list[str] | None,
        items(
            "--agent-setting -a",
            "Settings ('info ppo'), e.g. learning_rate=0.0005.",
            AGENT,
            split=split_settings,
            metavar="NAME=VALUE",
        ),
    ] = None,
    agent_seeds: Annotated[
        list[int] | None,
        items(
            "--seed -s",
            "Seeds: one agent each, in folders seed-N; 1:10 is ten.",
            AGENT,
            split=options.split_numbers,
            default=1,
            metavar="N",
        ),
    ] = None,
    *,
    settings: Annotated[
        Typed,
        rows(
            Scenario,
            "topology network traffic loads injection source_queue_packets message_packets threads",
            topology="72",
        ),
    ],
    task: Annotated[
        str | None,
        option(
            "--task",
            "A named task ('dragonfly-env tasks'): its traffic, budget and agent; then its evaluation.",
            TRAFFIC,
            metavar="NAME",
            autocompletion=completing(tasks),
        ),
    ] = None,
    suite: Annotated[
        str | None,
        option("--suite", "All training cases of a suite, e.g. dragonfly-v3.", TRAFFIC, metavar="NAME"),
    ] = None,
    episodes: Annotated[
        int, option("--episodes", "Episodes of the training, resumed ones included.", DURATION, metavar="N")
    ] = 40,
    stop_after_decisions: Annotated[
        int | None,
        option("--decisions", "Stop after so many decisions.", DURATION, default="no limit", metavar="N"),
    ] = None,
    minutes: Annotated[
        float | None,
        option("--minutes", "Stop after so many minutes.", DURATION, default="no limit", metavar="N"),
    ] = None,
    episode_ns: Annotated[
        float | None, time("--episode", "Simulated time of an episode.", DURATION, default="50us")
    ] = None,
    warmup_ns: Annotated[
        float | None, time("--warmup", "Time that --warmup-policy routes first.", DURATION, default=0)
    ] = None,
    warmup_policy: Annotated[
        str, option("--warmup-policy", "Routing policy of the warm-up.", DURATION, metavar="POLICY")
    ] = "min",
    evaluate_every: Annotated[
        int, option("--evaluate-every", "Episodes between evaluations; 0: none.", DURATION, metavar="N")
    ] = 10,
    checkpoint_every: Annotated[
        int, option("--checkpoint-every", "Episodes between saves.", DURATION, metavar="N")
    ] = 10,
    out: Annotated[
        Path | None,
        option("--out -o", "The folder of this training.", MACHINE, default="results/AGENT"),
    ] = None,
    resume: Annotated[bool, option("--resume", "Go on from the newest checkpoint.", MACHINE)] = False,
    restart: Annotated[
        bool, option("--restart", "Remove the folder's training; begin anew.", MACHINE)
    ] = False,
    tensorboard: Annotated[
        bool, option("--tensorboard/--no-tensorboard", "Write event files.", MACHINE)
    ] = True,
) -> None:
    """Train an agent that chooses where packets go at every router.

    Without options: deep-q under adv+1 at load 0.35 on 72 hosts. [bold]Ctrl-C[/bold] stops and keeps the agent;
    --resume goes on. The agents need PyTorch: the extra "sb3".

    [bold]Examples[/bold]
    dragonfly-env train deep-q --traffic adv+1 --load 0.35 --out results/dqn
    dragonfly-env train ppo --suite dragonfly-v3 --threads 2 --out results/mixture
    dragonfly-env train --task Mixed-72 --seed 1:10 --out results/mixed
    dragonfly-env train my_learner.py:Mine --out results/mine
    dragonfly-env evaluate my_learner.py:Mine@results/mine/agent.zip min ugal-n

    [bold]The folder[/bold]
    agent.zip (the trained agent), episodes.csv, learning.png, checkpoints/, tensorboard/; with --task result.json
    """
    from dragonfly_env.training.agents import LearnerSource
    from dragonfly_env.training.run import TrainingPlan

    if task is not None:
        _train_in_task(task, agent, agent_settings or (), agent_seeds or [1], stop_after_decisions, out)
        return
    usual = {"policies": [warmup_policy], "traffic": ["adv+1"], "loads": [0.35]}
    plan = Scenario.from_dict(settings.over(usual), name="train")
    runs = plan.runs()
    if len(runs) > 1:
        allowed = "an agent is trained under one traffic at one load, or with --suite"
        raise config_error("traffic" if len(plan.traffic) > 1 else "loads", None, allowed)
    config = runs[0].config
    configs = (config,) if suite is None else _scenarios_of(suite, config)
    learner = LearnerSource.find(agent or "deep-q")
    folder = check_folder("--out", out or Path("results") / learner.name)
    chosen = check_seeds("--seed", agent_seeds or [1])
    folders = [folder / f"seed-{seed}" for seed in chosen] if len(chosen) > 1 else [folder]
    for seed, place in zip(chosen, folders, strict=True):
        training = TrainingPlan(
            learner=learner,
            configs=configs,
            settings=_parse_settings(learner, agent_settings or ()),
            seed=seed,
            episodes=episodes,
            options={
                "episode_ns": 50_000.0 if episode_ns is None else episode_ns,
                "warmup_ns": warmup_ns or 0.0,
                "evaluate_every": evaluate_every,
                "checkpoint_every": checkpoint_every,
                "stop_after_decisions": stop_after_decisions,
                "stop_after_s": None if minutes is None else 60.0 * check_real("minutes", minutes, 0.0, 1e7),
            },
            tensorboard=tensorboard,
        )
        with reading("agent_settings"):
            _train(training, place, resume=resume, restart=restart)
    agents = " ".join(learner.saved(place / "agent.zip") for place in folders)
    note(Text(f"to compare:  dragonfly-env evaluate {agents} min ugal-n", style="bold"))


def _train_in_task(
    name: str,
    agent: str | None,
    texts: Sequence[str],
    seeds: Sequence[int],
    decisions: int | None,
    out: Path | None,
) -> None:
    """Train agents in a named task, by its recipe or with other settings, and evaluate each."""
    from dragonfly_env.named_tasks import task
    from dragonfly_env.training.agents import LearnerSource
    from dragonfly_env.training.tasks import Recipe, train_in

    chosen, recipe = task(name), Recipe.of(name)
    if agent is not None and agent != recipe.agent:
        recipe = Recipe(agent, chosen.decisions, {})
    settings = {**recipe.settings, **_parse_settings(LearnerSource.find(recipe.agent), texts)}
    recipe = Recipe(recipe.agent, decisions or recipe.decisions, settings)
    folder = check_folder("--out", out or Path("results") / f"{name}-{recipe.agent}")
    results = []
    for seed in dict.fromkeys(seeds):
        place = folder / f"seed-{seed}"
        with reading("agent_settings"), console(error=True).status(f"{name}, seed {seed}"):
            results.append(train_in(chosen, seed, place, recipe=recipe, on_estimate=_note_long))
        note(Text(f"{name}, {recipe.agent}, seed {seed}: score {results[-1].score:.1f}, in {place}"))
    summary = chosen.summary(results)
    show(
        f"{name}, {recipe.agent}: {summary.score:.1f} ({summary.low:.1f} to {summary.high:.1f}), interquartile mean of "
        f"{summary.trainings}; worst {summary.worst:.1f}; track {results[-1].track}"
    )


def _scenarios_of(suite: str, config: SimulationConfig) -> tuple[SimulationConfig, ...]:
    from dragonfly_env.lab.benchmark.suite import find_suite
    from dragonfly_env.lab.benchmark.training import training_scenarios

    scenarios = training_scenarios(find_suite(suite), config)
    listed = ", ".join(f"{config.traffic_object.spec} {config.load:g}" for config in scenarios)
    note(Text(f"{len(scenarios)} scenarios next to each other: {listed}", style="dim"))
    return scenarios


def _parse_settings(learner: LearnerSource, texts: Sequence[str]) -> dict[str, Any]:
    """``name=value`` pairs; a list is written ``64,64``."""
    lists = learner.list_settings()
    settings: dict[str, Any] = {}
    for text in texts:
        name, value = parse_assignment(text, "--agent-setting")
        if name in lists:
            settings[name] = [parse_value(item) for item in str(value).split(",") if item.strip()]
        else:
            settings[name] = value
    return settings


def _train(plan: TrainingPlan, folder: Path, *, resume: bool, restart: bool) -> None:
    """Train an agent, with a bar while it learns, then a table and a figure."""
    from dragonfly_env.training.run import run_training

    done = 0
    screen = console(error=True)
    columns = (TextColumn("episode {task.completed}/{task.total}"), BarColumn(), TimeRemainingColumn())
    try:
        with Progress(
            *columns, TextColumn("{task.description}"), console=screen, disable=not screen.is_terminal
        ) as bar:
            task = bar.add_task("", total=plan.episodes)

            def report(row: Mapping[str, Any]) -> None:
                nonlocal done
                done = row["episode"]
                bar.update(task, completed=done, description=_describe(row))
                if not screen.is_terminal:
                    note(Text(f"episode {done}/{plan.episodes}: {_describe(row)}"))

            rows = run_training(
                plan, folder, resume=resume, restart=restart, on_episode=report, on_estimate=_note_long
            )
    except KeyboardInterrupt:
        kept = f"interrupted after {done} of {plan.episodes} episodes, which are kept in {folder}"
        raise KeyboardInterrupt(
            f"{kept}; to go on: {this_command('--restart', '--resume')} --resume" if done else "interrupted"
        ) from None
    if not done:
        note(Text(f"complete already: {folder}; more --episodes go on"))
    show(_summary(plan, rows))
    _draw(plan, rows, folder)
    note(Text(f"agent: {folder / 'agent.zip'}"))


def _note_long(seconds: float) -> None:
    """Say how long the rest of a training takes, if it takes more than a minute."""
    from dragonfly_env.sweeps.estimate import LONG_S
    from dragonfly_env.sweeps.progress import spell_seconds

    if seconds > LONG_S:
        note(Text(f"about {spell_seconds(seconds)} to go, by the first episode; without evaluations"))


def _draw(plan: TrainingPlan, rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    from dragonfly_env.plots.learning import learning_figure
    from dragonfly_env.plots.style import save

    config = plan.configs[0]
    traffic = f"{config.traffic_object.spec} at load {config.load:g}"
    if len(plan.configs) > 1:
        traffic = f"{len(plan.configs)} scenarios"
    title = f"{plan.learner.spec}, seed {plan.seed}: {traffic} on {config.topology.num_hosts:,} hosts"
    heuristics: dict[str, Evaluation] = {}
    with console(error=True).status("measuring heuristics for the figure"):
        for name in _HEURISTICS:
            with suppress(ConfigError, DeadlockError):  # too few VCs for it, for example
                heuristics[name] = evaluate_over_seeds(
                    name,
                    plan.configs,
                    EVALUATION_SEEDS,
                    warmup_ns=EVALUATION_WARMUP_NS,
                    measure_ns=EVALUATION_NS,
                )
    picture, _ = save(learning_figure(rows, title, heuristics), folder, "learning")
    note(Text(f"figure: {picture}"))


def _summary(plan: TrainingPlan, rows: Sequence[Mapping[str, Any]]) -> Text:
    last = rows[-1]
    text = (
        f"{last['episode']} of {plan.episodes} episodes, {last['decisions']:,} decisions, "
        f"{last['simulated_ns'] / 1e6:g} ms simulated, {last['wall_s']:,.0f} s of training"
    )
    evaluated = next((row for row in reversed(rows) if "evaluation/latency_mean_ns" in row), None)
    if evaluated is not None:
        text += (
            f"\nevaluation after episode {evaluated['episode']}, not exploring, other seeds, "
            f"{EVALUATION_NS / 1e3:g} µs after {EVALUATION_WARMUP_NS / 1e3:g} µs of warm-up: "
            f"mean latency {evaluated['evaluation/latency_mean_ns']:,.0f} ns, "
            f"accepted load {evaluated['evaluation/accepted_load']:.3f}, "
            f"{100 * evaluated['evaluation/minimal_fraction']:.1f} % minimal paths"
        )
    return Text(text)


def _describe(row: Mapping[str, Any]) -> str:
    text = f"mean latency {row['latency_mean_ns']:,.0f} ns, accepted load {row['accepted_load']:.3f}"
    for name in ("epsilon", "loss"):
        if f"statistics/{name}" in row:
            text += f", {name} {row[f'statistics/{name}']:.3g}"
    return text
