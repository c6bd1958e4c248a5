"""What all environments simulate where nothing else is said: small enough to learn on in minutes.

The first lines are the one table of defaults: every view takes them from here, so that the same policy measures the
same through each.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.simulation.config import SimulationConfig

if TYPE_CHECKING:
    from dragonfly_env.envs.options import Several

# Every group sends to the next one: minimal routing is congested, and a non-minimal path helps.
TOPOLOGY = "72"
TRAFFIC = "adv+1"
LOAD = 0.35
# Long enough for several generations of packets, so that what an action costs is given in the same episode.
DURATION_NS = 50_000.0
# An episode begins with an empty network: a user who wants another beginning says so.
WARMUP_NS = 0.0


def view_config(config: SimulationConfig | Mapping[str, Any] | None = None) -> SimulationConfig:
    """The configuration of a view."""
    if config is None:
        return SimulationConfig(topology=Dragonfly.preset(TOPOLOGY), traffic=TRAFFIC, load=LOAD)
    if isinstance(config, SimulationConfig):
        return config
    if isinstance(config, Mapping):
        return SimulationConfig.from_dict(config)
    raise config_error("config", config, "must be a SimulationConfig, a mapping of its fields, or None")


def view_configs(config: SimulationConfig | Several | Mapping[str, Any] | None) -> SimulationConfig | Several:
    """The configuration of a view that takes several, too: a list of them, or a function that makes them."""
    if isinstance(config, (list, tuple)):
        return [view_config(one) for one in config]
    if callable(config):
        return config
    if isinstance(config, Sequence):  # a string, say
        raise config_error(
            "config", config, "must be a SimulationConfig, a mapping of its fields, a list of them, or None"
        )
    return view_config(config)


def with_seed(config: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a seed from the operating system if neither the settings nor the configuration has one."""
    has_seed = isinstance(config, SimulationConfig) or (isinstance(config, Mapping) and "seed" in config)
    return dict(settings) if has_seed else {"seed": secrets.randbits(48), **settings}


def with_config(config: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name, with the configuration that was given by position."""
    if config is None:
        return dict(settings)
    if settings.get("config") is not None:
        raise config_error("config", settings["config"], "is given twice: by position and by name")
    return {**settings, "config": config}
