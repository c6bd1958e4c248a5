"""The order in which the views with one place per router go through a batch: round by round.

In each round every router that still has pending packets answers its earliest one; of several at the same time, the
one with the lowest decision id.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


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
        """Where round ``index`` stands in ``rows``."""
        return slice(self.ends[index - 1] if index else 0, self.ends[index])
