"""Cards of the named tasks, and tables of the scores of the reference policies and of trained baselines."""

from __future__ import annotations

import csv
import itertools
import math
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium

import dragonfly_env as dfe
from dragonfly_docs.markdown import GENERATED, code, table
from dragonfly_env.agents import PpoSettings
from dragonfly_env.named_tasks import BOUND, RANDOM, VIEWS, Task
from dragonfly_env.registration import id_of
from dragonfly_env.training.tasks import Recipe, read_results

TRAININGS = Path(__file__).parents[2] / "task_trainings.csv"
RESULTS = TRAININGS.with_name("task_results")
ALGORITHMS = (RANDOM, "q-adaptive", "idqn", "ippo", "ppo-shared", "mappo", "ppo")
PER_ROUTER = ("q-adaptive", "idqn", "ippo")
"""Algorithms with weights or a table per router, which fit no other network than that of the training."""
SELFISH = "ppo:share=packet"
"""The agent `ppo` without the second stage: the return stays the time of the decision's own packet."""


def policy_scores() -> dict[str, dict[str, float]]:
    """The scores of the reference policies, of random actions and of the bound, by task and policy."""
    scores = {name: dfe.task(name).reference_scores() for name in dfe.tasks()}
    for result in read_results(RESULTS / RANDOM):
        scores[result["task"]][RANDOM] = result["score"]
    return scores


def task_pages() -> dict[str, str]:
    """A card per task by its path below ``docs/``."""
    return {f"tasks/{name}.md": _card(dfe.task(name), scores) for name, scores in policy_scores().items()}


def _card(task: Task, scores: dict[str, float]) -> str:
    options = task.options
    facts = [
        ("Id", f"{code(id_of(task.name))} (with the version of the suite)"),
        ("Training", ", ".join(map(code, task.train))),
        ("Evaluation", "" if task.test.keys() == task.train.keys() else ", ".join(map(code, task.test))),
        ("Network", f"{next(iter(task.train.values())).topology.num_hosts:,} hosts"),
        ("Decisions", f'`scope="{options["scope"]}"`, `action="{options["action"]}"`'),
        ("Reward", f'`reward="{options["reward"]}"`, `share="{options["share"]}"`'),
        ("Episode", f"{options['duration_ns'] / 1000:g} µs"),
        ("Budget", f"{task.decisions:,} decisions"),
        ("Measured", f"{task.quantity} in {task.measure_ns / 1000:g} µs, after {task.warmup_ns / 1000:g} µs"),
        ("Seeds", ", ".join(map(str, task.seeds))),
    ]
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    parts = [
        GENERATED,
        f"# {task.name}\n",
        f"A policy that solves this [task](../tasks.md) has learned {task.teaches}.\n",
        table(("", ""), [fact for fact in facts if fact[1]]),
        f"![The network after 5 µs of random actions](../images/tasks/{task.name}.png)\n",
        'All views but `batched` draw this picture with `render_mode="rgb_array"`.\n',
        "## Spaces\n",
        table(
            ("view", "agents", "observation of an agent", "actions of an agent"),
            map(_spaces, [task] * 5, VIEWS),
        ),
        "PettingZoo and Stable-Baselines3 have one action more: no packet waits for a decision.\n",
        "## Scores\n",
        table(
            ("policy", "score"),
            (
                (name if name in (BOUND, RANDOM) else code(name), f"{score + 0.0:.0f}")
                for name, score in best_first
                if not math.isnan(score)
            ),
        ),
        f"0 is `{task.zero}`, 100 the best reference policy of each scenario. `bound`: no routing scores more.\n",
    ]
    return "\n".join(parts)


def _spaces(task: Task, view: str) -> tuple[str, str, str, str]:
    """The row of a view: its spaces, from an environment that is made."""
    env = dfe.make_task(task.name, view, seed=1)  # type: ignore[arg-type]
    if view == "batched":
        rows, actions = f"`obs` (N, {len(env.layout.names)}), `mask` (N, {env.num_actions})", env.num_actions
        return code(view), "all decisions of a time step", rows, f"{actions} per decision"
    if view in ("parallel", "aec"):
        agent = env.possible_agents[0]
        return (
            code(view),
            f"{len(env.possible_agents)} routers",
            _space(env.observation_space(agent)),
            _space(env.action_space(agent)),
        )
    agents = f"{env.num_envs} routers" if view == "vec" else "one packet"
    return code(view), agents, _space(env.observation_space), _space(env.action_space)


