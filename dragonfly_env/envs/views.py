"""What the views of ``BatchedRoutingEnv`` share: settings, how decisions are shown, rounds, illegal actions."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.values import (
    check_bool,
    check_choice,
    check_integer,
    config_error,
    did_you_mean,
    shown,
)
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.decisions.layout import Layout
from dragonfly_env.envs._scenarios import Changes, Scenarios, with_fields
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.defaults import view_configs
from dragonfly_env.envs.options import Several, options_for
from dragonfly_env.envs.render import RENDER_MODES, Renderer
from dragonfly_env.errors import ConfigError, IllegalActionError, IllegalActionWarning, StateError
from dragonfly_env.policies import make_policy
from dragonfly_env.simulation.config import SimulationConfig

GivenConfig: TypeAlias = "SimulationConfig | Several | Mapping[str, Any] | None"
Observation: TypeAlias = dict[str, npt.NDArray[Any]]
Info: TypeAlias = dict[str, Any]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

ILLEGAL_ACTIONS = ("remap", "raise")
MASK_IN = ("both", "observation", "info")

_NONE: IntArray = np.empty(0, np.int64)
_MOST_CYCLES = 2**62
_OWN_SETTINGS = {"config", "for_policy", "illegal_action", "max_cycles", "mask_in", "flat_observation"}
_CONFIG_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
_ENV_OPTIONS = frozenset(inspect.signature(BatchedRoutingEnv).parameters) - {"config"}


def check_settings(given: Mapping[str, Any], known: Collection[str]) -> None:
    """Check the names of settings; an error names the setting that was probably meant."""
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise config_error(name, value, f"is no setting of this environment{hint}")


class IllegalActions:
    """What a view does about actions that the mask forbids; infos count them.

    Args:
        choice: ``"remap"``: something else is done, and the first such action of an environment is warned about; or
            ``"raise"``.

    Attributes:
        said: Whether there was a warning.
    """

    def __init__(self, choice: object) -> None:
        self._raises = check_choice("illegal_action", choice, ILLEGAL_ACTIONS) == "raise"
        self.said = False

    def found(self, who: str, action: int, legal: list[int], instead: int, why: str = "") -> None:
        """Warn of the first illegal action, or raise; ``instead`` is the action that is taken."""
        if self._raises:
            raise IllegalActionError(
                f"{who}: action {action} is illegal{why}: must be one of {legal}; nothing has changed"
            )
        if self.said:
            return
        self.said = True
        warnings.warn(
            f"{who}: action {action} is illegal: the mask allows {legal}; action {instead} is taken instead. "
            'info["illegal_actions"] counts such actions, and no further one of this environment is warned about; '
            'illegal_action="raise" makes each an error',
            IllegalActionWarning,
            stacklevel=_level_of_the_user(),
        )


def _level_of_the_user() -> int:
    """The ``stacklevel`` of a warning, for the nearest call from outside the views."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("dragonfly_env.envs."):
        level, frame = level + 1, frame.f_back
    return level


class CoreView:
    """Base of all views of a ``BatchedRoutingEnv``."""

    _env: BatchedRoutingEnv

    def _open_core(
        self,
        config: GivenConfig,
        settings: Mapping[str, Any],
        *,
        for_policy: Any,
        illegal_action: object,
        render_mode: Any,
        make: Callable[..., Any] = BatchedRoutingEnv,
    ) -> None:
        """Make the environment underneath."""
        self._illegal_actions = IllegalActions(illegal_action)
        config = view_configs(config)
        check_settings(settings, _CONFIG_FIELDS | _ENV_OPTIONS | _OWN_SETTINGS)
        config = with_fields(config, {name: settings[name] for name in settings if name in _CONFIG_FIELDS})
        # Transitions and feedback are not collected here: the views give rewards.
        options = {"transitions": False, "feedback": False}
        options |= {name: settings[name] for name in settings if name in _ENV_OPTIONS}
        if for_policy is not None:
            for_policy = make_policy(for_policy) if isinstance(for_policy, str) else for_policy
            options = options_for(Scenarios(config).present, for_policy, options)
        self._env = make(config, **options)
        self._renderer = Renderer(self._env.config, render_mode)
        self.render_mode = render_mode

    @property
    def core(self) -> BatchedRoutingEnv:
        """The batched environment underneath, for metrics, layout and ``trace_hash()``. Stepping it breaks this
        view. Its ``pending`` has the decisions of all rounds of the window, several of one router among them: what the
        PettingZoo views need is ``round_batch`` (parallel) or ``selected_batch`` (AEC).
        """
        return self._env

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """A frame: utilisation of every global link since the frame before, with the hottest named. Of several
        scenarios the first is shown.

        Returns:
            As ``render_mode`` says: a string for ``"ansi"``, (800, 1100, 3) uint8 for ``"rgb_array"``, None for
            ``"human"``, which prints the string.

        Raises:
            StateError: Before the first reset, after close, or without a ``render_mode``.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.parallel_env(render_mode="rgb_array")
            >>> seen, infos = env.reset(seed=1)
            >>> env.render().shape
            (800, 1100, 3)
        """
        self._check_open("render()")
        return self._renderer.render(self._env.metrics(scenario=0), self._env.time_ns)

    @abstractmethod
    def _check_open(self, call: str) -> Any:
        """Raise ``StateError`` where there is no episode."""


