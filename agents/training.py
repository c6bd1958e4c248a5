"""The training loop that all learners share: episodes, progress, evaluation, TensorBoard, checkpoints.

Example::

    agent = make_agent("deep-q", seed=1)
    for progress in train(agent, config, episodes=40, evaluate_every=10):
        print(progress.episode, progress.latency_mean_ns)
    agent.save("agent.zip")
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dragonfly_env.agents.evaluation import Evaluation, evaluate_over_seeds, make_env
from dragonfly_env.agents.protocol import Learner
from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import refusing, without_link
from dragonfly_env.checks.outside import check_items, check_path, parsing
from dragonfly_env.checks.values import MAX_SEED, check_integer, check_real, check_time_ns, config_error
from dragonfly_env.config.help import takes_all_of

if TYPE_CHECKING:
    from dragonfly_env.envs.options import Several
    from dragonfly_env.metrics import Metrics
    from dragonfly_env.simulation.config import SimulationConfig

Callback = Callable[["Progress"], "bool | None"]
MOST_EPISODES = 10_000_000

# How a training's evaluations measure, if nobody says otherwise.
EVALUATION_SEEDS = (10_001,)
EVALUATION_WARMUP_NS = 20_000.0
EVALUATION_NS = 50_000.0


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """What happened up to the end of an episode. Latency, load and share are those of the episode, with
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
    """How many there will be."""
    decisions: int
    """Decisions of all episodes so far."""
    simulated_ns: float
    """Simulated time of all episodes so far."""
    wall_s: float
    """Real time since the start of the training, without evaluations."""
    latency_mean_ns: float
    """Mean packet latency of this episode."""
    accepted_load: float
    """What was delivered in this episode, as a fraction of the bandwidth of hosts."""
    minimal_fraction: float
    """Fraction of packets of this episode on minimal paths."""
    reward_mean: float
    """Mean reward per transition of this episode."""
    statistics: dict[str, float]
    """What the learner says about itself, e.g. its loss."""
    evaluation: Evaluation | None = None
    """The greedy policy on the evaluation seeds; None if this episode was followed by none."""
    checkpoint: Path | None = None
    """The file that was written after this episode; None if none was."""

    def to_dict(self) -> dict[str, float | int]:
        """Plain numbers: one row of a table. Statistics and evaluation have prefixes.

        Example:
            >>> agent = dfe.agents.make_agent("deep-q", seed=1)
            >>> config = dfe.SimulationConfig(topology="72", load=0.1)
            >>> [progress] = dfe.agents.fit(agent, config, episodes=1, episode_ns=1_000)
            >>> "statistics/loss" in progress.to_dict()
            True
        """
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


@dataclasses.dataclass(frozen=True, slots=True)
class Episode:
    """One episode as a loop reports it."""

    metrics: Metrics
    decisions: int
    transitions: int
    reward_sum: float
    simulated_ns: float
    others: tuple[Metrics, ...] = ()
    """Of the scenarios after the first, where there are several."""

    def mean(self, figure: str) -> float:
        """The mean of a figure of ``Metrics`` over the scenarios."""
        return fmean(getattr(metrics, figure) for metrics in (self.metrics, *self.others))


