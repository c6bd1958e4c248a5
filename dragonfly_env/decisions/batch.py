"""Records of the batched environment: ``DecisionBatch``, ``Transitions``, ``Outcomes`` and ``Rollout``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import config_error
from dragonfly_env.decisions.layout import CANDIDATE_FEATURES, Layout
from dragonfly_env.errors import StateError

IntArray = npt.NDArray[np.int64]
Draws: TypeAlias = "npt.NDArray[np.float64] | Callable[[], npt.NDArray[np.float64]] | None"

_COLUMNS = ("obs", "mask", "agents", "decision_ids", "packets", "time_ns", "candidates")


class DecisionBatch:
    """N decisions that wait for an action, ordered by scenario, then by decision id.

    What a row holds, and the order of rows, depend neither on the number of threads nor on how the core cuts a network
    into partitions: all decisions of one time see the network, and count earlier decisions, as of the start of that
    time. Which decisions share a batch depends on the partitions, and so on the topology.

    From an environment the arrays are read-only views into the memory of the core: valid until its next ``reset`` or
    ``step``, after that they show something else. ``copy()`` keeps them. ``torch.from_dlpack(batch.obs)`` is a tensor
    of the same memory, not to be written to; ``torch.from_numpy`` warns of that, because it does not know of arrays
    that are read-only. (With a NumPy before 2.1 copy: ``torch.tensor(batch.obs)``.)

    Attributes:
        obs: (N, F) float32, see ``layout``.
        mask: (N, A) bool, the legal actions; at least one per row.
        agents: (N,) int32, the router that decides.
        decision_ids: (N,) int64, unique per packet and hop of a scenario with any batching: the source host,
            the number of the packet at its source, and its hops so far, in this order of significance.
        packets: (N,) structured: ``source_host``, ``destination_host``, ``number`` (of the packet at its
            source), ``source_router``, ``destination_router``, ``destination_group``, ``hops``, ``vc``,
            ``input_port``, ``minimal_action`` (along a shortest path), ``minimal`` (never sent off it), ``created_ns``,
            ``arrived_ns``.
        time_ns: (N,) float64, when the decision was raised.
        candidates: Path actions: (N, A) structured: ``kind`` (see ``layout.KINDS``), ``port``, ``hops`` (from
            here to the destination router), ``occupancy`` (packets, of the first port), ``vc_occupancy`` (of
            the VC that it would use there), ``vc_queued`` (of that VC's output queue alone),
            ``intermediate_group``, ``intermediate_router`` (-1: none), ``minimal_choice``. Port actions: None.
        layout: The meaning of the columns of ``obs``.

    Args:
        draws: (N, D) random numbers, or a function that gives them when they are first used.
        scenario: (N,) whose decision each is; None: all are of the only configuration.
        **columns: See the attributes.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
        >>> env = dfe.BatchedRoutingEnv(config, duration_ns=2_000)
        >>> batch = env.reset(seed=1)
        >>> batch.obs.shape == (len(batch), env.num_features)
        True
        >>> batch.mask.shape == (len(batch), env.num_actions)
        True
    """

    __slots__ = (
        "_draw",
        "_draws",
        "_scenario",
        "agents",
        "candidates",
        "decision_ids",
        "layout",
        "mask",
        "obs",
        "packets",
        "time_ns",
    )

    def __init__(
        self,
        *,
        layout: Layout,
        obs: npt.NDArray[np.float32],
        mask: npt.NDArray[np.bool_],
        agents: npt.NDArray[np.int32],
        decision_ids: npt.NDArray[np.int64],
        packets: npt.NDArray[Any],
        time_ns: npt.NDArray[np.float64],
        candidates: npt.NDArray[Any] | None,
        draws: Draws = None,
        scenario: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self.layout = layout
        self.obs = obs
        self.mask = mask
        self.agents = agents
        self.decision_ids = decision_ids
        self.packets = packets
        self.time_ns = time_ns
        self.candidates = candidates
        self._draw = draws if callable(draws) else None
        self._draws = None if callable(draws) else draws
        self._scenario = scenario

    def __len__(self) -> int:
        return len(self.agents)

    def __repr__(self) -> str:
        return f"<DecisionBatch of {len(self)} decisions of {len(np.unique(self.agents))} routers>"

    @property
    def draws(self) -> npt.NDArray[np.float64]:
        """(N, D) uniform numbers in [0, 1) that belong to the decisions: the same under any batching.

        Raises:
            StateError: For a batch made from observations, which has none.
        """
        if self._draws is None:
            if self._draw is None:
                raise StateError("draws: a batch made from observations has no random numbers")
            self._draws = self._draw()
        return self._draws

    @property
    def scenario(self) -> npt.NDArray[np.int32]:
        """(N,) int32, whose decision each is: the number of its configuration; 0 where an environment has only one."""
        if self._scenario is None:
            self._scenario = np.zeros(len(self), np.int32)
        return self._scenario

    def rows(self, which: npt.NDArray[Any] | slice) -> DecisionBatch:
        """Some rows.

        Args:
            which: Row indices, a (N,) bool mask, or a slice.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> batch = dfe.BatchedRoutingEnv(config).reset(seed=1)
            >>> len(batch.rows([0, 2])), len(batch.rows(slice(3)))
            (2, 3)
        """
        draws: Draws = (lambda: self.draws[which]) if self._draws is None else self._draws[which]
        return self._each(lambda column: column[which], draws)

    def copy(self) -> DecisionBatch:
        """A batch that does not change with the environment.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> env = dfe.BatchedRoutingEnv(config)
            >>> kept = env.reset(seed=1).copy()
            >>> later = env.step(env.pending.minimal_actions())
            >>> np.array_equal(kept.obs, later.obs)
            False
        """
        return self._each(lambda column: column.copy(), self.draws.copy() if self._has_draws() else None)

    def _each(self, of_column: Callable[[npt.NDArray[Any]], npt.NDArray[Any]], draws: Draws) -> DecisionBatch:
        """Copy with other columns."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        picked: dict[str, Any] = {
            name: None if column is None else of_column(column) for name, column in columns.items()
        }
        scenario = None if self._scenario is None else of_column(self._scenario)
        given = draws if self._has_draws() else None
        return DecisionBatch(layout=self.layout, **picked, draws=given, scenario=scenario)

    def _has_draws(self) -> bool:
        return self._draw is not None or self._draws is not None

    def minimal_actions(self) -> IntArray:
        """(N,) the action along a shortest path of every row; it is always legal where there is a choice.

        Where an environment with scope ``"all"`` reports a hop that a non-minimal path forces, this is that hop.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> batch = dfe.BatchedRoutingEnv(config).reset(seed=1)
            >>> actions = batch.minimal_actions()
            >>> bool(batch.mask[np.arange(len(batch)), actions].all())
            True
        """
        actions = self.packets["minimal_action"].astype(np.int64)
        if self.mask.size == 0:  # no rows; or routers without ports, which have no first legal one either
            return actions
        return np.where(self.mask[np.arange(len(self)), actions], actions, self.mask.argmax(axis=1))

    @classmethod
    def from_observations(
        cls,
        layout: Layout,
        obs: npt.ArrayLike,
        mask: npt.ArrayLike,
        *,
        agents: npt.ArrayLike | None = None,
    ) -> DecisionBatch:
        """Build a batch from observations alone: for views that hand out nothing else.

        Args:
            layout: Layout of the environment.
            obs: (N, F) observations.
            mask: (N, A) or more columns (an idle action behind is left out).
            agents: (N,) routers; -1 if they are not given.

        Returns:
            A batch with ``candidates`` (if the actions are paths and these features are observed) and with
            ``packets["minimal_action"]`` (if ``is_minimal`` is, or the actions are paths); all else is empty.

        Raises:
            ConfigError: If shapes do not fit the layout.

        Example:
            >>> config = dfe.SimulationConfig(topology="72")
            >>> env = dfe.BatchedRoutingEnv(config)
            >>> seen = env.reset(seed=1)
            >>> batch = dfe.DecisionBatch.from_observations(env.layout, seen.obs, seen.mask)
            >>> len(batch) == len(seen)
            True
        """
        rows, legal = np.asarray(obs, dtype=np.float32), np.asarray(mask, dtype=bool)
        if rows.ndim != 2 or rows.shape[1] != layout.num_features:
            raise config_error("obs", rows.shape, f"must have the shape (N, {layout.num_features})")
        if legal.ndim != 2 or len(legal) != len(rows) or legal.shape[1] < layout.num_actions:
            raise config_error(
                "mask", legal.shape, f"must have the shape ({len(rows)}, {layout.num_actions})"
            )
        n = len(rows)
        routers = np.full(n, -1, np.int32) if agents is None else np.asarray(agents, dtype=np.int32)
        packets = np.zeros(n, dtype=_core.packet_dtype)
        candidates = None
        if layout.candidates:
            readable = layout.occupancy_unit != "ns"
            if readable and all(name in layout for name in CANDIDATE_FEATURES):
                candidates = layout.decode_candidates(rows)
        elif "is_minimal" in layout:
            packets["minimal_action"] = rows[:, layout["is_minimal"].columns].argmax(axis=1)
        return cls(
            layout=layout,
            obs=rows,
            mask=legal[:, : layout.num_actions],
            agents=routers,
            decision_ids=np.full(n, -1, dtype=np.int64),
            packets=packets,
            time_ns=np.full(n, np.nan),
            candidates=candidates,
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """M decisions with what came of them, ordered by scenario, then by decision id. The arrays belong to the caller.

    A transition ends at the packet's next decision, or its delivery (with reward ``"delivery"`` always there), or it is
    truncated where the episode ends before; F features, A actions.

    Attributes:
        decision_ids: (M,) int64, of the decision, as in `DecisionBatch.decision_ids`.
        agents: (M,) int32, the router that decided.
        obs: (M, F) float32, what it saw.
        actions: (M,) int32, what it chose.
        rewards: (M,) float64, in units of ``reward_scale_ns``.
        next_obs: (M, F) float32, what the next deciding router saw; zeros if there is none.
        next_mask: (M, A) bool, its legal actions; all False if there is none.
        done: (M,) bool, whether the transition ends with the delivery.
        next_agents: (M,) int32, the next router that decided; -1 if there is none.
        latency_ns: (M,) float64, ns from this decision to the end of the transition.
        time_ns: (M,) float64, ns, when the deciding router learns of it: the end of the transition plus the time back
            over its link.
        next_decision_ids: (M,) int64, of the next decision; -1 if there is none.
        mask: (M, A) bool, the actions that were legal when it was made.
        scenario: (M,) int32, whose decision it was; where an environment has several scenarios, those of one come
            after the other.
        truncated: (M,) bool, whether the episode ended first: then the reward is for the time up to there.
        decision_time_ns: (M,) float64, ns, when the decision was made.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
        >>> env = dfe.BatchedRoutingEnv(config, duration_ns=2_000)
        >>> batch = env.reset(seed=1)
        >>> while not env.done:
        ...     batch = env.step(batch.minimal_actions())
        >>> transitions = env.transitions()
        >>> transitions.next_obs.shape == (len(transitions), env.num_features)
        True
        >>> bool((transitions.rewards < 0).all())
        True
    """

    decision_ids: npt.NDArray[np.int64]
    agents: npt.NDArray[np.int32]
    obs: npt.NDArray[np.float32]
    actions: npt.NDArray[np.int32]
    rewards: npt.NDArray[np.float64]
    next_obs: npt.NDArray[np.float32]
    next_mask: npt.NDArray[np.bool_]
    done: npt.NDArray[np.bool_]
    next_agents: npt.NDArray[np.int32]
    latency_ns: npt.NDArray[np.float64]
    time_ns: npt.NDArray[np.float64]
    next_decision_ids: npt.NDArray[np.int64]
    mask: npt.NDArray[np.bool_]
    scenario: npt.NDArray[np.int32]
    truncated: npt.NDArray[np.bool_]
    decision_time_ns: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.decision_ids)

    @property
    def hops(self) -> IntArray:
        """(M,) int64, the links between routers that the packet had crossed: the last byte of a decision's id."""
        return self.decision_ids & 0xFF

    def completed(self) -> Transitions:
        """The transitions that are not truncated: those that a learner can use without knowing what comes next."""
        if not self.truncated.any():
            return self
        whole = ~self.truncated
        return Transitions(**{name: getattr(self, name)[whole] for name in self.__slots__})


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Outcomes of K decisions: ``Transitions`` without observations, ordered by scenario, then by router, then by
    decision id.

    The rewards of a packet's decisions, from one decision on to the delivery, add up to the return of that decision:
    ``next_decision_ids`` leads from each decision to the next.

    Attributes:
        decision_ids: (K,) int64, of the decision.
        rewards: (K,) float64, in units of ``reward_scale_ns``; the same bits as in ``Transitions``.
        agents: (K,) int32, the router that decided.
        next_decision_ids: (K,) int64, the packet's next decision; -1 if there is none.
        truncated: (K,) bool, whether the episode ended first: then the reward is for the time up to there.
        scenario: (K,) int32, whose decision it was.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
        >>> env = dfe.BatchedRoutingEnv(config, outcomes=True, duration_ns=2_000)
        >>> batch = env.reset(seed=1)
        >>> while not env.done:
        ...     batch = env.step(batch.minimal_actions())
        >>> outcomes, transitions = env.outcomes(), env.transitions()
        >>> sorted(outcomes.rewards) == sorted(transitions.rewards)
        True
    """

    decision_ids: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    agents: npt.NDArray[np.int32]
    next_decision_ids: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]
    scenario: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.decision_ids)

    def rows(self, which: slice) -> Outcomes:
        """Some rows.

        Args:
            which: The rows as a slice.
        """
        return Outcomes(*(getattr(self, name)[which] for name in self.__slots__))

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """The rows of all parts, one part after the other.

        Args:
            parts: Outcomes of the same environment.
        """
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """M transitions that a policy collected in the core, with what a policy gradient needs to know of its decisions.

    Attributes:
        transitions: Results of decisions: of this rollout, and of earlier ones that were open.
        log_probs: (M,) float32, the logarithm of the probability of each action at the time of its decision, by the
            policy of that time. 0 for decisions of a greedy policy, NaN for those that ``step`` made.
        decisions: Number of decisions of the policy in this rollout; some of them are open at its end.

    Example:
        >>> network = dfe.baselines.MlpNetwork.random(seed=1, output="softmax")
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1")
        >>> env = dfe.BatchedRoutingEnv(
        ...     config, scope="source", action="path", features=network.features
        ... )
        >>> batch = env.reset(seed=1)
        >>> rollout = env.rollout(network, transitions=100)
        >>> rollout.transitions.obs.shape == (len(rollout), env.num_features)
        True
        >>> bool((rollout.log_probs < 0).all())
        True
    """

    transitions: Transitions
    log_probs: npt.NDArray[np.float32]
    decisions: int

    def __len__(self) -> int:
        return len(self.transitions)