def _space(space: Any) -> str:
    """A space without its bounds."""
    if isinstance(space, gymnasium.spaces.Dict):
        return ", ".join(f"{code(name)}: {_space(part)}" for name, part in space.items())
    if isinstance(space, gymnasium.spaces.Box):
        return f"`Box{space.shape}`".replace(",)", ")")
    return code(space)


def reference_scores() -> str:
    """The scores of the reference policies, of random actions and of the bound, by task and policy."""
    scores = policy_scores()
    policies = sorted(dict.fromkeys(itertools.chain(*scores.values())), key=lambda policy: policy == BOUND)

    def cell(score: float | None) -> str:
        return "" if score is None or math.isnan(score) else f"{score + 0.0:.0f}"

    rows = (
        (code(name), *(cell(by_policy.get(policy)) for policy in policies))
        for name, by_policy in scores.items()
    )
    heads = (policy if policy == BOUND else code(policy) for policy in policies)
    tracks = (
        "knowledge",
        *("" if policy in (BOUND, RANDOM) else dfe.make_policy(policy).knowledge for policy in policies),
    )
    return table(("task", *heads), (tracks, *rows))


def trainings() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Score and CPU seconds of each training, by task and algorithm: of result files, and of the rows of earlier
    trainings that have no result file.
    """
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    with TRAININGS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (RESULTS / row["algorithm"] / row["task"] / f"seed-{row['seed']}.json").exists():
                continue
            found[row["task"], row["algorithm"]].append((float(row["score"]), float(row["cpu_s"])))
    for result in read_results(RESULTS):
        cpu_s = (result["training"] or {}).get("cpu_s", math.nan)
        found[result["task"], result["policy"]].append((result["score"], cpu_s))
    return found


def trained_scores() -> str:
    """The scores of algorithms by task: interquartile mean, interval and number of trainings."""
    runs_of, random = trainings(), policy_scores()
    algorithms = [
        name for name in dict.fromkeys((*ALGORITHMS, *(name for _, name in runs_of))) if name != SELFISH
    ]

    def cell(task: str, algorithm: str) -> str:
        if algorithm == RANDOM:
            return f"{random[task][RANDOM] + 0.0:.0f}" if RANDOM in random[task] else "not run"
        runs = runs_of.get((task, algorithm))
        if not runs:
            fits = algorithm not in PER_ROUTER or dfe.task(task).has_one_network
            return "not run" if fits else "does not fit"
        summary = dfe.task(task).summary([score for score, _ in runs])
        spread = f"{summary.low:.0f} to {summary.high:.0f}; " if len(runs) > 1 else ""
        return f"{summary.score + 0.0:.0f} ({spread}{len(runs)})"

    rows = ((code(task), *(cell(task, name) for name in algorithms)) for task in dfe.tasks())
    return table(("task", *(name if name == RANDOM else code(name) for name in algorithms)), rows)


def baseline_scores() -> str:
    """The trainings of the agent `ppo` by its recipes, and the control that goes on selfishly."""
    runs_of, rows = trainings(), []
    for task in dfe.tasks():
        runs = runs_of.get((task, "ppo"))
        if not runs:
            continue
        summary = dfe.task(task).summary([score for score, _ in runs])
        control = runs_of.get((task, SELFISH), [])
        selfish = dfe.task(task).summary([score for score, _ in control]) if control else None
        recipe = Recipe.of(task)
        first_stage = recipe.settings.get("first_stage_decisions", PpoSettings().first_stage_decisions)
        rows.append(
            (
                code(task),
                f"{summary.score:.1f}",
                f"{summary.low:.1f} to {summary.high:.1f}",
                f"{summary.worst:.1f}",
                summary.trainings,
                f"{median(cpu for _, cpu in runs):.0f}".replace("nan", "not noted"),
                f"{selfish.score:.1f} ({selfish.trainings})"
                if selfish
                else "the recipe"
                if recipe.settings.get("share") == "packet" or first_stage >= recipe.decisions
                else "not run",
            )
        )
    return table(("task", "score", "95 % interval", "worst", "trainings", "CPU s", "selfish control"), rows)
