"""What on-policy learning keeps: how likely actions were when they were chosen, and what came of them since."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from dragonfly_env.agents.protocol import IntArray

if TYPE_CHECKING:
    from dragonfly_env.decisions.batch import DecisionBatch, Transitions

Floats = npt.NDArray[np.float32]


class Samples(NamedTuple):
    """M decisions with what came of them."""

    obs: Floats  # (M, columns)
    masks: npt.NDArray[np.bool_]  # (M, A) of the rows that decided
    actions: IntArray  # (M,)
    log_probabilities: Floats  # (M,) of these, when they were chosen
    returns: Floats  # (M,)
    scenarios: npt.NDArray[np.int32]  # (M,)


class Rollout:
    """Transitions of one episode, and the decisions whose packets are still on their way."""

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Forget all of it: another episode numbers its decisions anew."""
        none = np.zeros(0, dtype=np.int64)
        self._open: list[tuple[IntArray, IntArray, Floats]] = [(none, none, none.astype(np.float32))]
        self._ended: list[Transitions] = []
        self._count = 0

    def chosen(self, batch: DecisionBatch, log_probabilities: Floats) -> None:
        """Remember how likely the actions were that answer a batch."""
        scenarios = np.asarray(batch.scenario, dtype=np.int64).copy()
        self._open.append((scenarios, np.array(batch.decision_ids), log_probabilities))

    def ended(self, transitions: Transitions) -> None:
        """Take in what came of earlier decisions."""
        if len(transitions):
            self._ended.append(transitions)
            self._count += len(transitions)

    def take(self) -> Samples | None:
        """All that ended since the last call; what was not chosen here is left out. None if there is nothing."""
        ended, self._ended, self._count = self._ended, [], 0
        if not ended:
            return None
        scenarios, decisions, likely = (np.concatenate(column) for column in zip(*self._open, strict=True))
        ended_scenarios = np.concatenate([part.scenario for part in ended]).astype(np.int64)
        ended_decisions = np.concatenate([part.decision_ids for part in ended])
        keys = _numbered(
            np.concatenate([scenarios, ended_scenarios]), np.concatenate([decisions, ended_decisions])
        )
        open_keys, ended_keys = keys[: len(likely)], keys[len(likely) :]
        order = np.argsort(open_keys, kind="stable")
        # The last one of equal keys: a batch that was answered twice was answered by the second answer.
        place = np.searchsorted(open_keys[order], ended_keys, side="right") - 1
        at = order[np.maximum(place, 0)] if len(order) else np.zeros(len(place), dtype=np.int64)
        known = np.zeros(len(place), dtype=np.bool_)
        if len(order):
            known = open_keys[at] == ended_keys
        waits = ~np.isin(open_keys, ended_keys)
        self._open = [(scenarios[waits], decisions[waits], likely[waits])]
        if not known.any():
            return None

        def column(name: str) -> npt.NDArray[np.generic]:
            return np.concatenate([getattr(part, name) for part in ended])[known]

        return Samples(
            obs=column("obs").astype(np.float32, copy=False),
            masks=column("mask").astype(np.bool_, copy=False),
            actions=column("actions").astype(np.int64),
            log_probabilities=likely[at[known]],
            returns=column("rewards").astype(np.float32),
            scenarios=column("scenario").astype(np.int32, copy=False),
        )


def _numbered(scenarios: IntArray, decisions: IntArray) -> IntArray:
    """One number for each pair, equal for equal ones."""
    rank = np.unique(decisions, return_inverse=True)[1].reshape(-1).astype(np.int64)
    numbers: IntArray = rank * (int(scenarios.max(initial=0)) + 1) + scenarios
    return numbers
