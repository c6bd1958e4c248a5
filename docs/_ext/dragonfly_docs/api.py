"""The API reference: every public name, from its docstring; new names come by themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import ModuleType

import dragonfly_env as dfe
from dragonfly_docs.markdown import GENERATED
from dragonfly_env import (
    agents,
    baselines,
    batch_policy,
    bounds,
    dragonfly_v0,
    envs,
    job_bias_v0,
    jobs,
    traffic,
)
from dragonfly_env.decisions import layout
from dragonfly_env.envs import aec, bias, job_bias, packet, parallel
from dragonfly_env.metrics import counters, hosts, operations, tiles, windows
from dragonfly_env.metrics import jobs as measured
from dragonfly_env.plots import tiles as tile_plots

FOLDER = "api"

# Classes that need an extra are named, so that nothing here has to import them.
_NEED_EXTRAS = (
    "RouterVecEnv",
    "DeepQAgent",
    "DeepQSettings",
    "MaskedPpoAgent",
    "MaskedPpoSettings",
    "PpoAgent",
    "PpoSettings",
)
# Plain values and types have no docstring of their own.
_VALUES = {
    "AGENTS": "The kinds of agents that ``make_agent`` knows, and where their classes are.",
    "ENDLESS": "As ``Job.iterations``: for as long as the run lasts.",
    "ENV_ID": "The name under which ``pettingzoo.make`` and ``gymnasium.make`` find the environments.",
    "IntArray": "An array of integers: actions.",
    "Policy": "What answers batches of decisions: ``dragonfly_env.batch_policy.BatchPolicy``, below.",
    "__version__": "The version of the package.",
}
_ROUTING = ("Policy", "make_policy", "policies")
_ENVIRONMENTS = (*(name for name in envs.__all__ if name in dfe.__all__), "RouterVecEnv")
_ELSEWHERE = (*_ROUTING, *_ENVIRONMENTS, "traffic_patterns", "AllToAll", "Job", "most_load", "latency_floor")


def _directive(module: ModuleType, name: str) -> str:
    if name in _NEED_EXTRAS:
        return "autoclass"
    thing = getattr(module, name)
    if inspect.isclass(thing) and thing.__name__ == name:
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(thing) else "py:data"


def _foreign_bases(module: ModuleType, name: str) -> str:
    """The bases whose members are somebody else's to document; what private bases of our own have is shown."""
    if name in _NEED_EXTRAS:
        return "object, VecEnv"
    bases = getattr(module, name).__mro__
    return ", ".join(base.__name__ for base in bases if not base.__module__.startswith("dragonfly_env"))


def _entries(module: ModuleType, names: Iterable[str]) -> list[str]:
    entries = []
    for name in names:
        directive = _directive(module, name)
        entries += [f".. {directive}:: {module.__name__}.{name}"]
        if directive == "autoclass":
            entries += ["   :members:", f"   :inherited-members: {_foreign_bases(module, name)}"]
        if directive == "py:data":
            entries += ["", f"   {_VALUES[name]}"]
        entries.append("")
    return entries


def _page(title: str, text: str, entries: list[str]) -> str:
    return "\n".join([GENERATED, f"# {title}\n", f"{text}\n", "```{eval-rst}", *entries, "```"]) + "\n"


def _public(module: ModuleType, without: Iterable[str] = ()) -> list[str]:
    return [
        name
        for name in module.__all__
        if name not in without and not inspect.ismodule(getattr(module, name, None))
    ]


def api_pages() -> dict[str, str]:
    """The pages by their path below ``docs/``."""
    core = _public(dfe, without=_ELSEWHERE)
    pages = {
        "simulation": _page(
            "Networks and simulations",
            "`import dragonfly_env as dfe`: a topology, a network and traffic make a `SimulationConfig`; "
            "`Simulation` runs it, `Metrics` says what came of it.",
            _entries(dfe, core),
        ),
        "counters": _page(
            "Counters",
            "What [](../counters.md) explains: tiles, hosts and jobs, in windows, and their figures.",
            [
                *_entries(counters, ("Counters",)),
                *_entries(windows, ("CounterWindows",)),
                *_entries(tiles, ("TileTable", "TileTotals")),
                *_entries(hosts, ("HostTable",)),
                *_entries(operations, ("JobTotals", "OperationTotals")),
                *_entries(tile_plots, ("tiles_figure", "counters_figure")),
            ],
        ),
        "bounds": _page(
            "Bounds",
            "What [](../bounds.md) explains; `most_load` and `latency_floor` are in `dragonfly_env` too.",
            _entries(bounds, _public(bounds)),
        ),
        "environments": _page(
            "Environments",
            "What [](../environments/index.md) explains, call by call.",
            [
                *_entries(dfe, _ENVIRONMENTS),
                *_entries(layout, ("Layout", "FeatureBlock")),
                *_entries(dragonfly_v0, ("parallel_env", "env", "raw_env", "ENV_ID")),
                *_entries(parallel, ("ParallelRoutingEnv",)),
                *_entries(aec, ("AecRoutingEnv",)),
                *_entries(packet, ("PacketRouting",)),
                *_entries(bias, ("BiasControl",)),
                *_entries(job_bias_v0, ("parallel_env", "env", "raw_env", "ENV_ID")),
                *_entries(job_bias, ("ParallelJobBias", "AecJobBias")),
                ".. autoclass:: dragonfly_env.envs.rllib.RouterMultiAgentEnv",
                "   :members:",
            ],
        ),
        "routing": _page(
            "Routing policies",
            "`dfe.make_policy(name, ...)` makes one of the classes below; [](../routing/index.md) explains each name.",
            [
                *_entries(dfe, _ROUTING),
                *_entries(baselines, _public(baselines)),
                *_entries(agents, ("QAdaptive", "QAdaptiveQueue", "QAdaptiveFast", "QRouting")),
            ],
        ),
        "traffic": _page(
            "Traffic",
            "`dragonfly_env.traffic`; what most need is in `dragonfly_env` too. [](../traffic/index.md) explains each "
            "name.",
            _entries(traffic, _public(traffic)),
        ),
        "jobs": _page(
            "Jobs and programs",
            "`dragonfly_env.jobs`; `Job` is in `dragonfly_env` too. [](../jobs.md) explains them.",
            [
                *_entries(jobs, _public(jobs)),
                *_entries(measured, ("JobMetrics", "OperationMetrics")),
            ],
        ),
        "agents": _page(
            "Agents",
            "`dragonfly_env.agents`: learners, their training and their evaluation.",
            [
                *_entries(
                    agents,
                    _public(agents, without=("QAdaptive", "QAdaptiveQueue", "QAdaptiveFast", "QRouting")),
                ),
                *_entries(batch_policy, ("BatchPolicy",)),
            ],
        ),
    }
    return {f"{FOLDER}/{name}.md": text for name, text in pages.items()}
