"""What the package offers that takes values, read from the package itself: no list kept by hand falls behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import dragonfly_env as dfe
from dragonfly_env import dragonfly_v0, envs, job_bias_v0, sweeps, traffic
from dragonfly_env.envs import bias, job_bias, packet
from dragonfly_env.plots import tiles

MODULES: tuple[ModuleType, ...] = (
    *(dfe, dfe.agents, dfe.baselines, traffic, sweeps, envs),
    *(dragonfly_v0, bias, packet, job_bias_v0, job_bias, tiles),
)

_MADE_BY_US = "a result: the package makes it, and says nothing of one that somebody else makes"
_PER_BATCH = (
    "called for every batch with what the environment hands out; another object is an error of Python"
)
_PROTOCOL = "a protocol, or a method to be overridden: there is no code behind it"
_INNER = "called by check(), which has looked at the topology"
_SB3 = "Stable-Baselines3's interface: VecEnv says what it takes"

NOT_CALLED: dict[str, str] = {
    **dict.fromkeys(
        (
            *("DecisionBatch", "Evaluation", "Failure", "HopFeedback", "Layout", "Metrics"),
            *("Progress", "Results"),
            *("Run", "Scenario", "SweepReport", "Trace", "Transitions", "Metrics.from_statistics"),
        ),
        _MADE_BY_US,
    ),
    **dict.fromkeys(
        (
            *("Copied.fork", "Copied.restore", "Simulation.fork", "Simulation.restore"),
            *("Snapshot.load", "Snapshot.save"),
        ),
        "tests/fuzz/tampered_snapshots.py changes what is saved; bad arguments: tests/unit/simulation/test_snapshot.py",
    ),
    **dict.fromkeys(
        (
            "BatchedRoutingEnv.minimal_action",
            "BatchedRoutingEnv.slots",
            "DecisionBatch.rows",
            "CoreLearner.act",
            *("DeepQAgent.learn", "Minimal.act"),
            *("NetworkAgent.act", "PpoAgent.learn"),
            *("Lia.act", "ScoringPolicy.scores", "RandomPolicy.act", "Ugal.act", "Valiant.act"),
            "ScoringPolicy.act",
        ),
        _PER_BATCH,
    ),
    **dict.fromkeys(
        (
            *("BatchPolicy", "BatchPolicy.act", "Learner", "Learner.learn", "Learner.load"),
            "Learner.prepare",
            *("Learner.save", "Learner.set_training", "Policy.act", "Policy.for_run"),
            *("Policy.reference", "Traffic.check"),
        ),
        _PROTOCOL,
    ),
    **dict.fromkeys(
        (f"{kind}.check_size" for kind in ("DemandMatrix", "HostMixture", "Pattern", "WeightedMixture")),
        _INNER,
    ),
    "DemandMatrix.load_on": _INNER,
    "StaticOptimum.for_run": "called by SimulationConfig with itself, which has been checked",
    **dict.fromkeys(
        (
            f"RouterVecEnv.{name}"
            for name in ("env_is_wrapped", "env_method", "get_attr", "render", "set_attr", "step_async")
        ),
        _SB3,
    ),
    **dict.fromkeys(
        (f"{kind}Agent.set_training" for kind in ("Network", "Ppo")), "anything is true or false"
    ),
    "Results.relabelled": "takes a function of the user, whose errors are the user's",
}
"""What ``public_calls`` leaves out, and why."""


def surface() -> set[str]:
    """Classes, functions and methods that take values, by the name under which each was defined."""
    return set(_surface())


def _surface() -> Iterator[str]:
    for module in MODULES:
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value) or not _is_ours(value):
                continue
            if not hasattr(module, "__all__") and value.__module__ != module.__name__:
                continue  # something that it uses
            if isinstance(value, type) and issubclass(value, BaseException):
                continue  # raised by us, caught by others
            yield from _named(value)
            if isinstance(value, type):
                yield from _methods(value)


def _methods(owner: type) -> Iterator[str]:
    for name in dir(owner):
        if name.startswith("_") or isinstance(inspect.getattr_static(owner, name), property):
            continue
        value = getattr(owner, name)
        if callable(value) and _is_ours(value):
            yield from _named(value)


def _named(value: Callable[..., Any]) -> Iterator[str]:
    if any(name not in ("self", "cls") for name in inspect.signature(value).parameters):
        yield name_of(value)


def name_of(value: Callable[..., Any]) -> str:
    """``Class``, ``function`` or ``Class.method``, whoever inherits it."""
    return str(inspect.unwrap(getattr(value, "__func__", value)).__qualname__)


def missing(called: Iterable[Callable[..., Any]]) -> set[str]:
    """What is neither called nor left out for a reason."""
    return surface() - {name_of(value) for value in called} - NOT_CALLED.keys()


def _is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == dfe.__name__
