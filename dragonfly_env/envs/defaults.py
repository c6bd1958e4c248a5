"""The default configuration of all environments: small enough to learn on in minutes.

The first lines are the one table of defaults: every view takes them from here, so that the same policy measures the
same through each.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs._scenarios import DrawnForViews
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


def view_configs(config: Any, fields: Mapping[str, Any]) -> SimulationConfig | Several:
    """The configurations of a view that takes several: one, a list of them, or a function that makes them.

    Args:
        config: As ``view_config`` takes it, a list of such, or a function as ``BatchedRoutingEnv`` takes it.
        fields: Fields that replace those of each configuration. If neither these fields nor a mapping have a seed, the
            seed is drawn from the operating system. With a function it is the seed of the first episode.
    """
    if isinstance(config, (list, tuple)):
        return [view_config(one).replace(**with_seed(one, fields)) for one in config]
    if callable(config):
        return DrawnForViews(config, with_seed(config, fields))
    return view_config(config).replace(**with_seed(config, fields))


def with_seed(config: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a seed from the operating system if neither the settings nor the configuration has one."""
    has_seed = isinstance(config, SimulationConfig) or (isinstance(config, Mapping) and "seed" in config)
    return dict(settings) if has_seed else {"seed": secrets.randbits(48), **settings}
