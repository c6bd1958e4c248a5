"""What environment a policy needs: the one place where a policy is asked for its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragonfly_env.checks.outside import check_mapping
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.simulation import SimulationConfig
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


def options_for(
    configs: Sequence[SimulationConfig], policy: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The same where several networks share a batch.

    Args:
        configs: The networks, at least one.
        policy: As above.
        options: Further keyword arguments; they take precedence.

    Raises:
        ConfigError: As above; and if the policy needs other options on some of the topologies.
    """
    needed, *others = ({**needed_options(policy, one.topology), **options} for one in configs)
    for number, other in enumerate(others, start=1):
        if other != needed:
            raise config_error(
                f"config[{number}]",
                configs[number].topology,
                f"{policy!r} needs {other}, and {needed} in the first",
            )
    return needed
