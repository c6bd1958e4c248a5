"""The errors that the package raises on purpose.

They are created in the extension, so that the C++ core and Python raise the same classes. Each one also
derives from the built-in that fits:

* ``ConfigError(ValueError)``: an impossible setting. The message reads ``field = value: what is allowed``.
* ``IllegalActionError(ValueError)``: an agent chose a port that its mask forbids; nothing has changed.
* ``DeadlockError(RuntimeError)``: the no-progress watchdog fired; the message lists the stuck packets.
* ``StateError(RuntimeError)``: a call out of order.
"""

from __future__ import annotations

from dragonfly_env._core import ConfigError, DeadlockError, IllegalActionError, StateError

__all__ = ["ConfigError", "DeadlockError", "IllegalActionError", "StateError"]
