"""What the two PettingZoo views share: their settings, agents and spaces, actions, rewards, state and rendering."""

from __future__ import annotations

import dataclasses
import inspect
import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.values import check_choice, check_integer, config_error, did_you_mean
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._form import FORM_SETTINGS, Form
from dragonfly_env.envs._illegal import Remapping
from dragonfly_env.envs._scenarios import Scenarios, with_fields
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.defaults import ILLEGAL_ACTIONS, view_configs
from dragonfly_env.envs.needs import options_for
from dragonfly_env.envs.options import Several
from dragonfly_env.envs.recipe import ByRecipe, alone
from dragonfly_env.envs.render import Renderer
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from dragonfly_env.policies import make_policy

GivenConfig: TypeAlias = "SimulationConfig | Several | Mapping[str, Any] | None"
Observation: TypeAlias = dict[str, npt.NDArray[Any]]
Info: TypeAlias = dict[str, Any]
CoreEnv = TypeVar("CoreEnv", bound=BatchedRoutingEnv)
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Integers that need no closer look; bool is no integer here although Python says so.
INTEGER_TYPES = frozenset({int, np.int64, np.int32, np.intp})
_MOST_CYCLES = 2**62
_OWN_SETTINGS = {"config", "for_policy", "illegal_action", "max_cycles", *FORM_SETTINGS}
_CONFIG_FIELDS = frozenset(field.name for field in dataclasses.fields(SimulationConfig))
_ENV_OPTIONS = frozenset(inspect.signature(BatchedRoutingEnv.__init__).parameters) - {"self", "config"}


def make_core(
    config: SimulationConfig | Several,
    for_policy: Any,
    settings: Mapping[str, Any],
    make: Callable[..., CoreEnv],
) -> CoreEnv:
    """The batched environment under a view.

    Args:
        config: The simulation, or several.
        for_policy: A policy whose scope, action mode and candidates are wanted, or None.
        settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``.
        make: Makes it, from a configuration and options by name.

    Raises:
        ConfigError: For an unknown name or an impossible value.
    """
    fields = {name: value for name, value in settings.items() if name in _CONFIG_FIELDS}
    options = {name: value for name, value in settings.items() if name in _ENV_OPTIONS}
    for name, value in settings.items():
        if name not in fields and name not in options:
            known = _CONFIG_FIELDS | _ENV_OPTIONS | _OWN_SETTINGS
            raise config_error(
                name, value, f"is no setting of this environment{did_you_mean(name, sorted(known))}"
            )
    config = with_fields(config, fields)
    # Nobody collects transitions or feedback here: the views pay through rewards.
    options = {"transitions": False, "feedback": False, **options}
    if for_policy is not None:
        for_policy = make_policy(for_policy) if isinstance(for_policy, str) else for_policy
        options = options_for(Scenarios(config).present, for_policy, options)
    return make(config, **options)


