"""The API reference: every public name, from its docstring; new names of a package come by themselves."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import dragonfly_env as dfe
from dragonfly_docs.markdown import GENERATED
from dragonfly_env import agents, baselines, bounds, envs, jobs, plots, sweeps, traffic, view

FOLDER = "api"

# Classes that need an extra are named, so that nothing here has to import them.
NEED_EXTRAS = {"RouterVecEnv": "object, VecEnv", "DeepQAgent": "object", "PpoAgent": "object"}

# Plain values and types have no docstring of their own.
_VALUES = {
    "ENDLESS": "As ``Job.iterations``: for as long as the run lasts.",
    "ENV_ID": "The name under which ``pettingzoo.make`` and ``gymnasium.make`` find the environments.",
    "FIGURES": "Every kind of figure by its name: what it shows, and the function that draws it.",
    "FORMATS": "The formats of figures.",
    "IntArray": "An array of integers: actions.",
    "RULES": "The functions by the name of the policy: ``RULES[name](batch, **parameters)`` returns (N,) actions.",
    "PATH_KINDS": "What the column ``path_kind`` of ``Simulation.packet_log`` counts.",
    "__version__": "The version of the package.",
}

# Members of public classes that are not in the reference: how the layers of the package talk to each other.
_INTERNAL = frozenset((
    "build", "build_source", "called", "check_invariants", "classes", "core_spec", "duration_ps", "end_mark",
    "from_statistics", "listed", "of", "sealed", "to_core", "warmup_ps",
))  # fmt: skip
_HIDDEN = {
    "BatchedRoutingEnv": frozenset({"go_on", "take_action", "take_actions"}),
    "EnvOptions": frozenset({"hops", "spec"}),
    "Failures": frozenset({"drawn_on"}),
    "Grid": frozenset({"global_routers", "name"}),
    "LeafSpine": frozenset({"global_routers", "name"}),
    "Wiring": frozenset({"global_ports", "most_links", "num_groups"}),
}
_SHOWN = {name: frozenset({"of"}) for name in ("Bounds", "Fairness", "RecordedProgram")}


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """A page of the reference.

    Attributes:
        title: Its heading.
        text: Subject of the page, and the page that explains it.
        names: Modules and the names of theirs that it has; None for a module: all that it exports and no other page
            has.
    """

    title: str
    text: str
    names: tuple[tuple[str, tuple[str, ...] | None], ...]


PAGES = {
    "simulation": Page(
        "Networks and simulations",
        "`import dragonfly_env as dfe`: a topology, a network and traffic make a `SimulationConfig`; `Simulation` "
        "runs it, `Metrics` says what came of it.",
        (
            ("dragonfly_env", None),
            ("dragonfly_env.errors", ("IllegalActionWarning",)),
            ("dragonfly_env.metrics.metrics", ("Fairness",)),
            ("dragonfly_env.metrics.stationarity", ("Arrivals", "Half")),
            ("dragonfly_env.metrics.ports", ("PortTable", "PortTotals")),
            ("dragonfly_env.simulation", ("PATH_KINDS",)),
            ("dragonfly_env.config.rows", ("SettingInfo",)),
        ),
    ),
    "counters": Page(
        "Counters",
        "What [](../counters.md) explains: tiles, hosts and jobs, in windows, and their figures.",
        (
            ("dragonfly_env.metrics.counters", ("Counters", "CounterWindows", "HostTable")),
            ("dragonfly_env.metrics.slowdowns", ("SlowdownTable",)),
            ("dragonfly_env.metrics.operations", ("JobTotals", "OperationTotals")),
            ("dragonfly_env.plots.tiles", ("tiles_figure", "counters_figure")),
        ),
    ),
    "bounds": Page(
        "Bounds",
        "What [](../bounds.md) explains; `most_load` and `latency_floor` are in `dragonfly_env` too.",
        (("dragonfly_env.bounds", None),),
    ),
    "environments": Page(
        "Environments",
        "What [](../environments/index.md) explains, call by call.",
        (
            (
                "dragonfly_env",
                ("BatchedRoutingEnv", "DecisionBatch", "HopFeedback", "Outcomes", "Rollout", "Transitions"),
            ),
            ("dragonfly_env", ("RouterVecEnv", "make_task", "task", "tasks")),
            ("dragonfly_env.named_tasks", ("Task", "TaskScore", "TaskSummary")),
            ("dragonfly_env.decisions.layout", ("Layout", "FeatureBlock")),
            ("dragonfly_env.envs.options", ("EnvOptions",)),
            ("dragonfly_env.dragonfly_v0", None),
            ("dragonfly_env.envs.parallel", ("ParallelRoutingEnv",)),
            ("dragonfly_env.envs.aec", ("AecRoutingEnv",)),
            ("dragonfly_env.envs.packet", None),
        ),
    ),
    "routing": Page(
        "Routing policies",
        "`dfe.make_policy(name, ...)` makes a `Policy`; [](../routing/index.md) explains each name.",
        (
            ("dragonfly_env", ("Policy", "make_policy", "policies")),
            ("dragonfly_env.baselines", None),
            ("dragonfly_env.agents.q_routing", ("QRoutingReference",)),
            ("dragonfly_env.agents.q_adaptive", ("QAdaptiveReference",)),
        ),
    ),
    "traffic": Page(
        "Traffic",
        "`dragonfly_env.traffic`; what most need is in `dragonfly_env` too. [](../traffic/index.md) explains each.",
        (("dragonfly_env.traffic", None),),
    ),
    "jobs": Page(
        "Jobs and programs",
        "`dragonfly_env.jobs`; `Job` is in `dragonfly_env` too. [](../jobs.md) explains them.",
        (
            ("dragonfly_env.jobs", None),
            ("dragonfly_env.jobs.workload", ("PlacedJob",)),
            ("dragonfly_env.metrics.jobs", None),
        ),
    ),
    "agents": Page(
        "Agents",
        "`dragonfly_env.agents`: learners, their training and their evaluation.",
        (("dragonfly_env.agents", None),),
    ),
    "sweeps": Page(
        "Sweeps, figures and views",
        "`dragonfly_env.sweeps` runs many simulations and keeps their results; `dragonfly_env.plots` draws them; "
        "`dragonfly_env.view` plays a run in a browser. They need the extra `analysis`.",
        (
            ("dragonfly_env.sweeps", None),
            ("dragonfly_env.sweeps.runner", ("SweepStoppedError",)),
            ("dragonfly_env.plots", None),
            ("dragonfly_env.view", None),
        ),
    ),
}

# A name that several modules export is in the reference of its own module.
_HOMES = (agents, baselines, bounds, envs, jobs, plots, sweeps, traffic, view)


def names_of(page: Page) -> Iterator[tuple[str, str]]:
    """(module, name) of everything that a page has; of a module all that it exports, but modules and what the page of
    another module has.
    """
    given = {
        f"{module}.{name}" for each in PAGES.values() for module, names in each.names for name in names or ()
    }
    for module_name, names in page.names:
        if names is not None:
            yield from ((module_name, name) for name in names)
            continue
        module = importlib.import_module(module_name)
        homes = _HOMES if module is dfe else ()
        elsewhere = given | {f"{module_name}.{name}" for home in homes for name in home.__all__}
        for name in module.__all__:
            thing = None if name in NEED_EXTRAS else getattr(module, name)
            if f"{module_name}.{name}" not in elsewhere and not inspect.ismodule(thing):
                yield module_name, name


def _directive(module: str, name: str) -> str:
    if name in NEED_EXTRAS:
        return "autoclass"
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing) and thing.__name__ == name:
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(thing) else "py:data"


def is_value(module: str, name: str) -> bool:
    """Whether a name of the reference is a plain value, or another name of something."""
    return _directive(module, name) == "py:data"


def _documented_bases(module: str, name: str) -> str:
    """The bases whose members are in the reference already, or are those of other projects; empty for a protocol. What
    private bases have is shown with each class.
    """
    if name in NEED_EXTRAS:
        return NEED_EXTRAS[name]
    kind = getattr(importlib.import_module(module), name)
    if getattr(kind, "_is_protocol", False):
        return ""
    return ", ".join(base.__name__ for base in kind.__mro__[1:] if _is_documented(base))


def _is_documented(base: type) -> bool:
    """Whether the reference, or that of another project, has a class."""
    known = {name for page in PAGES.values() for _, name in names_of(page)}
    return base.__name__ in known or not base.__module__.startswith("dragonfly_env")


def hidden_in(name: str) -> frozenset[str]:
    """The members of a class that are not in the reference."""
    return _INTERNAL - _SHOWN.get(name, frozenset()) | _HIDDEN.get(name, frozenset())


def _entries(page: Page) -> list[str]:
    entries = []
    for module, name in names_of(page):
        directive = _directive(module, name)
        entries += [f".. {directive}:: {module}.{name}"]
        if directive == "autoclass":
            entries.append("   :members:")
            if bases := _documented_bases(module, name):
                entries.append(f"   :inherited-members: {bases}")
            entries.append(f"   :exclude-members: {', '.join(sorted(hidden_in(name)))}")
        if directive == "py:data":
            entries += ["", f"   {_VALUES[name]}"]
        entries.append("")
    return entries


_ASSUMED = "Examples assume `import numpy as np` and `import dragonfly_env as dfe`."


def _page(page: Page) -> str:
    head = [GENERATED, f"# {page.title}\n", f"{page.text}\n", f"{_ASSUMED}\n"]
    return "\n".join([*head, "```{eval-rst}", *_entries(page), "```"]) + "\n"


def api_pages() -> dict[str, str]:
    """The pages by their path below ``docs/``."""
    return {f"{FOLDER}/{name}.md": _page(page) for name, page in PAGES.items()}


def members_of(name: str, thing: type[Any]) -> Iterator[tuple[str, Any]]:
    """(name, function) of the public methods that the reference shows with a class."""
    seen: set[str] = set()
    for base in thing.__mro__:
        if base is not thing and _is_documented(base):
            break
        for member, value in vars(base).items():
            if member.startswith("_") or member in hidden_in(name) or member in seen:
                continue
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if inspect.isfunction(function) and function.__doc__:
                seen.add(member)
                yield member, function