class NamedAgents:
    """What PettingZoo's environments say of their agents: their names, and spaces of their own for each."""

    metadata: ClassVar[dict[str, Any]]
    possible_agents: list[str]
    agents: list[str]

    def _name_agents(
        self, kind: str, count: int, observation_space: Callable[[], spaces.Space[Any]], num_actions: int
    ) -> None:
        """``kind_0`` and so on, none of them in an episode yet."""
        self.possible_agents = [f"{kind}_{i}" for i in range(count)]
        self.agents = []
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        # Own objects for every agent: they are seeded and sampled one by one.
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            name: observation_space() for name in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            name: spaces.Discrete(num_actions) for name in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may see: the same object at every call.

        ``Dict(observation=Box (F,) float32, action_mask=MultiBinary (A + 1,))``, or one ``Box`` with
        ``mask_in="info"`` or ``flat_observation``.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> sorted(dragonfly_v0.parallel_env().observation_space("router_0").spaces)
            ['action_mask', 'observation']
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may do: the same object at every call.

        ``Discrete(A + 1)``; the last action is ``idle``.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> dragonfly_v0.parallel_env().action_space("router_0")
            Discrete(6)
        """
        return self.action_spaces[agent]

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def _check_names(self, actions: Mapping[str, int]) -> None:
        """Refuse actions of agents that there are not."""
        for name in actions:
            if name not in self._index:
                raise IllegalActionError(
                    f"actions[{name!r}]: there is no such agent; they are {self._all_names}"
                )

    @property
    def _all_names(self) -> str:
        return f"{self.possible_agents[0]!r} to {self.possible_agents[-1]!r}"


class AecAgents:
    """What PettingZoo keeps of every agent in an environment in which they act one after the other."""

    def _begin_agents(self, names: Sequence[str] = ()) -> None:
        """Begin with these agents."""
        self.rewards: dict[str, float] = dict.fromkeys(names, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(names, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(names, False)
        self.truncations: dict[str, bool] = dict.fromkeys(names, False)
        self.infos: dict[str, Info] = {}


class Form:
    """The form of a view's observations and infos.

    Args:
        mask_in: ``"both"``, ``"observation"`` or ``"info"``: where the mask is. With ``"info"`` an observation is
            the features alone.
        flat: Observations are one vector, the features and then (unless ``mask_in="info"``) the mask.
        layout: Of the features.
        num_actions: The length of a mask.
    """

    def __init__(
        self,
        mask_in: object,
        flat: object,
        layout: Layout,
        num_actions: int,
    ) -> None:
        place = check_choice("mask_in", mask_in, MASK_IN)
        self.in_info = place != "observation"
        self._appended = check_bool("flat_observation", flat) and place != "info"
        self._alone = place == "info"
        self._layout = layout
        self._num_actions = num_actions

    @property
    def is_dict(self) -> bool:
        """Whether an observation is a dictionary."""
        return not (self._alone or self._appended)

    def space(self) -> spaces.Space[Any]:
        """A new space of observations."""
        low, high = self._layout.low, self._layout.high
        if self._appended:
            low = np.append(low, np.zeros(self._num_actions, np.float32))
            high = np.append(high, np.ones(self._num_actions, np.float32))
        box = spaces.Box(low, high, dtype=np.float32)
        if not self.is_dict:
            return box
        return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(self._num_actions)})

    def one(self, seen: npt.NDArray[np.float32], mask: npt.NDArray[Any]) -> Any:
        """Make an observation, without a copy of the arrays if their form allows it."""
        if self._alone:
            return seen
        return (
            np.append(seen, mask.astype(np.float32))
            if self._appended
            else {"observation": seen, "action_mask": mask}
        )

    def many(self, seen: npt.NDArray[np.float32], masks: npt.NDArray[Any]) -> list[Any]:
        """(n,) observations: views of these arrays, or of a new one."""
        if self._alone:
            return list(seen)
        if self._appended:
            return list(np.concatenate([seen, masks.astype(np.float32)], axis=1))
        return [{"observation": row, "action_mask": mask} for row, mask in zip(seen, masks, strict=True)]

    def info(self, mask: npt.NDArray[Any]) -> dict[str, Any]:
        """What an info says of the mask: a new dictionary."""
        return {"action_mask": mask} if self.in_info else {}


class Rounds:
    """The rows of one decision batch, sorted by round, then by router.

    Decisions of a batch are independent of each other, so this order changes nothing in the network.

    Args:
        agents: (N,) the deciding router of each row; rows of one router are in the order of decision ids.
        time_ns: (N,) when each decision was raised.

    Attributes:
        rows: (N,) row numbers by round, then by router.
        agents: (N,) the routers of ``rows``: ascending within each round, each at most once.
        ends: Where each round ends in ``rows``; its length is the number of rounds.
    """

    __slots__ = ("agents", "ends", "rows")

    def __init__(self, agents: npt.NDArray[np.integer], time_ns: npt.NDArray[np.float64]) -> None:
        by_agent = np.lexsort((time_ns, agents))  # a stable sort
        grouped = agents[by_agent].astype(np.int64)
        count = len(grouped)
        first = np.ones(count, bool)
        first[1:] = grouped[1:] != grouped[:-1]
        begin = np.flatnonzero(first)
        # How many packets of the same router come before this one: the round in which its turn is.
        turn = np.arange(count) - np.repeat(begin, np.diff(begin, append=count))
        order = np.argsort(turn, kind="stable")
        self.rows: IntArray = by_agent[order]
        self.agents: IntArray = grouped[order]
        self.ends: list[int] = np.cumsum(np.bincount(turn)).tolist() if count else []

    def __len__(self) -> int:
        return len(self.ends)

    def slice(self, index: int) -> slice:
        """Where round ``index`` is in ``rows``."""
        return slice(self.ends[index - 1] if index else 0, self.ends[index])


class Turns:
    """An episode in rounds: in each, every router with pending packets decides about its earliest one; of several at
    the same time, the one with the lowest decision id.

    Simulated time stops until the decisions of a batch are all made.

    Args:
        env: The environment, which nothing else may step.
        seed: Of the episode; None: the generator goes on.
        options: What is different in this episode, as ``BatchedRoutingEnv.reset`` takes it.

    Attributes:
        env: The environment.
        batch: The present batch.
        rows: (n,) the rows of ``batch`` of this round; none once the episode is over.
        agents: (n,) their routers, ascending; of several scenarios numbered on from one to the next.
        rounds: The order in which the batch is decided.
        decisions: How many were made in this episode.
    """

    def __init__(self, env: BatchedRoutingEnv, *, seed: int | None, options: Changes = None) -> None:
        self.env = env
        self.decisions = 0
        self._everybody = np.arange(env.num_agents)
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

    def masks_of_all(self) -> BoolArray:
        """(num_agents, A + 1) what every router may do, the last action being idle. A new array."""
        masks = np.zeros((self.env.num_agents, self.env.num_actions + 1), np.bool_)
        masks[:, -1] = True
        masks[self.agents, -1] = False
        masks[self.agents, :-1] = self.masks()
        return masks

    def waiting(self) -> IntArray:
        """(num_agents,) packets that wait for each router's decision."""
        left = _NONE if self.over else self.rounds.agents[self.rounds.slice(self._round).start :]
        return np.bincount(left, minlength=self.env.num_agents)

    def make_legal(
        self,
        actions: IntArray,
        masks: BoolArray,
        handling: IllegalActions,
        name: str,
        *,
        says_why: bool = False,
    ) -> IntArray:
        """Replace, in place, actions that the masks forbid by the minimal action, or by idle where no packet waits; the
        agents with such actions.
        """
        legal: BoolArray = masks.reshape(-1)[self._everybody[: len(actions)] * masks.shape[1] + actions]
        if legal.all():
            return _NONE
        agents = np.flatnonzero(~legal)
        instead = np.full(self.env.num_agents, self.env.num_actions)
        instead[self.agents] = self.env.minimal_action(self.batch)[self.rows]
        agent, why = agents[0], ""
        if says_why:
            asked = self.batch.decision_ids[self.rows[self.agents == agent]].tolist()
            why = f" (decision {asked[0]})" if asked else " (no pending packet)"
        allowed = np.flatnonzero(masks[agent]).tolist()
        handling.found(name.format(agent), int(actions[agent]), allowed, int(instead[agent]), why)
        actions[agents] = instead[agents]
        return agents

    def answer(self, actions: IntArray) -> FloatArray | None:
        """Give the (n,) actions of this round; (num_agents,) rewards if time went on, None within a batch."""
        self._answers[self.rows] = actions
        self.decisions += len(self.rows)
        if self._round + 1 < len(self.rounds):
            self._begin_round(self._round + 1)
            return None
        return self.answer_all(self._answers)

    def answer_all(self, actions: IntArray) -> FloatArray:
        """Give the (N,) actions of all rounds of the batch, and go on to the next batch; (num_agents,) rewards."""
        batch = self.env.step(actions)
        paid = self._paid()
        while not len(batch) and not self.env.done:
            batch = self.env.step(_NONE)
            paid += self._paid()
        self._open(batch)
        return paid

    def stop(self) -> None:
        """The episode ends here, whatever waits."""
        self.rows = self.agents = _NONE

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "batch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.batch = self.env.pending

    def _paid(self) -> FloatArray:
        return self.env.rewards_by_router()

    def _open(self, batch: DecisionBatch) -> None:
        self.batch = batch
        agents = batch.agents if self.env.num_scenarios == 1 else self.env.slots(batch)
        self.rounds = Rounds(agents, batch.time_ns)
        self._answers = np.zeros(len(batch), np.int64)
        self._begin_round(0)

    def _begin_round(self, number: int) -> None:
        self._round = number
        where = self.rounds.slice(number) if number < len(self.rounds) else slice(0)
        self.rows, self.agents = self.rounds.rows[where], self.rounds.agents[where]


