"""The PettingZoo parallel view: in every step each router with pending packets decides about its earliest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pettingzoo.utils.env import ParallelEnv

from dragonfly_env.config.help import constructed_like
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.views import (
    GivenConfig,
    Info,
    IntArray,
    Observation,
    RouterView,
    Turns,
)
from dragonfly_env.errors import IllegalActionError

Observations = dict[str, Observation]
Infos = dict[str, Info]

# Integers that need no closer look; bool is no integer here although Python says so.
_INTEGER_TYPES = frozenset({int, np.int64, np.int32, np.intp})


@constructed_like(RouterView)
class ParallelRoutingEnv(RouterView, ParallelEnv[str, Observation, int]):
    """All routers act at once; see ``dragonfly_env.dragonfly_v0`` for settings and spaces.

    A step is a round. Simulated time stops until the window's pending decisions are all made, which
    takes as many rounds as the busiest router has packets; rewards are given in the last of them.

    Example:
        >>> from dragonfly_env import dragonfly_v0
        >>> env = dragonfly_v0.parallel_env(traffic="adv+1", duration_ns=2_000)
        >>> policy = dfe.baselines.Minimal()
        >>> seen, infos = env.reset(seed=1)
        >>> while env.agents:
        ...     actions = dict(zip(env.acting, policy.act(env.round_batch)))
        ...     seen, rewards, _, truncations, infos = env.step(actions)
        >>> infos["router_0"]["metrics"].duration_ns
        2000.0
    """

    metadata: ClassVar[dict[str, Any]] = {**RouterView.metadata, "is_parallelizable": True}

    def __init__(self, config: GivenConfig = None, **settings: Any) -> None:
        super().__init__(config, **settings)
        self._cycle = 0

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

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.parallel_env()
            >>> seen, infos = env.reset(seed=1, options={"load": 0.2})
            >>> len(seen) == len(env.agents)
            True
        """
        turns = self._begin(seed, options)
        self._cycle = 0
        self._seen[turns.agents] = turns.observations()
        return self._show(turns)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """One round.

        Args:
            actions: For every router an integer. A router without a pending packet may be left out.

        Returns:
            Observations, rewards, terminations (never), truncations (all at once), infos, by router.
            A reward is what the router was rewarded with since the last step. The last infos of an episode have its
            ``metrics``.

        Raises:
            IllegalActionError: For a missing action, an unknown agent, what is no integer or out of range; with
                ``illegal_action="raise"`` also if the mask forbids an action. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.parallel_env()
            >>> seen, infos = env.reset(seed=1)
            >>> actions = dict(zip(env.acting, env.round_batch.minimal_actions()))
            >>> seen, rewards, terminations, truncations, infos = env.step(actions)
            >>> any(terminations.values())
            False
        """
        turns = self._check_running()
        chosen = self._read(turns, actions)[turns.agents]
        self._cycle += 1
        names = self.possible_agents
        paid = None
        if not turns.over:  # as in an episode without any decision
            agents, self.agents = self.agents, []  # an exception, such as Ctrl-C's, ends the episode
            paid = turns.answer(chosen)
            self.agents = agents
            self._seen[turns.agents] = turns.observations()
        rewards = dict.fromkeys(names, 0.0) if paid is None else dict(zip(names, paid.tolist(), strict=True))
        over = turns.over or (self.max_cycles is not None and self._cycle >= self.max_cycles)
        if over:
            turns.stop()
        observations, infos = self._show(turns)
        if over:
            for info, last in zip(infos.values(), self._metrics(), strict=True):
                info |= last
            self.agents = []
        return observations, rewards, dict.fromkeys(names, False), dict.fromkeys(names, over), infos

    @property
    def round_batch(self) -> DecisionBatch:
        """The decisions of this round, one row per acting router, in the order of ``router_...``.

        For policies that act on batches: ``dict(zip(env.acting, policy.act(env.round_batch)))`` is a legal
        argument of ``step``. A copy.

        Raises:
            StateError: Before the first reset, or after close.
        """
        turns = self._check_open("round_batch")
        return turns.batch.rows(turns.rows)

    @property
    def acting(self) -> list[str]:
        """The routers that have a decision to make in this round; the others idle."""
        return [] if self._turns is None else [self.possible_agents[i] for i in self._turns.agents.tolist()]

    def _show(self, turns: Turns) -> tuple[Observations, Infos]:
        """Observations and infos of this round: fresh arrays, one row for each router."""
        names = self.possible_agents
        self._legal = turns.masks_of_all()
        masks = self._legal.astype(np.int8)  # a copy: callers may write into theirs
        observations = dict(zip(names, self._form.many(self._seen.copy(), masks), strict=True))
        infos: Infos
        if self._form.in_info:
            infos = {
                name: {"action_mask": mask, "illegal_actions": count}
                for name, mask, count in zip(names, list(masks), self._illegal, strict=True)
            }
        else:
            infos = {
                name: {"illegal_actions": count} for name, count in zip(names, self._illegal, strict=True)
            }
        return observations, infos

    def _read(self, turns: Turns, actions: Mapping[str, int]) -> IntArray:
        """(num_agents,) the actions, checked; those that the mask forbids replaced."""
        names = self.possible_agents
        try:
            given = [actions[name] for name in names]
        except KeyError:
            given = self._fill(actions)
        if len(actions) > len(names):
            self._check_names(actions)
        if not set(map(type, given)) <= _INTEGER_TYPES:
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
        replaced = turns.make_legal(chosen, self._legal, self._illegal_actions, "router_{}", says_why=True)
        for number in replaced.tolist():
            self._illegal[number] += 1
        return chosen

    def _fill(self, actions: Mapping[str, int]) -> list[int]:
        """All actions, with ``idle`` for routers that have nothing to do and were left out."""
        self._check_names(actions)
        for name in self.acting:
            if name not in actions:
                raise IllegalActionError(f"{name} has a pending packet but no action; nothing has changed")
        return [actions.get(name, self._idle) for name in self.possible_agents]
