"""Parts shared by all classes that drive a core: the stop after a deadlock, and the log of packets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.errors import DeadlockError, StateError
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic.trace import Trace


class CoreOwner:
    """Base of classes that own a core, which does not go on after a deadlock.

    Attributes:
        _broken: The first line of the error after a deadlock.
        _STOPPED: The message of later errors, with this line for ``{}``.
    """

    _STOPPED: ClassVar[str]
    _broken: str | None = None

    @contextmanager
    def _marks_broken(self) -> Iterator[None]:
        """Refuse to go on after a deadlock: a stopped network never recovers."""
        if self._broken is not None:
            raise StateError(self._STOPPED.format(self._broken))
        try:
            yield
        except DeadlockError as error:
            self._broken = str(error).split("\n", 1)[0]
            raise


def packet_log_of(
    core: _core.Simulation, config: SimulationConfig, *, changed: bool = False
) -> dict[str, npt.NDArray[Any]]:
    """Take the log of packets, see ``Simulation.packet_log``; ``changed``: hosts have sent other traffic before."""
    if not config.packet_log:
        raise StateError("packet_log(): the configuration has packet_log=False, so nothing was logged")
    log = core.packet_log()
    for name in ("created", "injected", "delivered"):
        log[f"{name}_ns"] = log.pop(f"{name}_ps") / PS_PER_NS
    trace = config.traffic_object
    if isinstance(trace, Trace) and not (changed or config.jobs or config.loses_when_full):
        packet_bytes = config.network.message_bytes_of_packet
        log |= trace.messages_of(log["src"], log["number"], packet_bytes=packet_bytes)
    return log