class TurnsView(CoreView):
    """Base of the views in which all routers take turns. What it names, its subclasses make."""

    _turns: Turns | None
    _seen: npt.NDArray[np.float32]
    """(num_agents, num_features) of each router's last packet."""
    _illegal: Any
    """(num_agents,) illegal actions in this episode; a list or an array of integers."""

    def close(self) -> None:
        """Forget the episode; ``reset`` starts a new one.

        Example:
            >>> dfe.RouterVecEnv().close()
        """
        self._turns = None

    def _check_open(self, call: str) -> Turns:
        if self._turns is None:
            raise StateError(f"{call}: call reset() first")
        return self._turns

    def _metrics(self) -> list[Info]:
        """(num_agents,) what the last info of an episode says of it: the metrics of the agent's network."""
        infos: list[Info] = []
        for scenario, config in enumerate(self._env.configs):
            infos += [{"metrics": self._env.metrics(scenario)}] * config.topology.num_routers
        return infos


class RouterView(TurnsView, NamedAgents):
    """One agent per router, ``router_0`` and so on: what the two PettingZoo views share.

    Args:
        config: The simulation, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Several in a
            list, or a function that makes them: see ``BatchedRoutingEnv``; routers are numbered on from one to the
            next.
        for_policy: Take scope, action mode and candidates from this policy.
        illegal_action: ``"remap"``: an action that the mask forbids becomes the minimal one (``idle`` for
            a router without a pending packet) and is counted; the first one is warned about
            (``IllegalActionWarning``). ``"raise"``: it raises, and nothing has changed.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        max_cycles: Rounds after which the episode is truncated, or None.
        mask_in: Where the mask is: ``"both"``, ``"observation"`` or ``"info"``. With ``"info"`` an observation is
            the features alone, a ``Box``.
        flat_observation: Observations are one ``Box``: the features, then (unless ``mask_in="info"``) the mask.
        **settings: Fields of ``SimulationConfig`` and options of ``BatchedRoutingEnv``.

    Raises:
        ConfigError: For an unknown name or an impossible value.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dragonfly_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 10,
    }

    def __init__(
        self,
        config: GivenConfig = None,
        *,
        for_policy: Any = None,
        illegal_action: str = "remap",
        render_mode: str | None = None,
        max_cycles: int | None = None,
        mask_in: str = "both",
        flat_observation: bool = False,
        **settings: Any,
    ) -> None:
        self._open_core(
            config, settings, for_policy=for_policy, illegal_action=illegal_action, render_mode=render_mode
        )
        if max_cycles is not None:
            max_cycles = check_integer("max_cycles", max_cycles, 1, _MOST_CYCLES)
        self.max_cycles = max_cycles
        self._idle = self._env.num_actions
        self._form = Form(mask_in, flat_observation, self._env.layout, self._idle + 1)
        self._name_agents("router", self._env.num_agents, self._form.space, self._idle + 1)
        # What each router saw when it decided last; it is shown again while the router is idle.
        self._seen = np.empty((self._env.num_agents, self._env.num_features), np.float32)
        self._illegal = [0] * self._env.num_agents  # actions of each in this episode
        self._turns: Turns | None = None
        self._closed = False
        self._radix = max(one.topology.radix for one in self._env.configs)
        self.state_space = spaces.Box(0.0, 1.0, (self._env.num_agents, self._radix + 1), np.float32)

    def state(self) -> npt.NDArray[np.float32]:
        """What all routers see together, for centralised critics. A new array.

        Returns:
            (num_routers, radix + 1) in [0, 1]: occupancy of every output port, and in the last column
            n / (n + radix) for the n packets that wait for a decision of this router. Of several scenarios one after
            the other, with the largest radix; ports that a router does not have show 0.

        Raises:
            StateError: Before the first reset, or after close.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> env = dragonfly_v0.parallel_env()
            >>> seen, infos = env.reset(seed=1)
            >>> env.state().shape == env.state_space.shape
            True
        """
        waiting = self._waiting(self._check_open("state()")).astype(np.float32)
        state = np.zeros((len(self.possible_agents), self._radix + 1), np.float32)
        state[:, -1] = waiting / (waiting + self._radix)
        for number, first in enumerate(self._env.first_agents.tolist()):
            occupied = self._env.state(number)
            state[first : first + len(occupied), : occupied.shape[1]] = occupied
        return state

    def close(self) -> None:
        """End the use of this environment; may be called again.

        Example:
            >>> from dragonfly_env import dragonfly_v0
            >>> dragonfly_v0.parallel_env().close()
        """
        self._closed = True
        self.agents = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.metadata['name']}: {len(self.possible_agents)} routers>"

    # For the views.

    def _waiting(self, turns: Turns) -> IntArray:
        """(num_agents,) packets that wait for each router's decision."""
        return turns.waiting()

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> Turns:
        """Reset everything that is common; the first round."""
        if self._closed:
            raise StateError("reset(): this environment is closed")
        try:
            turns = self._turns = Turns(self._env, seed=seed, options=options)
        except ConfigError:
            raise  # an impossible seed or option; the present episode goes on
        except BaseException:
            self.agents = []
            raise
        self.agents = self.possible_agents[:]
        self._seen[:] = 0.0
        if "link_class" in self._env.layout:  # what a router knows of itself before its first packet
            columns = self._env.layout["link_class"].columns
            for first, config in zip(self._env.first_agents.tolist(), self._env.configs, strict=True):
                topology = config.topology
                classes = topology.port_classes()[topology.p :] - 1
                self._seen[first : first + topology.num_routers, columns] = classes / (
                    len(topology.link_classes) - 2
                )
        self._illegal = [0] * self._env.num_agents
        self._renderer.reset()
        return turns

    def _check_open(self, call: str) -> Turns:
        if self._closed:
            raise StateError(f"{call}: this environment is closed")
        return super()._check_open(call)

    def _check_running(self) -> Turns:
        turns = self._check_open("step()")
        if not self.agents:
            raise StateError("step(): the episode is over; call reset()")
        return turns

    def _as_action(self, agent: str, action: object) -> int:
        """``action`` as an int in the action space."""
        if not isinstance(action, (bool, np.bool_)):
            try:
                number = operator.index(action)  # type: ignore[arg-type]  # that is the question
            except TypeError:
                pass
            else:
                if 0 <= number <= self._idle:
                    return number
        raise IllegalActionError(
            f"{agent}: action {shown(action, 80)}: must be an integer from 0 to {self._idle}, which is idle; "
            "nothing has changed"
        )
