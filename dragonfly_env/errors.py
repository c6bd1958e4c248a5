"""The errors that the package raises on purpose.

They are created in the extension, so that the C++ core and Python raise the same classes. Each one also
derives from the built-in that fits:

* ``ConfigError(ValueError)``: an impossible setting. The message reads ``field = value: what is allowed``.
* ``IllegalActionError(ValueError)``: an agent chose a port that its mask forbids; nothing has changed.
* ``DeadlockError(RuntimeError)``: the no-progress watchdog fired; the message lists the stuck packets.
* ``StateError(RuntimeError)``: a call out of order.

``IllegalActionWarning(UserWarning)`` is no error: with ``illegal_action="remap"`` an environment replaced an action
that its mask forbids. Each environment warns once.
"""

from __future__ import annotations

from dragonfly_env._core import ConfigError, DeadlockError, IllegalActionError, StateError

__all__ = ["ConfigError", "DeadlockError", "IllegalActionError", "IllegalActionWarning", "StateError"]


class IllegalActionWarning(UserWarning):
    """An environment replaced an action that the mask forbids. ``info["illegal_actions"]`` counts all of them."""
