"""The PettingZoo AEC view: one router after the other, only those with a pending packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import AECEnv, AECIterable
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dragonfly_env.config.help import constructed_like
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.views import AecAgents, GivenConfig, Info, IntArray, Observation, RouterView, Turns
from dragonfly_env.errors import IllegalActionError, StateError

_EMPTY: tuple[str, ...] = ()
_PLAIN = (int, np.int64)


@constructed_like(RouterView)
class AecRoutingEnv(RouterView, AecAgents, AECEnv[str, Observation, int]):
    """Routers act one at a time; see ``dragonfly_env.dragonfly_v0`` for settings and spaces.

    The order is that of the parallel view: in each round every router that still has packets decides about its
    earliest. Rewards are given when the window's last decision is made. Their bookkeeping is sparse: a step costs
    the same for any number of agents.

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

    def __init__(self, config: GivenConfig = None, **settings: Any) -> None:
        super().__init__(config, **settings)
        self.agent_selection = self.possible_agents[0]
        self._over = False
        self._position = 0  # of the present turn in the order of this batch
        self._stop = 0
        self._next: list[int | None] = []
        self._idle_mask = np.zeros(self._idle + 1, np.int8)
        self._idle_mask[self._idle] = 1
        self._begin_agents()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: Seed of the traffic; None: the generator goes on.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Raises:
            ConfigError: For an option or an impossible seed.
            StateError: After close.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.raw_env()
            >>> env.reset(seed=1, options={"load": 0.2})
            >>> env.core.config.load
            0.2
        """
        turns = self._begin(seed, options)
        self._begin_agents(self.possible_agents)
        self._paid: tuple[str, ...] = _EMPTY
        self._rounds_before = 0
        self._over = False
        self._open(turns)

    def step(self, action: int | None) -> None:
        """Decide about the earliest packet of ``agent_selection``, and select the next router.

        Args:
            action: An integer; None for an agent that is truncated.

        Raises:
            IllegalActionError: For what is no integer or out of range; with ``illegal_action="raise"`` also if the
                mask forbids it. Nothing has changed then.
            StateError: Before reset, after the end of the episode, after close.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.raw_env()
            >>> env.reset(seed=1)
            >>> env.step(int(env.selected_batch.minimal_actions()[0]))
        """
        try:
            if self._over or not self.agents:
                self._step_after_end(action)
                return
            k = self._position
            agent = self.agent_selection
            kind = type(action)
            # The two types that policies answer with need no closer look.
            chosen = int(action) if kind in _PLAIN else self._as_action(agent, action)  # type: ignore[arg-type]  # not None
            if not (0 <= chosen <= self._idle and self._legal[k * (self._idle + 1) + chosen]):
                self._as_action(agent, chosen)
                chosen = self._replacement(k, chosen)
            self._answers[k] = chosen
            self._cumulative_rewards[agent] = 0.0
            if self._paid:
                self._clear_payments()
            self._note_turn(k)
            k += 1
            if k < self._stop:
                self._position = k
                self.agent_selection = self._names[k]
            else:
                self._finish_window()
        except LookupError:  # a turn that is there no more
            raise self._lost("step()") from None

    def observe(self, agent: str) -> Observation:
        """What a router sees of its earliest pending packet; without one, what it saw last.

        The arrays are the caller's: no later step writes into them.

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.raw_env()
            >>> env.reset(seed=1)
            >>> sorted(env.observe("router_0"))
            ['action_mask', 'observation']
        """
        selected = self.agents and agent == self.agent_selection and not self._over
        k = self._position if selected else self._earliest(self._index[agent])
        if k is None:
            seen: Observation = self._form.one(self._last_seen(self._index[agent]), self._idle_mask.copy())
        else:
            seen = self._form.one(self._views[k], self._masks[k])
        return seen

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, Info]:
        """Observation, reward since its last turn, termination, truncation and info of ``agent_selection``.

        Args:
            observe: Whether the observation is wanted; without, None is in its place.

        Raises:
            StateError: Before the first reset, or after the end of the episode.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.raw_env()
            >>> env.reset(seed=1)
            >>> seen, reward, terminated, truncated, info = env.last()
            >>> reward, terminated, truncated
            (0.0, False, False)
        """
        agent = self.agent_selection
        try:
            seen = self.observe(agent) if observe else None
            paid, info = self._cumulative_rewards[agent], self.infos[agent]
            return seen, paid, self.terminations[agent], self.truncations[agent], info
        except LookupError:
            raise self._lost("last()") from None

    @property
    def selected_batch(self) -> DecisionBatch:
        """The decision of ``agent_selection``, as a batch of one row. A copy.

        Raises:
            StateError: If no decision is pending.
        """
        turns = self._check_running()
        if self._over:
            raise StateError("selected_batch: the episode is over")
        return turns.batch.rows(turns.rounds.rows[self._position : self._position + 1])

    def close(self) -> None:
        """End the use of this environment; may be called again.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> dragonfly_v0.raw_env().close()
        """
        super().close()
        self._begin_agents()

    # The window.

    def _open(self, turns: Turns) -> None:
        """Begin a new batch: fresh copies of its observations, in the order of the turns."""
        batch, rounds = turns.batch, turns.rounds
        count = len(batch)
        width = self._idle + 1
        self._obs = batch.obs[rounds.rows]
        self._views = list(self._obs)  # one per turn
        masks = np.zeros((count, width), np.int8)
        masks[:, : self._idle] = batch.mask[rounds.rows]
        self._masks = list(masks)
        self._legal = masks.tobytes()  # callers may write into their masks
        self._who: list[int] = rounds.agents.tolist()
        self._names = [self.possible_agents[i] for i in self._who]
        self._minimal: IntArray | None = None
        self._answers = [0] * count
        self._position = 0
        self._stop = count
        if self.max_cycles is not None:
            left = self.max_cycles - self._rounds_before
            self._stop = rounds.ends[left - 1] if 0 < left < len(rounds) else count if left > 0 else 0
        if self._stop == 0:
            self._end()
            return
        self._next = _next_turns(rounds.agents[: self._stop])
        names = self.possible_agents
        self.infos = {name: self._idle_info(i) for i, name in enumerate(names)}
        for k in range(rounds.ends[0] if self._form.in_info else 0):
            self.infos[self._names[k]]["action_mask"] = self._masks[k]
        self.agent_selection = self._names[0]

    def _note_turn(self, k: int) -> None:
        """The info of a router that has decided."""
        info = self.infos[self._names[k]] = {"illegal_actions": self._illegal[self._who[k]]}
        if self._form.in_info:
            follows = self._next[k]
            info["action_mask"] = self._masks[follows] if follows is not None else self._idle_mask.copy()

    def _finish_window(self) -> None:
        """All decisions are made: time goes on, and the agents are given."""
        if self._stop < len(self._answers):
            self._position = self._stop
            self._end()
            return
        turns = self._check_open("step()")
        rounds = turns.rounds
        answers = np.empty(len(self._answers), np.int64)
        answers[rounds.rows] = self._answers
        self._seen[rounds.agents] = self._obs  # of several rows of a router the last one stays
        agents, self.agents = self.agents, []  # an exception, such as Ctrl-C's, ends the episode
        rewards = turns.answer_all(answers).tolist()
        self.agents = agents
        self._rounds_before += len(rounds)
        paid = [(self.possible_agents[i], reward) for i, reward in enumerate(rewards) if reward]
        for name, reward in paid:
            self.rewards[name] = reward
            self._cumulative_rewards[name] += reward
        self._paid = tuple(name for name, _ in paid)
        self._open(turns)

    def _replacement(self, position: int, action: int) -> int:
        """What is done in a turn instead of an action that the mask forbids."""
        turns = self._check_open("step()")
        row = int(turns.rounds.rows[position])
        if self._minimal is None:
            self._minimal = turns.batch.minimal_actions()
        instead = int(self._minimal[row])
        number = self._who[position]
        self._illegal_actions.found(
            self.possible_agents[number],
            action,
            np.flatnonzero(turns.batch.mask[row]).tolist(),
            instead,
            f" (decision {int(turns.batch.decision_ids[row])})",
        )
        self._illegal[number] += 1
        return instead

    def _end(self) -> None:
        """Truncate all agents; each is then selected once more, for its last observation and the metrics."""
        self._over = True
        self._stop = self._position
        names = self.possible_agents
        self.truncations = dict.fromkeys(names, True)
        last = self._metrics()
        self.infos = {name: self._idle_info(i) | last[i] for i, name in enumerate(names)}
        self.agent_selection = names[0]

    def _lost(self, call: str) -> StateError:
        """The error after the last turn of an episode."""
        self._check_open(call)
        return StateError(f"{call}: the episode is over; call reset()")

    def _step_after_end(self, action: int | None) -> None:
        """Remove the truncated agent that is selected, and select the next."""
        self._check_running()
        agent = self.agent_selection
        if action is not None:
            raise IllegalActionError(f"{agent} is truncated: its only action is None, not {action!r}")
        if self._paid:
            self._clear_payments()
        by_agent: tuple[dict[str, Any], ...] = (self.rewards, self._cumulative_rewards, self.infos)
        for values in (*by_agent, self.terminations, self.truncations):
            del values[agent]
        self.agents.remove(agent)
        if self.agents:
            self.agent_selection = self.agents[0]

    def _clear_payments(self) -> None:
        for name in self._paid:
            if name in self.rewards:
                self.rewards[name] = 0.0
        self._paid = _EMPTY

    def _idle_info(self, number: int) -> Info:
        return {"illegal_actions": self._illegal[number]} | self._form.info(self._idle_mask.copy())

    def _earliest(self, number: int) -> int | None:
        """The next turn of a router in this window."""
        self._check_open("observe()")
        try:
            return self._who.index(number, self._position, self._stop)
        except ValueError:
            return None

    def _last_seen(self, number: int) -> npt.NDArray[np.float32]:
        """The observation of the router's last decision; zeros before its first."""
        done = self._check_open("observe()").rounds.agents[: self._position]
        before = np.flatnonzero(done == number)
        seen: npt.NDArray[np.float32] = self._obs[before[-1]] if len(before) else self._seen[number]
        return seen.copy()

    def _waiting(self, turns: Turns) -> IntArray:
        left = turns.rounds.agents[self._position :]
        return np.bincount(left, minlength=len(self.possible_agents))


