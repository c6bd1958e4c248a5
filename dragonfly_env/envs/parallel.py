"""The PettingZoo parallel view: in every step each router that has packets to route decides about the earliest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pettingzoo.utils.env import ParallelEnv

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.rounds import Infos, IntArray, Rounds
from dragonfly_env.envs.views import Observation, RouterView
from dragonfly_env.errors import IllegalActionError

Observations = dict[str, Observation]


class ParallelRoutingEnv(RouterView, ParallelEnv[str, Observation, int]):
    """All routers act at once; ``dragonfly_env.dragonfly_v0`` lists settings, spaces and rewards.

    Simulated time stops when packets need routes. All decisions that wait then are a *batch*. A step is a *round*: each
    router makes at most one decision, so a batch takes as many steps as its busiest router has packets. The last
    round of a batch lets time go on to the next batch, and returns the rewards for that time; the rewards of all other
    rounds are zero.

    Arrays that are handed out are never changed later. A router without a packet is shown its last observation again.

    Example:
        >>> import dragonfly_env as dfe
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
            seed: Seed of the traffic; None: the next one of a fixed sequence.
            options: Settings of this episode alone: ``traffic``, ``load``, ``seed``.

        Returns:
            Observations and infos of all routers.

        Raises:
            ConfigError: For an unknown option or an impossible value; the running episode is as before.
        """
        rounds = self._begin(seed, options)
        self._no_rewards = dict.fromkeys(self.agents, 0.0)
        self._all_false = dict.fromkeys(self.agents, False)
        return self._observations(rounds), Infos(self.possible_agents, rounds.later_infos())

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Make one decision per router: one round.

        Args:
            actions: One integer per router, by name. A router without a pending packet may be left out.

        Returns:
            Observations, rewards, terminations (never), truncations (all at once) and infos, by router. The keys of an
            info: ``decision_id`` of the decision that the router makes now, -1 for none; ``completed``, the
            ``Outcomes`` of its decisions that were completed in this step; ``illegal_actions`` of the episode so far;
            ``generated``, packets that the router's hosts created in this step; ``delivered``, packets from these hosts
            that arrived in this step; ``action_mask``. The infos of the last step of an episode also have ``metrics``.
            Infos are made when the first of them is read, and cost nothing before.

        Raises:
            IllegalActionError: For a missing action, an unknown router, or an integer out of range; with
                ``illegal_action="raise"`` also if the mask forbids an action. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.
        """
        rounds = self._check_running()
        rounds.act(self._read(actions))
        self._cycle += 1
        over = rounds.over
        if self._cycle == self.max_cycles and not over:
            rounds.stop()
            over = True
        rewards = self._no_rewards.copy()
        if rounds.time_went_on:
            rewards = dict(zip(self.possible_agents, rounds.rewards.tolist(), strict=True))
        observations = self._observations(rounds)
        infos = Infos(self.possible_agents, rounds.later_infos())
        truncations = terminations = self._all_false
        if over:
            truncations = dict.fromkeys(self.possible_agents, True)
            rounds.add_metrics(list(infos.values()))
            self.agents = []
        return observations, rewards, terminations.copy(), truncations.copy(), infos

    @property
    def acting(self) -> list[str]:
        """The routers that have a decision to make in this round; the others idle."""
        if self._rounds is None:
            return []
        return [self.possible_agents[number] for number in self._rounds.acting.tolist()]

    @property
    def round_batch(self) -> DecisionBatch:
        """The decisions of this round, one row per router in ``acting``. A copy.

        For policies that act on batches: pass ``dict(zip(env.acting, policy.act(env.round_batch)))`` to ``step``.

        Raises:
            StateError: Before the first reset, or after close.
        """
        return self._check_open("round_batch").batch

    def _observations(self, rounds: Rounds) -> Observations:
        rows = zip(self.possible_agents, rounds.seen, rounds.masks, strict=True)
        return {name: {"observation": seen, "action_mask": mask} for name, seen, mask in rows}

    def _read(self, actions: Mapping[str, int]) -> IntArray:
        """(num_agents,) the actions; a router that has no packet and was left out idles."""
        names = self.possible_agents
        try:  # the usual case: an action for every router
            chosen = np.fromiter(self._in_order(actions), np.int64, len(names))
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
                    f"actions[{name!r}]: no such agent; agents are {names[0]!r} to {names[-1]!r}"
                )
        for name in self.acting:
            if name not in actions:
                raise IllegalActionError(f"{name} has a pending packet but no action; nothing has changed")
