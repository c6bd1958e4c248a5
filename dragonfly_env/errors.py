"""The errors that the package raises on purpose.

They are created in the extension, so that the C++ core and Python raise the same classes. Each one also derives from
the built-in that fits.
"""

from __future__ import annotations

from dragonfly_env._core import ConfigError, DeadlockError, IllegalActionError, StateError

__all__ = ["ConfigError", "DeadlockError", "IllegalActionError", "IllegalActionWarning", "StateError"]

ConfigError.__doc__ = """An impossible setting; also a ``ValueError``.

The message reads ``field = value: what is allowed``. Where a name is unknown it says which one is nearest. Nothing has
changed when this error is raised.

Example:
    >>> try:
    ...     dfe.SimulationConfig(topology="72", load=1.5)
    ... except dfe.ConfigError as error:
    ...     print(error)
    load = 1.5: must be a fraction of the host links' bandwidth, in (0, 1]
"""

IllegalActionError.__doc__ = """An agent chose an action that its mask forbids, or none at all; also a ``ValueError``.

The message names the router, the decision and the legal actions. Nothing has changed: the same call may be repeated
with other actions.

Example:
    >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
    >>> batch = env.reset(seed=1)
    >>> try:
    ...     env.step(np.full(len(batch), env.num_actions))
    ... except dfe.IllegalActionError:
    ...     print("choose again")
    choose again
"""

DeadlockError.__doc__ = """No packet moved for ``SimulationConfig.watchdog_ns``; also a ``RuntimeError``.

The message lists the stuck packets. The simulation or episode cannot go on: further calls raise ``StateError``.

Example:
    >>> issubclass(dfe.DeadlockError, RuntimeError)
    True
"""

StateError.__doc__ = """A call out of order, or from a second thread; also a ``RuntimeError``.

The message says which call is possible, such as ``reset()`` before ``step()``.

Example:
    >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
    >>> try:
    ...     env.step([])
    ... except dfe.StateError as error:
    ...     print(error)
    step(): call reset() first
"""


class IllegalActionWarning(UserWarning):
    """An environment replaced an action that the mask forbids. ``info["illegal_actions"]`` counts all of them.

    Environments warn of the first such action only, and only with ``illegal_action="remap"``, their default.

    Example:
        >>> import warnings
        >>> from dragonfly_env.errors import IllegalActionWarning
        >>> warnings.simplefilter("error", IllegalActionWarning)
    """
