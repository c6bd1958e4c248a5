"""Values that a Q-table may hold: times in ns, and infinity for a port that is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import as_numbers, config_error, refuse_first

if TYPE_CHECKING:
    from dragonfly_env.config.topology import Dragonfly


def as_q_table(values: object, shape: tuple[int, ...], topology: Dragonfly) -> npt.NDArray[np.float32]:
    """Convert tables that a user passes.

    Args:
        values: (m, rows, ports) times in ns; infinity closes a port. A value where no link is connected is
            replaced by infinity, too.
        shape: Shape of the tables that they replace.
        topology: Where the m routers are.

    Returns:
        A new array.
    """
    # Results of q_table() need no double precision, which takes twice the memory.
    is_table = isinstance(values, np.ndarray) and values.dtype == np.float32
    given: npt.NDArray[Any] = np.asarray(values) if is_table else as_numbers("values", values, ndim=3)
    if given.shape != shape:
        raise config_error("values", f"shape {given.shape}", f"must be of shape {shape}, as the tables are")
    unconnected = ~connected_ports(topology)[:, None, :]
    given = np.where(unconnected, given.dtype.type(np.inf), given)
    refuse_first(
        lambda index: f"values[{', '.join(map(str, index))}]",
        given,
        np.isnan(given) | np.isneginf(given),
        "must be a time in ns, or infinite for a closed port",
    )
    return given.astype(np.float32, order="C", copy=False)


def connected_ports(topology: Dragonfly) -> npt.NDArray[np.bool_]:
    """(m, ports) whether a link is connected; port 0 is the first local one."""
    connected = np.zeros((topology.num_routers, topology.radix - topology.p), dtype=np.bool_)
    router, port, _, _ = topology.links().T
    connected[router, port - topology.p] = True
    return connected
