"""Reports on hops for the routers that chose them: ``HopFeedback``."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HopFeedback:
    """M reports, ordered by scenario, ``time_ns``, router and port. The arrays belong to the caller.

    A router x sends a packet to router y. When the packet leaves its input buffer there, the credit for its place
    travels back to x, and with it goes what y has to say: how long the packet took, and what y thought of it when it
    decided itself. Some reports have not arrived yet when they are handed out: they count from ``time_ns`` on, and
    before what x decides at that time. A port gets at most one at a time.

    Source: the simulator of Kang, Wang, Lan, HPDC 2021, section 4 (reports cost no bandwidth).

    Example:
        >>> config = dfe.SimulationConfig(topology="72")
        >>> env = dfe.BatchedRoutingEnv(config, feedback=True, duration_ns=2_000)
        >>> batch = env.reset(seed=1)
        >>> while not env.done:
        ...     batch = env.step(batch.minimal_actions())
        >>> reports = env.feedback()
        >>> bool((reports.travel_ns > 0).all()), reports.ports.shape == (len(reports),)
        (True, True)
    """

    decision_ids: npt.NDArray[np.int64]
    """(M,) ids of the decisions that x took for the packets."""
    next_decision_ids: npt.NDArray[np.int64]
    """(M,) ids of the decisions that y took; -1: y did not decide (arrival, or ``scope`` is not ``"all"``)."""
    agents: npt.NDArray[np.int32]
    """(M,) numbers of the routers x, which receive the reports."""
    ports: npt.NDArray[np.int32]
    """(M,) ports by which the packets left x, numbered as port actions: 0 is the first local port."""
    travel_ns: npt.NDArray[np.float64]
    """(M,) times from the arrival in the input buffer of x to the arrival in the input buffer of y."""
    time_ns: npt.NDArray[np.float64]
    """(M,) times at which the reports reach x."""
    scenario: npt.NDArray[np.int32]
    """(M,) scenarios of the reports, in ascending order."""

    def __len__(self) -> int:
        return len(self.decision_ids)
