"""What everything that drives a core shares: no going on after a deadlock, and the log of packets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS
from dragonfly_env.errors import DeadlockError, StateError
from dragonfly_env.simulation.config import SimulationConfig


class CoreOwner:
    """Base of classes that own a core; the core drops the GIL while it is at work, so another thread could enter.

    Whatever touches the core is in ``with self._alone``: another thread, and a process that was forked meanwhile,
    gets a ``StateError``. Ctrl-C at any moment leaves it free.

    Attributes:
        _alone: Made by the subclass.
        _broken: The first line of the error after a deadlock.
        _STOPPED: What is said then, with this line for ``{}``.
    """

    _STOPPED: ClassVar[str]
    _alone: _core.Turnstile
    _broken: str | None = None

    @contextmanager
    def _marks_broken(self) -> Iterator[None]:
        """Refuse to go on after a deadlock: what stops does not recover."""
        if self._broken is not None:
            raise StateError(self._STOPPED.format(self._broken))
        try:
            yield
        except DeadlockError as error:
            self._broken = str(error).split("\n", 1)[0]
            raise


def packet_log_of(core: _core.Simulation, config: SimulationConfig) -> dict[str, npt.NDArray[Any]]:
    """Take the log of packets, see ``Simulation.packet_log``.

    Raises:
        StateError: If the configuration did not set ``packet_log``.
    """
    if not config.packet_log:
        raise StateError("packet_log(): the configuration has packet_log=False, so nothing was logged")
    log = core.packet_log()
    for name in ("created", "injected", "delivered"):
        log[f"{name}_ns"] = log.pop(f"{name}_ps") / PS_PER_NS
    return log