class RouterView(ByRecipe):
    """One agent per router, ``router_0`` and so on, on top of a ``BatchedRoutingEnv``.

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
        mask_in: Where the mask stands: ``"both"``, ``"observation"`` or ``"info"``. With ``"info"`` an observation is
            the features alone, a ``Box``.
        flat_observation: Observations are one ``Box``: the features, then (unless ``mask_in="info"``) the mask.
        **settings: Fields of ``SimulationConfig`` and options of ``BatchedRoutingEnv``.

    Raises:
        ConfigError: For an unknown name or an impossible value.
    """

    metadata: ClassVar[dict[str, Any]]
    possible_agents: list[str]
    agents: list[str]

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
        self._core = make_core(view_configs(config), for_policy, settings, BatchedRoutingEnv)
        self._raises = check_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS) == "raise"
        self._renderer = Renderer(self._core.config, render_mode)
        if max_cycles is not None:
            max_cycles = check_integer("max_cycles", max_cycles, 1, _MOST_CYCLES)
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.possible_agents = [f"router_{i}" for i in range(self._core.num_agents)]
        self.agents = []
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        self._idle = self._core.num_actions
        self._form = Form(mask_in, flat_observation, self._core.layout, self._idle + 1)
        self._idle_mask = np.zeros(self._idle + 1, np.int8)
        self._idle_mask[self._idle] = 1
        # What each router saw when it decided last; it is shown again while the router is idle.
        self._seen = np.empty((self._core.num_agents, self._core.num_features), np.float32)
        self._illegal = [0] * self._core.num_agents
        self._remapping = Remapping()
        self._minimal: IntArray | None = None
        self._closed = False
        self._started = False
        self._make_spaces()

    def _make_spaces(self) -> None:
        # Own objects for every agent: they are seeded and sampled one by one.
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for name in self.possible_agents:
            self.observation_spaces[name] = self._form.space()
            self.action_spaces[name] = spaces.Discrete(self._idle + 1)
        self._radix = max(one.topology.radix for one in self._core.configs)
        self.state_space = spaces.Box(0.0, 1.0, (self._core.num_agents, self._radix + 1), np.float32)

    @property
    def core(self) -> BatchedRoutingEnv:
        """The batched environment underneath, for metrics, layout and ``trace_hash()``. Stepping it breaks this
        view. Its ``pending`` has the decisions of all rounds of the window, several of one router among them: what
        this view asks for is ``round_batch`` (parallel) or ``selected_batch`` (AEC).
        """
        return self._core

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """``Dict(observation=Box (F,) float32, action_mask=MultiBinary (A + 1,))``, or one ``Box`` with
        ``mask_in="info"`` or ``flat_observation``: the same object at every call.

        Raises:
            ConfigError: If there is no such agent.
        """
        self._number(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(A + 1)``, the last action being ``idle``: the same object at every call.

        Raises:
            ConfigError: If there is no such agent.
        """
        self._number(agent)
        return self.action_spaces[agent]

    @alone
    def state(self) -> npt.NDArray[np.float32]:
        """What all routers see together, for centralised critics. A new array.

        Returns:
            (num_routers, radix + 1) in [0, 1]: occupancy of every output port, and in the last column
            n / (n + radix) for the n packets that wait for a decision of this router. Of several scenarios one after
            the other, with the largest radix; ports that a router does not have show 0.

        Raises:
            StateError: Before the first reset, or after close.
        """
        self._check_open("state()")
        waiting = self._waiting().astype(np.float32)
        state = np.zeros((len(self.possible_agents), self._radix + 1), np.float32)
        state[:, -1] = waiting / (waiting + self._radix)
        for number, first in enumerate(self._core.first_agents.tolist()):
            occupied = self._core.state(number)
            state[first : first + len(occupied), : occupied.shape[1]] = occupied
        return state

    @alone
    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """A frame: utilisation of every global link since the frame before, with the hottest named. Of several
        scenarios the first is shown.

        Returns:
            As ``render_mode`` says: a string for ``"ansi"``, (800, 1100, 3) uint8 for ``"rgb_array"``, None for
            ``"human"``, which prints the string.

        Raises:
            StateError: Before the first reset, after close, or without a ``render_mode``.
        """
        self._check_open("render()")
        return self._renderer.render(self._core.metrics(scenario=0), self._core.time_ns)

    @alone
    def close(self) -> None:
        """End the use of this environment; may be called again."""
        self._closed = True
        self.agents = []

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.metadata['name']}: {len(self.possible_agents)} routers>"

    # For the views.

    @abstractmethod
    def _waiting(self) -> IntArray:
        """(num_agents,) packets that wait for each router's decision."""

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> DecisionBatch:
        """Reset everything that is common; the first batch."""
        if self._closed:
            raise StateError("reset(): this environment is closed")
        try:
            batch = self._core.reset(seed=seed, options=options)
        except ConfigError:
            raise  # an impossible seed or option; the present episode goes on
        except BaseException:
            self.agents = []
            raise
        self._started = True
        self.agents = self.possible_agents[:]
        self._seen[:] = 0.0
        if "link_class" in self._core.layout:  # what a router knows of itself before its first packet
            columns = self._core.layout["link_class"].columns
            for first, config in zip(self._core.first_agents.tolist(), self._core.configs, strict=True):
                topology = config.topology
                classes = topology.port_classes()[topology.p :] - 1
                self._seen[first : first + topology.num_routers, columns] = classes / (
                    len(topology.link_classes) - 2
                )
        self._illegal = [0] * len(self.possible_agents)
        self._renderer.reset()
        return batch

    def _places(self, batch: DecisionBatch) -> npt.NDArray[np.integer[Any]]:
        """(N,) the agents of a batch's rows."""
        return batch.agents if self._core.num_scenarios == 1 else self._core.slots(batch)

    def _advance(self, answers: IntArray) -> DecisionBatch:
        """Answer the batch. An exception, such as Ctrl-C's, ends the episode: nothing can be answered twice."""
        agents, self.agents = self.agents, []
        batch = self._core.step(answers)
        while not len(batch) and not self._core.done:
            batch = self._core.step(np.empty(0, np.int64))
        self.agents = agents
        return batch

    def _metrics(self) -> list[Info]:
        """(num_agents,) what the last info of an episode says of it: the metrics of the agent's network."""
        infos: list[Info] = []
        for scenario, config in enumerate(self._core.configs):
            infos += [{"metrics": self._core.metrics(scenario)}] * config.topology.num_routers
        return infos

    def _seed_state(self) -> dict[str, Any]:
        return self._core._seed_state()

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._core._go_on(seeds)

    def _check_open(self, call: str) -> None:
        if self._closed:
            raise StateError(f"{call}: this environment is closed")
        if not self._started:
            raise self._not_begun(call)

    def _check_running(self) -> None:
        self._check_open("step()")
        if not self.agents:
            raise StateError("step(): the episode is over; call reset()")

    def _number(self, agent: object) -> int:
        number = self._index.get(agent) if isinstance(agent, str) else None
        if number is None:
            raise config_error("agent", agent, f"must be one of 'router_0' to {self.possible_agents[-1]!r}")
        return number

    def _payments(self) -> list[float]:
        """(num_agents,) what each agent was paid in the last step of the core: a sum in double precision."""
        agents, rewards = self._core.payments()
        sums = np.bincount(agents, weights=rewards, minlength=len(self.possible_agents))
        paid: list[float] = sums.astype(np.float64).tolist()  # of nothing, bincount makes integers
        return paid

    def _as_action(self, agent: str, action: object) -> int:
        """``action`` as an int in the action space.

        Raises:
            IllegalActionError: For anything but an integer from 0 to ``idle``.
        """
        if not isinstance(action, (bool, np.bool_)):
            try:
                number = operator.index(action)  # type: ignore[arg-type]  # that is the question
            except TypeError:
                pass
            else:
                if 0 <= number <= self._idle:
                    return number
        text = repr(action)
        text = text if len(text) <= 80 else text[:77] + "..."
        raise IllegalActionError(
            f"{agent}: action {text}: must be an integer from 0 to {self._idle}, which is idle; nothing has changed"
        )

    def _replacement(self, batch: DecisionBatch, number: int, row: int | None, action: int) -> int:
        """What is done instead of an action that the mask forbids.

        Args:
            batch: The pending decisions.
            number: The agent.
            row: Its decision's row in ``batch``; None if it has none.
            action: What it chose.

        Raises:
            IllegalActionError: With ``illegal_action="raise"``, naming agent, decision and legal set.
        """
        name = self.possible_agents[number]
        legal = [self._idle] if row is None else np.flatnonzero(batch.mask[row]).tolist()
        if self._raises:
            what = "no pending packet" if row is None else f"decision {int(batch.decision_ids[row])}"
            raise IllegalActionError(
                f"{name}: action {action} is illegal ({what}): must be one of {legal}; nothing has changed"
            )
        if row is None:
            instead = self._idle
        else:
            if self._minimal is None:
                self._minimal = batch.minimal_actions()
            instead = int(self._minimal[row])
        self._remapping.warn(name, action, legal, instead, stacklevel=4)
        self._illegal[number] += 1
        return instead
