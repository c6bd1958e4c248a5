"""``Rounds``: an episode of ``BatchedRoutingEnv`` in which every router decides about one packet at a time.

A batch may hold several decisions of one router. In a round every router that has decisions left in the batch makes
its earliest one (of several at the same time, the one with the lowest decision id). Simulated time stops until
all rounds of the batch are over. Decisions of one batch do not depend on each other, so rounds change nothing in the
network.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._scenarios import Changes
from dragonfly_env.envs.batched import BatchedRoutingEnv

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Rounds:
    """The rounds of one episode, which begins here.

    Attributes:
        rows: (N,) the rows of the present batch, by round, then by router.
        agents: (N,) their routers, numbered on from one scenario to the next.
        masks: (N, A + 1) bool, what they may do; the last action is idle, which is never allowed here.
        ends: Where each round ends in ``rows``.
        begin: Where the present round begins in ``rows``.
        end: Where the present round ends; ``begin`` when the episode is over.
        decisions: How many decisions were made in this episode.
        rewards: (num_agents,) the rewards of the last time that simulated time went on.
        generated: (num_agents,) packets that the hosts of each router generated in this time.
        delivered: (num_agents,) packets from these hosts that were delivered in this time.
    """

    rows: IntArray
    agents: IntArray
    masks: BoolArray
    ends: list[int]
    begin: int
    end: int
    rewards: npt.NDArray[np.float64]
    generated: IntArray
    delivered: IntArray

    def __init__(self, core: BatchedRoutingEnv, seed: int | None = None, options: Changes = None) -> None:
        core.reset(seed=seed, options=options)
        self._core = core
        self._num_agents = core.num_agents
        self._episode = core.episode
        self._is_stepping = False
        self._round = 0
        self.decisions = 0
        self.rewards = np.zeros(core.num_agents)
        self.generated = self.delivered = np.zeros(core.num_agents, np.int64)
        self._open()

    @property
    def interrupted(self) -> bool:
        """Whether a step or a reset was broken off, by Ctrl-C or a deadlock: the episode cannot go on."""
        return self._is_stepping or self._core.episode != self._episode

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.begin == self.end

    @property
    def acting(self) -> IntArray:
        """(n,) the routers of this round, ascending."""
        return self.agents[self.begin : self.end]

    @property
    def batch(self) -> DecisionBatch:
        """The decisions of this round, one row per acting router. A copy."""
        return self._core.pending.rows(self.rows[self.begin : self.end])

    def observations(self) -> npt.NDArray[np.float32]:
        """(n, F) what the routers of this round see. A new array."""
        return self._core.pending.obs[self.rows[self.begin : self.end]]

    def masks_of_all(self) -> BoolArray:
        """(num_agents, A + 1) what every router may do in this round. A new array."""
        masks = np.zeros((self._num_agents, self.masks.shape[1]), np.bool_)
        masks[:, -1] = True
        masks[self.acting] = self.masks[self.begin : self.end]
        return masks

    def allow(self, actions: IntArray) -> bool:
        """Whether the masks of this round allow (num_agents,) actions in [0, A]."""
        acting = self.acting
        legal: BoolArray = self.masks.ravel()[self._mask_starts[self.begin : self.end] + actions[acting]]
        idling = np.count_nonzero(actions == self.masks.shape[1] - 1)
        return bool(legal.all()) and idling == len(actions) - len(acting)

    def observations_by_router(self) -> dict[int, Iterator[npt.NDArray[np.float32]]]:
        """Observations of the routers of this batch, round by round. Observations of different routers do not share
        memory: a kept observation keeps no other router's alive.
        """
        obs = self._core.pending.obs[self._by_agent]
        routers = self.agents[: self.end].tolist()
        blocks = pairwise(self._bounds)
        return {
            router: iter(obs[first:end].copy()) for router, (first, end) in zip(routers, blocks, strict=True)
        }

    def act(self, actions: IntArray) -> bool:
        """Decide for the routers of this round, in the order of ``acting``; whether simulated time went on."""
        self._actions[self.begin : self.end] = actions
        if self.end == len(self.rows):
            self.act_all(self._actions)
            return True
        self._round += 1
        self.begin, self.end = self.end, self.ends[self._round]
        return False

    def act_all(self, actions: IntArray) -> None:
        """Make all decisions of the batch, in the order of ``rows``, and go on to the next batch."""
        in_batch = np.empty_like(actions)
        in_batch[self.rows] = actions
        self._is_stepping = True
        self._core.step(in_batch)
        self.rewards = self._core.rewards_by_router()
        self.generated, self.delivered = self._core.packets_by_router()
        self._is_stepping = False
        self._round = 0
        self.decisions += len(actions)
        self._open()

    def stop(self) -> None:
        """End the episode here; packets that wait for a decision are left alone."""
        self.decisions += self.begin
        self.end = self.begin

    def _open(self) -> None:
        """Put the batch into rounds, and begin the first."""
        batch = self._core.pending
        count = len(batch)
        agents = self._core.slots(batch)
        numbers = agents.astype(np.min_scalar_type(self._num_agents))  # which are sorted faster
        by_agent = np.lexsort((batch.time_ns, numbers))  # a stable sort
        agents = agents[by_agent]
        is_first = np.ones(count, np.bool_)
        is_first[1:] = agents[1:] != agents[:-1]
        (firsts,) = is_first.nonzero()
        # How many packets of the same router come before this one: the round in which its turn is.
        number = np.arange(count) - firsts[is_first.cumsum() - 1]
        order = number.astype(np.min_scalar_type(count)).argsort(kind="stable")
        self._by_agent: IntArray = by_agent
        self._bounds: list[int] = [*firsts.tolist(), count] if count else []  # of the rows of each router
        self.rows = by_agent[order]
        self.agents = agents[order]
        self.masks = np.zeros((count, batch.mask.shape[1] + 1), np.bool_)
        self.masks[:, :-1] = batch.mask[self.rows]
        self._mask_starts: IntArray = np.arange(count) * self.masks.shape[1]
        self._actions = np.zeros(count, np.int64)
        self.ends = np.bincount(number).cumsum().tolist()
        self.begin, self.end, self._round = 0, self.ends[0] if count else 0, 0
