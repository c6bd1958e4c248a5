"""``path-times``: linear regression of the time that a packet takes on each path; a first learner that works.

The source router predicts for each candidate path how long a packet will take, from what the router sees itself, and
takes the path with the shortest time. In training a tenth of the packets take a random path. After every episode the
regressions are solved anew; earlier episodes count less and less.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents.learner import network_of, read_agent, warn_of_mismatch, write_agent
from dragonfly_env.agents.random_policy import any_legal
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.rows import normalise, real, show_changes
from dragonfly_env.decisions.batch import IntArray
from dragonfly_env.errors import StateError

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions
    from dragonfly_env.decisions.layout import Layout
    from dragonfly_env.envs.batched import BatchedRoutingEnv

OF_PATH = ("candidate_time_packets", "candidate_packets")
OF_DECISION = ("destination_demand", "destination_remote_demand")
FEATURES = (*OF_PATH, *OF_DECISION)
_RIDGE = 0.01


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PathTimesSettings:
    """Settings of ``PathTimesAgent``.

    Raises:
        ConfigError: For a value out of range.

    Example:
        >>> dfe.agents.PathTimesSettings(explore=0.2)
        PathTimesSettings(explore=0.2)
    """

    explore: float = real(0.1, 0.0, 1.0, doc="Share of the packets that take a random path in training.")
    memory: float = real(0.9, 0.0, 1.0, doc="Weight of an episode in the regression after the next episode.")

    __repr__ = show_changes

    def __post_init__(self) -> None:
        normalise(self)


class PathTimesAgent:
    """A linear prediction of the time of each path, shared by all routers; it takes the shortest.

    Args:
        settings: Exploration and memory.
        seed: Seed of the exploration.

    Raises:
        ConfigError: For a seed out of range.

    Example:
        >>> agent = dfe.agents.PathTimesAgent(seed=1)
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> [progress] = dfe.agents.fit(agent, config, episodes=1, episode_ns=2_000)
        >>> agent.weights.shape
        (5, 5)
    """

    kind: ClassVar[str] = "path-times"
    settings_class: ClassVar[type[PathTimesSettings]] = PathTimesSettings
    warns_of_mismatch: ClassVar[bool] = True  # itself
    name, scope, action = "path-times", "source", "path"

    def __init__(self, settings: PathTimesSettings | None = None, *, seed: int = 0) -> None:
        self.settings = PathTimesSettings() if settings is None else settings
        self.seed = check_integer("seed", seed, 0, 2**32 - 1)
        self.metadata: dict[str, Any] = {}
        self.training = False
        self.episodes = 0
        self.weights: npt.NDArray[np.float64] | None = None  # (paths, 1 + features)
        self._generator = np.random.default_rng(seed)
        self._trained_on: dict[str, Any] = {}
        self._here: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<PathTimesAgent after {self.episodes} episodes>"

    def env_options(self) -> dict[str, Any]:
        """See ``Learner.env_options``."""
        return {
            "scope": "source",
            "action": "path",
            "reward": "delivery",
            "features": FEATURES,
            "occupancy_unit": "packets",
        }

    def prepare(self, env: BatchedRoutingEnv) -> None:
        """See ``Learner.prepare``."""
        paths = env.num_actions
        if self.weights is None:
            inputs = 1 + len(FEATURES)
            self.weights = np.zeros((paths, inputs))
            self._squares = np.tile(_RIDGE * np.eye(inputs), (paths, 1, 1))
            self._products = np.zeros((paths, inputs, 1))
        elif len(self.weights) != paths:
            raise config_error("env", paths, f"must have {len(self.weights)} paths, as the training had")
        self._layout = env.layout
        self._here = network_of(env.config)
        warn_of_mismatch(self._trained_on, env.config, f"this {self.kind} agent")

    def set_training(self, on: bool) -> None:
        """See ``Learner.set_training``."""
        self.training = bool(on)

    def act(self, batch: DecisionBatch) -> IntArray:
        """See ``Policy.act``."""
        times = np.einsum("npi,pi->np", self._inputs(batch.layout, batch.obs), self._built("act()"))
        actions: IntArray = np.where(batch.mask, times, np.inf).argmin(axis=1)
        if not self.training:
            return actions
        explores, draws = self._generator.random((2, len(batch)))
        return np.where(explores < self.settings.explore, any_legal(batch.mask, draws), actions)

    def learn(self, transitions: Transitions) -> None:
        """See ``Learner.learn``: add delivered packets to the regressions."""
        self._trained_on = self._here
        delivered = transitions.completed()
        inputs = self._inputs(self._layout, delivered.obs)
        for path in range(inputs.shape[1]):
            taken = delivered.actions == path
            x, times = inputs[taken, path], -delivered.rewards[taken, None]
            self._squares[path] += x.T @ x
            self._products[path] += x.T @ times

    def end_episode(self) -> None:
        """Solve the regressions, and let what is known count less."""
        self.episodes += 1
        self.weights = np.linalg.solve(self._squares, self._products)[..., 0].astype(np.float64)
        self._squares *= self.settings.memory
        self._products *= self.settings.memory
        self._squares += (1 - self.settings.memory) * _RIDGE * np.eye(1 + len(FEATURES))

    def statistics(self) -> dict[str, float]:
        """Episodes so far."""
        return {"episodes": float(self.episodes)}

    def save(self, path: str | Path) -> None:
        """See ``Learner.save``. The regressions are not saved: they start anew."""
        weights = self._built("save()").tolist()
        contents = {
            "kind": self.kind,
            "metadata": self.metadata,
            "settings": dataclasses.asdict(self.settings),
        }
        known = {"seed": self.seed, "episodes": self.episodes, "trained_on": self._trained_on or self._here}
        write_agent(path, {**contents, **known, "weights": weights})

    @classmethod
    def load(cls, path: str | Path) -> PathTimesAgent:
        """See ``Learner.load``."""
        saved = read_agent(path)
        if saved["kind"] != cls.kind:
            allowed = f"must be a saved agent of kind {cls.kind!r}, not {saved['kind']!r}"
            raise config_error("agent", str(path), allowed)
        agent = cls(PathTimesSettings(**saved["settings"]), seed=saved["seed"])
        agent.metadata, agent._trained_on = saved["metadata"], saved["trained_on"]
        agent.episodes, agent.weights = saved["episodes"], np.array(saved["weights"])
        paths, inputs = agent.weights.shape
        agent._squares = np.tile(_RIDGE * np.eye(inputs), (paths, 1, 1))
        agent._products = agent._squares @ agent.weights[..., None]
        return agent

    def export_mlp(self, path: str | Path) -> Path:
        """Write the predictions as a policy of the core: ``make_policy("mlp", weights=path)``.

        Args:
            path: Where to; ``.npz`` is added if it is missing.
        """
        weights = self._built("export_mlp()")
        count, of_path = len(weights), len(OF_PATH)
        # Columns of an observation: one per path of each feature of paths, then one per feature of the decision.
        layer = np.zeros((of_path * count + len(OF_DECISION), count), np.float32)
        for number in range(of_path):
            layer[number * count : (number + 1) * count] = -np.diag(weights[:, 1 + number])
        layer[of_path * count :] = -weights[:, 1 + of_path :].T
        return MlpNetwork(
            layers=((layer, -weights[:, 0].astype(np.float32)),),
            features=FEATURES,
            scale=(*(1.0 for _ in OF_PATH), *(0.0 for _ in OF_DECISION)),
            scoring="all",
            nonminimal_kinds=("lgl", "lg", "gl", "g"),
        ).save(path)

    def _built(self, call: str) -> npt.NDArray[np.float64]:
        if self.weights is None:
            raise StateError(f"{call}: there are no weights yet; train the agent or call prepare(env) first")
        return self.weights

    def _inputs(self, layout: Layout, obs: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """(N, paths, 1 + features) inputs of the regressions: 1, and quantities."""
        blocks = [layout[name] for name in FEATURES]
        values = [obs[:, block.columns] * (block.unit or 1.0) for block in blocks]
        ones = np.ones((len(obs), len(self._built("act()"))))
        return np.stack(np.broadcast_arrays(ones, *values), axis=2)
