"""The PettingZoo parallel view: in every step each router with pending packets answers its earliest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import ParallelEnv

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._rounds import Rounds
from dragonfly_env.envs._view import INTEGER_TYPES, GivenConfig, Info, IntArray, Observation, RouterView
from dragonfly_env.envs.recipe import alone
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.errors import IllegalActionError

Observations = dict[str, Observation]
Infos = dict[str, Info]


class ParallelRoutingEnv(RouterView, ParallelEnv[str, Observation, int]):
    """All routers act at once; see ``dragonfly_env.dragonfly_v0`` for settings and spaces.

    A step is a round. Simulated time stands still until the window's pending decisions are all answered, which
    takes as many rounds as the busiest router has packets; rewards are paid in the last of them.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dragonfly_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 10,
        "is_parallelizable": True,
    }

    def __init__(self, config: GivenConfig = None, **settings: Any) -> None:
        super().__init__(config, **settings)
        self._cycle = 0
        self._round = 0
        self._rows: IntArray = np.empty(0, np.int64)
        self._acting: IntArray = self._rows

    @alone
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin an episode.

        Args:
            seed: Seed of the traffic; None: the generator goes on.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Returns:
            Observations and infos of all routers.

        Raises:
            ConfigError: For an option or an impossible seed.
            StateError: After close.
        """
        self._open(self._begin(seed, options))
        self._cycle = 0
        return self._show()

    @alone
    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """One round.

        Args:
            actions: For every router an integer. A router without a pending packet may be left out.

        Returns:
            Observations, rewards, terminations (never), truncations (all at once), infos, by router.
            A reward is what the router was paid since the last step. The last infos of an episode have its
            ``metrics``.

        Raises:
            IllegalActionError: For a missing action, an unknown agent, what is no integer or out of range; with
                ``illegal_action="raise"`` also if the mask forbids an action. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.
        """
        self._check_running()
        self._answers[self._rows] = self._read(actions)[self._acting]
        self._cycle += 1
        self._round += 1
        names = self.possible_agents
        if self._round < len(self._rounds):
            self._begin_round()
            rewards = dict.fromkeys(names, 0.0)
        elif self._core.done:  # an episode without any decision
            rewards = dict.fromkeys(names, 0.0)
        else:
            batch = self._advance(self._answers)
            rewards = dict(zip(names, self._payments(), strict=True))
            self._open(batch)
        over = self._core.done or (self.max_cycles is not None and self._cycle >= self.max_cycles)
        if over:
            self._rows = self._acting = np.empty(0, np.int64)
        observations, infos = self._show()
        if over:
            for info, last in zip(infos.values(), self._metrics(), strict=True):
                info |= last
            self.agents = []
        return observations, rewards, dict.fromkeys(names, False), dict.fromkeys(names, over), infos

    @property
    def round_batch(self) -> DecisionBatch:
        """The decisions that this round asks for, one row per acting router, in the order of ``router_...``.

        For policies that act on batches: ``dict(zip(env.acting, policy.act(env.round_batch)))`` is a legal
        argument of ``step``. A copy.

        Raises:
            StateError: Before the first reset, or after close.
        """
        with self._one_thread:
            self._check_open("round_batch")
            return self._batch.rows(self._rows)

    @property
    def acting(self) -> list[str]:
        """The routers that have a packet to answer in this round; the others idle."""
        return [self.possible_agents[i] for i in self._acting.tolist()]

    def _waiting(self) -> IntArray:
        left = (
            self._rounds.agents[self._rounds.slice(self._round).start :] if len(self._rows) else self._acting
        )
        return np.bincount(left, minlength=len(self.possible_agents))

    def _open(self, batch: DecisionBatch) -> None:
        """Begin the rounds of a new batch."""
        self._batch = batch
        self._minimal = None
        self._rounds = Rounds(self._places(batch), batch.time_ns)
        self._answers = np.zeros(len(batch), np.int64)
        self._round = 0
        if len(batch):
            self._begin_round()
        else:
            self._rows = self._acting = np.empty(0, np.int64)

    def _begin_round(self) -> None:
        where = self._rounds.slice(self._round)
        self._rows, self._acting = self._rounds.rows[where], self._rounds.agents[where]
        self._seen[self._acting] = self._batch.obs[self._rows]

    def _masks(self) -> npt.NDArray[np.int8]:
        """(num_agents, A + 1) what each router may do in this round. A new array."""
        masks = np.zeros((len(self.possible_agents), self._idle + 1), np.int8)
        masks[:, self._idle] = 1
        masks[self._acting, : self._idle] = self._batch.mask[self._rows]
        masks[self._acting, self._idle] = 0
        return masks

    def _show(self) -> tuple[Observations, Infos]:
        """Observations and infos of this round: fresh arrays, one row for each router."""
        names = self.possible_agents
        masks = self._masks()
        self._legal = masks.astype(bool).ravel()  # a copy: callers may write into theirs
        rows = list(masks)
        observations = dict(zip(names, self._form.many(self._seen.copy(), masks), strict=True))
        infos: Infos
        if self._form.in_info:
            infos = {
                name: {"action_mask": mask, "illegal_actions": count}
                for name, mask, count in zip(names, rows, self._illegal, strict=True)
            }
        else:
            infos = {
                name: {"illegal_actions": count} for name, count in zip(names, self._illegal, strict=True)
            }
        return observations, infos

    def _read(self, actions: Mapping[str, int]) -> IntArray:
        """(num_agents,) the actions, checked; those that the mask forbids replaced."""
        if not isinstance(actions, Mapping):
            raise IllegalActionError(f"actions must be a dictionary by agent, not a {type(actions).__name__}")
        names = self.possible_agents
        try:
            given = [actions[name] for name in names]
        except KeyError:
            given = self._fill(actions)
        if len(actions) > len(names):
            self._check_names(actions)
        if not set(map(type, given)) <= INTEGER_TYPES:
            given = [self._as_action(name, action) for name, action in zip(names, given, strict=True)]
        try:
            chosen = np.array(given, np.int64)
        except OverflowError:
            chosen = np.array(
                [self._as_action(name, action) for name, action in zip(names, given, strict=True)]
            )
        outside = (chosen < 0) | (chosen > self._idle)
        if outside.any():
            first = int(outside.argmax())
            self._as_action(names[first], given[first])
        legal = self._legal[np.arange(len(names)) * (self._idle + 1) + chosen]
        if not legal.all():
            rows = dict(zip(self._acting.tolist(), self._rows.tolist(), strict=True))
            for number in np.flatnonzero(~legal).tolist():
                chosen[number] = self._replacement(self._batch, number, rows.get(number), int(chosen[number]))
        return chosen

    def _fill(self, actions: Mapping[str, int]) -> list[int]:
        """All actions, with ``idle`` for routers that have nothing to do and were left out."""
        self._check_names(actions)
        for name in self.acting:
            if name not in actions:
                raise IllegalActionError(f"{name} has a pending packet but no action; nothing has changed")
        return [actions.get(name, self._idle) for name in self.possible_agents]

    def _check_names(self, actions: Mapping[str, int]) -> None:
        for name in actions:
            if name not in self._index:
                raise IllegalActionError(
                    f"actions[{name!r}]: there is no such agent; they are 'router_0' to {self.possible_agents[-1]!r}"
                )
