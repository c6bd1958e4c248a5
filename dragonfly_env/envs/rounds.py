"""``Rounds``: an episode of ``BatchedRoutingEnv`` in which every router decides about one packet at a time.

A batch may hold several decisions of one router. In a round every router that has decisions left in the batch makes
its earliest one (of several at the same time, the one with the lowest decision id). Simulated time stops until
all rounds of the batch are over. Decisions of one batch do not depend on each other, so rounds change nothing in the
network. What each router sees, may do and has received is kept here; views only change its form.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice
from dragonfly_env.decisions.batch import DecisionBatch, Outcomes
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.scenarios import Changes
from dragonfly_env.errors import IllegalActionError, IllegalActionWarning

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Mask = npt.NDArray[np.int8]


class StepOutcomes:
    """The outcomes of a step by router; split when they are first read."""

    def __init__(self, outcomes: Outcomes, routers: npt.NDArray[np.integer[Any]]) -> None:
        self._outcomes = outcomes
        self._routers = routers  # (K,) ascending
        self._bounds: list[int] = []

    def routers(self) -> list[int]:
        """The routers with outcomes."""
        return sorted(set(self._routers.tolist()))

    def of(self, router: int) -> Outcomes:
        """The outcomes of one router."""
        if not self._bounds and len(self._routers):
            for name in Outcomes.__slots__:
                getattr(self._outcomes, name).flags.writeable = False
            last = int(self._routers[-1])
            self._bounds = self._routers.searchsorted(np.arange(last + 2)).tolist()
        if router + 1 >= len(self._bounds):
            return _NONE
        first, end = self._bounds[router : router + 2]
        return self._outcomes.rows(slice(first, end)) if end > first else _NONE


_NONE = Outcomes(
    np.empty(0, np.int64),
    np.empty(0),
    np.empty(0, np.int32),
    np.empty(0, np.int64),
    np.empty(0, np.bool_),
    np.empty(0, np.int32),
)


class Info(dict[str, Any]):
    """The info of a router: listed numbers, and entries that are made when they are read by name.

    Frameworks make tensors of all that an info lists, so what has no fixed shape is not listed: ``completed``
    (``Outcomes`` of the router's decisions since its last info), and in the PettingZoo views ``action_mask``, which the
    observation lists already, and ``metrics`` at the end of an episode.
    """

    __slots__ = ("_mask", "_metrics", "_router", "_steps")
    _mask: Mask
    _metrics: Any
    _router: int
    _steps: tuple[StepOutcomes, ...]

    def __missing__(self, key: str) -> Any:
        if key == "completed":
            parts = [step.of(self._router) for step in getattr(self, "_steps", ())]
            return Outcomes.joined(parts) if len(parts) > 1 else parts[0] if parts else _NONE
        if key in self:
            return self._mask if key == "action_mask" else self._metrics
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return (
            dict.__contains__(self, key)
            or key == "completed"
            or (key == "action_mask" and hasattr(self, "_mask"))
            or (key == "metrics" and hasattr(self, "_metrics"))
        )

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, listed or not."""
        return self[key] if key in self else default  # noqa: SIM401  # this is get()

    def copy(self) -> Info:
        """An info of its own; what it leads to is shared, as it never changes."""
        other = Info(self)
        for name in Info.__slots__:
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other

    def __deepcopy__(self, memo: object) -> Info:
        return self.copy()


class Infos(dict[str, Info]):
    """The infos of a step by agent, made when any of them is looked at: most learners read them in few steps."""

    def __init__(self, names: Iterable[str], make: Callable[[], Iterable[Info]]) -> None:
        super().__init__()
        self._make: Callable[[], Any] | None = lambda: zip(names, make(), strict=True)

    def __reduce__(self) -> tuple[type[dict[str, Info]], tuple[dict[str, Info]]]:
        return dict, (dict(self.items()),)


class InfoList(list[Info]):
    """The infos of a step by slot, made when any of them is looked at."""

    def __init__(self, make: Callable[[], Iterable[Info]]) -> None:
        super().__init__()
        self._make: Callable[[], Any] | None = make

    def __radd__(self, before: list[Any]) -> list[Any]:
        return [*before, *self]

    def __reduce__(self) -> tuple[type[list[Info]], tuple[list[Info]]]:
        return list, ([*self],)


def _after_making(fill: Callable[..., None], method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a dict or list, called once the infos are there."""

    @functools.wraps(method)
    def made_first(infos: Infos | InfoList, *given: Any, **named: Any) -> Any:
        if infos._make is not None:
            make, infos._make = infos._make, None
            fill(infos, make())
        return method(infos, *given, **named)

    return made_first


_NOT_OF_THE_CONTENTS = set(dir(object)) | {"__class_getitem__", "fromkeys"}
for _lazy, _made, _fill in ((Infos, dict, dict.update), (InfoList, list, list.extend)):
    for _name in set(dir(_made)) - _NOT_OF_THE_CONTENTS | {"__eq__", "__ne__", "__repr__"}:
        setattr(_lazy, _name, _after_making(_fill, getattr(_made, _name)))


class Rounds:
    """The rounds of one episode, which begins here. Routers are numbered on from one scenario to the next.

    Args:
        core: The environment, which is reset.
        illegal_actions: Consequence of an illegal action.
        seed: As for ``BatchedRoutingEnv.reset``.
        options: As for ``BatchedRoutingEnv.reset``.
        table: Observations are rows of an array; otherwise each router has arrays of its own.

    Attributes:
        acting: (n,) the routers of this round, ascending.
        seen: By router the observation of its last packet, zeros before the first: (num_agents, F), or a list.
        masks: By router what it may do in this round, the last action being idle: a list of int8 arrays, which are
            never changed. Not with ``table``: see ``mask_table``.
        time_went_on: Whether the last step went on to another batch; then it has rewards.
        rewards: (num_agents,) the rewards of the last step.
        generated: (num_agents,) packets that the routers' hosts generated in the last step.
        delivered: (num_agents,) packets of these hosts that were delivered in the last step.
        outcomes: Outcomes of decisions in the last step; none or one.
        numbers: By router the numbers of an info without a decision.
        decisions: Number of decisions in this episode.
    """

    seen: Any
    masks: list[Mask]
    acting: IntArray
    outcomes: tuple[StepOutcomes, ...]
    _begin: int  # first row of this round in the batch
    _end: int
    _round: int

    def __init__(
        self,
        core: BatchedRoutingEnv,
        illegal_actions: IllegalActions,
        seed: int | None = None,
        options: Changes = None,
        *,
        table: bool = False,
    ) -> None:
        core.reset(seed=seed, options=options)
        self._core = core
        self._illegal_actions = illegal_actions
        self._episode = core.episode
        self._is_stepping = False
        self._table = table
        self._idle = core.num_actions
        count = self._count = core.num_agents
        self._number_type = np.min_scalar_type(count)  # short numbers are sorted faster
        self.idle_mask = np.frombuffer(bytes(self._idle) + b"\1", np.int8)
        self._known = _Masks()
        blank = np.zeros((count, core.num_features), np.float32)
        self.seen = blank if table else [row.copy() for row in blank]
        self.numbers = [
            {"illegal_actions": 0, "generated": 0, "delivered": 0, "decision_id": -1} for _ in range(count)
        ]
        self.decisions = 0
        self.time_went_on, self.outcomes = False, ()
        self._open_batch()

    @property
    def interrupted(self) -> bool:
        """Whether a step or a reset was broken off, by Ctrl-C or a deadlock: the episode cannot go on."""
        return self._is_stepping or self._core.episode != self._episode

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._begin == self._end

    @property
    def batch(self) -> DecisionBatch:
        """The decisions of this round, one row per acting router. A copy."""
        return self._core.pending.rows(self._rows[self._begin : self._end])

    def decision(self, turn: int) -> DecisionBatch:
        """The decision of ``acting[turn]``, as a batch of one row. A copy."""
        row = self._begin + turn
        return self._core.pending.rows(self._rows[row : row + 1])

    def act(self, actions: IntArray) -> None:
        """Take the actions of all routers in this round, and go on to the next round: of the same batch, or of the next
        one. In place of an illegal action the core takes the minimal one; a router without a packet idles.

        Args:
            actions: (num_agents,) in [0, A]; A is idle.

        Raises:
            IllegalActionError: For an integer out of range, or as ``illegal_actions`` says; nothing has changed.
        """
        acting = self.acting
        illegal = self._core.take_actions(self._rows[self._begin : self._end], actions[acting])
        idle = actions == self._idle
        if illegal or np.count_nonzero(idle) != self._count - len(acting):
            unsigned = actions.view(np.uint64)  # negative numbers become large
            if unsigned.max() > self._idle:
                router = int(unsigned.argmax())
                raise _out_of_range(f"router_{router}", actions[router], self._idle)
            idle[acting] = True
            idle[acting[illegal]] = False
            self._refuse((~idle).nonzero()[0].tolist(), actions)
        self.finish()

    def act_alone(self, turn: int, action: int) -> None:
        """Take the action of ``acting[turn]`` alone; after the last one of a round ``finish`` goes on.

        Raises:
            IllegalActionError: As ``act``.
        """
        if 0 <= action <= self._idle and self._core.take_action(int(self._rows[self._begin + turn]), action):
            return
        router = int(self.acting[turn])
        if not 0 <= action <= self._idle:
            raise _out_of_range(f"router_{router}", action, self._idle)
        self._refuse([router], {router: action})

    def finish(self) -> None:
        """End this round, whose actions were taken."""
        self.time_went_on, self.outcomes = False, ()
        if self._end < len(self._rows):
            self._round += 1
            self._begin, self._end = self._end, self._ends[self._round]
            self._show()
            return
        if not self.over:
            self._is_stepping = True
            self._core.go_on()
            self._is_stepping = False
            self.decisions += len(self._rows)
        self.time_went_on = True
        self.read_step()
        self._open_batch()

    def read_step(self) -> None:
        """Read what routers have received since the last reading."""
        core = self._core
        self.rewards, self.generated, self.delivered = core.tallies_by_router()
        outcomes = core.outcomes()
        if len(outcomes):
            routers = outcomes.agents
            if core.num_scenarios > 1:
                routers = core.first_agents[outcomes.scenario] + routers
            self.outcomes = (StepOutcomes(outcomes, routers),)

    def stop(self) -> None:
        """End the episode here; packets that wait for a decision are left alone."""
        self.decisions += self._begin
        self._end = self._begin
        self._show()

    def mask_table(self) -> BoolArray:
        """(num_agents, A + 1) what every router may do in this round. A new array."""
        masks = np.zeros((self._count, self._idle + 1), np.bool_)
        masks[:, -1] = True
        masks[self.acting] = self._legal[self._begin : self._end]
        return masks

    def infos(self) -> InfoList:
        """(num_agents,) the infos of the last step."""
        return InfoList(self.later_infos())

    def later_infos(self) -> Callable[[], list[Info]]:
        """A function that makes the infos of the last step; it may be called after further steps."""
        numbers, steps, packets = self.numbers, self.outcomes, None
        if self.time_went_on:
            packets = self.generated, self.delivered
        masks = None if self._table else self.masks
        acting, decisions = self._acting, self._ids[self._begin : self._end]

        def make() -> list[Info]:
            infos = list(map(Info, numbers))
            if packets is not None:
                columns = range(len(infos)), packets[0].tolist(), packets[1].tolist()
                for info, router, generated, delivered in zip(infos, *columns, strict=True):
                    info["generated"], info["delivered"] = generated, delivered
                    info._router, info._steps = router, steps
            if masks is not None:
                for info, mask in zip(infos, masks, strict=True):
                    info._mask = mask
            for router, decision in zip(acting, decisions, strict=True):
                infos[router]["decision_id"] = decision
            return infos

        return make

    def idle_info(self, router: int) -> Info:
        """The info of a router that has just acted, and that idles in the rest of the round."""
        self.masks[router] = mask = self.idle_mask
        info = Info(self.numbers[router])
        info._mask = mask
        return info

    def show_decisions(self, infos: Iterable[Info]) -> None:
        """Add to the infos of ``acting`` what they say about the decisions of this round."""
        decisions = self._ids[self._begin : self._end]
        for info, router, decision in zip(infos, self._acting, decisions, strict=True):
            info._mask = self.masks[router]
            info["decision_id"] = decision

    def add_outcomes(self, infos: Sequence[Info]) -> None:
        """Add the outcomes of the last step to infos that have those of earlier steps."""
        for step in self.outcomes:
            for router in step.routers():
                info = infos[router]
                info._router, info._steps = router, (*getattr(info, "_steps", ()), step)

    def add_metrics(self, infos: Sequence[Info]) -> None:
        """Add what the last infos of an episode have besides: the metrics of the router's scenario."""
        ends = [*self._core.first_agents[1:].tolist(), self._count]
        first = 0
        for scenario, end in enumerate(ends):
            metrics = self._core.metrics(scenario)
            for info in infos[first:end]:
                info._metrics = metrics
            first = end

    def _refuse(self, routers: list[int], actions: IntArray | Mapping[int, int]) -> None:
        """Warn of the first illegal action, or raise, and count one per router."""
        if not self._illegal_actions.warned:
            first = routers[0]
            decision = self.batch.rows(self.acting == first)
            self._illegal_actions.found(
                f"router_{first}", int(actions[first]), decision, self._idle, frames=5
            )
        # Infos that are still to be made keep the old numbers.
        self.numbers = list(map(dict.copy, self.numbers))
        for router in routers:
            self.numbers[router]["illegal_actions"] += 1

    def _open_batch(self) -> None:
        """Put the batch into rounds, and begin the first."""
        batch = self._core.pending
        count = len(batch)
        agents = self._core.slots(batch)
        numbers = agents.astype(self._number_type)
        by_agent = np.lexsort((batch.time_ns, numbers))  # a stable sort
        agents = agents[by_agent]
        is_first = np.ones(count, np.bool_)
        is_first[1:] = agents[1:] != agents[:-1]
        (firsts,) = is_first.nonzero()
        # The number of earlier packets of the same router is the round in which this packet has its turn.
        number = np.arange(count) - firsts[is_first.cumsum() - 1]
        order = number.astype(np.uint16 if count < 2**16 else np.int64).argsort(kind="stable")
        # All below by round, then by router.
        self._rows = rows = by_agent[order]
        self._agents = agents[order]
        self._ids: list[int] = batch.decision_ids[rows].tolist()
        self._agent_list: list[int] = self._agents.tolist()
        self._legal = np.zeros((count, self._idle + 1), np.bool_)
        self._legal[:, :-1] = batch.mask[rows]
        if not self._table:
            obs = batch.obs[by_agent]
            routers = self._agent_list[: len(firsts)]
            bounds = pairwise([*firsts.tolist(), count])
            # By router, round by round. Observations of different routers do not share memory: a kept observation
            # keeps no other router's alive.
            self._to_come = {
                router: iter(obs[first:end].copy())
                for router, (first, end) in zip(routers, bounds, strict=True)
            }
        self._ends: list[int] = np.bincount(number).cumsum().tolist()
        self._begin, self._end, self._round = 0, self._ends[0] if count else 0, 0
        self._show()

    def _show(self) -> None:
        """Show the acting routers their packets; the others see what they saw last, and may only idle."""
        this = slice(self._begin, self._end)
        self.acting = self._agents[this]
        self._acting = acting = self._agent_list[this]
        if self._table:
            self.seen[self.acting] = self._core.pending.obs[self._rows[this]]
            return
        self.masks = masks = [self.idle_mask] * self._count
        seen, to_come, known = self.seen, self._to_come, self._known
        legal = self._legal[this].view(f"V{self._idle + 1}").ravel().tolist()  # bytes
        for router, mask in zip(acting, legal, strict=True):
            seen[router] = next(to_come[router])
            masks[router] = known[mask]


class _Masks(dict[bytes, Mask]):
    """The masks that routers were shown, by their bytes: they are few, so each array is made once, read-only."""

    def __missing__(self, mask: bytes) -> Mask:
        self[mask] = made = np.frombuffer(mask, np.int8)
        return made


def _out_of_range(who: str, action: object, idle: int) -> IllegalActionError:
    return IllegalActionError(
        f"{who}: action {action} must be from 0 to {idle}, which is idle; nothing has changed"
    )


class IllegalActions:
    """Treatment of actions that the mask forbids.

    Args:
        choice: ``"remap"``: another action is taken, and the first illegal action of an environment is warned about; or
            ``"raise"``.
    """

    def __init__(self, choice: str) -> None:
        self._raises = check_choice("illegal_action", choice, ("remap", "raise")) == "raise"
        self.warned = False  # whether the user was warned; one warning is enough

    def found(self, who: str, action: int, batch: DecisionBatch, idle: int = 0, *, frames: int = 4) -> None:
        """Warn of the first illegal action, or raise. ``batch`` has the decision; if it is empty, only ``idle`` is
        legal. The user's call is so many ``frames`` away.
        """
        legal, instead, why = [idle], idle, " (no pending packet)"
        if len(batch):
            legal, instead = np.flatnonzero(batch.mask[0]).tolist(), int(batch.minimal_actions()[0])
            why = f" (decision {batch.decision_ids[0]})"
        if self._raises:
            raise IllegalActionError(
                f"{who}: action {action} is illegal{why}: must be one of {legal}; nothing has changed"
            )
        if not self.warned:
            self.warned = True
            warnings.warn(
                f"{who}: action {action} is illegal{why}: the mask allows {legal}; action {instead} is taken instead. "
                'info["illegal_actions"] counts such actions, and no further one of this environment is warned about; '
                'illegal_action="raise" makes each an error',
                IllegalActionWarning,
                stacklevel=frames,
            )
