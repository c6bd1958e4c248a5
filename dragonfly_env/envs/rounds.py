"""``Rounds``: an episode of ``BatchedRoutingEnv`` in which every router decides about one packet at a time.

A batch may hold several decisions of one router. In a round every router that has decisions left in the batch makes
its earliest one (of several at the same time, the one with the lowest decision id). Simulated time stops until
all rounds of the batch are over. Decisions of one batch do not depend on each other, so rounds change nothing in the
network.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._scenarios import Changes
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.errors import IllegalActionError, IllegalActionWarning

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
    """

    rows: IntArray
    agents: IntArray
    masks: BoolArray
    ends: list[int]
    begin: int
    end: int

    def __init__(self, core: BatchedRoutingEnv, seed: int | None = None, options: Changes = None) -> None:
        core.reset(seed=seed, options=options)
        self._core = core
        self._num_agents = core.num_agents
        self._episode = core.episode
        self._is_stepping = False
        self._round = 0
        self.decisions = 0
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

    def take(self, actions: IntArray) -> list[int]:
        """Take the actions of all routers in this round. In place of an illegal action the core takes the minimal one;
        a router without a packet idles.

        Args:
            actions: (num_agents,) in [0, A]; A is idle.

        Returns:
            The routers whose actions were illegal.
        """
        acting = self.acting
        illegal = self._core.take_actions(self.rows[self.begin : self.end], actions[acting])
        idle = actions == self.masks.shape[1] - 1
        if not illegal and np.count_nonzero(idle) == len(actions) - len(acting):
            return []
        idle[acting] = True
        idle[acting[illegal]] = False
        routers: list[int] = (~idle).nonzero()[0].tolist()
        return routers

    def finish(self) -> bool:
        """End this round, whose actions were taken; whether simulated time went on, to the next batch."""
        if self.end < len(self.rows):
            self._round += 1
            self.begin, self.end = self.end, self.ends[self._round]
            return False
        self._is_stepping = True
        self._core.go_on()
        self._is_stepping = False
        self._round = 0
        self.decisions += len(self.rows)
        self._open()
        return True

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
        self.ends = np.bincount(number).cumsum().tolist()
        self.begin, self.end, self._round = 0, self.ends[0] if count else 0, 0


class IllegalActions:
    """Treatment of actions that the mask forbids.

    Args:
        choice: ``"remap"``: another action is taken, and the first illegal action of an environment is warned about; or
            ``"raise"``.
    """

    def __init__(self, choice: str) -> None:
        self._raises = check_choice("illegal_action", choice, ("remap", "raise")) == "raise"
        self._warned = False

    def found(self, who: str, action: int, batch: DecisionBatch, idle: int = 0) -> None:
        """Warn of the first illegal action, or raise. ``batch`` has the decision; if it is empty, only ``idle`` is
        legal.
        """
        legal, instead, why = [idle], idle, " (no pending packet)"
        if len(batch):
            legal, instead = np.flatnonzero(batch.mask[0]).tolist(), int(batch.minimal_actions()[0])
            why = f" (decision {batch.decision_ids[0]})"
        if self._raises:
            raise IllegalActionError(
                f"{who}: action {action} is illegal{why}: must be one of {legal}; nothing has changed"
            )
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{who}: action {action} is illegal{why}: the mask allows {legal}; action {instead} is taken instead. "
                'info["illegal_actions"] counts such actions, and no further one of this environment is warned about; '
                'illegal_action="raise" makes each an error',
                IllegalActionWarning,
                stacklevel=4,
            )

    def take(self, actions: IntArray, rounds: Rounds) -> list[int]:
        """Take the actions of a round, minimal ones or idle in place of illegal ones.

        Args:
            actions: (num_agents,) one per router.
            rounds: The episode.

        Returns:
            The routers whose actions were illegal.
        """
        idle = rounds.masks.shape[1] - 1
        if actions.view(np.uint64).max() > idle:  # a negative one is a large one without its sign
            agent = int(actions.view(np.uint64).argmax())
            raise IllegalActionError(
                f"router_{agent}: action {actions[agent]} must be from 0 to {idle}, which is idle; "
                "nothing has changed"
            )
        illegal = rounds.take(actions)
        if illegal:
            first = illegal[0]
            batch = rounds.batch.rows((rounds.acting == first).nonzero()[0])
            self.found(f"router_{first}", int(actions[first]), batch, idle)
        return illegal
