"""The PettingZoo parallel view: in every step each router with pending packets decides about its earliest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pettingzoo.utils.env import ParallelEnv

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.rounds import IntArray, Rounds
from dragonfly_env.envs.views import Info, Observation, RouterView, last_infos
from dragonfly_env.errors import IllegalActionError

Observations = dict[str, Observation]
Infos = dict[str, Info]


class ParallelRoutingEnv(RouterView, ParallelEnv[str, Observation, int]):
    """All routers act at once; ``dragonfly_env.dragonfly_v0`` lists settings and spaces.

    A step is a round. Simulated time stops until all decisions of the batch are made, which takes as many rounds
    as the busiest router has packets. Rewards are given in the last of these rounds, in which time goes on.

    Arrays that are handed out are never changed later. A router without a packet is handed the same arrays again.

    Example:
        >>> from dragonfly_env import dragonfly_v0
        >>> env = dragonfly_v0.parallel_env(traffic="adv+1", duration_ns=2_000)
        >>> policy = dfe.make_policy("min")
        >>> seen, infos = env.reset(seed=1)
        >>> while env.agents:
        ...     actions = dict(zip(env.acting, policy.act(env.round_batch)))
        ...     seen, rewards, _, truncations, infos = env.step(actions)
        >>> infos["router_0"]["metrics"].duration_ns
        2000.0
    """

    metadata: ClassVar[dict[str, Any]] = {**RouterView.metadata, "is_parallelizable": True}

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
            ConfigError: For an unknown option or an impossible value; the present episode goes on.
        """
        rounds = self._begin(seed, options)
        self._cycle = 0
        self._no_rewards = dict.fromkeys(self.agents, 0.0)
        self._all_false = dict.fromkeys(self.agents, False)
        return self._observations(), self._infos(rounds, time_went_on=False)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """One round.

        Args:
            actions: An integer per router. A router without a pending packet may be left out.

        Returns:
            Observations, rewards, terminations (never), truncations (all at once) and infos, by router. An info has
            ``action_mask``, ``illegal_actions`` (of the episode so far), and the packets ``generated`` by the router's
            hosts and ``delivered`` from them in this step; the last one of an episode also has ``metrics``.

        Raises:
            IllegalActionError: For a missing action, an unknown router, or an integer out of range; with
                ``illegal_action="raise"`` also if the mask forbids an action. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.
        """
        rounds = self._check_running()
        chosen = self._read(actions, rounds)
        for number in self._illegal_actions.replace(chosen, rounds):
            self._idle_infos[number]["illegal_actions"] += 1
        self._cycle += 1
        time_went_on = not rounds.over and rounds.act(chosen[rounds.acting])
        if time_went_on:
            self._open_batch(rounds)
            rewards = dict(zip(self.possible_agents, rounds.rewards.tolist(), strict=True))
        else:
            self._open_round(rounds)
            rewards = self._no_rewards.copy()
        over = rounds.over or self._cycle == self.max_cycles
        if over:
            rounds.stop()
            self._open_round(rounds)
        observations, infos = self._observations(), self._infos(rounds, time_went_on)
        truncations = terminations = self._all_false
        if over:
            truncations = dict.fromkeys(self.possible_agents, True)
            for info, last in zip(infos.values(), last_infos(self.core), strict=True):
                info |= last
            self.agents = []
        return observations, rewards, terminations.copy(), truncations.copy(), infos

    @property
    def acting(self) -> list[str]:
        """The routers that have a decision to make in this round; the others idle."""
        return [] if self._rounds is None else [self.possible_agents[number] for number in self._acting]

    @property
    def round_batch(self) -> DecisionBatch:
        """The decisions of this round, one row per router in ``acting``. A copy.

        For policies that act on batches: ``dict(zip(env.acting, policy.act(env.round_batch)))`` is an argument of
        ``step``.

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._check_open("round_batch").batch

    def _observations(self) -> Observations:
        columns = zip(self.possible_agents, self._seen, self._masks, strict=True)
        return {name: {"observation": seen, "action_mask": mask} for name, seen, mask in columns}

    def _infos(self, rounds: Rounds, time_went_on: bool) -> Infos:
        infos, masks = list(map(dict.copy, self._idle_infos)), self._masks
        for number in self._acting:
            infos[number]["action_mask"] = masks[number]
        if time_went_on:
            generated, delivered = rounds.generated.tolist(), rounds.delivered.tolist()
            for info, new, done in zip(infos, generated, delivered, strict=True):
                info["generated"], info["delivered"] = new, done
        return dict(zip(self.possible_agents, infos, strict=True))

    def _read(self, actions: Mapping[str, int], rounds: Rounds) -> IntArray:
        """(num_agents,) the actions; idle where an idle router was left out."""
        names = self.possible_agents
        try:
            chosen = np.fromiter(map(actions.__getitem__, names), np.int64, len(names))
        except KeyError:
            self._check_names(actions)
            return np.array([actions.get(name, self._idle) for name in names], np.int64)
        if len(actions) > len(names):
            self._check_names(actions)
        return chosen

    def _check_names(self, actions: Mapping[str, int]) -> None:
        """Refuse actions of unknown agents, and a missing action of a router with a pending packet."""
        names = self.possible_agents
        for name in actions:
            if name not in self._index:
                raise IllegalActionError(
                    f"actions[{name!r}]: there is no such agent; they are {names[0]!r} to {names[-1]!r}"
                )
        for name in self.acting:
            if name not in actions:
                raise IllegalActionError(f"{name} has a pending packet but no action; nothing has changed")
