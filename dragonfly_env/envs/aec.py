"""The PettingZoo AEC view: one router after the other, only those with a pending packet."""

from __future__ import annotations

import operator
from typing import Any, ClassVar

from pettingzoo.utils.env import AECEnv

from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.rounds import Info, Rounds
from dragonfly_env.envs.views import Observation, RouterView
from dragonfly_env.errors import IllegalActionError, StateError


class AecRoutingEnv(RouterView, AECEnv[str, Observation, int]):
    """Routers act one at a time; ``dragonfly_env.dragonfly_v0`` lists settings and spaces.

    The rounds are those of the parallel view: in each, the routers with pending packets are selected in ascending order
    and decide about their earliest packet. Rewards are given when the last decision of the batch is made.
    ``infos[agent]`` has the ``decision_id`` of the decision that the router makes now, the ``action_mask``, the
    ``illegal_actions`` of the episode so far, and since the router acted last: the ``completed`` outcomes of its
    decisions, and the packets ``generated`` by its hosts and ``delivered`` from them.

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
        self.infos: dict[str, Info] = dict(zip(names, rounds.infos(), strict=True))
        if rounds.over:  # rewards at once for an episode without a decision
            rounds.read_step()
            self._hand_out(rounds)
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
        rounds, agent = self._check_open("step()"), self.agent_selection
        rounds.act_alone(turn, operator.index(action))  # type: ignore[arg-type]  # None raises TypeError
        if self._rewarded:
            self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = rounds.idle_info(self._acting[turn])
        self._turn = turn = turn + 1
        if turn < self._turns:
            self.agent_selection = self.possible_agents[self._acting[turn]]
            return
        self._cycle += 1
        rounds.finish()
        if rounds.time_went_on:
            self._hand_out(rounds)
        self._select_first(rounds)

    def observe(self, agent: str) -> Observation:
        """The observation of a router's packet in this round; without a packet, its last observation."""
        rounds, number = self._check_open("observe()"), self._index[agent]
        return {"observation": rounds.seen[number], "action_mask": rounds.masks[number]}

    @property
    def selected_batch(self) -> DecisionBatch:
        """The decision of ``agent_selection``, as a batch of one row: for policies that act on batches. A copy.

        Raises:
            StateError: If no decision is pending.
        """
        rounds = self._check_running()
        if rounds.over:
            raise StateError("selected_batch: the episode is over")
        return rounds.decision(self._turn)

    def close(self) -> None:
        """Forget the episode; ``reset`` starts a new one."""
        super().close()
        self._turns = 0

    def _select_first(self, rounds: Rounds) -> None:
        """Select the first router of the round. At the end of the episode truncate all: each is selected once more."""
        if self._cycle == self.max_cycles and not rounds.over:
            rounds.stop()
        self._acting: list[int] = rounds.acting.tolist()
        self._turn, self._turns = 0, len(self._acting)
        names = self.possible_agents
        if rounds.over:
            self.truncations = dict.fromkeys(names, True)
            rounds.add_metrics(list(self.infos.values()))
            self.agent_selection = names[0]
            return
        rounds.show_decisions(self.infos[names[number]] for number in self._acting)
        self.agent_selection = names[self._acting[0]]

    def _hand_out(self, rounds: Rounds) -> None:
        """Give routers what they received while time went on, where it is anything."""
        names, infos = self.possible_agents, self.infos
        for number in rounds.rewards.nonzero()[0].tolist():
            self.rewards[names[number]] = reward = float(rounds.rewards[number])
            self._cumulative_rewards[names[number]] += reward
            self._rewarded.append(names[number])
        for key, packets in (("generated", rounds.generated), ("delivered", rounds.delivered)):
            for number in packets.nonzero()[0].tolist():
                infos[names[number]][key] += int(packets[number])
        rounds.add_outcomes(list(infos.values()))

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
