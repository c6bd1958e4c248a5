"""The training loop that all learners share: episodes, progress, evaluation, TensorBoard, checkpoints."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds
from dragonfly_env.agents.learner import Learner
from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import refusing
from dragonfly_env.checks.values import MAX_SEED, check_integer, check_real, check_time_ns, config_error
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.scenarios import Scenarios

if TYPE_CHECKING:
    from dragonfly_env.envs.options import Several
    from dragonfly_env.simulation.config import SimulationConfig

MOST_EPISODES = 10_000_000

# The default evaluations of a training.
EVALUATION_SEEDS = (10_001,)
EVALUATION_WARMUP_NS = 20_000.0
EVALUATION_NS = 50_000.0


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """Results up to the end of an episode. Latency, load and share are those of the episode, with
    exploration; of several scenarios their means.

    Example:
        >>> agent = dfe.agents.make_agent("deep-q", seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> [progress] = dfe.agents.fit(agent, config, episodes=1, episode_ns=1_000)
        >>> progress.episode, progress.simulated_ns, progress.decisions > 0
        (1, 1000.0, True)
    """

    episode: int
    """Number of this episode, from 1; it has all scenarios next to each other."""
    episodes: int
    """Number of episodes of the training."""
    decisions: int
    """Decisions of all episodes so far."""
    simulated_ns: float
    """Simulated time of all episodes so far."""
    wall_s: float
    """Real time since the start of the training, without evaluations."""
    latency_mean_ns: float
    """Mean packet latency of this episode."""
    accepted_load: float
    """Packets delivered in this episode, as a fraction of the bandwidth of hosts."""
    minimal_fraction: float
    """Fraction of packets of this episode on minimal paths."""
    reward_mean: float
    """Mean reward per transition of this episode."""
    statistics: dict[str, float]
    """Numbers that the learner reports about itself, e.g. its loss."""
    evaluation: Evaluation | None = None
    """The greedy policy on the evaluation seeds; None if this episode was followed by none."""
    checkpoint: Path | None = None
    """The file that was written after this episode; None if none was."""

    def to_dict(self) -> dict[str, float | int]:
        """Plain numbers: one row of a table. Statistics and evaluation have prefixes."""
        skipped = ("statistics", "evaluation", "checkpoint")
        row: dict[str, float | int] = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in skipped
        }
        row |= {f"statistics/{name}": value for name, value in self.statistics.items()}
        if self.evaluation is not None:
            for name in ("latency_mean_ns", "accepted_load", "minimal_fraction", "hops_mean"):
                row[f"evaluation/{name}"] = getattr(self.evaluation, name)
        return row


def train(
    agent: Learner,
    config: SimulationConfig | Several,
    *,
    episodes: int = 40,
    episode_ns: float = 50_000.0,
    warmup_ns: float = 0.0,
    seed: int = 1,
    first_episode: int = 0,
    earlier: Mapping[str, float] | None = None,
    evaluate_every: int = 0,
    evaluation_seeds: Sequence[int] = EVALUATION_SEEDS,
    evaluation_warmup_ns: float = EVALUATION_WARMUP_NS,
    evaluation_ns: float = EVALUATION_NS,
    log_dir: str | Path | None = None,
    checkpoint_dir: str | Path | None = None,
    checkpoint_every: int = 10,
    stop_after_decisions: int | None = None,
    stop_after_s: float | None = None,
) -> Generator[Progress, None, None]:
    """Train an agent; one ``Progress`` per episode. Nothing happens until the result is iterated.

    The same agent (settings, seed) with the same arguments learns the same, bit for bit, on one machine.

    Args:
        agent: A learner, new or trained before.
        config: The network and its traffic; its ``policy`` routes during the warm-up of every episode. A list:
            scenarios that an episode has next to each other, and that evaluations are the mean of. A function: it makes
            those of each episode, see ``BatchedRoutingEnv``; evaluations have those that it makes first.
        episodes: Number of the last one.
        episode_ns: Simulated time of each after its warm-up.
        warmup_ns: Simulated time before the first decision of each.
        seed: Seed of the traffic: every episode has a seed of its own, derived from it.
        first_episode: Number of earlier episodes, by an agent that was saved: training goes on with the next one.
            (Its replay buffer starts empty.)
        earlier: Counts of the episodes before ``first_episode``, to which those of the progress are added:
            ``decisions``, ``simulated_ns`` and ``wall_s``. None: 0.
        evaluate_every: After how many episodes the greedy policy is measured; always after the last one; 0: never.
        evaluation_seeds: Seeds of the traffic in evaluations.
        evaluation_warmup_ns: Not counted there.
        evaluation_ns: Counted there.
        log_dir: Where event files for TensorBoard go.
        checkpoint_dir: Where ``episode-0010.zip``, ... and ``latest.zip`` go; it is made if need be. ``latest.zip`` is
            written when the training ends or is interrupted, too.
        checkpoint_every: After how many episodes.
        stop_after_decisions: The training ends after the episode in which the agent has decided so often.
        stop_after_s: The training ends after the first episode that ends later than this real time.

    Yields:
        The progress after every episode.

    Raises:
        ConfigError: For settings out of range, or if TensorBoard is wanted and missing.

    Example:
        >>> agent = dfe.agents.make_agent("deep-q", seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> training = dfe.agents.train(agent, config, episodes=2, episode_ns=1_000)
        >>> [progress.episode for progress in training]
        [1, 2]
    """
    if not isinstance(agent, Learner):
        methods = "act, learn, save, load, env_options, prepare, set_training and statistics"
        allowed = f"must be a learner, such as make_agent('deep-q'): an object with metadata and {methods}"
        raise config_error("agent", agent, allowed)
    evaluated = Scenarios(config).present
    check_integer("episodes", episodes, 1, MOST_EPISODES)
    check_time_ns("episode_ns", episode_ns, open_low=True)
    if check_time_ns("warmup_ns", warmup_ns) >= episode_ns:
        raise config_error("warmup_ns", warmup_ns, f"must be below episode_ns = {episode_ns:g}")
    check_integer("seed", seed, 0, MAX_SEED)
    check_integer("first_episode", first_episode, 0, episodes - 1)
    check_time_ns("evaluation_warmup_ns", evaluation_warmup_ns)
    check_time_ns("evaluation_ns", evaluation_ns, open_low=True)
    check_integer("evaluate_every", evaluate_every, 0, MOST_EPISODES)
    check_integer("checkpoint_every", checkpoint_every, 1, MOST_EPISODES)
    if stop_after_decisions is not None:
        check_integer("stop_after_decisions", stop_after_decisions, 1, 2**62)
    if stop_after_s is not None:
        check_real("stop_after_s", stop_after_s, 0.0, 1e9, unit="s")
    folder = None if checkpoint_dir is None else Path(checkpoint_dir)

    def run() -> Generator[Progress, None, None]:
        log = None if log_dir is None else _open_log(Path(log_dir))
        counts = {"decisions": 0, "simulated_ns": 0.0, "wall_s": 0.0, **(earlier or {})}
        decisions, simulated_ns, wall_s = int(counts["decisions"]), counts["simulated_ns"], counts["wall_s"]
        learned = False
        if folder is not None:
            # Refuse a bad folder before anything is learned: not every learner's save() would.
            with refusing("checkpoint_dir", folder, "must be a folder that can be made and written to"):
                folder.mkdir(parents=True, exist_ok=True)
        env = BatchedRoutingEnv.for_policy(config, agent, duration_ns=episode_ns, warmup_ns=warmup_ns)
        agent.prepare(env)
        collect = getattr(agent, "collect", None)
        try:
            for number in range(first_episode + 1, episodes + 1):
                began = time.perf_counter()
                agent.set_training(True)  # an evaluation may have come between
                batch = env.reset(seed=_episode_seed(seed, number))
                transitions_seen, reward_sum = 0, 0.0
                while not env.done:
                    if collect is not None:
                        rollout = collect(env)
                        made, transitions = rollout.decisions, rollout.transitions
                    else:
                        made, batch = len(batch), env.step(agent.act(batch))
                        transitions = env.transitions().completed()
                        agent.learn(transitions)
                    decisions += made
                    transitions_seen += len(transitions.rewards)
                    reward_sum += float(transitions.rewards.sum())
                if hasattr(agent, "end_episode"):
                    agent.end_episode()
                measured = [env.metrics(scenario) for scenario in range(env.num_scenarios)]
                simulated_ns += env.time_ns
                wall_s += time.perf_counter() - began
                learned = True
                last = (
                    number == episodes
                    or (stop_after_decisions is not None and decisions >= stop_after_decisions)
                    or (stop_after_s is not None and wall_s - counts["wall_s"] >= stop_after_s)
                )
                if last and hasattr(agent, "end_training"):
                    agent.end_training()
                statistics = agent.statistics()  # an evaluation does not explore
                saved = None
                if folder is not None and number % checkpoint_every == 0:
                    saved = folder / f"episode-{number:04d}.zip"
                    agent.save(saved)
                    agent.save(folder / "latest.zip")
                evaluation = None
                if evaluate_every and (last or number % evaluate_every == 0):
                    evaluation = evaluate_over_seeds(
                        agent,
                        evaluated,
                        evaluation_seeds,
                        warmup_ns=evaluation_warmup_ns,
                        measure_ns=evaluation_ns,
                    )
                progress = Progress(
                    episode=number,
                    episodes=episodes,
                    decisions=decisions,
                    simulated_ns=simulated_ns,
                    wall_s=wall_s,
                    latency_mean_ns=fmean(metrics.latency_mean_ns for metrics in measured),
                    accepted_load=fmean(metrics.accepted_load for metrics in measured),
                    minimal_fraction=fmean(metrics.minimal_fraction for metrics in measured),
                    reward_mean=reward_sum / max(1, transitions_seen),
                    statistics=statistics,
                    evaluation=evaluation,
                    checkpoint=saved,
                )
                if log is not None:
                    for name, value in progress.to_dict().items():
                        log.add_scalar(name if "/" in name else f"episode/{name}", value, number)
                yield progress
                if last:
                    break
        finally:
            agent.set_training(False)
            if folder is not None and learned:
                agent.save(folder / "latest.zip")
            if log is not None:
                log.close()

    return run()


def _episode_seed(seed: int, episode: int) -> int:
    return int(np.random.SeedSequence([seed, episode]).generate_state(1, np.uint64)[0])


def fit(agent: Learner, config: SimulationConfig | Several, **options: Any) -> list[Progress]:
    """``train`` to the end, and every progress; takes the same arguments.

    Args:
        agent: As for ``train``.
        config: As for ``train``.
        **options: The keyword arguments of ``train``.

    Example:
        >>> agent = dfe.agents.make_agent("ppo", seed=1)
        >>> config = dfe.SimulationConfig(topology="72", load=0.1)
        >>> len(dfe.agents.fit(agent, config, episodes=2, episode_ns=1_000))
        2
    """
    return list(train(agent, config, **options))


def _open_log(folder: Path) -> Any:
    """A writer of event files."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        allowed = f"needs PyTorch and TensorBoard: {how_to_install('sb3')} ({error})"
        raise config_error("log_dir", str(folder), allowed) from error
    return SummaryWriter(str(folder))
