"""Every policy is measured alike: the same seeds, warm-up and window as ``Simulation``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from dragonfly_env.agents.learner import Learner, warn_of_mismatch
from dragonfly_env.checks.values import check_seeds, check_time_ns, config_error
from dragonfly_env.metrics import Metrics
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.simulation import simulate
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.simulation.window import after_warmup

if TYPE_CHECKING:
    from dragonfly_env.batch_policy import BatchPolicy
    from dragonfly_env.envs.batched import BatchedRoutingEnv


@dataclasses.dataclass(frozen=True, slots=True)
class Evaluation:
    """Runs of one policy with several seeds: means over the seeds.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", load=0.2)
        >>> found = dfe.agents.evaluate_over_seeds(
        ...     "min", config, [1, 2], warmup_ns=1_000, measure_ns=2_000
        ... )
        >>> found.seeds, len(found.metrics), found.minimal_fraction
        ((1, 2), 2, 1.0)
    """

    latency_mean_ns: float
    """Mean packet latency."""
    accepted_load: float
    """Delivered packets, as a fraction of the bandwidth of hosts."""
    minimal_fraction: float
    """Fraction of packets on minimal paths."""
    hops_mean: float
    """Mean number of links between routers."""
    seeds: tuple[int, ...]
    """The seeds of the runs."""
    metrics: tuple[Metrics, ...] = dataclasses.field(repr=False)
    """Metrics of each run."""


def join(
    config: SimulationConfig, policy: BatchPolicy, *, duration_ns: float
) -> tuple[BatchedRoutingEnv, BatchPolicy]:
    """The environment that a policy needs, and what decides its batches: the policy, or its reference. A learner is
    made ready for the environment, and acts greedily.
    """
    # Imported here, because evaluations in the core need no environment.
    from dragonfly_env.envs.batched import BatchedRoutingEnv

    env = BatchedRoutingEnv.for_policy(config, policy, duration_ns=duration_ns, transitions=False)
    if isinstance(policy, Learner):
        policy.prepare(env)
        known = policy.metadata.get("configuration") if isinstance(policy.metadata, dict) else None
        if isinstance(known, dict) and not getattr(policy, "warns_of_mismatch", False):
            warn_of_mismatch(known, config, f"this agent ({policy.name})")
        policy.set_training(False)
    return env, policy.reference(env) if isinstance(policy, Policy) else policy


def evaluate_policy(
    policy: BatchPolicy | str,
    config: SimulationConfig,
    *,
    warmup_ns: float = 50_000.0,
    measure_ns: float = 100_000.0,
    seed: int | None = None,
    native: bool = True,
) -> Metrics:
    """Let a policy route every packet from time 0 and measure a window after a warm-up.

    Args:
        policy: Anything that acts, or the name of a built-in policy, perhaps with parameters
            (``"par:bias_packets=10"``). Learners act greedily and do not learn.
        config: Configuration to simulate; its ``policy`` is not used.
        warmup_ns: Time that is not counted, at least 0.
        measure_ns: Length of the window, above 0.
        seed: Seed of the traffic; None: that of ``config``.
        native: Whether built-in policies run in the core (fast); if not, their reference implementation decides.

    Returns:
        The metrics of the window.

    Raises:
        ConfigError: For an unknown name, impossible times, or a learner that was trained on another layout.
        StateError: If ``native`` is False and the policy has no reference implementation.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> times = {"warmup_ns": 1_000, "measure_ns": 2_000}
        >>> core = dfe.agents.evaluate_policy("ugal-n", config, **times)
        >>> numpy = dfe.agents.evaluate_policy("ugal-n", config, **times, native=False)
        >>> core.latency_mean_ns == numpy.latency_mean_ns
        True
    """
    chosen: Any = parse_policy(policy) if isinstance(policy, str) else policy
    if seed is not None:
        config = config.replace(seed=seed)
    check_time_ns("measure_ns", measure_ns, open_low=True)
    check_time_ns("warmup_ns", warmup_ns)
    if native and isinstance(chosen, Policy):
        return simulate(config.replace(policy=chosen), warmup_ns=warmup_ns, measure_ns=measure_ns)
    # Only at the end of an episode are all parts of the network at the same time.
    env, chosen = join(after_warmup(config, warmup_ns), chosen, duration_ns=warmup_ns or measure_ns)
    batch = env.reset(seed=config.seed)
    while not env.done:
        batch = env.step(chosen.act(batch))
    if warmup_ns > 0:
        env.reset_statistics()
        batch = env.extend(measure_ns)
        while not env.done:
            batch = env.step(chosen.act(batch))
    return env.metrics()


def evaluate_over_seeds(
    policy: BatchPolicy | str,
    config: SimulationConfig | Sequence[SimulationConfig],
    seeds: Sequence[int],
    *,
    warmup_ns: float = 50_000.0,
    measure_ns: float = 100_000.0,
    native: bool = True,
) -> Evaluation:
    """``evaluate_policy`` for several seeds, and the means; of several configurations those over all of them.

    Args:
        policy: As for ``evaluate_policy``.
        config: Configuration to simulate, or several.
        seeds: Seeds of the traffic.
        warmup_ns: Time that is not counted, at least 0.
        measure_ns: Length of the window, above 0.
        native: As for ``evaluate_policy``.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", load=0.2)
        >>> found = dfe.agents.evaluate_over_seeds(
        ...     "min", config, [1, 2], warmup_ns=1_000, measure_ns=2_000
        ... )
        >>> found.latency_mean_ns > 0
        True
    """
    seeds = check_seeds("seeds", seeds)
    configs = [config] if isinstance(config, SimulationConfig) else list(config)
    runs = tuple(
        evaluate_policy(policy, config, warmup_ns=warmup_ns, measure_ns=measure_ns, seed=seed, native=native)
        for config in configs
        for seed in seeds
    )
    if not runs:
        raise config_error("config", config, "must have at least one configuration")
    return Evaluation(
        latency_mean_ns=fmean(run.latency_mean_ns for run in runs),
        accepted_load=fmean(run.accepted_load for run in runs),
        minimal_fraction=fmean(run.minimal_fraction for run in runs),
        hops_mean=fmean(run.hops_mean for run in runs),
        seeds=seeds,
        metrics=runs,
    )
