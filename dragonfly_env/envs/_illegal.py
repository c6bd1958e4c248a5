"""What the views with one place per router do about an action that the mask forbids, where they do not raise."""

from __future__ import annotations

import warnings

from dragonfly_env.errors import IllegalActionWarning


class Remapping:
    """Says once per environment that actions are replaced; infos count all of them."""

    def __init__(self) -> None:
        self._said = False

    def warn(self, agent: str, action: int, legal: list[int], instead: int, *, stacklevel: int) -> None:
        """Warn of an action, the first time.

        Args:
            agent: Who chose it.
            action: What the mask forbids.
            legal: What it allows.
            instead: What is done.
            stacklevel: From the caller to the user's call, as for ``warnings.warn``.
        """
        if self._said:
            return
        self._said = True
        warnings.warn(
            f"{agent}: action {action} is illegal: the mask allows {legal}; action {instead} is taken instead. "
            'info["illegal_actions"] counts such actions, and no further one of this environment is warned about; '
            'illegal_action="raise" makes each an error',
            IllegalActionWarning,
            stacklevel=stacklevel + 1,
        )
