"""What environment a policy needs: the one place where a policy is asked for its options."""

from __future__ import annotations

from typing import Any

from dragonfly_env.checks.outside import check_mapping
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly


def needed_options(policy: Any, topology: Dragonfly) -> dict[str, Any]:
    """The keyword arguments of ``BatchedRoutingEnv`` with which a policy can answer its batches.

    Args:
        policy: An object with ``env_options_on(topology)`` or ``env_options()``, which return them, or with ``scope``
            and ``action`` only: then these are all.
        topology: Where it is to route: routes of ports are longer on some.

    Raises:
        ConfigError: For what is no policy.
    """
    needed: dict[str, Any] = {}
    if not isinstance(policy, type):
        if hasattr(policy, "env_options_on"):
            needed = check_mapping("policy.env_options_on()", policy.env_options_on(topology))
        elif hasattr(policy, "env_options"):
            needed = check_mapping("policy.env_options()", policy.env_options())
    for asked in ("scope", "action"):
        if asked not in needed:
            needed[asked] = getattr(policy, asked, None)
        if not isinstance(needed[asked], str):
            raise config_error("policy", policy, f"must be an object with {asked}, as policies are")
    return needed