@dataclasses.dataclass(frozen=True, slots=True)
class Schedule:
    """How long to train: what a loop needs to know.

    Raises:
        ConfigError: For a value out of range.
    """

    episodes: int
    episode_ns: float
    warmup_ns: float
    seed: int
    first_episode: int = 0

    def __post_init__(self) -> None:
        episodes = check_integer("episodes", self.episodes, 1, MOST_EPISODES)
        checked = {
            "episodes": episodes,
            "episode_ns": check_time_ns("episode_ns", self.episode_ns, open_low=True),
            "warmup_ns": check_time_ns("warmup_ns", self.warmup_ns),
            "seed": check_integer("seed", self.seed, 0, MAX_SEED),
            "first_episode": check_integer("first_episode", self.first_episode, 0, episodes - 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.warmup_ns >= self.episode_ns:
            raise config_error("warmup_ns", self.warmup_ns, f"must be below episode_ns = {self.episode_ns:g}")

    @property
    def numbers(self) -> range:
        """The numbers of the episodes to do, from 1 if nothing was done before."""
        return range(self.first_episode + 1, self.episodes + 1)

    def episode_seed(self, episode: int) -> int:
        """The seed of an episode's traffic; another one for every episode, the same in every run."""
        return int(np.random.SeedSequence([self.seed, episode]).generate_state(1, np.uint64)[0])


@runtime_checkable
class OwnLoop(Protocol):
    """A learner that brings its own training loop instead of ``learn``, as on-policy methods do."""

    def episodes(self, config: SimulationConfig | Several, schedule: Schedule) -> Iterator[Episode]:
        """Train, and report every episode when it ends."""


@runtime_checkable
class EndsEpisodes(Protocol):
    """A learner that wants to know where an episode ends, before it is measured or saved."""

    def end_episode(self) -> None:
        """The environment begins anew: what is still in the network there is lost."""


def train(
    agent: Learner,
    config: SimulationConfig | Several,
    *,
    episodes: int = 40,
    episode_ns: float = 50_000.0,
    warmup_ns: float = 0.0,
    seed: int = 1,
    first_episode: int = 0,
    decisions_before: int = 0,
    evaluate_every: int = 0,
    evaluation_seeds: Sequence[int] = EVALUATION_SEEDS,
    evaluation_warmup_ns: float = EVALUATION_WARMUP_NS,
    evaluation_ns: float = EVALUATION_NS,
    log_dir: str | Path | None = None,
    checkpoint_dir: str | Path | None = None,
    checkpoint_every: int = 10,
    callback: Callback | None = None,
    stop_after_s: float | None = None,
) -> Iterator[Progress]:
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
        seed: Of the traffic: every episode has a seed of its own, derived from it.
        first_episode: How many were done before, by an agent that was saved: training goes on with the next
            one, with the same traffic as if it had not stopped. (Its replay buffer starts empty.)
        decisions_before: How many decisions these episodes had: the count goes on from there, in logs too.
        evaluate_every: After how many episodes the greedy policy is measured; always after the last one; 0: never.
        evaluation_seeds: Of the traffic that it is measured on.
        evaluation_warmup_ns: Not counted there.
        evaluation_ns: Counted there.
        log_dir: Where event files for TensorBoard go.
        checkpoint_dir: Where ``episode-0010.zip``, ... and ``latest.zip`` go; it is made if need be. ``latest.zip`` is
            written in any case, also when the training is interrupted.
        checkpoint_every: After how many episodes.
        callback: Called after every episode; if it returns False, the training ends.
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
        allowed = f"must be a learner, such as make_agent('deep-q'): an object with {methods}"
        raise config_error("agent", agent, allowed)
    from dragonfly_env.envs._scenarios import Scenarios

    evaluated = Scenarios(config).present
    if callback is not None and not callable(callback):
        raise config_error("callback", callback, "must be a function of the progress")
    schedule = Schedule(episodes, episode_ns, warmup_ns, seed, first_episode)
    folder = None if checkpoint_dir is None else check_path("checkpoint_dir", checkpoint_dir)
    seeds = check_items("evaluation_seeds", evaluation_seeds, "must be a list of seeds")
    seeds = [check_integer("evaluation_seeds", item, 0, MAX_SEED) for item in seeds]
    decisions_before = check_integer("decisions_before", decisions_before, 0, MAX_SEED)
    check_time_ns("evaluation_warmup_ns", evaluation_warmup_ns)
    check_time_ns("evaluation_ns", evaluation_ns, open_low=True)
    every = check_integer("evaluate_every", evaluate_every, 0, MOST_EPISODES)
    checkpoints = check_integer("checkpoint_every", checkpoint_every, 1, MOST_EPISODES)
    if stop_after_s is not None:
        stop_after_s = check_real("stop_after_s", stop_after_s, 0.0, 1e9, unit="s")

    def evaluate() -> Evaluation:
        return evaluate_over_seeds(
            agent, evaluated, seeds, warmup_ns=evaluation_warmup_ns, measure_ns=evaluation_ns
        )

    def run() -> Iterator[Progress]:
        log = _open_log(None if log_dir is None else check_path("log_dir", log_dir))
        clock = _Clock()
        decisions, simulated_ns, learned = decisions_before, 0.0, False
        if folder is not None:
            # Before anything is learned: not every learner's save() would.
            with refusing("checkpoint_dir", folder, "must be a folder that can be made and written to"):
                folder.mkdir(parents=True, exist_ok=True)
        try:
            for number, episode in zip(schedule.numbers, _episodes(agent, config, schedule), strict=False):
                clock.stop()
                learned = True
                decisions += episode.decisions
                simulated_ns += episode.simulated_ns
                late = stop_after_s is not None and clock.total_s >= stop_after_s
                last = late or number == schedule.episodes
                saved = None
                if folder is not None and number % checkpoints == 0:
                    saved = folder / f"episode-{number:04d}.zip"
                    agent.save(without_link(saved))
                    agent.save(without_link(folder / "latest.zip"))
                progress = Progress(
                    episode=number,
                    episodes=schedule.episodes,
                    decisions=decisions,
                    simulated_ns=simulated_ns,
                    wall_s=clock.total_s,
                    latency_mean_ns=episode.mean("latency_mean_ns"),
                    accepted_load=episode.mean("accepted_load"),
                    minimal_fraction=episode.mean("minimal_fraction"),
                    reward_mean=episode.reward_sum / max(1, episode.transitions),
                    statistics=agent.statistics(),
                    evaluation=evaluate() if every and (last or number % every == 0) else None,
                    checkpoint=saved,
                )
                if log is not None:
                    log(progress)
                proceed = callback is None or callback(progress) is not False
                yield progress
                if last or not proceed:
                    break
                clock.start()
        finally:
            agent.set_training(False)
            if folder is not None and learned:
                agent.save(without_link(folder / "latest.zip"))
            if log is not None:
                log(None)

    return run()


@takes_all_of(train)
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


def _episodes(agent: Learner, config: SimulationConfig | Several, schedule: Schedule) -> Iterator[Episode]:
    if isinstance(agent, OwnLoop):
        yield from agent.episodes(config, schedule)
        return
    env = make_env(config, agent, duration_ns=schedule.episode_ns, warmup_ns=schedule.warmup_ns)
    agent.prepare(env)
    for number in schedule.numbers:
        agent.set_training(True)  # an evaluation may have come between
        batch = env.reset(seed=schedule.episode_seed(number))
        decisions, count, reward_sum = 0, 0, 0.0
        while not env.done:
            decisions += len(batch)
            batch = env.step(agent.act(batch))
            transitions = env.transitions()
            count += len(transitions.rewards)
            reward_sum += float(transitions.rewards.sum())
            agent.learn(transitions)
        if isinstance(agent, EndsEpisodes):
            agent.end_episode()
        first, *others = map(env.metrics, range(env.num_scenarios))
        yield Episode(first, decisions, count, reward_sum, env.time_ns, tuple(others))


class _Clock:
    """Real time, without the pauses between ``stop`` and ``start``."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._since = time.perf_counter()

    def stop(self) -> None:
        self.total_s += time.perf_counter() - self._since

    def start(self) -> None:
        self._since = time.perf_counter()


def _open_log(folder: str | Path | None) -> Callable[[Progress | None], None] | None:
    """A function that writes a progress for TensorBoard, and closes the log if it is given None."""
    if folder is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        allowed = f"needs PyTorch and TensorBoard: {how_to_install('sb3')} ({error})"
        raise config_error("log_dir", str(folder), allowed) from error
    allowed = "must be a folder that TensorBoard can write to; --no-tensorboard does without"
    with parsing("log_dir", str(folder), allowed):
        str(folder).encode()  # it takes names in UTF-8 only
        writer: Any = SummaryWriter(str(folder))

    def log(progress: Progress | None) -> None:
        if progress is None:
            writer.close()
            return
        for name, value in progress.to_dict().items():
            group = name if "/" in name else f"episode/{name}"
            writer.add_scalar(group, value, progress.decisions)

    return log
