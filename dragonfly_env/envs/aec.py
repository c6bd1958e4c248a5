"""The PettingZoo AEC view: one router after the other, only those with a pending packet."""

from __future__ import annotations

import operator
from typing import Any, ClassVar

from pettingzoo.utils.env import AECEnv

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.rounds import Rounds
from dragonfly_env.envs.views import Info, Observation, RouterView, last_infos
from dragonfly_env.errors import IllegalActionError, StateError


class AecRoutingEnv(RouterView, AECEnv[str, Observation, int]):
    """Routers act one at a time; ``dragonfly_env.dragonfly_v0`` lists settings and spaces.

    The rounds are those of the parallel view: in each, the routers with pending packets are selected in ascending order
    and decide about their earliest packet. Rewards are given when the last decision of the batch is made.
    ``infos[agent]`` has the ``action_mask``, the ``illegal_actions`` of the episode so far, and the packets
    ``generated`` by the router's hosts and ``delivered`` from them since the router acted last.

    The books of all agents are changed only where something happened, so a step costs the same for any number of
    agents.

    Example:
        >>> from dragonfly_env import dragonfly_v0
        >>> env = dragonfly_v0.raw_env(traffic="adv+1", duration_ns=500)
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     seen, reward, terminated, truncated, info = env.last()
        ...     over = terminated or truncated
        ...     env.step(None if over else int(seen["action_mask"].argmax()))
        >>> env.agents
        []
    """

    metadata: ClassVar[dict[str, Any]] = {**RouterView.metadata, "is_parallelizable": False}
    agent_selection: str
    _turn = _turns = 0  # before the first reset there are no turns

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: Seed of the traffic; None: the next one of a fixed sequence.
            options: Settings of this episode alone: ``traffic``, ``load``, ``seed``.

        Raises:
            ConfigError: For an unknown option or an impossible value; the running episode is as before.
        """
        rounds = self._begin(seed, options)
        names = self.possible_agents
        self.rewards: dict[str, float] = dict.fromkeys(names, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(names, 0.0)
        self._rewarded: list[str] = []
        self.terminations: dict[str, bool] = dict.fromkeys(names, False)
        self.truncations: dict[str, bool] = dict.fromkeys(names, False)
        self.infos: dict[str, Info] = dict(zip(names, map(dict.copy, self._base_infos), strict=True))
        self._cycle = 0
        self._select_first(rounds)

    def step(self, action: int | None) -> None:
        """Decide about the earliest packet of ``agent_selection``, and select the next router.

        Args:
            action: An integer; None for an agent that is truncated.

        Raises:
            IllegalActionError: For an integer out of range; with ``illegal_action="raise"`` also if the mask forbids
                the action. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.
        """
        turn = self._turn
        if turn >= self._turns:
            self._remove_truncated(action)
            return
        number, agent = self._acting[turn], self.agent_selection
        chosen = operator.index(action)  # type: ignore[arg-type]  # None raises TypeError
        if not (0 <= chosen <= self._idle and self.core.take_action(self._rows[turn], chosen)):
            self._count_illegal(chosen, number)
        if self._rewarded:
            self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._masks[number] = self._idle_mask
        self.infos[agent] = self._base_infos[number].copy()
        self._turn = turn = turn + 1
        if turn < self._turns:
            self.agent_selection = self.possible_agents[self._acting[turn]]
        else:
            self._finish_round()

    def observe(self, agent: str) -> Observation:
        """The observation of a router's packet in this round; without a packet, its last observation."""
        number = self._index[agent]
        return {"observation": self._seen[number], "action_mask": self._masks[number]}

    @property
    def selected_batch(self) -> DecisionBatch:
        """The decision of ``agent_selection``, as a batch of one row: for policies that act on batches. A copy.

        Raises:
            StateError: If no decision is pending.
        """
        rounds = self._check_running()
        if rounds.over:
            raise StateError("selected_batch: the episode is over")
        row = rounds.begin + self._turn
        return self.core.pending.rows(rounds.rows[row : row + 1])

    def close(self) -> None:
        """Forget the episode; ``reset`` starts a new one."""
        super().close()
        self._turns = 0

    def _select_first(self, rounds: Rounds) -> None:
        """Select the first router of the round. At the end of the episode truncate all: each is selected once more."""
        if self._cycle == self.max_cycles:
            rounds.stop()
            self._open_round(rounds)
        self._turn, self._turns = 0, len(self._acting)
        self._rows = rounds.rows[rounds.begin : rounds.end].tolist()
        names = self.possible_agents
        if rounds.over:
            self.truncations = dict.fromkeys(names, True)
            for number, last in enumerate(last_infos(self.core)):
                self.infos[names[number]] |= last
            self.agent_selection = names[0]
            return
        for number in self._acting:
            self.infos[names[number]]["action_mask"] = self._masks[number]
        self.agent_selection = names[self._acting[0]]

    def _finish_round(self) -> None:
        rounds = self._check_open("step()")
        self._cycle += 1
        if rounds.finish():
            self._open_batch(rounds)
            names = self.possible_agents
            rewards = self.core.rewards_by_router()
            for number in rewards.nonzero()[0].tolist():
                self.rewards[names[number]] = reward = float(rewards[number])
                self._cumulative_rewards[names[number]] += reward
                self._rewarded.append(names[number])
            generated, delivered = self.core.packets_by_router()
            for key, packets in (("generated", generated), ("delivered", delivered)):
                for number in packets.nonzero()[0].tolist():
                    self.infos[names[number]][key] += int(packets[number])
        else:
            self._open_round(rounds)
        self._select_first(rounds)

    def _count_illegal(self, action: int, number: int) -> None:
        """Warn of an illegal action, in whose place the minimal one was taken, or raise."""
        if not 0 <= action <= self._idle:
            raise IllegalActionError(
                f"{self.agent_selection}: action {action} must be from 0 to {self._idle}, which is idle; "
                "nothing has changed"
            )
        self._illegal_actions.found(self.agent_selection, action, self.selected_batch)
        self._base_infos[number]["illegal_actions"] += 1

    def _remove_truncated(self, action: int | None) -> None:
        """Remove the truncated agent that is selected, and select the next."""
        self._check_running()
        agent = self.agent_selection
        if action is not None:
            raise IllegalActionError(f"{agent} is truncated: its only action is None, not {action!r}")
        self._clear_rewards()
        self.agents.remove(agent)
        del self.rewards[agent], self._cumulative_rewards[agent], self.infos[agent]
        del self.terminations[agent], self.truncations[agent]
        if self.agents:
            self.agent_selection = self.agents[0]

    def _clear_rewards(self) -> None:
        for name in self._rewarded:
            self.rewards[name] = 0.0
        self._rewarded = []