def _next_turns(agents: IntArray) -> list[int | None]:
    """For each turn the next one of the same router, None if there is none."""
    order = np.argsort(agents, kind="stable")
    follows = agents[order[1:]] == agents[order[:-1]]
    after = np.full(len(agents), -1, np.int64)
    after[order[:-1][follows]] = order[1:][follows]
    return [None if k < 0 else k for k in after.tolist()]


class OrderEnforcing(OrderEnforcingWrapper[str, Observation, int]):
    """PettingZoo's wrapper, without its cost per call and with errors where it prints warnings.

    The original looks up every attribute of ``last()`` through two layers of ``__getattr__``, which halves the speed.
    """

    env: AecRoutingEnv

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderEnforcing, (self.env,), {"_has_reset": self._has_reset, "_has_updated": self._has_updated}

    def step(self, action: int | None) -> None:
        """As ``AecRoutingEnv.step``."""
        self._has_updated = True
        self.env.step(action)

    def observe(self, agent: str) -> Observation:
        """As ``AecRoutingEnv.observe``."""
        return self.env.observe(agent)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, termination, truncation and info of ``agent_selection``."""
        last: tuple[Observation | None, float, bool, bool, Info] = self.env.last(observe)
        return last

    def state(self) -> npt.NDArray[np.float32]:
        """As ``AecRoutingEnv.state``."""
        return self.env.state()

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """As ``AecRoutingEnv.render``."""
        return self.env.render()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observation, int]:
        """The routers in the order of their turns, until all are gone; ``step`` belongs into the loop."""
        if not self._has_reset:
            raise StateError("agent_iter(): call reset() first")
        return _Agents(self, max_iter)

    def __str__(self) -> str:
        return str(self.env)


class _Agents(AECIterable[str, Observation, int]):
    def __iter__(self) -> Iterator[str]:  # a generator: faster than their class
        wrapper: OrderEnforcing = self.env
        env = wrapper.env
        for _ in range(min(self.max_iter, 2**62)):
            if not env.agents:
                return
            if not wrapper._has_updated:
                raise StateError("agent_iter(): call step() or reset() in every turn of the loop")
            wrapper._has_updated = False
            yield env.agent_selection
