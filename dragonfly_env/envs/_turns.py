"""A batched environment driven round by round, for views with one place per router."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._rounds import Rounds
from dragonfly_env.envs._scenarios import Changes
from dragonfly_env.envs.batched import BatchedRoutingEnv

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NONE: IntArray = np.empty(0, np.int64)


class Turns:
    """An episode in rounds: in each, every router with pending packets answers its earliest one.

    Simulated time stands still until the decisions of a batch are all answered.

    Args:
        env: The environment, which nothing else may step.
        seed: Of the episode; None: the generator goes on.
        options: What is different in this episode, as ``BatchedRoutingEnv.reset`` takes it.

    Attributes:
        env: The environment.
        batch: The batch that is being answered.
        rows: (n,) the rows of ``batch`` that this round asks for; none once the episode is over.
        agents: (n,) their routers, ascending; of several scenarios numbered on from one to the next.
        decisions: How many were answered in this episode.
    """

    def __init__(self, env: BatchedRoutingEnv, *, seed: int | None, options: Changes = None) -> None:
        self.env = env
        self.decisions = 0
        batch = env.reset(seed=seed, options=options)
        while not len(batch) and not env.done:
            batch = env.step(_NONE)
        self._open(batch)

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return len(self.rows) == 0

    def observations(self) -> npt.NDArray[np.float32]:
        """(n, F) what the routers of this round see; a new array."""
        return self.batch.obs[self.rows]

    def masks(self) -> BoolArray:
        """(n, A) what they may do; a new array."""
        return self.batch.mask[self.rows]

    def minimal(self, which: BoolArray) -> IntArray:
        """The minimal actions, always legal, of some of the routers of this round.

        Args:
            which: (n,) of which.
        """
        return self.env.minimal_action(self.batch)[self.rows[which]]

    def answer(self, actions: IntArray) -> FloatArray | None:
        """Answer this round.

        Args:
            actions: (n,) legal actions.

        Returns:
            (num_agents,) what each router was paid, if time went on; None within a batch.

        Raises:
            BaseException: Whatever the environment raises, or Ctrl-C. The episode cannot go on then.
        """
        self._answers[self.rows] = actions
        self.decisions += len(self.rows)
        self._round += 1
        if self._round < len(self._rounds):
            self._begin_round()
            return None
        paid = np.zeros(self.env.num_agents)
        batch = self._step(self._answers, paid)
        while not len(batch) and not self.env.done:
            batch = self._step(_NONE, paid)
        self._open(batch)
        return paid

    def _step(self, actions: IntArray, paid: FloatArray) -> DecisionBatch:
        batch = self.env.step(actions)
        agents, rewards = self.env.payments()
        paid += np.bincount(agents, weights=rewards, minlength=len(paid))
        return batch

    def _open(self, batch: DecisionBatch) -> None:
        self.batch = batch
        self.rows = self.agents = _NONE
        agents = batch.agents if self.env.num_scenarios == 1 else self.env.slots(batch)
        self._rounds = Rounds(agents, batch.time_ns)
        self._answers = np.zeros(len(batch), np.int64)
        self._round = 0
        if len(batch):
            self._begin_round()

    def _begin_round(self) -> None:
        where = self._rounds.slice(self._round)
        self.rows, self.agents = self._rounds.rows[where], self._rounds.agents[where]
